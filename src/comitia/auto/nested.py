"""Nested cross-validation of a whole fit: search, choice and refit are repeated without some rows, and judged by these.

It is what an estimate is checked against, and costs as many fits as there are folds.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import AnyArray, Array, Json
from comitia.auto.fit_rows import FitRows
from comitia.auto.validation import ValidationPredictions
from comitia.errors import ChoiceError
from comitia.evaluation.fitting import take
from comitia.evaluation.resampling import make_resampling
from comitia.evaluation.scoring import Task
from comitia.seeds import Seeds

N_FOLDS = 5
N_FITS = N_FOLDS + 1
"""The fit itself, and one for each fold."""


class Auto(Protocol):
    """What is fitted: `AutoClassifier` or `AutoRegressor`."""

    def get_params(self, deep: bool = True) -> Json: ...


def check_nested(cv: object, *, has_val: bool) -> None:
    """Refuse splits that name rows: without some of the rows they are other splits."""
    if has_val or not (cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "get_n_splits")):
        what = "X_val" if has_val else "splits that name rows"
        raise ChoiceError(
            f"estimate='nested' must be able to split the rows again. Got {what}. Use a number of folds or a splitter "
            "as cv, or estimate='auto'."
        )


def nested_predictions(
    model: Auto, rows: FitRows, y: AnyArray, classes: AnyArray | None, task: Task, seconds: float | None, seed: int
) -> ValidationPredictions:
    """Return what fits without a part of the rows predict for it, for all parts; `seconds` is for each of them."""
    groups = None if rows.groups is None else np.asarray(rows.groups)
    resampling = make_resampling(
        N_FOLDS, stratify=task == "classification", grouped=groups is not None, reshuffled=False
    )
    n = len(y)
    told: AnyArray = np.empty(n, dtype=y.dtype if classes is None else classes.dtype)
    p: Array | None = None if classes is None else np.zeros((n, len(classes)))
    folds = np.zeros(n, dtype=np.intp)
    for fold, (train, test) in enumerate(resampling.splits(y, groups, 0, 0, Seeds(seed))):
        changes = {"estimate": False, "storage": None, "callbacks": (), "verbose": 0, "time_limit": seconds}
        one: Any = type(model)(**{**model.get_params(deep=False), **changes})
        one.fit(take(rows.X, train), y[train], **_columns(rows, train))
        X = take(rows.X, test)
        told[test], folds[test] = one.predict(X), fold
        if p is not None and classes is not None:
            p[np.ix_(test, np.searchsorted(classes, one.classes_))] = one.predict_proba(X)
    weights = None if rows.sample_weight is None else np.asarray(rows.sample_weight, dtype=np.float64)
    return ValidationPredictions(np.arange(n), folds, y, told, p, classes, weights)


def _columns(rows: FitRows, train: AnyArray) -> dict[str, ArrayLike]:
    columns = {"sample_weight": rows.sample_weight, "groups": rows.groups}
    return {name: np.asarray(column)[train] for name, column in columns.items() if column is not None}
