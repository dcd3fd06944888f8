"""How large models grow that find it out on rows set aside: what some fits of a configuration found serves its others.

A booster with early stopping learns from nine tenths of the rows of a fit and pays for trees that it throws away. Once
two folds have said how many trees are enough, further folds, and the fit of what is handed over, grow so many on all of
their rows. The rows that judge a fold have no part in what that fold finds; that a later fold's number was found on
rows which judge it is one number for thousands of rows, as any hyperparameter is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.pipeline import Pipeline

from comitia.arrays import Estimator

N_FINDING = 2
"""Folds that find it out by themselves: one alone is at the mercy of few rows."""


@runtime_checkable
class Grows(Protocol):
    """A learner that finds out how large its model must be."""

    def found_size(self) -> int | None:
        """Return how large it grew in its fit; None where it did not find that out by itself."""

    def of_size(self, size: int) -> Self:
        """Return an unfitted one that grows so large, on all rows."""


def found_size(model: Estimator) -> float:
    """Return how large a fitted model grew, through pipelines; NaN where it did not find that out."""
    last = _last(model)
    size = last.found_size() if isinstance(last, Grows) else None
    return math.nan if size is None else float(size)


def of_size(model: Any, size: int) -> Any:
    """Return an unfitted model that grows so large; one that does not grow as it is."""
    last = _last(model)
    if not isinstance(last, Grows):
        return model
    if not isinstance(model, Pipeline):
        return last.of_size(size)
    *steps, (name, inner) = model.steps
    return Pipeline([*steps, (name, of_size(inner, size))])


def size_for(found: Sequence[float]) -> int | None:
    """Return how large further models should grow, of what earlier fits found; None while they are too few."""
    known = np.asarray(found, dtype=np.float64)
    known = known[np.isfinite(known)]
    return round(math.exp(np.log(known).mean())) if len(known) >= N_FINDING else None


def _last(model: Estimator) -> Estimator:
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model
