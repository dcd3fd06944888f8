"""`Learner`: what the Auto classes know of each learner that has a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeAlias

from sklearn.base import BaseEstimator

from comitia.errors import ChoiceError
from comitia.evaluation.scoring import Task
from comitia.learners.learner_space import choice
from comitia.learners.target import TARGETS
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition
from comitia.tables.cleaner import Columns

Values: TypeAlias = Mapping[str, Value]
"""Values of a learner's hyperparameters, by their names without a prefix."""
TARGET = "target"
"""The hyperparameter that says what becomes of the target."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """One choice of the default space, or one that `include` may name."""

    name: str
    make: Callable[[Values, Task, int], BaseEstimator]
    """`make(values, task, random_state)` returns the unfitted estimator."""
    hyperparameters: Callable[[], list[Definition]]
    """Named without a prefix."""
    default: Values
    """What is tried first."""
    needs_encoding: bool = True
    """Whether it needs the preprocessing of `encoder`; without, it gets codes and missing values as they are."""
    prepare: Callable[[BaseEstimator, Values, Columns, Task], BaseEstimator] | None = None
    """`prepare(model, values, columns, task)` returns the model with what such columns need, instead of `encoder`."""
    most_rows: int | None = None
    """Left out of larger tables, where one fit takes minutes, unless it is named."""
    default_for: tuple[Task, ...] = ("classification", "regression")
    """For what it is searched where the user names none, if its package is installed; else it must be named, until it
    has earned its time."""
    tasks: tuple[Task, ...] = ("classification", "regression")
    """What it is for."""
    package: str | None = None
    """What must be installed: a package of the extra `boosters`."""
    transforms_target: bool = False
    """Whether, for numbers, the transformation of the target is one more hyperparameter (`TARGETS`)."""
    standardises_target: bool = False
    """Whether, for numbers, it is fitted to a target in standard deviations, on whose scale its hyperparameters have a
    meaning."""

    def definitions(self, task: Task) -> list[Definition]:
        """Return the hyperparameters for a task."""
        own = self.hyperparameters()
        return [*own, choice(TARGET, list(TARGETS))] if self._has_target(task) else own

    def first(self, task: Task) -> Values:
        """Return what is tried first for a task."""
        return {**self.default, TARGET: TARGETS[0]} if self._has_target(task) else self.default

    def _has_target(self, task: Task) -> bool:
        return self.transforms_target and task == "regression"

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs is there."""
        return self.package is None or find_spec(self.package) is not None

    def suits(self, task: Task, n_rows: int) -> bool:
        """Tell whether it is searched on such a table where the user names none."""
        return (
            task in self.default_for
            and task in self.tasks
            and self.is_installed
            and (self.most_rows is None or n_rows <= self.most_rows)
        )

    def check(self, task: Task) -> None:
        """Refuse to be named for another task, or where its package is not installed."""
        if task not in self.tasks:
            raise ChoiceError(
                f"The learners to include must be for {task}. Got {self.name!r}, which is for {self.tasks[0]}. "
                "Leave it out."
            )
        if not self.is_installed:
            raise ChoiceError(
                f"The learner {self.name!r} needs the package {self.package!r}, which is not installed. "
                "Install it: pip install 'comitia[boosters]'."
            )
