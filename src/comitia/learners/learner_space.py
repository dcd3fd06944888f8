"""`LearnerSpace`, what every ready-made space is, and short ways to write ranges."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import ConfigSpace as CS
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia.evaluation.fitting import Build
from comitia.evaluation.scoring import Task
from comitia.space import Space
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition


@dataclass(frozen=True, kw_only=True)
class LearnerSpace:
    """A space and the learner that its configurations describe."""

    name: str
    """What `get_space` knows it by."""
    define: Callable[[int | None], CS.ConfigurationSpace]
    """Returns the space for a table with that many columns; None where the number is not known."""
    build: Build
    """`build(config, random_state)` returns the unfitted estimator of a configuration."""
    task: Task = "classification"
    """Or "regression"."""
    paper: str
    """Where the space comes from."""
    summary: str
    """One sentence."""
    learns_from: Literal["tables", "images"] = "tables"
    """Images are for `ImageEvaluator`, which trains their networks side by side."""
    n_features: int | None = None
    """Columns of the table, for spaces that depend on it."""

    @cached_property
    def space(self) -> Space:
        """The space for a table with `n_features` columns."""
        return Space(self.define(self.n_features))


def real(
    name: str, low: float, high: float, *, log: bool = False, components: int | None = None
) -> CS.UniformFloatHyperparameter:
    """Return a real; `components` is the number of values that PBIL chooses from."""
    meta: dict[Hashable, int] | None = None if components is None else {"components": components}
    return CS.UniformFloatHyperparameter(name, low, high, log=log, meta=meta)


log_real = partial(real, log=True)


def integer(name: str, low: int, high: int, *, log: bool = False) -> CS.UniformIntegerHyperparameter:
    """Return an integer."""
    return CS.UniformIntegerHyperparameter(name, low, high, log=log)


def choice(name: str, options: list[Value]) -> CS.CategoricalHyperparameter:
    """Return a categorical."""
    return CS.CategoricalHyperparameter(name, options)


def space_of(*parts: Definition | CS.conditions.ConditionLike) -> CS.ConfigurationSpace:
    """Return a space of hyperparameters and conditions."""
    space = CS.ConfigurationSpace()
    space.add(*parts)
    return space


def standardised(learner: BaseEstimator) -> Pipeline:
    """Standardise columns inside each fold: kernels, distances and neural networks depend on the scale."""
    return make_pipeline(StandardScaler(), learner)
