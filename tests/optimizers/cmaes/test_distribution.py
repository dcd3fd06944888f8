"""The distribution of CMA-ES: mirrors at the bounds, margins for bins, numbers that stay sound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from comitia import Space
from comitia.optimizers.cmaes.distribution import Distribution, margins, mirrored, places


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_mirrors_fold_everything_into_the_box(values: list[float]) -> None:
    folded = mirrored(np.array(values))
    assert ((folded >= 0) & (folded <= 1)).all()


def test_mirrors_reflect_at_both_bounds_and_leave_the_inside_alone() -> None:
    assert mirrored(np.array([0.25, -0.25, 1.25, 2.25, -1.75])).tolist() == [0.25, 0.25, 0.75, 0.25, 0.25]


def test_the_margin_leaves_a_bin_once_in_a_generation_of_nothing_but_bins() -> None:
    space = Space({"n": stats.randint(0, 10), "kind": list("abc"), "x": stats.uniform(0, 1), "one": [1]})
    found = dict(zip(space.names, margins(space, 6), strict=True))
    for name, width in (("n", 0.1), ("kind", 1 / 3)):
        assert 2 * stats.norm.sf(width / 2, scale=found[name]) == pytest.approx(1 / (6 * 4))
    assert found["x"] == found["one"] == 0


def test_places_are_different_ties_are_in_the_order_of_drawing_and_failures_last() -> None:
    assert places([0.5, math.inf, 0.1, 0.5, math.inf]) == [1, 3, 0, 2, 4]
    assert places([0.5] * 40) == list(range(40))  # beyond 16, numpy's default sort shuffles


@pytest.mark.parametrize("sigma", [1e-40, 1e40])
@pytest.mark.parametrize("variance", [1e-70, 1.0, 1e70])
def test_numbers_of_the_distribution_are_kept_far_from_overflow(sigma: float, variance: float) -> None:
    """Left alone, pycma's step size, axes and mean walk off where there is nothing but noise, until they overflow."""
    distribution = Distribution(np.full(2, 0.5), np.full(2, 0.3), np.zeros(2), 6)
    strategy = distribution._strategy
    strategy.sm *= variance
    strategy._updateBDfromSM(strategy.sm)
    strategy.sigma = sigma
    strategy.mean = strategy.mean + np.array([1e3, -3e3])
    expected = mirrored(distribution.mean)
    distribution._keep_sound()
    strategy = distribution._strategy
    assert mirrored(distribution.mean) == pytest.approx(expected)
    assert abs(strategy.mean).max() <= 2
    assert strategy.stds.max() <= 1.0001  # pycma begins with axes that differ a little
    assert all(1e-30 < factor < 1e30 for factor in (strategy.sigma, *strategy.D, *strategy.stds))
