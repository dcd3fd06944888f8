"""Random forests and extremely randomised trees."""

from __future__ import annotations

from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import integer, real
from comitia.space.hyperparameters import Definition

DEFAULT = {"max_features": 0.4, "min_samples_leaf": 1}


def make_extra(own: Values, task: Task, random_state: int) -> ExtraTreesClassifier | ExtraTreesRegressor:
    """Build 200 extremely randomised trees."""
    learner = ExtraTreesClassifier if task == "classification" else ExtraTreesRegressor
    return learner(200, **own, random_state=random_state)


def make_random(own: Values, task: Task, random_state: int) -> RandomForestClassifier | RandomForestRegressor:
    """Build a forest of 200 trees."""
    learner = RandomForestClassifier if task == "classification" else RandomForestRegressor
    return learner(200, **own, random_state=random_state)


def tuning() -> list[Definition]:
    """Return what is tuned of either."""
    return [real("max_features", 0.05, 1.0), integer("min_samples_leaf", 1, 30, log=True)]


EXTRA_TREES = Learner(
    name="extra-trees", make=make_extra, hyperparameters=tuning, default=DEFAULT, needs_encoding=False
)
RANDOM_FOREST = Learner(
    name="random-forest", make=make_random, hyperparameters=tuning, default=DEFAULT, needs_encoding=False
)
