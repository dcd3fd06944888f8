"""Which number counts: losses that trials are judged by, smaller is better, row by row where that has a meaning.

A scikit-learn scorer becomes a loss by its sign, and a loss a score for users, here and nowhere else.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer, get_scorer_names

from comitia.arrays import AnyArray, Array, Estimator, Table
from comitia.errors import ChoiceError, UnknownName

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class RowLoss:
    """A loss that is a mean over rows."""

    name: str
    task: Task
    rows: Callable[[AnyArray, AnyArray], Array] = field(repr=False)
    """`rows(y, predicted)`: the loss of each row, (n,), (n,) -> (n,); classes are codes."""
    needs_probabilities: bool = False
    """Whether what is predicted must be class probabilities, (n, n_classes)."""


def _zero_one(y: AnyArray, predicted: AnyArray) -> Array:
    return np.asarray(y != predicted, dtype=np.float64)


def _log_loss(y: AnyArray, predicted: AnyArray) -> Array:
    """Clipped and normalised as scikit-learn does."""
    p = np.asarray(predicted, dtype=np.float64)
    eps = np.finfo(np.float64).eps
    p = np.clip(p / p.sum(axis=1, keepdims=True), eps, 1 - eps)
    return np.asarray(-np.log(p[np.arange(len(y)), y]))


def _squared_error(y: AnyArray, predicted: AnyArray) -> Array:
    return np.asarray((y - predicted) ** 2, dtype=np.float64)


def _absolute_error(y: AnyArray, predicted: AnyArray) -> Array:
    return np.asarray(np.abs(y - predicted), dtype=np.float64)


ROW_LOSSES = {
    loss.name: loss
    for loss in (
        RowLoss("zero-one", "classification", _zero_one),
        RowLoss("log-loss", "classification", _log_loss, needs_probabilities=True),
        RowLoss("squared-error", "regression", _squared_error),
        RowLoss("absolute-error", "regression", _absolute_error),
    )
}


@dataclass(frozen=True)
class Scorer:
    """Any scikit-learn scorer, or a callable `(estimator, X, y) -> score`; greater is better."""

    name: str
    score: Callable[..., float]
    task: Task | None = None
    needs_probabilities: bool = False
    """It asks the model itself for what it needs."""

    def __call__(self, estimator: Estimator, X: Table, y: AnyArray, sample_weight: ArrayLike | None = None) -> float:
        """Return the score; weights are passed on where the scorer takes them."""
        if sample_weight is not None and _takes_weights(self.score):
            return float(self.score(estimator, X, y, sample_weight=sample_weight))
        return float(self.score(estimator, X, y))


Loss = RowLoss | Scorer
LossLike = str | Loss | Callable[..., float]
"""A name of a row loss or of a scikit-learn scorer, or a callable `(estimator, X, y) -> score`."""


@dataclass(frozen=True)
class Scoring:
    """What models are compared by, and what users see of it; made by `make_scoring`."""

    name: str
    """In lower case; "a function" for a callable of the user's."""
    loss: Loss
    """What trials are judged by."""
    row_loss: RowLoss | None = None
    """The same loss row by row, where there is one: a committee is judged by what was kept of its members' answers."""
    best: float = 0.0
    """The score of a model whose row loss is 0."""

    @property
    def committee_loss(self) -> Loss:
        """What a committee is judged by."""
        return self.loss if self.row_loss is None else self.row_loss

    @property
    def can_choose_committees(self) -> bool:
        """Whether a committee that is chosen by the Brier score or the squared error is good at it."""
        return self.name in COMMITTEE_SCORINGS

    def score(self, loss: float) -> float:
        """Turn a trial's loss into a score: greater is better."""
        return -loss

    def committee_score(self, loss: float) -> float:
        """Turn a loss of `committee_loss` into a score."""
        return self.best - loss


DEFAULT_LOSSES: dict[Task, str] = {"classification": "zero-one", "regression": "squared-error"}
ROW_LOSS_OF = {"accuracy": "zero-one", "neg_log_loss": "log-loss", "neg_mean_squared_error": "squared-error"}
"""Scorers that are a row loss with another sign; accuracy is 1 minus the zero-one loss."""
COMMITTEE_SCORINGS = frozenset((*ROW_LOSS_OF, *ROW_LOSS_OF.values(), "neg_root_mean_squared_error", "r2"))


def make_scoring(scoring: LossLike | None, task: Task) -> Scoring:
    """Return what models of a task are compared by; where nothing is given, by the default of the task."""
    scoring = DEFAULT_LOSSES[task] if scoring is None else scoring
    loss = make_loss(scoring)
    if isinstance(loss, RowLoss):
        return Scoring(loss.name, loss, loss)
    name = scoring.lower() if isinstance(scoring, str) else "a function"
    row_loss = ROW_LOSSES[ROW_LOSS_OF[name]] if name in ROW_LOSS_OF else None
    return Scoring(name, loss, row_loss, best=1.0 if name == "accuracy" else 0.0)


def make_loss(scoring: LossLike) -> Loss:
    """Turn a name, a scorer or a loss into a loss; names are comitia's row losses and scikit-learn's scorers."""
    if isinstance(scoring, RowLoss):
        return scoring
    if isinstance(scoring, str) and scoring.lower() in ROW_LOSSES:
        return ROW_LOSSES[scoring.lower()]
    return make_scorer(scoring)


def make_scorer(scoring: str | Scorer | Callable[..., float]) -> Scorer:
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


def _takes_weights(score: Callable[..., float]) -> bool:
    score = getattr(score, "_score_func", score)  # a scikit-learn scorer says nothing, its metric does
    parameters = inspect.signature(score).parameters
    return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
