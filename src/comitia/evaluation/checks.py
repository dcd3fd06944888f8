"""Check what users give: a table, what is to be predicted, weights, groups, further metrics."""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from comitia.arrays import AnyArray, Array, Table
from comitia.errors import ChoiceError, ComitiaWarning, TableError
from comitia.evaluation.fitting import Build
from comitia.evaluation.scoring import LossLike, Scorer, Task, make_loss, make_scoring

MOST_CLASSES = 50
"""Whole numbers with more different values than this, and than a twentieth of the rows, are numbers to predict."""


def checked_build(build: Build) -> Build:
    """Refuse a learner in place of a function that makes one."""
    if not callable(build) or isinstance(build, type) or hasattr(build, "fit"):
        raise ChoiceError(
            f"'build' must be a function (config, random_state) that returns an unfitted estimator. Got {build!r} "
            "instead. For one estimator and its parameters: lambda config, random_state: SVC(**config)."
        )
    return build


def checked_table(X: Table | ArrayLike) -> Table:
    """Return a table whose rows can be taken by position."""
    from scipy import sparse

    if isinstance(X, sparse.spmatrix | sparse.sparray):
        return X.tocsr()
    table: Table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ChoiceError(
            f"'X' must be a table of shape (n_rows, n_columns). Got shape {table.shape} instead. "
            "For one column use X.reshape(-1, 1)."
        )
    return table


def check_option(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse what is none of the options."""
    if value not in options:
        *others, last = map(repr, options)
        raise ChoiceError(f"The {name!r} parameter must be {', '.join(others)} or {last}. Got {value!r} instead.")


def checked_fraction(selection_split: float | None) -> float | None:
    """Refuse a part of the rows that is none."""
    if selection_split is not None and not (isinstance(selection_split, float) and 0 < selection_split < 1):
        raise ChoiceError(f"The 'selection_split' must be a fraction in (0, 1). Got {selection_split!r} instead.")
    return selection_split


# ---- what is to be predicted ----------------------------------------------------------------------------------------


def checked_target(y: ArrayLike | None, n_rows: int, *, warn: bool = False) -> AnyArray:
    """Return a target without missing or infinite values, one entry per row; `warn` of a column in place of a row."""
    import pandas as pd

    if y is None:
        raise TableError("A target is needed. Got y=None: requires y to be passed, but the target y is None.")
    given = np.asarray(y)
    try:
        # as it is where possible: a copy has other strides, by which a recorded study would not know its target again
        target: AnyArray = given if given.ndim == 1 else column_or_1d(given, warn=warn)
    except ValueError as error:
        raise TableError(f"'y' must have shape ({n_rows},), one entry per row. Got shape {given.shape}.") from error
    if len(target) != n_rows:
        numbers = f"Got {n_rows} and {len(target)}: inconsistent numbers of samples."
        raise TableError(f"X and y must have the same number of rows. {numbers}")
    if n_missing := int(np.count_nonzero(pd.isna(target))):
        raise TableError(
            f"The target must have no missing values. Input y contains NaN in {n_missing} of {n_rows} rows. Drop them."
        )
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        raise TableError("The target must be finite. Input y contains infinity. Drop those rows.")
    return target


def checked_labels(y: ArrayLike | None, n_rows: int) -> AnyArray:
    """Return class labels; those of several types become texts."""
    labels = checked_target(y, n_rows, warn=True)
    if labels.dtype.kind == "O":
        kinds = {type(label) for label in labels.tolist()}
        labels = np.array([str(label) for label in labels.tolist()] if len(kinds) > 1 else labels.tolist())
    if labels.dtype.kind in "fc":  # numbers that are not whole are no classes
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise TableError(
                f"The target of a classification must be classes. Got continuous numbers, such as "
                f"{_not_whole(labels)!r}. Use AutoRegressor (regression) for numbers; bin them if you want classes. "
                f"({error})"
            ) from error
    return labels


def _not_whole(numbers: AnyArray) -> float:
    return float(next((number for number in numbers.tolist() if number % 1), numbers[0]))


def checked_numbers(y: ArrayLike | None, n_rows: int) -> Array:
    """Return numbers; warn where they are all alike."""
    target = checked_target(y, n_rows, warn=True)
    try:
        numbers = target.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"The target of a regression must be numbers. Got {target[0]!r} and others. Use AutoClassifier for classes."
        ) from error
    if (numbers == numbers[0]).all() and len(numbers) > 1:
        warnings.warn("The target is constant: every model will predict that value.", ComitiaWarning, stacklevel=4)
    return numbers


def classes_of(y: AnyArray) -> AnyArray:
    """Return the classes of a target, ascending; at least two, of one type."""
    try:
        classes = np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise ChoiceError(f"Class labels must be of one type. Got {' and '.join(kinds)}. Convert them.") from error
    if len(classes) < 2:
        raise ChoiceError(f"A classification target must have at least two classes. Got only {classes[0]!r}.")
    return classes


def task_of(y: AnyArray, loss: LossLike | None) -> Task:
    """Tell classes from numbers: by the loss where it says so, else by the target."""
    if loss is not None and (task := make_loss(loss).task) is not None:
        if task == "regression" and y.dtype.kind not in "fiub":
            raise ChoiceError(f"The loss {make_loss(loss).name!r} needs a numeric 'y'. Got dtype {y.dtype}.")
        return task
    try:
        kind = type_of_target(y)
    except (ValueError, TypeError) as error:
        raise ChoiceError(f"'y' must be classes or numbers, of one type. Got something else: {error}") from error
    if kind == "continuous":
        return "regression"
    # whole numbers, which are counts or grades where there are many different ones
    n_different = len(np.unique(y)) if y.dtype.kind in "fiu" else 0
    return "regression" if n_different > max(MOST_CLASSES, 0.05 * len(y)) else "classification"


# ---- what else rows have --------------------------------------------------------------------------------------------


def checked_column(name: str, values: ArrayLike | None, n_rows: int) -> AnyArray | None:
    """Return one entry per row."""
    if values is None:
        return None
    column = np.asarray(values)
    if column.shape != (n_rows,):
        raise ChoiceError(f"'{name}' must have shape ({n_rows},), one entry per row. Got shape {column.shape} instead.")
    return column


def checked_weights(values: ArrayLike | None, n_rows: int) -> Array | None:
    """Return one finite weight per row, not all of them 0."""
    column = checked_column("sample_weight", values, n_rows)
    if column is None:
        return None
    try:
        weights = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ChoiceError(f"'sample_weight' must be numbers. Got {column[0]!r} and others.") from error
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() <= 0:
        raise ChoiceError(
            "'sample_weight' must be finite numbers >= 0 that are not all zero. Got a sample_weight with negative, "
            "infinite or missing ones, or zero alone. Leave it out to weigh all rows alike."
        )
    return weights


def checked_metrics(metrics: Iterable[LossLike]) -> list[Scorer]:
    """Return scorers with names of their own."""
    if isinstance(metrics, str):
        raise ChoiceError(f"'metrics' must be a list of scorers. Got the text {metrics!r}. Write [{metrics!r}].")
    scorers = [make_scoring(metric, "classification").scorer for metric in metrics]
    names = [scorer.name for scorer in scorers]
    if bad := {name for name in names if names.count(name) > 1}:
        raise ChoiceError(
            f"Metrics must have different names. Got {', '.join(sorted(bad))} twice. Give the functions other names."
        )
    return scorers
