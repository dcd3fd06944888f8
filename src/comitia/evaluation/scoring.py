"""Losses that a trial is judged by: smaller is better, row by row where that has a meaning.

A scikit-learn scorer becomes a loss by its sign, here and nowhere else.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from comitia.arrays import AnyArray, Array
from comitia.errors import ChoiceError, UnknownName

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class ZeroOneLoss:
    """1 for a wrong class, 0 for the right one."""

    name: str = "zero-one"
    task: Task | None = "classification"
    needs_probabilities: bool = False

    def rows(self, y: AnyArray, predicted: AnyArray) -> Array:
        """Return the loss of each row; classes are codes.  # (n,), (n,) -> (n,)."""
        return np.asarray(y != predicted, dtype=np.float64)


@dataclass(frozen=True)
class LogLoss:
    """Minus the logarithm of the true class's probability."""

    name: str = "log-loss"
    task: Task | None = "classification"
    needs_probabilities: bool = True

    def rows(self, y: AnyArray, predicted: AnyArray) -> Array:
        """Return the loss of each row; clipped and normalised as scikit-learn does.  # (n,), (n, k) -> (n,)."""
        p = np.asarray(predicted, dtype=np.float64)
        eps = np.finfo(np.float64).eps
        p = np.clip(p / p.sum(axis=1, keepdims=True), eps, 1 - eps)
        return np.asarray(-np.log(p[np.arange(len(y)), y]))


@dataclass(frozen=True)
class SquaredError:
    """The squared difference."""

    name: str = "squared-error"
    task: Task | None = "regression"
    needs_probabilities: bool = False

    def rows(self, y: AnyArray, predicted: AnyArray) -> Array:
        """Return the loss of each row.  # (n,), (n,) -> (n,)."""
        return np.asarray((y - predicted) ** 2, dtype=np.float64)


@dataclass(frozen=True)
class AbsoluteError:
    """The absolute difference."""

    name: str = "absolute-error"
    task: Task | None = "regression"
    needs_probabilities: bool = False

    def rows(self, y: AnyArray, predicted: AnyArray) -> Array:
        """Return the loss of each row.  # (n,), (n,) -> (n,)."""
        return np.asarray(np.abs(y - predicted), dtype=np.float64)


RowLoss = ZeroOneLoss | LogLoss | SquaredError | AbsoluteError
ROW_LOSSES: dict[str, RowLoss] = {
    loss.name: loss for loss in (ZeroOneLoss(), LogLoss(), SquaredError(), AbsoluteError())
}


@dataclass(frozen=True)
class Scorer:
    """Any scikit-learn scorer, or a callable `(estimator, X, y) -> score`; greater is better."""

    name: str
    score: Any

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score; weights are passed on where the scorer takes them."""
        if sample_weight is not None and _takes_weights(self.score):
            return float(self.score(estimator, X, y, sample_weight=sample_weight))
        return float(self.score(estimator, X, y))


Loss = RowLoss | Scorer


def make_loss(scoring: str | Loss | Any) -> Loss:
    """Turn a name, a scorer or a loss into a loss.

    Names are comitia's own row losses ("zero-one", "log-loss", "squared-error", "absolute-error") and scikit-learn's
    scorers ("roc_auc", "neg_log_loss", ...), whose sign is turned.
    """
    if isinstance(scoring, str):
        if scoring.lower() in ROW_LOSSES:
            return ROW_LOSSES[scoring.lower()]
        return make_scorer(scoring)
    if isinstance(scoring, ZeroOneLoss | LogLoss | SquaredError | AbsoluteError | Scorer):
        return scoring
    return make_scorer(scoring)


def make_scorer(scoring: str | Scorer | Any) -> Scorer:
    """Turn a name or a callable `(estimator, X, y) -> score` into a scorer."""
    if isinstance(scoring, Scorer):
        return scoring
    if isinstance(scoring, str):
        if scoring not in get_scorer_names():
            raise UnknownName("scorer", scoring, [*ROW_LOSSES, *get_scorer_names()])
        return Scorer(scoring, get_scorer(scoring))
    if callable(scoring):
        if next(iter(inspect.signature(scoring).parameters), None) == "y_true":
            raise ChoiceError(
                f"A scorer must be a callable (estimator, X, y) -> score. Got the metric {scoring.__name__!r}, which "
                "compares labels. Use its name, or sklearn.metrics.make_scorer(...)."
            )
        return Scorer(getattr(scoring, "__name__", str(scoring)), scoring)
    raise ChoiceError(f"A scorer must be a name or a callable (estimator, X, y) -> score. Got {scoring!r} instead.")


def _takes_weights(score: Any) -> bool:
    score = getattr(score, "_score_func", score)  # a scikit-learn scorer says nothing, its metric does
    parameters = inspect.signature(score).parameters
    return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
