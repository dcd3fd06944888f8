"""Hold-outs where a class cannot be on both sides."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from comitia import Fixed, Reshuffled, Seeds, Study, TableEvaluator, get_space
from comitia.errors import ResamplingError
from comitia.evaluation.rare_classes import hold_outs

ONE_ROW = np.array([0] * 20 + [1] * 19 + [2])


def test_a_class_of_one_row_is_trained_on_and_the_others_keep_their_proportions() -> None:
    for seed in range(5):
        [(train, test)] = hold_outs(StratifiedShuffleSplit(1, test_size=0.3, random_state=seed), ONE_ROW)
        assert sorted([*train, *test]) == list(range(40))
        assert 39 in train
        assert np.bincount(ONE_ROW[test]).tolist() == [6, 6]


def test_with_more_classes_than_rows_to_judge_on_every_class_is_trained_on() -> None:
    y = np.repeat(np.arange(15), 2)
    for seed in range(20):
        [(train, test)] = hold_outs(StratifiedShuffleSplit(1, test_size=0.4, random_state=seed), y)
        assert sorted([*train, *test]) == list(range(30))
        assert set(y[train]) == set(y)


@pytest.mark.parametrize("resampling", [Fixed, Reshuffled])
def test_the_same_seed_gives_the_same_rows(resampling: Any) -> None:
    y = ONE_ROW.copy()
    y.flags.writeable = False
    one, other = (resampling(StratifiedShuffleSplit(2, test_size=0.3)) for _ in range(2))
    for number in range(3):
        first, again = (r.splits(y, None, number, 0, Seeds(1)) for r in (one, other))
        assert all(np.array_equal(a, b) for p, q in zip(first, again, strict=True) for a, b in zip(p, q, strict=True))


def test_where_no_class_has_two_rows_there_is_no_hold_out() -> None:
    with pytest.raises(ResamplingError, match="must fit the data"):
        Fixed(StratifiedShuffleSplit(1)).splits(np.arange(10), None, 0, 0, Seeds(0))


@pytest.mark.parametrize(
    "options", [{"cv": 0.3}, {"cv": 0.3, "reshuffled": True}, {"cv": 0.3, "selection_split": 0.2}, {"cv": 5}]
)
def test_a_table_with_such_a_class_is_evaluated(options: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    ready = get_space("svm-rbf")
    study = Study(ready.space, "rs", seed=0).run(TableEvaluator(ready.build, X, ONE_ROW, **options), n_trials=2)
    assert study.history.n_failed == 0
