"""Acquisition functions against Monte Carlo, and at the ends of what floats can hold."""

import numpy as np
import pytest

from comitia.gp.acquisition import (
    augmented_improvement,
    integrated,
    log_ei,
    log_ei_gradient,
    log_h,
    log_pi,
    negative_lcb,
)


@pytest.mark.parametrize(("mean", "var", "best"), [(0.0, 1.0, 0.0), (1.0, 0.25, 0.5), (-1.0, 2.0, -2.0)])
def test_expected_improvement_is_that_of_monte_carlo(mean: float, var: float, best: float) -> None:
    draws = np.random.default_rng(0).normal(mean, np.sqrt(var), 1_000_000)
    found = np.exp(log_ei(np.array([mean]), np.array([var]), best))[0]
    assert found == pytest.approx(np.maximum(best - draws, 0).mean(), rel=0.01)
    chance = np.exp(log_pi(np.array([mean]), np.array([var]), best)[0])
    assert chance == pytest.approx((draws < best).mean(), rel=0.01)
    bound = -negative_lcb(np.array([mean]), np.array([var]), best, kappa=1.96)[0]
    assert (draws < bound).mean() == pytest.approx(0.025, abs=0.001)


def test_log_ei_is_finite_increasing_and_of_finite_slope_everywhere() -> None:
    far = np.logspace(-8, 10, 4000)
    z = np.concatenate([-far[::-1], [0.0], far])
    values = log_h(z)
    assert np.isfinite(values).all()
    assert (np.diff(values) > 0).all()
    slopes = np.diff(values) / np.diff(z)
    assert np.isfinite(slopes).all()
    wide = slopes[np.diff(z) > 1e-5]  # differences of closer points are rounding
    assert (wide[1:] <= wide[:-1] * (1 + 1e-5) + 1e-5).all()  # log h is concave


def test_log_ei_of_what_is_not_a_number_is_not_a_number() -> None:
    np.testing.assert_array_equal(np.isnan(log_h(np.array([-1e4, np.nan, -10.0, 1.0, np.nan]))), [0, 1, 0, 0, 1])


@pytest.mark.parametrize("z", [-1000.0, -1.0])
def test_the_pieces_of_log_ei_meet(z: float) -> None:
    below, above = log_h(np.array([np.nextafter(z, -np.inf), np.nextafter(z, np.inf)]))
    assert below == pytest.approx(above, rel=1e-12)


def test_integrated_acquisition_is_the_mean_over_theta() -> None:
    values = np.array([[0.1, 2.0], [0.3, 4.0]])
    np.testing.assert_allclose(np.exp(integrated(np.log(values))), values.mean(axis=0))
    np.testing.assert_array_equal(integrated(np.log(values[:1])), np.log(values[0]))


@pytest.mark.parametrize("shift", [0.0, 5.0, 60.0])
def test_gradient_of_integrated_log_ei(shift: float) -> None:
    """Of a mean and a variance that are linear in x."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 1, 2)), rng.random((3, 1, 2))
    x = rng.random((1, 2))
    best = np.array([[0.1], [0.0], [-0.1]])

    def model(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (a * x).sum(axis=2) + shift, 0.5 + (b * x).sum(axis=2)

    mean, var = model(x)
    value, gradient = log_ei_gradient(mean, var, best, a, b)
    assert value[0] == pytest.approx(integrated(log_ei(mean, var, best))[0])
    for j in range(2):
        step = np.eye(2)[j] * 1e-6
        above, below = (integrated(log_ei(*model(x + s), best))[0] for s in (step, -step))
        assert gradient[0, j] == pytest.approx((above - below) / 2e-6, rel=1e-4)


def test_augmented_improvement_is_that_of_the_formula_and_finite_where_nothing_is_learned() -> None:
    mean, best, noise = np.zeros((1, 3)), np.array([[0.1]]), np.array([[0.04]])
    var = np.array([[0.04, 1.0, 1e-30]])
    expected = log_ei(mean, var, best)[0, :2] + np.log(1 - np.sqrt(0.04 / (var[0, :2] + 0.04)))
    found = augmented_improvement(mean, var, best, noise)
    np.testing.assert_allclose(found[:2], expected)
    assert np.isfinite(found).all()
    assert found[2] < found[0] < found[1]
    np.testing.assert_allclose(augmented_improvement(mean, var, best, 0 * noise), log_ei(mean, var, best)[0])
