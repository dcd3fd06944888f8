"""The default space for one table: names of learners, users' own estimators, and what to try first."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import ConfigSpace as CS
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from comitia.arrays import Estimator
from comitia.errors import ChoiceError, UnknownName
from comitia.evaluation.scoring import Task
from comitia.learners.default.encoder import encoded, without_words
from comitia.learners.default.learner import TARGET, Learner, Values
from comitia.learners.default.learners import LEARNERS, ORDERED
from comitia.learners.default.portfolio import META, portfolio_for, portfolio_of
from comitia.learners.learner_space import LearnerSpace, space_of
from comitia.learners.target import STANDARD, TARGETS, TransformedTarget
from comitia.learners.word_directions import WordDirections
from comitia.space import Config, Space
from comitia.space.config import Value
from comitia.space.dicts import configspace_from_dict
from comitia.tables.cleaner import Columns

Tunable: TypeAlias = Space | CS.ConfigurationSpace | Mapping[str, Value]
Include: TypeAlias = Sequence[str | BaseEstimator | tuple[BaseEstimator, Tunable]]
"""Names of learners, estimators, and pairs of an estimator and its space."""


@dataclass(frozen=True)
class UserLearner:
    """An estimator of the user's and what to tune of it."""

    name: str
    estimator: BaseEstimator
    space: CS.ConfigurationSpace | None


@dataclass(frozen=True)
class Builder:
    """Turn a configuration of the default space into a pipeline; picklable."""

    columns: Columns
    task: Task
    users: tuple[UserLearner, ...] = ()
    added: tuple[Learner, ...] = ()
    """Those of `LEARNERS` that are not comitia's own: a worker process does not know them."""

    def __call__(self, config: Config, random_state: int) -> BaseEstimator:
        """Build the chosen learner with its family's preprocessing, behind what becomes of words if there are any."""
        if not self.columns.words:
            return self._built(config, random_state)
        model = replace(self, columns=without_words(self.columns))._built(config, random_state)
        return Pipeline([("words", WordDirections(self.columns.words)), ("model", model)])

    def _built(self, config: Config, random_state: int) -> BaseEstimator:
        name = config["learner"]
        values = {key.partition(":")[2]: value for key, value in config.items() if key != "learner"}
        for user in self.users:
            if user.name == name:
                model = _seeded(user.estimator, values, random_state)  # needs the preprocessing where columns are codes
                return encoded(model, self.columns, self.task) if self.columns.codes else model
        learner = next((added for added in self.added if added.name == name), None) or LEARNERS[name]
        return self._learner(learner, values, random_state)

    def _learner(self, learner: Learner, values: Values, random_state: int) -> BaseEstimator:
        """Return a learner that has a name, behind its preprocessing and for the target that it asks for."""
        target = values.get(TARGET, TARGETS[0]) if learner.transforms_target else TARGETS[0]
        own = {key: value for key, value in values.items() if not (key == TARGET and learner.transforms_target)}
        model = learner.make(own, self.task, random_state)
        if learner.prepare is not None:
            model = learner.prepare(model, own, self.columns, self.task)
        elif learner.needs_encoding:
            model = encoded(model, self.columns, self.task)
        if target == TARGETS[0] and self.task == "regression" and learner.standardises_target:
            target = STANDARD
        return model if target == TARGETS[0] else TransformedTarget(model, str(target))


def _seeded(estimator: BaseEstimator, values: Values, random_state: int) -> BaseEstimator:
    """Return a copy with these values, and with the seed if the user gave none."""
    model = clone(estimator).set_params(**values)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        model.set_params(random_state=random_state)
    return model


@dataclass(frozen=True)
class DefaultSpace:
    """The default space for one table: what to search, how to build, what to try first."""

    space: Space
    build: Builder
    first: tuple[Values, ...]
    """A portfolio for such tables, if there is one, and the defaults of all other learners, cheapest first."""

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of all that is searched, users' own included."""
        learner = self.space.configspace.get("learner")
        return tuple(learner.choices) if isinstance(learner, CS.CategoricalHyperparameter) else ()


def default_space(
    columns: Columns, task: Task, n_rows: int, *, include: Include | None = None, exclude: Sequence[str] = ()
) -> DefaultSpace:
    """Return the space for a table: of the default learners that suit it, or of those included, less those excluded."""
    for name in exclude:
        if name not in LEARNERS:
            raise UnknownName("learner to exclude", name, LEARNERS)
    users: list[UserLearner] = []
    if include is None:
        named = {name for name, learner in LEARNERS.items() if learner.suits(task, n_rows)}
    else:
        named, users = _names_and_estimators(include)
        for name in sorted(named):
            LEARNERS[name].check(task)
    names = [name for name in LEARNERS if name in named and name not in exclude]
    if not names and not users:
        raise ChoiceError("At least one learner must be left to search. Got an empty choice. Exclude fewer.")
    portfolio = portfolio_for(columns, task, n_rows, names)
    meta: dict[Hashable, str] | None = None if portfolio is None else {META: portfolio.name}
    choices = [*names, *(user.name for user in users)]
    learner = CS.CategoricalHyperparameter("learner", choices, meta=meta)
    definition = space_of(learner)
    parts = {name: space_of(*LEARNERS[name].definitions(task)) for name in names}
    parts |= {user.name: user.space for user in users if user.space is not None}
    for name, part in parts.items():
        parent = {"parent": learner, "value": name}
        definition.add_configuration_space(name, part, delimiter=":", parent_hyperparameter=parent)
    space = Space(definition)
    added = tuple(LEARNERS[name] for name in names if LEARNERS[name] not in ORDERED)
    return DefaultSpace(space, Builder(columns, task, tuple(users), added), first_trials(space))


def first_trials(space: Space) -> tuple[Values, ...]:
    """Return what to try first in a space of learners with names; nothing for another space.

    That is the portfolio that the space names, where it has these learners, and the default of every learner that is
    not in it, cheapest first.
    """
    learner = space.configspace.get("learner")
    if not isinstance(learner, CS.CategoricalHyperparameter):
        return ()
    ours = {name: _first_of(LEARNERS[name], space.configspace) for name in LEARNERS if name in learner.choices}
    portfolio = portfolio_of(learner)
    known = () if portfolio is None else portfolio.trials
    tried = {trial["learner"] for trial in known}
    return (
        *(trial for trial in known if ours.get(trial["learner"]) is not None),
        *(
            {"learner": name, **{f"{name}:{key}": value for key, value in values.items()}}
            for name, values in ours.items()
            if values is not None and name not in tried
        ),
    )


def _first_of(learner: Learner, definition: CS.ConfigurationSpace) -> Values | None:
    """Return a learner's default for the task whose ranges a space has; None where it is another of the same name."""
    theirs = {key: value for key, value in definition.items() if key.startswith(f"{learner.name}:")}
    for task in learner.tasks:
        ours = CS.ConfigurationSpace()
        ours.add_configuration_space(learner.name, space_of(*learner.definitions(task)), delimiter=":")
        if dict(ours) == theirs:
            return learner.first(task)
    return None


def _names_and_estimators(include: Include) -> tuple[set[str], list[UserLearner]]:
    """Tell names from users' estimators, which get the name of their class."""
    if isinstance(include, str) or not isinstance(include, Sequence) or not include:
        raise ChoiceError(f"'include' must be a non-empty list of names and estimators. Got {include!r} instead.")
    named: set[str] = set()
    users: list[UserLearner] = []
    for item in include:
        if isinstance(item, str):
            if item.lower() not in LEARNERS:
                raise UnknownName("learner to include", item, LEARNERS)
            named.add(item.lower())
            continue
        estimator, space = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if not isinstance(estimator, BaseEstimator | Estimator) or isinstance(estimator, type):
            raise ChoiceError(
                "'include' takes names, scikit-learn estimators, and pairs of an estimator and its space. "
                f"Got {item!r} instead."
            )
        taken = {user.name for user in users} | set(LEARNERS)
        name = type(estimator).__name__
        name = next(n for n in [name, *(f"{name}-{i}" for i in range(2, 1000))] if n not in taken)
        users.append(UserLearner(name, estimator, _definition(space)))
    return named, users


def _definition(space: Tunable | None) -> CS.ConfigurationSpace | None:
    if not space:
        return None
    if isinstance(space, Space):
        return space.configspace
    return space if isinstance(space, CS.ConfigurationSpace) else configspace_from_dict(space)


def _define(task: Task, n_features: int | None) -> CS.ConfigurationSpace:
    return default_space(Columns(n_features or 1), task, 1).space.configspace


def _ready_made(name: str, task: Task) -> LearnerSpace:
    """Return the default space as a ready-made one, for tables that are numbers already."""
    names = [learner.name for learner in ORDERED if task in learner.tasks and task in learner.default_for]
    more = [learner.name for learner in ORDERED if task in learner.tasks and task not in learner.default_for]
    summary = f"What the Auto classes search: {', '.join(names)}; where named: {', '.join(more)}."
    build = Builder(Columns(1), task)
    return LearnerSpace(
        name=name, define=partial(_define, task), build=build, task=task, paper="comitia", summary=summary
    )


CLASSIFICATION = _ready_made("default", "classification")
REGRESSION = _ready_made("default-regression", "regression")
