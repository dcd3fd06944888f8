"""Check and clean what is to be predicted: class labels of any type, or numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from comitia.arrays import AnyArray, Array
from comitia.errors import ComitiaWarning, TableError


def checked_labels(y: Any, n_rows: int) -> AnyArray:
    """Return class labels of one type without missing ones."""
    from sklearn.utils.multiclass import check_classification_targets

    if y is None:
        raise TableError("A target is needed. Got y=None: requires y to be passed, but the target y is None.")
    labels = column_or_1d(np.asarray(y), warn=True)
    _check_length(labels, n_rows)
    _check_missing(labels)
    if labels.dtype.kind == "O":
        kinds = {type(label) for label in labels.tolist()}
        labels = np.array([str(label) for label in labels.tolist()] if len(kinds) > 1 else labels.tolist())
    if labels.dtype.kind in "fc":  # numbers that are not whole are no classes
        check_classification_targets(labels)
    return np.asarray(labels)


def checked_numbers(y: Any, n_rows: int) -> Array:
    """Return finite numbers."""
    if y is None:
        raise TableError("A target is needed. Got y=None: requires y to be passed, but the target y is None.")
    numbers = column_or_1d(np.asarray(y), warn=True)
    _check_length(numbers, n_rows)
    _check_missing(numbers)
    try:
        numbers = numbers.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"The target of a regression must be numbers. Got {numbers[0]!r} and others. "
            "Use AutoClassifier for classes."
        ) from error
    if (numbers == numbers[0]).all() and len(numbers) > 1:
        warnings.warn("The target is constant: every model will predict that value.", ComitiaWarning, stacklevel=4)
    return np.asarray(numbers)


def _check_length(y: AnyArray, n_rows: int) -> None:
    if len(y) != n_rows:
        raise TableError(
            f"X and y must have the same number of rows. Got {n_rows} and {len(y)}: inconsistent numbers of samples."
        )


def _check_missing(y: AnyArray) -> None:
    missing = sum(value is None or value != value for value in y.tolist())
    if missing:
        raise TableError(f"The target must have no missing values. Input y contains NaN in {missing} rows. Drop them.")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise TableError("The target must be finite. Input y contains infinity. Drop those rows.")
