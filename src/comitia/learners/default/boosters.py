"""Boosters with early stopping and native categories: CatBoost is searched where it is installed, others by name."""

from functools import partial

from sklearn.base import BaseEstimator

from comitia.evaluation.scoring import Task
from comitia.learners.boosters.cat import CatBoost
from comitia.learners.boosters.hist import MOST_CODES, HistBoosting
from comitia.learners.boosters.light import LightGBM
from comitia.learners.boosters.xgb import XGBoost
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import integer, log_real, real
from comitia.space.hyperparameters import Definition
from comitia.tables.cleaner import Columns


def _made(kind: type[BaseEstimator], own: Values, task: Task, random_state: int) -> BaseEstimator:
    return kind(**own, task=task, random_state=random_state)


def _light(extra_trees: bool, own: Values, task: Task, random_state: int) -> BaseEstimator:
    return LightGBM(**own, extra_trees=extra_trees, task=task, random_state=random_state)


def _light_ranges() -> list[Definition]:
    return [
        log_real("learning_rate", 0.01, 0.3),
        integer("num_leaves", 4, 200, log=True),
        real("feature_fraction", 0.3, 1.0),
        real("bagging_fraction", 0.5, 1.0),
        integer("min_data_in_leaf", 2, 60, log=True),
        log_real("lambda_l1", 1e-3, 10.0),
        log_real("lambda_l2", 1e-3, 10.0),
    ]


def _with_codes(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    return model.set_params(codes=columns.codes)


def _with_few_codes(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    few = [code for code, n in zip(columns.codes, columns.n_levels, strict=True) if n <= MOST_CODES]
    return model.set_params(codes=tuple(few))


BOOSTERS = (
    Learner(
        name="hist-boosting",
        make=partial(_made, HistBoosting),
        hyperparameters=lambda: [
            log_real("learning_rate", 0.01, 0.3),
            integer("max_leaf_nodes", 4, 200, log=True),
            integer("min_samples_leaf", 2, 60, log=True),
            log_real("l2_regularization", 1e-4, 10.0),
            real("max_features", 0.3, 1.0),
        ],
        default={
            "learning_rate": 0.1,
            "max_leaf_nodes": 31,
            "min_samples_leaf": 20,
            "l2_regularization": 1e-4,
            "max_features": 1.0,
        },
        prepare=_with_few_codes,
        default_for=(),
        transforms_target=True,
    ),
    Learner(
        name="lightgbm-native",
        make=partial(_light, False),
        hyperparameters=_light_ranges,
        default={
            "learning_rate": 0.04,
            "num_leaves": 50,
            "feature_fraction": 1.0,
            "bagging_fraction": 0.75,
            "min_data_in_leaf": 40,
            "lambda_l1": 1e-3,
            "lambda_l2": 1e-3,
        },
        prepare=_with_codes,
        default_for=(),
        transforms_target=True,
        standardises_target=True,
    ),
    Learner(
        name="lightgbm-extra",
        make=partial(_light, True),
        hyperparameters=_light_ranges,
        default={
            "learning_rate": 0.018,
            "num_leaves": 39,
            "feature_fraction": 0.46,
            "bagging_fraction": 0.88,
            "min_data_in_leaf": 3,
            "lambda_l1": 0.24,
            "lambda_l2": 0.36,
        },
        prepare=_with_codes,
        default_for=(),
        transforms_target=True,
        standardises_target=True,
    ),
    Learner(
        name="xgboost",
        make=partial(_made, XGBoost),
        hyperparameters=lambda: [
            log_real("learning_rate", 0.01, 0.3),
            integer("max_depth", 2, 10),
            real("subsample", 0.5, 1.0),
            real("colsample_bylevel", 0.3, 1.0),
            log_real("min_child_weight", 0.1, 20.0),
            log_real("reg_alpha", 1e-3, 10.0),
            log_real("reg_lambda", 1e-2, 10.0),
        ],
        default={
            "learning_rate": 0.08,
            "max_depth": 6,
            "subsample": 0.65,
            "colsample_bylevel": 0.9,
            "min_child_weight": 1.0,
            "reg_alpha": 1e-3,
            "reg_lambda": 1.0,
        },
        prepare=_with_codes,
        default_for=(),
        package="xgboost",
        transforms_target=True,
    ),
    Learner(
        name="catboost",
        make=partial(_made, CatBoost),
        hyperparameters=lambda: [
            log_real("learning_rate", 0.02, 0.3),
            integer("depth", 3, 9),
            log_real("l2_leaf_reg", 1e-5, 30.0),
            log_real("random_strength", 0.1, 10.0),
        ],
        default={"learning_rate": 0.08, "depth": 6, "l2_leaf_reg": 3.0, "random_strength": 1.0},
        prepare=_with_codes,
        package="catboost",
        transforms_target=True,
    ),
)
