"""What a model sees of observations is finite, whatever came."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comitia.gp.outputs import MOST_VARIANCE, clipped, standardise, variances_of

BAD: dict[str, list[float]] = {
    "none": [],
    "one": [3.0],
    "constant": [0.1] * 5,
    "zeros": [0.0] * 3,
    "huge": [1e300, -1e300, 1e308, 0.0],
    "tiny": [1e-320, 2e-320, 0.0],
    "infinite": [np.inf, -np.inf, 1.0, 2.0, np.nan],
    "nothing finite": [np.inf, np.nan],
    "outlier": [0.1, 0.2, 0.15, 1e6],
    "almost constant": [1.0, 1.0 + 1e-15, 1.0],
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("outputs", [standardise, clipped])
@pytest.mark.filterwarnings("error")
def test_is_finite_and_small_whatever_came(outputs: Callable[[Any], Any], name: str) -> None:
    found = outputs(np.array(BAD[name]))
    assert found.shape == (len(BAD[name]),)
    assert np.isfinite(found).all()
    assert (np.abs(found) <= 10).all()


@pytest.mark.parametrize("outputs", [standardise, clipped])
def test_keeps_the_order(outputs: Callable[[Any], Any]) -> None:
    y = np.random.default_rng(0).exponential(size=50)
    order = np.argsort(y)
    assert (np.diff(outputs(y)[order]) >= 0).all()
    assert outputs(y).std() == pytest.approx(1)
    assert abs(outputs(y).mean()) < 1e-12


def test_an_outlier_does_not_flatten_what_lies_among_the_good() -> None:
    y = np.append(np.linspace(0, 1, 20), 1e6)
    assert np.ptp(standardise(y)[:20]) < 1e-4
    assert np.ptp(clipped(y)[:20]) > 1


@pytest.mark.parametrize("outputs", [clipped, standardise])
def test_known_variances_are_scaled_as_the_good_observations_are(outputs: Callable[[Any], Any]) -> None:
    y = np.append(np.random.default_rng(0).normal(3.0, 5.0, 40), 1e4)
    z = outputs(y)
    slope = (z[1] - z[0]) / (y[1] - y[0])
    np.testing.assert_allclose(variances_of(np.arange(41.0), y, z), np.arange(41.0) * slope**2, rtol=1e-6)


@pytest.mark.parametrize("y", [[1.0, 1.0, 1.0], [np.nan, np.inf, 1.0], [0.0, 1e-320, 0.0], [-1e300, 1e300, 0.0]])
def test_known_variances_are_finite_whatever_came(y: list[float]) -> None:
    numbers = np.array(y)
    found = variances_of(np.array([0.0, 1.0, 1e300]), numbers, clipped(numbers))
    assert (found >= 0).all()
    assert (found <= MOST_VARIANCE).all()
