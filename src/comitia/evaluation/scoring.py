"""Which number counts: losses that trials are judged by, smaller is better, and what users see of them.

Users see scores as scikit-learn has them: greater is better. A scorer becomes a loss by its sign, and a loss a score
again, here and nowhere else. Whether a metric fits a target, and which class is its positive one, is in `metrics`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer  # what `make_scorer` returns; it has no public name

from comitia.arrays import AnyArray, Array, Predictor, Table, has_probabilities
from comitia.committees.combine import codes_of
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
DEFAULT_LOSSES: dict[Task, str] = {"classification": "zero-one", "regression": "squared-error"}


@dataclass(frozen=True)
class Scorer:
    """Any scikit-learn scorer, or a callable `(estimator, X, y) -> score`; greater is better."""

    name: str
    score: Callable[..., float]
    task: Task | None = None
    needs_probabilities: bool = False
    """It asks the model itself for what it needs."""

    def __call__(self, model: Predictor, X: Table, y: AnyArray, sample_weight: ArrayLike | None = None) -> float:
        """Return the score; weights are passed on where the scorer takes them."""
        if sample_weight is not None and self.takes_weights:
            return float(self.score(model, X, y, sample_weight=sample_weight))
        return float(self.score(model, X, y))

    @property
    def takes_weights(self) -> bool:
        """Whether rows may count differently."""
        score = self.score._score_func if isinstance(self.score, _BaseScorer) else self.score
        parameters = inspect.signature(score).parameters
        return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    @property
    def is_of_answers(self) -> bool:
        """Whether it compares a model's answers with the truth, and looks at neither the model nor the table."""
        return isinstance(self.score, _BaseScorer)

    @property
    def asks_for(self) -> tuple[str, ...]:
        """Names of the methods by which it asks a model, the first that there is; () where nobody can know."""
        if not isinstance(self.score, _BaseScorer):
            return ()
        methods = self.score._response_method
        return (methods,) if isinstance(methods, str) else tuple(methods)

    @property
    def is_of_order(self) -> bool:
        """Whether only the order of rows counts, from the least to the most probable, as for ROC AUC."""
        return self.asks_for == ("decision_function", "predict_proba")


Loss = RowLoss | Scorer
LossLike = str | Loss | Callable[..., float]
"""A name of a row loss or of a scikit-learn scorer, or a callable `(estimator, X, y) -> score`."""


# ---- what users see -------------------------------------------------------------------------------------------------

DEFAULT_SCORINGS: dict[Task, str] = {"classification": "accuracy", "regression": "r2"}
SCORER_OF = {
    "zero-one": "accuracy",
    "log-loss": "neg_log_loss",
    "squared-error": "neg_mean_squared_error",
    "absolute-error": "neg_mean_absolute_error",
    "logloss": "neg_log_loss",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
    "auc": "roc_auc",
    "mcc": "matthews_corrcoef",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
    "rmsle": "neg_root_mean_squared_log_error",
}
"""comitia's losses and common short names, by the scorers that they mean."""
ROW_LOSS_OF = {
    "accuracy": "zero-one",
    "neg_log_loss": "log-loss",
    "neg_mean_squared_error": "squared-error",
    "neg_mean_absolute_error": "absolute-error",
}
"""Scorers that are a row loss with another sign; accuracy is 1 minus the zero-one loss."""


@dataclass(frozen=True)
class Scoring:
    """What models are compared by, and what users see of it; made by `make_scoring`."""

    name: str
    """Of the scorer; "a function" for a callable of the user's."""
    scorer: Scorer
    """What users see: greater is better."""
    row_loss: RowLoss | None = None
    """The same number as a mean over rows, where it is one."""
    best: float = 0.0
    """The score of a model whose loss is 0."""
    least: float | None = None
    """Predictions below are raised to it, where a metric is not defined for them; see `metrics`."""

    @property
    def loss(self) -> Loss:
        """What trials are judged by."""
        return self.scorer if self.row_loss is None else self.row_loss

    def score(self, loss: float) -> float:
        """Turn a trial's loss into a score."""
        return self.best - loss

    def of(self, model: Predictor, X: Table, y: AnyArray, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of a model; the log loss also of rows that lack a class, which scikit-learn refuses."""
        if self.row_loss is None or not self.row_loss.needs_probabilities or not has_probabilities(model):
            return self.scorer(model, X, y, sample_weight)
        losses = self.row_loss.rows(codes_of(y, model.classes_), model.predict_proba(X))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self.score(float(np.average(losses, weights=weights)))


def make_scoring(scoring: LossLike | None, task: Task) -> Scoring:
    """Return what models of a task are compared by; where nothing is given, accuracy or R squared."""
    scoring = DEFAULT_SCORINGS[task] if scoring is None else scoring
    if isinstance(scoring, RowLoss):
        scoring = scoring.name
    if isinstance(scoring, str):
        scoring = SCORER_OF.get(scoring.lower(), scoring)
    scorer = make_scorer(scoring)
    name = scorer.name if isinstance(scoring, str) or scorer.is_of_answers else "a function"
    row_loss = ROW_LOSSES[ROW_LOSS_OF[name]] if name in ROW_LOSS_OF else None
    return Scoring(name, scorer, row_loss, best=1.0 if name == "accuracy" else 0.0)


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
        name = scoring if scoring in get_scorer_names() else scoring.lower()
        if name not in get_scorer_names():
            raise UnknownName("scorer", scoring, [*ROW_LOSSES, *get_scorer_names()])
        return Scorer(name, get_scorer(name))
    if callable(scoring):
        if next(iter(inspect.signature(scoring).parameters), None) == "y_true":
            raise ChoiceError(
                f"A scorer must be a callable (estimator, X, y) -> score. Got the metric {scoring.__name__!r}, which "
                "compares labels. Use its name, or sklearn.metrics.make_scorer(...)."
            )
        return Scorer(getattr(scoring, "__name__", str(scoring)), scoring)
    raise ChoiceError(f"A scorer must be a name or a callable (estimator, X, y) -> score. Got {scoring!r} instead.")
