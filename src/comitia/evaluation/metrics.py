"""Whether a metric fits a target, and which class is its positive one: found out before anything is trained."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import get_scorer_names, make_scorer
from sklearn.metrics._scorer import _BaseScorer

from comitia.arrays import AnyArray, Table
from comitia.errors import ChoiceError
from comitia.evaluation.fitting import take
from comitia.evaluation.scoring import Loss, LossLike, Scorer, Scoring, Task, make_scoring
from comitia.evaluation.shown import shown, shown_classifier, shown_regressor

OF_NUMBERS = frozenset(
    (
        "d2_absolute_error_score",
        "explained_variance",
        "neg_max_error",
        "neg_mean_absolute_error",
        "neg_mean_absolute_percentage_error",
        "neg_mean_gamma_deviance",
        "neg_mean_poisson_deviance",
        "neg_mean_squared_error",
        "neg_mean_squared_log_error",
        "neg_median_absolute_error",
        "neg_root_mean_squared_error",
        "neg_root_mean_squared_log_error",
        "r2",
    )
)
"""scikit-learn's scorers for regression."""
OF_CLUSTERS = frozenset(
    (
        "adjusted_mutual_info_score",
        "adjusted_rand_score",
        "completeness_score",
        "fowlkes_mallows_score",
        "homogeneity_score",
        "mutual_info_score",
        "normalized_mutual_info_score",
        "rand_score",
        "v_measure_score",
    )
)
"""scikit-learn's scorers for clusterings."""
NOT_NEGATIVE = frozenset(("mean_squared_log_error", "root_mean_squared_log_error"))
POSITIVE = frozenset(("mean_gamma_deviance", "mean_poisson_deviance"))
FEW = 200
"""Rows that a function of the user's is tried on."""
MANY = 2_000
"""Rows that a metric is tried on."""


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted, as the user gave it."""

    y: AnyArray
    """Labels or numbers."""
    classes: AnyArray | None = None
    """The labels, ascending; None for numbers."""
    positive: object = None
    """The label that is the positive class; None where there are not two, or for numbers."""
    is_chosen: bool = False
    """Whether comitia chose the positive class, neither the user nor scikit-learn's custom."""

    @property
    def task(self) -> Task:
        return "regression" if self.classes is None else "classification"


def make_target(y: AnyArray, classes: AnyArray | None, positive: object = None) -> Target:
    """Return a target with its positive class: the one named; else 1, as in scikit-learn; else the rarer one."""
    if classes is None or len(classes) != 2:
        if positive is not None:
            raise ChoiceError(
                f"'pos_label' names the positive one of two classes. Got {positive!r} for "
                f"{'numbers' if classes is None else f'{len(classes)} classes'}. Leave it out."
            )
        return Target(y, classes)
    if positive is not None:
        found = [label for label in classes.tolist() if label == positive]
        if not found:
            raise ChoiceError(f"'pos_label' must be one of the classes {classes.tolist()}. Got {positive!r} instead.")
        return Target(y, classes, found[0])
    if classes.dtype.kind in "biuf" and (classes == 1).any():
        return Target(y, classes, classes[classes == 1].item())
    is_first = np.count_nonzero(y == classes[0]) < np.count_nonzero(y == classes[1])
    return Target(y, classes, classes.tolist()[0 if is_first else 1], is_chosen=True)


def scoring_for(scoring: LossLike | None, target: Target, X: Table | None = None) -> Scoring:
    """Return what models are compared by, bound to the positive class; refuse a metric that cannot work.

    A `ChoiceError` says why, and which metrics are near. A function of the user's is tried on rows of the table `X`.
    """
    made = make_scoring(scoring, target.task)
    check_task(made, target.task)
    scorer = with_positive(made.scorer, target)
    least = _least(scorer, target.y)
    if scorer.is_of_answers:
        _try(made.name, scorer, target, least)
    elif X is not None:
        _try_function(scorer, target, X)
    return replace(made, scorer=scorer, least=least)


def check_task(scoring: Scoring, task: Task, parameter: str = "scoring") -> None:
    """Refuse a scorer of another task."""
    is_of_numbers = scoring.name in OF_NUMBERS
    if scoring.name in OF_CLUSTERS or is_of_numbers != (task == "regression"):
        known = [n for n in get_scorer_names() if n not in OF_CLUSTERS and (n in OF_NUMBERS) == (task == "regression")]
        if scoring.name in get_scorer_names():
            kind = "a clustering" if scoring.name in OF_CLUSTERS else "regression" if is_of_numbers else "classes"
            raise ChoiceError(
                f"{parameter!r} must be a metric for {task}. Got {scoring.name!r}, which is for {kind}. "
                f"Use one of: {', '.join(known)}."
            )


def needs_positive(scorer: Scorer) -> bool:
    """Tell whether a metric of two classes must know which one is positive, and was not told."""
    score = scorer.score
    if not isinstance(score, _BaseScorer) or "pos_label" in score._kwargs:
        return False
    parameters = inspect.signature(score._score_func).parameters
    if "pos_label" not in parameters:
        return False
    if "average" in parameters and parameters["average"].default == "binary":
        return bool(score._kwargs.get("average", "binary") == "binary")
    return True


def positive_of(loss: Loss) -> object:
    """Return the positive class that a metric was told; None where it has none."""
    score = loss.score if isinstance(loss, Scorer) else None
    return score._kwargs.get("pos_label") if isinstance(score, _BaseScorer) else None


def with_positive(scorer: Scorer, target: Target) -> Scorer:
    """Return a scorer that knows the positive class, where it needs one and there are two."""
    score = scorer.score
    if target.positive is None or not needs_positive(scorer) or not isinstance(score, _BaseScorer):
        return scorer
    bound = make_scorer(
        score._score_func,
        response_method=score._response_method,
        greater_is_better=score._sign > 0,
        **{**score._kwargs, "pos_label": target.positive},
    )
    return replace(scorer, score=bound)


def _least(scorer: Scorer, y: AnyArray) -> float | None:
    """Return the least prediction that a metric is defined for, as far as it is known."""
    name = scorer.score._score_func.__name__ if isinstance(scorer.score, _BaseScorer) else ""
    if name in NOT_NEGATIVE:
        return 0.0
    if name in POSITIVE and (y > 0).any():
        return float(y[y > 0].min())
    return None


def _try(name: str, scorer: Scorer, target: Target, least: float | None) -> None:
    """Refuse a metric that gives no number for answers that a model could give."""
    rng = np.random.default_rng(0)
    rows = _some_rows(target, rng)
    y = target.y[rows]
    if target.classes is None:
        answers = y.astype(np.float64) + 0.1 * (np.abs(y).max(initial=1.0) or 1.0)
        model = shown_regressor(answers if least is None else np.maximum(answers, least))
    else:
        codes = np.searchsorted(target.classes, y)
        p = rng.dirichlet(np.ones(len(target.classes)), len(y))
        p[np.arange(len(y)), codes] += 1.0
        p /= p.sum(axis=1, keepdims=True)
        model = shown_classifier(target.classes, p)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = scorer(model, rows[:, None], y)
    except (ValueError, TypeError) as error:
        raise ChoiceError(
            f"The metric {name!r} cannot work for this target. scikit-learn says: {error} {_advice(name, target)}"
        ) from error
    if not np.isfinite(score) and len(y) > 1:
        raise ChoiceError(
            f"The metric {name!r} must give a number for this target. Got {score} for plausible answers. "
            f"{_advice(name, target)}"
        )


def _try_function(scorer: Scorer, target: Target, X: Table) -> None:
    """Refuse a function of the user's that fails, or gives no number, for answers that a model could give."""
    rows = np.arange(min(len(target.y), FEW))
    if target.classes is not None:  # some of every class
        rows = np.unique(np.concatenate([rows, np.unique(target.y, return_index=True)[1]]))
    y = target.y[rows]

    def answer(asked: Table, wants_probabilities: bool) -> AnyArray:
        n, rng = asked.shape[0], np.random.default_rng(0)  # the same answers to the same question
        if target.classes is None:
            return np.asarray(rng.choice(y, n), dtype=np.float64)
        p = rng.dirichlet(np.ones(len(target.classes)), n)
        return p if wants_probabilities else p.argmax(axis=1)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = scorer(shown(answer, target.classes), take(X, rows), y)
    except AttributeError:  # it looks at a fitted model, of which there is none yet
        return
    except Exception as error:
        raise ChoiceError(
            f"A scorer must be a callable (estimator, X, y) -> score. {scorer.name!r} failed on {len(rows)} rows of "
            f"the table, before anything was trained: {type(error).__name__}: {error}. Mend it."
        ) from error
    if not np.isfinite(score):
        raise ChoiceError(
            f"A scorer must return a finite number. {scorer.name!r} returned {score} for {len(rows)} rows of the "
            "table, before anything was trained. Mend it."
        )


def _some_rows(target: Target, rng: np.random.Generator) -> AnyArray:
    """Return at most `MANY` rows, with some of every class."""
    n = len(target.y)
    if n <= MANY:
        return np.arange(n)
    chosen = rng.choice(n, MANY, replace=False)
    if target.classes is None:
        return np.sort(chosen)
    first = np.unique(target.y, return_index=True)[1]
    return np.unique(np.concatenate([chosen, first]))


def _advice(name: str, target: Target) -> str:
    """Name metrics that are near and could work."""
    n_classes = 0 if target.classes is None else len(target.classes)
    base = name.removesuffix("_score")
    near = [
        known
        for known in get_scorer_names()
        if known.startswith(base) and known != name and not known.endswith("_samples")
    ]
    if n_classes > 2 and near:
        return f"The target has {n_classes} classes. Use {' or '.join(map(repr, near))}."
    return "Use another metric, or sklearn.metrics.make_scorer with the arguments that it needs."
