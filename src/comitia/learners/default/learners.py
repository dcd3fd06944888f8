"""The learners by name, and those of the default space: a new one is a function that makes it, and a `Learner`."""

from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

from comitia.evaluation.scoring import Task
from comitia.learners.boosters.light import MAX_DELTA_STEP
from comitia.learners.default.boosters import BOOSTERS
from comitia.learners.default.classical import CLASSICAL
from comitia.learners.default.encoder import beside_codes
from comitia.learners.default.learner import Learner, Values
from comitia.learners.default.wide import WIDE, with_scores
from comitia.learners.learner_space import choice, integer, log_real, real


def _linear(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """`C` is the inverse of the penalty for both."""
    if task == "classification":
        return LogisticRegression(**own, max_iter=500, random_state=random_state)
    return Ridge(alpha=1 / own["C"], random_state=random_state)


def _lightgbm(own: Values, task: Task, random_state: int) -> BaseEstimator:
    import lightgbm

    learner = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    step: dict[str, Any] = {"max_delta_step": MAX_DELTA_STEP} if task == "classification" else {}
    return learner(**own, **step, subsample_freq=1, n_jobs=1, verbose=-1, random_state=random_state)


FORESTS = {
    "extra-trees": {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor},
    "random-forest": {"classification": RandomForestClassifier, "regression": RandomForestRegressor},
}


def _forest(name: str, own: Values, task: Task, random_state: int) -> BaseEstimator:
    return FORESTS[name][task](200, **own, random_state=random_state)


def _radial_svm(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """Calibrated probabilities would cost five more fits: the ensemble squashes the margin instead."""
    return SVC(**own, random_state=random_state) if task == "classification" else SVR(**own)


def _nearest(own: Values, task: Task, random_state: int) -> BaseEstimator:
    return KNeighborsClassifier(**own) if task == "classification" else KNeighborsRegressor(**own)


def _perceptron(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """One to three hidden layers of equal size."""
    learner = MLPClassifier if task == "classification" else MLPRegressor
    return learner(
        hidden_layer_sizes=(own["neurons"],) * own["layers"],
        alpha=own["alpha"],
        learning_rate_init=own["learning_rate"],
        early_stopping=True,
        max_iter=100,
        random_state=random_state,
    )


BASIC = (
    Learner(
        name="linear",
        make=_linear,
        hyperparameters=lambda: [log_real("C", 1e-4, 1e3)],
        default={"C": 1.0},
    ),
    Learner(
        name="lightgbm",
        make=_lightgbm,
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
    ),
    *(
        Learner(
            name=name,
            make=partial(_forest, name),
            hyperparameters=lambda: [real("max_features", 0.05, 1.0), integer("min_samples_leaf", 1, 30, log=True)],
            default={"max_features": 0.4, "min_samples_leaf": 1},
            needs_encoding=False,
            default_for=("classification",) if name == "random-forest" else ("classification", "regression"),
        )
        for name in FORESTS
    ),
    Learner(
        name="svm",
        make=_radial_svm,
        hyperparameters=lambda: [log_real("C", 1e-2, 1e3), log_real("gamma", 1e-4, 1e1)],
        default={"C": 1.0, "gamma": 0.05},
        most_rows=5_000,
        standardises_target=True,
    ),
    Learner(
        name="knn",
        make=_nearest,
        hyperparameters=lambda: [integer("n_neighbors", 1, 50), choice("weights", ["uniform", "distance"])],
        default={"n_neighbors": 15, "weights": "distance"},
        most_rows=50_000,
    ),
    Learner(
        name="mlp",
        make=_perceptron,
        hyperparameters=lambda: [
            integer("layers", 1, 3),
            integer("neurons", 16, 256, log=True),
            log_real("alpha", 1e-6, 1.0),
            log_real("learning_rate", 1e-4, 1e-1),
        ],
        default={"layers": 2, "neurons": 128, "alpha": 1e-4, "learning_rate": 1e-3},
        standardises_target=True,
    ),
)
WITH_SCORES = tuple(
    with_scores(learner, default_for=("regression",) if learner.name == "extra-trees" else ())
    for learner in BASIC
    if learner.name in ("lightgbm", "extra-trees")
)
WITH_TARGETS = tuple(
    replace(learner, name=f"{learner.name}-encoded", prepare=beside_codes, default_for=())
    for learner in BASIC
    if learner.name in ("lightgbm", "extra-trees")
)
FIRST = (
    "linear", "lightgbm", "catboost", "extra-trees", "linear-wide", "mlp", "knn", "svm", "random-forest",
    "extra-trees-linear", "gp-regression",
)  # fmt: skip
"""The order in which defaults are tried: cheap ones, and those that are good on most tables, before costly ones."""
ORDERED = tuple(
    sorted(
        (*BASIC, *BOOSTERS, *CLASSICAL, *WIDE, *WITH_SCORES, *WITH_TARGETS),
        key=lambda learner: FIRST.index(learner.name) if learner.name in FIRST else len(FIRST),
    )
)
"""All of comitia's own."""
LEARNERS: dict[str, Learner] = {learner.name: learner for learner in ORDERED}
"""By name, in that order."""


def default_learners(task: Task) -> tuple[Learner, ...]:
    """Return those that the default space of a small table has here."""
    return tuple(learner for learner in ORDERED if learner.suits(task, 1))
