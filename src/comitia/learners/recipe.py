"""What the ready-made spaces share: `LearnerSpace`, and short ways to write ranges."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import ConfigSpace as CS
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia.evaluation.fitting import Build
from comitia.evaluation.scoring import Task
from comitia.space import Space


@dataclass(frozen=True)
class LearnerSpace:
    """A space and the learner that its configurations describe."""

    name: str
    space: Space
    build: Build
    task: Task
    paper: str
    summary: str


@dataclass(frozen=True)
class Recipe:
    """A row of the registry: everything but the space, which may depend on the number of columns."""

    name: str
    define: Callable[[int | None], CS.ConfigurationSpace]
    build: Build
    task: Task
    paper: str
    summary: str

    def make(self, n_features: int | None) -> LearnerSpace:
        """Define the space for a table with so many columns."""
        return LearnerSpace(self.name, Space(self.define(n_features)), self.build, self.task, self.paper, self.summary)


def real(
    name: str, low: float, high: float, *, log: bool = False, components: int | None = None
) -> CS.UniformFloatHyperparameter:
    """Return a real on a linear scale; `components` are the values that PBIL chooses from."""
    meta: dict[Hashable, Any] | None = None if components is None else {"components": components}
    return CS.UniformFloatHyperparameter(name, low, high, log=log, meta=meta)


def log_real(name: str, low: float, high: float, *, components: int | None = None) -> CS.UniformFloatHyperparameter:
    """Return a real on a logarithmic scale."""
    return real(name, low, high, log=True, components=components)


def integer(name: str, low: int, high: int) -> CS.UniformIntegerHyperparameter:
    """Return an integer on a linear scale."""
    return CS.UniformIntegerHyperparameter(name, low, high)


def choice(name: str, options: list[Any]) -> CS.CategoricalHyperparameter:
    """Return a categorical."""
    return CS.CategoricalHyperparameter(name, options)


def space_of(*parts: Any) -> CS.ConfigurationSpace:
    """Return a space of hyperparameters and conditions."""
    space = CS.ConfigurationSpace()
    space.add(*parts)
    return space


def standardised(learner: Any) -> Pipeline:
    """Standardise columns inside each fold: kernels, distances and neural networks depend on the scale."""
    return make_pipeline(StandardScaler(), learner)
