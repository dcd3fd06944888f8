"""LightGBM's boosted trees."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import integer, log_real, real


def make(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """Build a quiet one that uses one thread."""
    import lightgbm

    learner = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    return learner(**own, subsample_freq=1, n_jobs=1, verbose=-1, random_state=random_state)


LIGHTGBM = Learner(
    name="lightgbm",
    make=make,
    hyperparameters=lambda: [
        integer("n_estimators", 30, 600, log=True),
        integer("num_leaves", 4, 200, log=True),
        log_real("learning_rate", 0.01, 0.3),
        real("subsample", 0.5, 1.0),
        real("colsample_bytree", 0.3, 1.0),
        integer("min_child_samples", 2, 60, log=True),
        log_real("reg_lambda", 1e-3, 10.0),
    ],
    default={
        "n_estimators": 100,
        "num_leaves": 31,
        "learning_rate": 0.1,
        "subsample": 1.0,
        "colsample_bytree": 1.0,
        "min_child_samples": 20,
        "reg_lambda": 1e-3,
    },
    needs_encoding=False,
)
