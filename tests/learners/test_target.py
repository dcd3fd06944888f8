"""A transformed target: there and back, within the range of the fit, with weights."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia import AutoRegressor
from comitia.arrays import AnyArray
from comitia.evaluation.scoring import Task
from comitia.learners.default import default_space
from comitia.learners.target import TARGETS, SignedLog, TransformedTarget, scale_of
from comitia.tables.cleaner import Columns

TASKS: tuple[Task, ...] = ("classification", "regression")
EACH_TRANSFORMATION = pytest.mark.parametrize("by", TARGETS[1:])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
LONG_TAIL = np.exp(2 * X[:, 0] + 0.1 * RNG.normal(size=200))


@EACH_TRANSFORMATION
def test_a_target_comes_back(by: str) -> None:
    column = LONG_TAIL[:, None]
    scale = scale_of(by, 200).fit(column)
    np.testing.assert_allclose(scale.inverse_transform(scale.transform(column)), column, rtol=1e-6)


@EACH_TRANSFORMATION
def test_a_line_learns_a_target_with_a_long_tail(by: str) -> None:
    plain, changed = LinearRegression().fit(X, LONG_TAIL), TransformedTarget(LinearRegression(), by).fit(X, LONG_TAIL)
    errors = [np.median(np.abs(model.predict(X) - LONG_TAIL)) for model in (plain, changed)]
    assert errors[1] < errors[0] / 2


@EACH_TRANSFORMATION
def test_predictions_stay_within_the_targets_of_the_fit(by: str) -> None:
    model = TransformedTarget(LinearRegression(), by).fit(X, LONG_TAIL)
    told = model.predict(np.array([[1e9, 0.0], [-1e9, 0.0]]))
    np.testing.assert_allclose(told, [LONG_TAIL.max(), LONG_TAIL.min()])


@EACH_TRANSFORMATION
@pytest.mark.parametrize("y", [np.full(40, 3.0), np.zeros(40), -np.arange(40.0), np.r_[np.zeros(39), 1e6]])
def test_targets_that_are_constant_negative_or_mostly_zero(by: str, y: AnyArray) -> None:
    told = TransformedTarget(LinearRegression(), by).fit(X[:40], y).predict(X[:40])
    assert np.isfinite(told).all()
    assert told.min() >= y.min() - 1e-6
    assert told.max() <= y.max() * (1 + 1e-6) + 1e-6


def test_the_log_of_large_numbers_is_the_same_for_both_signs() -> None:
    y = np.array([-1e6, -1.0, 0.0, 1.0, 1e6])[:, None]
    told = SignedLog().fit(y).transform(y)[:, 0]
    np.testing.assert_allclose(told, -told[::-1])
    assert (np.diff(told) > 0).all()


def test_weights_reach_the_model_and_the_steps_before_it() -> None:
    weights = np.where(X[:, 0] > 0, 1.0, 0.0)
    model = TransformedTarget(make_pipeline(StandardScaler(), Ridge(1e-6)), "log").fit(X, LONG_TAIL, weights)
    np.testing.assert_allclose(model.model_[0].mean_, X[X[:, 0] > 0].mean(axis=0))


def test_the_transformation_is_a_hyperparameter_of_some_learners_for_regression_alone() -> None:
    spaces = {task: default_space(Columns(3), task, 100, include=["hist-boosting"]).space for task in TASKS}
    assert "hist-boosting:target" in spaces["regression"].configspace
    assert "hist-boosting:target" not in spaces["classification"].configspace
    others = default_space(Columns(3), "regression", 100, include=["linear", "lightgbm", "svm"])
    assert not [name for name in others.space.configspace if "target" in name]


def test_a_configuration_with_a_transformed_target_is_built_and_fitted() -> None:
    model = AutoRegressor(include=["hist-boosting"], n_trials=6, cv=2, n_jobs=1, estimate=False, random_state=0)
    model.fit(X[:80], LONG_TAIL[:80])
    assert all(observation.is_ok for observation in model.study_.history.observations())
    assert len({o.config["hist-boosting:target"] for o in model.study_.history.observations()}) > 1
