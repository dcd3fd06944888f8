"""The space that `AutoClassifier` and `AutoRegressor` search: a choice of learners with their tuning.

Every learner comes with the preprocessing of its family. Trees take codes and missing values as they are. Linear,
kernel, neighbour and neural learners get medians and missing indicators, standardised columns, one-hot categories up to
`MOST_ONE_HOT` levels and cross-fitted target encoding above; all of that is fitted inside each fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ConfigSpace as CS
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR

from comitia.errors import ChoiceError, UnknownName
from comitia.evaluation.scoring import Task
from comitia.learners.recipe import Recipe, integer, log_real, real, space_of
from comitia.space import Config, Space
from comitia.space.dicts import configspace_from_dict
from comitia.tables.cleaner import Columns

MOST_ONE_HOT = 15


def encoder(columns: Columns, task: Task) -> Any:
    """Return the preprocessing of linear, kernel, neighbour and neural learners."""
    if columns.is_sparse:
        return MaxAbsScaler()
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    if not columns.codes:
        return numbers
    few = [c for c, n in zip(columns.codes, columns.n_levels, strict=True) if n <= MOST_ONE_HOT]
    many = [c for c in columns.codes if c not in set(few)]
    rest = sorted(set(range(columns.n_columns)) - set(columns.codes))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    by_target = make_pipeline(
        TargetEncoder(target_type="auto" if task == "classification" else "continuous", random_state=0),
        StandardScaler(),
    )
    parts = [("numbers", numbers, rest), ("few", one_hot, few), ("many", by_target, many)]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


Make = Callable[[dict[str, Any], Task, int], Any]


@dataclass(frozen=True)
class Learner:
    """One choice of the default space."""

    name: str
    make: Make
    hyperparameters: Callable[[], list[Any]]
    """Named without a prefix."""
    default: Mapping[str, Any]
    needs_encoding: bool = True
    most_rows: int | None = None
    """Left out of larger tables, where one fit takes minutes."""


def _pick(task: Task, classifier: Any, regressor: Any) -> Any:
    return classifier if task == "classification" else regressor


def _lightgbm(own: dict[str, Any], task: Task, random_state: int) -> Any:
    import lightgbm

    learner = _pick(task, lightgbm.LGBMClassifier, lightgbm.LGBMRegressor)
    return learner(**own, subsample_freq=1, n_jobs=1, verbose=-1, random_state=random_state)


def _forest(own: dict[str, Any], task: Task, random_state: int) -> Any:
    return _pick(task, RandomForestClassifier, RandomForestRegressor)(200, **own, random_state=random_state)


def _extra(own: dict[str, Any], task: Task, random_state: int) -> Any:
    return _pick(task, ExtraTreesClassifier, ExtraTreesRegressor)(200, **own, random_state=random_state)


def _linear(own: dict[str, Any], task: Task, random_state: int) -> Any:
    if task == "classification":
        return LogisticRegression(**own, max_iter=500, random_state=random_state)
    return Ridge(alpha=1 / own["C"], random_state=random_state)


def _knn(own: dict[str, Any], task: Task, random_state: int) -> Any:
    return _pick(task, KNeighborsClassifier, KNeighborsRegressor)(**own)


def _svm(own: dict[str, Any], task: Task, random_state: int) -> Any:
    # calibrated probabilities cost five more fits: the ensemble squashes the margin instead
    return SVC(**own, random_state=random_state) if task == "classification" else SVR(**own)


def _mlp(own: dict[str, Any], task: Task, random_state: int) -> Any:
    layers = (own["neurons"],) * own["layers"]
    return _pick(task, MLPClassifier, MLPRegressor)(
        hidden_layer_sizes=layers,
        alpha=own["alpha"],
        learning_rate_init=own["learning_rate"],
        early_stopping=True,
        max_iter=100,
        random_state=random_state,
    )


def _forest_tuning() -> list[Any]:
    return [real("max_features", 0.05, 1.0), CS.UniformIntegerHyperparameter("min_samples_leaf", 1, 30, log=True)]


FOREST_DEFAULT = {"max_features": 0.4, "min_samples_leaf": 1}

LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in [
        Learner(
            "linear",
            _linear,
            lambda: [log_real("C", 1e-4, 1e3)],
            {"C": 1.0},
        ),
        Learner(
            "lightgbm",
            _lightgbm,
            lambda: [
                CS.UniformIntegerHyperparameter("n_estimators", 30, 600, log=True),
                CS.UniformIntegerHyperparameter("num_leaves", 4, 200, log=True),
                log_real("learning_rate", 0.01, 0.3),
                real("subsample", 0.5, 1.0),
                real("colsample_bytree", 0.3, 1.0),
                CS.UniformIntegerHyperparameter("min_child_samples", 2, 60, log=True),
                log_real("reg_lambda", 1e-3, 10.0),
            ],
            {
                "n_estimators": 100,
                "num_leaves": 31,
                "learning_rate": 0.1,
                "subsample": 1.0,
                "colsample_bytree": 1.0,
                "min_child_samples": 20,
                "reg_lambda": 1e-3,
            },
            needs_encoding=False,
        ),
        Learner(
            "extra-trees",
            _extra,
            _forest_tuning,
            FOREST_DEFAULT,
            needs_encoding=False,
        ),
        Learner(
            "random-forest",
            _forest,
            _forest_tuning,
            FOREST_DEFAULT,
            needs_encoding=False,
        ),
        Learner(
            "svm",
            _svm,
            lambda: [log_real("C", 1e-2, 1e3), log_real("gamma", 1e-4, 1e1)],
            {"C": 1.0, "gamma": 0.05},
            most_rows=5_000,
        ),
        Learner(
            "knn",
            _knn,
            lambda: [integer("n_neighbors", 1, 50), CS.CategoricalHyperparameter("weights", ["uniform", "distance"])],
            {"n_neighbors": 15, "weights": "distance"},
            most_rows=50_000,
        ),
        Learner(
            "mlp",
            _mlp,
            lambda: [
                integer("layers", 1, 3),
                CS.UniformIntegerHyperparameter("neurons", 16, 256, log=True),
                log_real("alpha", 1e-6, 1.0),
                log_real("learning_rate", 1e-4, 1e-1),
            ],
            {"layers": 2, "neurons": 128, "alpha": 1e-4, "learning_rate": 1e-3},
        ),
    ]
}


@dataclass(frozen=True)
class Own:
    """A learner of the user's: an estimator and what to tune of it."""

    name: str
    estimator: Any
    space: CS.ConfigurationSpace | None


@dataclass(frozen=True)
class Builder:
    """Turn a configuration of the default space into a pipeline; picklable."""

    columns: Columns
    task: Task
    own: tuple[Own, ...] = ()

    def __call__(self, config: Config, random_state: int) -> Any:
        """Build the chosen learner with its family's preprocessing."""
        name = config["learner"]
        values = {key.partition(":")[2]: value for key, value in config.items() if key != "learner"}
        for own in self.own:
            if own.name == name:
                return self._build_own(own, values, random_state)
        learner = LEARNERS[name]
        model = learner.make(values, self.task, random_state)
        if not learner.needs_encoding:
            return model
        return Pipeline([("encode", encoder(self.columns, self.task)), ("learner", model)])

    def _build_own(self, own: Own, values: dict[str, Any], random_state: int) -> Any:
        model = clone(own.estimator).set_params(**values)
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=random_state)
        if self.columns.codes:  # their estimator has not been told about codes
            return Pipeline([("encode", encoder(self.columns, self.task)), ("learner", model)])
        return model


@dataclass(frozen=True)
class DefaultSpace:
    """The default space for one table: what to search, how to build, what to try first."""

    space: Space
    build: Builder
    first: tuple[dict[str, Any], ...]
    """The defaults of every learner, cheapest first."""


def default_space(
    columns: Columns,
    task: Task,
    n_rows: int,
    *,
    include: Sequence[Any] | None = None,
    exclude: Sequence[str] = (),
) -> DefaultSpace:
    """Return the space for a table.

    Parameters
    ----------
    include : sequence, optional
        Names of learners, scikit-learn estimators, or pairs of an estimator and its space.
    exclude : sequence of str
        Names of learners to leave out.
    """
    for name in exclude:
        if name not in LEARNERS:
            raise UnknownName("learner to exclude", name, LEARNERS)
    named, own = _sorted_out(include)
    names = [n for n in LEARNERS if n not in exclude and (named is None or n in named)]
    if named is None and include is None:
        names = [n for n in names if n_rows <= (LEARNERS[n].most_rows or n_rows)]
    if not names and not own:
        raise ChoiceError("At least one learner must be left to search. Got an empty choice. Exclude fewer.")
    choice = CS.CategoricalHyperparameter("learner", [*names, *(o.name for o in own)])
    definition = space_of(choice)
    for name in names:
        _add(definition, choice, name, LEARNERS[name].hyperparameters())
    for o in own:
        if o.space is not None:
            definition.add_configuration_space(
                o.name, o.space, delimiter=":", parent_hyperparameter={"parent": choice, "value": o.name}
            )
    first = [
        {"learner": name, **{f"{name}:{key}": value for key, value in LEARNERS[name].default.items()}} for name in names
    ]
    return DefaultSpace(Space(definition), Builder(columns, task, tuple(own)), tuple(first))


def _add(definition: CS.ConfigurationSpace, choice: Any, name: str, hyperparameters: list[Any]) -> None:
    part = CS.ConfigurationSpace()
    part.add(*hyperparameters)
    definition.add_configuration_space(
        name, part, delimiter=":", parent_hyperparameter={"parent": choice, "value": name}
    )


def _sorted_out(include: Sequence[Any] | None) -> tuple[set[str] | None, list[Own]]:
    """Tell names from estimators of the user's."""
    if include is None:
        return None, []
    if isinstance(include, str) or not isinstance(include, Sequence) or not include:
        raise ChoiceError(f"'include' must be a non-empty list of names and estimators. Got {include!r} instead.")
    named: set[str] = set()
    own: list[Own] = []
    for item in include:
        if isinstance(item, str):
            if item.lower() not in LEARNERS:
                raise UnknownName("learner to include", item, LEARNERS)
            named.add(item.lower())
            continue
        estimator, space = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if not (isinstance(estimator, BaseEstimator) or hasattr(estimator, "fit")) or isinstance(estimator, type):
            raise ChoiceError(
                "'include' takes names, scikit-learn estimators, and pairs of an estimator and its space. "
                f"Got {item!r} instead."
            )
        taken = {o.name for o in own} | set(LEARNERS)
        name = type(estimator).__name__
        name = next(n for n in [name, *(f"{name}-{i}" for i in range(2, 1000))] if n not in taken)
        own.append(Own(name, estimator, _definition(space)))
    return named, own


def _definition(space: Any) -> CS.ConfigurationSpace | None:
    if not space:
        return None
    if isinstance(space, Space):
        return space.configspace
    return space if isinstance(space, CS.ConfigurationSpace) else configspace_from_dict(space)


def _recipe(name: str, task: Task) -> Recipe:
    """Return the default space as a row of the registry, for tables that are numbers already."""

    def define(n_features: int | None) -> CS.ConfigurationSpace:
        return default_space(Columns(n_features or 1), task, 1).space.configspace

    summary = f"What the Auto classes search: {', '.join(LEARNERS)}."
    return Recipe(name, define, Builder(Columns(1), task), task, "comitia", summary)


RECIPES = [_recipe("default", "classification"), _recipe("default-regression", "regression")]
