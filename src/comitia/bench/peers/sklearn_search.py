"""scikit-learn's own searches over our learners: `RandomizedSearchCV` and `HalvingRandomSearchCV`.

They choose among configurations drawn from a space of ours, on the splits that a study with the same seed would use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - scikit-learn asks for it
from sklearn.model_selection import BaseCrossValidator, HalvingRandomSearchCV, RandomizedSearchCV
from sklearn.utils.metaestimators import available_if

from comitia.arrays import AnyArray, Array, Estimator, Json, Table, has_margins, has_probabilities
from comitia.committees.combine import codes, probabilities
from comitia.errors import NothingFound, check_int
from comitia.evaluation.fitting import Build
from comitia.evaluation.isolation import quiet
from comitia.evaluation.resampling import Fixed, make_splitter
from comitia.evaluation.scoring import DEFAULT_LOSSES, Loss, Scorer, make_loss
from comitia.learners import LearnerSpace
from comitia.seams import Split
from comitia.seeds import Seeds
from comitia.space import Config

FACTOR = 3
N_ROUNDS = 3
"""Halving begins with a ninth of the rows; each round has a third of the candidates and three times the rows."""


@dataclass(frozen=True)
class Round:
    """Where a search stood."""

    spent: float
    """Rows fitted so far, in trials on all rows."""
    loss: float
    """Validation loss of the best so far; in halving, of this round, on the rows of this round."""
    config: Config


def search_with_sklearn(
    ready: LearnerSpace,
    X: Table,
    y: AnyArray,
    *,
    cv: int | float | Sequence[Split] | BaseCrossValidator = 5,
    n_trials: int,
    seed: int,
    halving: bool = False,
    loss: str | Loss | None = None,
) -> list[Round]:
    """Search a ready-made space with scikit-learn; return a round per candidate, or per round of halving.

    What was found is in the last round; its loss, as the best of many, is optimistic.

    Parameters
    ----------
    ready, X, y : LearnerSpace, table of shape (n_rows, n_columns), array of shape (n_rows,)
    cv : int, float, splitter or list of splits
        As for `TableEvaluator`, and with the same splits as a study of this seed.
    n_trials : int
        The budget: so many candidates on all rows. Halving begins with `3 * n_trials` candidates on a ninth of them;
        each of its three rounds then costs a third of the budget.
    seed : int
    halving : bool
        Use `HalvingRandomSearchCV` instead of `RandomizedSearchCV`.
    loss : str or Loss, default: zero-one for classes, squared error for numbers

    Raises
    ------
    NothingFound
        If every candidate failed.
    """
    least = FACTOR ** (N_ROUNDS - 1) // FACTOR if halving else 1
    check_int("search_with_sklearn", "n_trials", n_trials, least)
    seeds = Seeds(seed)
    is_class = ready.task == "classification"
    y = np.asarray(y)
    splits = Fixed(make_splitter(cv, stratify=is_class)).splits(y, None, 0, 0, seeds)
    n_candidates = FACTOR * n_trials if halving else n_trials
    candidates = ready.space.decode(ready.space.sample(n_candidates, seeds("sklearn")))
    options: Json = {
        "estimator": (ConfigClassifier if is_class else ConfigRegressor)(
            None, build=ready.build, random_state=seeds.integer("learner")
        ),
        "param_distributions": {"config": [Candidate(config) for config in candidates]},
        "scoring": Score(
            make_loss(DEFAULT_LOSSES[ready.task] if loss is None else loss), np.unique(y) if is_class else None
        ),
        "cv": [(train, test) for train, test in splits],
        "refit": False,
        "random_state": seeds.integer("sklearn"),
    }
    if halving:
        options |= {"factor": FACTOR, "min_resources": len(y) // FACTOR ** (N_ROUNDS - 1), "max_resources": len(y)}
        search = HalvingRandomSearchCV(n_candidates=n_candidates, **options)
    else:
        search = RandomizedSearchCV(n_iter=n_candidates, **options)
    with quiet():
        try:
            search.fit(X, y)
        except ValueError as error:  # what scikit-learn raises when every fit failed
            if not str(error).lstrip().startswith("All the"):
                raise
            raise NothingFound(f"A search must have one candidate that can be fitted. None could: {error}") from error
    return _rounds(search.cv_results_, len(y) if halving else None)


def _rounds(results: Mapping[str, AnyArray], n_rows: int | None) -> list[Round]:
    """Read scikit-learn's table; `n_rows` is given for halving."""
    losses = -np.asarray(results["mean_test_score"], dtype=np.float64)
    configs = [parameters["config"].config for parameters in results["params"]]
    is_halving = n_rows is not None
    iterations = np.asarray(results["iter"]) if is_halving else np.arange(len(losses))
    costs = np.asarray(results["n_resources"]) / n_rows if is_halving else np.ones(len(losses))
    rounds: list[Round] = []
    for iteration in range(int(iterations.max()) + 1):
        judged = iterations == iteration if is_halving else iterations <= iteration
        if np.isnan(losses[judged]).all():
            continue
        best = int(np.nanargmin(np.where(judged, losses, np.nan)))
        spent = float(costs[iterations <= iteration].sum())
        rounds.append(Round(spent, float(losses[best]), configs[best]))
    if not rounds:
        raise NothingFound(f"A search must have one candidate that can be fitted. None of {len(losses)} could.")
    return rounds


@dataclass(frozen=True)
class Candidate:
    """A configuration that NumPy takes for one object, which it would not do with a mapping."""

    config: Config


@dataclass(frozen=True)
class Score:
    """A loss of ours as a scorer of scikit-learn's."""

    loss: Loss
    classes: AnyArray | None

    def __call__(self, estimator: Estimator, X: Table, y: AnyArray) -> float:
        """Return minus the mean loss; greater is better."""
        if isinstance(self.loss, Scorer):
            return self.loss(estimator, X, y)
        if self.classes is None:
            return -float(self.loss.rows(np.asarray(y), estimator.predict(X)).mean())
        truth = np.searchsorted(self.classes, y)
        if not self.loss.needs_probabilities:
            return -float(self.loss.rows(truth, codes(estimator, X, self.classes)).mean())
        if not has_probabilities(estimator):
            raise TypeError(f"{self.loss.name} needs a learner with predict_proba")
        return -float(self.loss.rows(truth, probabilities(estimator, X, self.classes)).mean())


class ConfigLearner(BaseEstimator):  # type: ignore[misc]
    """The learner that a configuration describes, with the configuration as its parameter."""

    def __init__(self, config: Candidate | None, *, build: Build, random_state: int) -> None:
        self.config = config
        self.build = build
        self.random_state = random_state

    def fit(self, X: Table, y: AnyArray) -> ConfigLearner:
        assert self.config is not None
        self.model_ = self.build(self.config.config, self.random_state).fit(X, y)
        return self

    def predict(self, X: Table) -> AnyArray:
        return np.asarray(self.model_.predict(X))


class ConfigClassifier(ClassifierMixin, ConfigLearner):  # type: ignore[misc]
    """The same for classes."""

    @property
    def classes_(self) -> AnyArray:
        """Sorted classes."""
        return np.asarray(self.model_.classes_)

    @available_if(lambda self: has_probabilities(self.model_))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Table) -> Array:
        return np.asarray(self.model_.predict_proba(X))

    @available_if(lambda self: has_margins(self.model_))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Table) -> Array:
        return np.asarray(self.model_.decision_function(X))


class ConfigRegressor(RegressorMixin, ConfigLearner):  # type: ignore[misc]
    """The same for numbers."""
