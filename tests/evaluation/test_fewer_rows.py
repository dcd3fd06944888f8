"""Fits on fewer rows than a split has to train on."""

from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from comitia import Config, Seeds, TableEvaluator, Trial
from comitia.evaluation.fewer_rows import OF_EACH_CLASS, fewer

SEEDS = Seeds(3)
N = 2_000
CODES = np.repeat([0, 1, 2, 4], [N - 125, 100, 20, 5])
ROWS = np.random.default_rng(0).permutation(5 * N)[:N]


class Counts(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers the rows that it learned from, and predicts the first class."""

    seen: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any) -> "Counts":
        self.classes_ = np.unique(y)
        Counts.seen.append(X[:, 0].astype(int).tolist())
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("codes", [None, CODES], ids=["numbers", "classes"])
def test_rows_are_a_part_in_their_order(codes: Any) -> None:
    found = fewer(ROWS, codes, 500, SEEDS, 0, 1)
    assert 500 - 4 <= len(found) <= 500 + 3 * OF_EACH_CLASS
    assert found.tolist() == [row for row in ROWS.tolist() if row in set(found.tolist())]
    assert fewer(ROWS, codes, N, SEEDS).tolist() == ROWS.tolist()


@pytest.mark.parametrize("codes", [None, CODES], ids=["numbers", "classes"])
def test_fewer_rows_are_among_more_ones_and_keys_draw_others(codes: Any) -> None:
    some, more = (set(fewer(ROWS, codes, most, SEEDS, 0, 1).tolist()) for most in (300, 900))
    assert some < more
    assert set(fewer(ROWS, codes, 300, SEEDS, 0, 2).tolist()) != some
    assert set(fewer(ROWS, codes, 300, SEEDS, 0, 1).tolist()) == some


def test_classes_keep_their_part_and_rare_ones_their_rows() -> None:
    found = fewer(np.arange(N), CODES, 400, SEEDS)
    assert np.bincount(CODES[found]).tolist() == [(N - 125) * 400 // N, 20, 20, 0, 5]


def evaluator(**more: Any) -> TableEvaluator:
    X = np.arange(300)[:, None].astype(float)
    return TableEvaluator(lambda config, random_state: Counts(), X, np.arange(300) % 2, cv=3, **more)


def test_configurations_are_fitted_on_as_many_rows_as_is_said_and_judged_on_all() -> None:
    most = {"a": 50, "b": None, "c": 1000}
    judge = evaluator(most_rows=lambda config: most[config["name"]], keep="predictions")
    for number, (name, n) in enumerate([("a", 50), ("b", 200), ("c", 200)]):
        Counts.seen = []
        observation, kept = judge(Trial(number, 0, (0.5,), Config({"name": name})), SEEDS)
        assert observation.is_ok
        assert kept is not None
        assert [len(rows) for rows in Counts.seen] == [n] * 3
        assert sorted(kept.rows.tolist()) == list(range(300))
        for fold, rows in enumerate(Counts.seen):
            assert not set(rows) & set(kept.rows[kept.folds == fold].tolist())


def test_rows_of_a_fit_can_grow() -> None:
    judge, config = evaluator(most_rows=lambda config: 50), Config({"name": "a"})
    assert [len(judge.rows_of_fit(config, np.arange(300), SEEDS, (), growth)) for growth in (1, 2.5, 6, 100)] == [
        50,
        124,
        300,
        300,
    ]


def few(config: Config) -> int:
    return 50


def test_losses_of_other_numbers_of_rows_cannot_be_compared() -> None:
    assert evaluator(most_rows=few).fingerprint() != evaluator().fingerprint()
