"""What users give is refused before any trial, with the same words whoever checks it."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from comitia.errors import ComitiaWarning, TableError
from comitia.evaluation.checks import checked_labels, checked_numbers, checked_target, task_of

WRONG = [
    (None, "requires y to be passed"),
    ([1, 2], "Got 3 and 2"),
    ([[1, 2], [3, 4], [5, 6]], r"shape \(3,\)"),
    ([1.0, np.nan, 2.0], "1 of 3"),
    (["a", None, "b"], "missing"),
    (pd.array([1, None, 2]), "missing"),
    ([1.0, np.inf, 2.0], "infinity"),
]


@pytest.mark.parametrize("check", [checked_target, checked_labels, checked_numbers])
@pytest.mark.parametrize(("y", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_target_must_have_one_known_entry_per_row(check: Any, y: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        check(y, 3)


def test_a_column_is_taken_as_a_target_and_an_estimator_warns_of_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checked_target(np.ones((3, 1)), 3).shape == (3,)
    with pytest.warns(DataConversionWarning):
        assert checked_labels(np.array([[0], [1], [0]]), 3).tolist() == [0, 1, 0]


def test_labels_of_several_types_become_texts() -> None:
    assert checked_labels(np.array(["a", 1, "b"], dtype=object), 3).tolist() == ["a", "1", "b"]


def test_numbers_are_numbers_and_constant_ones_are_told() -> None:
    assert checked_numbers(np.array(["1", "2.5", "3"], dtype=object), 3).tolist() == [1.0, 2.5, 3.0]
    with pytest.raises(TableError, match="Use AutoClassifier"):
        checked_numbers(["a", "b", "c"], 3)
    with pytest.warns(ComitiaWarning, match="constant"):
        checked_numbers([2, 2, 2], 3)


def test_the_task_follows_from_the_loss_or_else_from_the_target() -> None:
    assert task_of(np.arange(9), "squared-error") == "regression"
    assert task_of(np.arange(9), "f1_macro") == "classification"
    assert task_of(np.arange(9) / 2, None) == "regression"
    assert task_of(np.arange(60), None) == "regression"
    assert task_of(np.array(["a", "b"]), None) == "classification"
