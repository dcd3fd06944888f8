"""What a fit chooses where the user does not: folds and a method."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit

from comitia.auto.autofit import MANY_ROWS, default_folds, default_method, stacked
from comitia.errors import TableError
from comitia.evaluation.scoring import make_scoring

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("target", "groups", "has_selection_split", "expected"),
    [
        (np.repeat([0, 1], 50), None, False, 5),
        (np.repeat([0, 1], 3), None, False, 3),  # as many as the largest class has rows
        (np.repeat([0, 1], 50), np.arange(100) % 4, False, 4),
        (np.repeat([0, 1], 5), None, True, 4),
        (np.zeros(MANY_ROWS, dtype=int), None, False, 3),
    ],
)
def test_folds_are_as_many_as_the_rows_allow(
    target: Any, groups: Any, has_selection_split: bool, expected: int
) -> None:
    assert default_folds(target, "classification", groups, has_selection_split=has_selection_split) == expected


def test_too_few_rows_for_folds_are_refused() -> None:
    with pytest.raises(TableError, match="too few rows"):
        default_folds(np.array([0, 1, 2]), "classification", None, has_selection_split=False)


@pytest.mark.parametrize(
    ("scoring", "cv", "expected"),
    [(None, 5, "committee"), ("roc_auc", 5, "bayes"), ("accuracy", ShuffleSplit(3), "committee")],
)
def test_a_committee_is_chosen_where_one_can_be(scoring: Any, cv: Any, expected: str) -> None:
    made = make_scoring(scoring, "classification")
    assert default_method(made, "classification", cv, is_grouped=False).name == expected


def test_rows_to_judge_on_are_one_split() -> None:
    table, target, [(train, test)] = stacked(X[:4], Y[:4], X[4:6], Y[4:6])  # type: ignore[misc]
    assert (table == X[:6]).all()
    assert (target == Y[:6]).all()
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5])
