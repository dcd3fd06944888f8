"""The default regressors mean the same on whatever scale the target is."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from comitia.learners.default import LEARNERS, default_space
from comitia.tables.cleaner import Columns

X, Y = load_diabetes(return_X_y=True)
NAMES = [name for name, learner in LEARNERS.items() if learner.standardises_target]


def predictions(name: str, y: np.ndarray) -> np.ndarray:
    default = default_space(Columns(X.shape[1]), "regression", len(y), include=[name])
    config = default.space.decode(default.space.encode([default.first[0]]))[0]
    return np.asarray(default.build(config, 0).fit(X[::2], y[::2]).predict(X[1::2]))


@pytest.mark.parametrize("name", NAMES)
def test_a_target_in_other_units_is_predicted_in_them(name: str) -> None:
    usual = predictions(name, Y)
    tiny = predictions(name, 1e-4 * Y - 3.0)
    assert np.corrcoef(usual, Y[1::2])[0, 1] > 0.5
    assert np.allclose((tiny + 3.0) / 1e-4, usual, rtol=1e-3, atol=1e-2 * Y.std())


def test_networks_and_kernel_machines_are_among_them() -> None:
    assert {"mlp", "svm"} <= set(NAMES)
