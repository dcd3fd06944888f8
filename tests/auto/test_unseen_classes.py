"""Classes that no model of a fold had seen."""

import numpy as np
import pytest

from comitia.auto.unseen_classes import as_if_seen, shares_of_unseen
from comitia.auto.validation import ValidationPredictions

CLASSES = np.array(["a", "b", "c"])


def told(y: list[str], folds: list[int], p: list[list[float]]) -> ValidationPredictions:
    rows = np.arange(len(y))
    truth = np.array(y)
    return ValidationPredictions(
        rows, np.array(folds), truth, truth, probabilities=np.array(p, dtype=np.float64), classes=CLASSES
    )


def test_a_class_in_one_fold_only_has_its_share_of_the_rows() -> None:
    found = told(["a", "b", "a", "b", "c"], [0, 0, 1, 1, 1], [[0.5, 0.5, 0]] * 5)
    assert shares_of_unseen(found) == pytest.approx([0, 0, 0.2])
    seen = as_if_seen(found, shares_of_unseen(found))
    assert seen.probabilities is not None
    assert seen.probabilities[4] == pytest.approx([0.4, 0.4, 0.2])
    assert seen.probabilities[:4] == pytest.approx(np.array([[0.5, 0.5, 0]] * 4))


def test_a_probability_that_is_greater_stays() -> None:
    found = told(["a", "a", "c"], [0, 1, 1], [[0.1, 0.1, 0.8]] * 3)
    seen = as_if_seen(found, shares_of_unseen(found))
    assert seen.probabilities == pytest.approx(np.array([[0.1, 0.1, 0.8]] * 3))


def test_one_that_is_certain_stays() -> None:
    found = told(["a", "a", "c"], [0, 1, 1], [[1, 0, 0], [1, 0, 0], [0, 0, 1]])
    seen = as_if_seen(found, shares_of_unseen(found))
    assert seen.probabilities == pytest.approx(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]]))


@pytest.mark.parametrize(
    "found",
    [
        told(["a", "b", "a", "b"], [0, 0, 1, 1], [[0.5, 0.5, 0]] * 4),
        told(["a", "b"], [0, 0], [[0.5, 0.5, 0]] * 2),  # a hold-out: other rows were trained on
        ValidationPredictions(np.arange(2), np.array([0, 1]), np.ones(2), np.ones(2)),
    ],
)
def test_else_nothing_changes(found: ValidationPredictions) -> None:
    assert shares_of_unseen(found) is None
    assert as_if_seen(found, None) is found
