"""Networks of several seeds: their mean, targets on any scale, and tables with no row to spare."""

import warnings

import numpy as np
import pytest

from comitia.learners.perceptrons import Perceptrons

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))


@pytest.fixture(autouse=True)
def _quiet() -> None:
    warnings.simplefilter("ignore")  # convergence


def test_the_answer_is_the_mean_of_networks_that_differ() -> None:
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = Perceptrons(n_seeds=3, neurons=16).fit(X, y)
    told = np.array([one.predict_proba(X) for one in model.models_])
    assert not np.array_equal(told[0], told[1])
    np.testing.assert_allclose(model.predict_proba(X), told.mean(axis=0))


def test_numbers_of_any_size_are_learned() -> None:
    y = 1e6 + 1e5 * X[:, 0]
    told = Perceptrons(task="regression", neurons=32, n_seeds=2).fit(X, y).predict(X)
    assert np.corrcoef(told, y)[0, 1] > 0.95
    assert abs(told.mean() - y.mean()) < 2e4
    assert not hasattr(Perceptrons(task="regression"), "predict_proba")


def test_a_constant_target_and_a_class_of_one_row() -> None:
    told = Perceptrons(task="regression", neurons=8, n_seeds=1).fit(X, np.full(300, 5.0)).predict(X)
    assert np.isfinite(told).all()
    labels = np.r_[np.array(["a", "b"])[(X[1:, 0] > 0).astype(int)], ["alone"]]
    model = Perceptrons(neurons=8, n_seeds=2).fit(X, labels)
    assert model.classes_.tolist() == ["a", "alone", "b"]
    assert not model.models_[0].early_stopping
    assert Perceptrons(neurons=8, n_seeds=1).fit(X, X[:, 0] > 0).models_[0].early_stopping
