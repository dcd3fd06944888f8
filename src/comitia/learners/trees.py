"""Forests and boosting: `random-forest` (Lévesque 2018, Table 2.1), `forest`, `boosting` and their regressors.

All but the first are those of Lacoste et al. 2014, §6.1.
"""

from functools import partial

import ConfigSpace as CS
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from comitia.evaluation.scoring import Task
from comitia.learners.learner_space import LearnerSpace, choice, integer, log_real, real, space_of
from comitia.space import Config

LACOSTE = "Lacoste et al. 2014, §6.1"
FORESTS: dict[Task, dict[str, type[BaseEstimator]]] = {
    "classification": {"breiman": RandomForestClassifier, "extra": ExtraTreesClassifier},
    "regression": {"breiman": RandomForestRegressor, "extra": ExtraTreesRegressor},
}


def _random_forest_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Take the "stopping criterion" {gini, entropy} of the thesis as scikit-learn's split `criterion`."""
    return space_of(
        integer("n_estimators", 2, 50),
        choice("criterion", ["gini", "entropy"]),
        integer("max_depth", 2, 150),
        integer("min_samples_split", 2, 30),
        integer("min_samples_leaf", 1, 30),
    )


def _build_random_forest(config: Config, random_state: int) -> RandomForestClassifier:
    return RandomForestClassifier(**config, random_state=random_state)


RANDOM_FOREST = LearnerSpace(
    name="random-forest",
    define=_random_forest_space,
    build=_build_random_forest,
    paper="Lévesque 2018, Table 2.1",
    summary="A random forest.",
)


def _forest_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Breiman's trees or extremely randomised ones, bootstrap or not, features per split in [1e-4, 1], linear."""
    return space_of(
        choice("kind", ["breiman", "extra"]), choice("bootstrap", [True, False]), real("max_features", 1e-4, 1.0)
    )


def _build_forest(task: Task, config: Config, random_state: int) -> BaseEstimator:
    """Build a forest of 100 trees; a ratio of features below one feature means one, as in scikit-learn."""
    learner = FORESTS[task][config["kind"]]
    return learner(100, bootstrap=config["bootstrap"], max_features=config["max_features"], random_state=random_state)


FOREST = LearnerSpace(
    name="forest",
    define=_forest_space,
    build=partial(_build_forest, "classification"),
    paper=LACOSTE,
    summary="100 trees of two kinds.",
)
FOREST_REGRESSION = LearnerSpace(
    name="forest-regression",
    define=_forest_space,
    build=partial(_build_forest, "regression"),
    task="regression",
    paper=LACOSTE,
    summary="The same for numbers.",
)


def _boosting_space(n_features: int | None) -> CS.ConfigurationSpace:
    return space_of(integer("max_depth", 1, 15), log_real("learning_rate", 1e-2, 1.0), real("max_features", 1e-3, 1.0))


def _build_boosting(config: Config, random_state: int) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(n_estimators=100, **config, random_state=random_state)


def _boosting_regression_space(n_features: int | None) -> CS.ConfigurationSpace:
    """As `boosting`, with all features at each split and a mixture of squared and absolute loss.

    scikit-learn has no such mixture. The nearest is Huber's loss, which is squared for small residuals and absolute for
    large ones; `squared_share` is the quantile of residuals below which it is squared (its `alpha`), so that 0 is the
    absolute loss and 1 the squared one, as in the paper.
    """
    return space_of(integer("max_depth", 1, 15), log_real("learning_rate", 1e-2, 1.0), real("squared_share", 0.0, 1.0))


def _build_boosting_regression(config: Config, random_state: int) -> GradientBoostingRegressor:
    """Build a regressor of 100 boosted trees; the ends of the mixture are the pure losses."""
    share = config["squared_share"]
    return GradientBoostingRegressor(
        n_estimators=100,
        max_depth=config["max_depth"],
        learning_rate=config["learning_rate"],
        loss="absolute_error" if share == 0 else "squared_error" if share == 1 else "huber",
        alpha=share if 0 < share < 1 else 0.9,
        random_state=random_state,
    )


BOOSTING = LearnerSpace(
    name="boosting",
    define=_boosting_space,
    build=_build_boosting,
    paper=LACOSTE,
    summary="Gradient boosting.",
)
BOOSTING_REGRESSION = LearnerSpace(
    name="boosting-regression",
    define=_boosting_regression_space,
    build=_build_boosting_regression,
    task="regression",
    paper=LACOSTE,
    summary="Gradient boosting with a loss between squared and absolute.",
)
