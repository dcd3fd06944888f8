"""Committees chosen on many resamples at once are those that `Greedy` chooses on each."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia.committees.greedy import Greedy
from comitia.committees.losses import ABSOLUTE_ERROR, BRIER, LOG_LOSS, SQUARED_ERROR, TEMPERED_BRIER, ZERO_ONE
from comitia.committees.resampled import Resampled, can_choose
from comitia.committees.tempering import temperature_of, tempered
from comitia.committees.votes import empty, make_rows


def pool_of_classes(rng: np.random.Generator, n_models: int, n: int, n_classes: int) -> tuple[Any, Any]:
    y = rng.integers(0, n_classes, n)
    skill = rng.random((n_models, 1, 1)) * 0.6
    p = rng.dirichlet(np.ones(n_classes), size=(n_models, n)) * (1 - skill) + skill * np.eye(n_classes)[y]
    return p.astype(np.float32), y


def draws(rng: np.random.Generator, m: int, n: int) -> Any:
    return rng.multinomial(n, np.full(n, 1 / n), size=m).astype(np.float64)


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(2, 30), st.integers(2, 4), st.sampled_from([None, 1, 3]))
def test_classes_are_chosen_as_by_greedy(seed: int, n_models: int, n: int, n_classes: int, most: int | None) -> None:
    rng = np.random.default_rng(seed)
    p, y = pool_of_classes(rng, n_models, n, n_classes)
    greedy, weights = Greedy(n_steps=12, most_members=most), draws(rng, 3, n)
    counts, temperatures = Resampled(greedy, TEMPERED_BRIER, p, y)(weights)
    for row, found, at in zip(weights, counts, temperatures, strict=True):
        kept = np.stack(
            [TEMPERED_BRIER.keep(tempered(one, float(t)), y, n_classes) for one, t in zip(p, at, strict=True)]
        )
        tally = empty(TEMPERED_BRIER, make_rows(y, n_classes, row))
        expected = greedy(tally, kept, rng)
        # single precision may break a tie in another way: then both committees are as good
        assert (found == expected).all() or np.isclose(
            tally.plus(np.repeat(kept, found, axis=0)).loss(), tally.plus(np.repeat(kept, expected, axis=0)).loss(),
            rtol=1e-5,
        )  # fmt: skip


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(2, 30))
def test_numbers_are_chosen_as_by_greedy(seed: int, n_models: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    values = y + rng.normal(size=(n_models, n)) * rng.random((n_models, 1))
    weights = draws(rng, 3, n)
    counts, temperatures = Resampled(Greedy(), SQUARED_ERROR, values, y)(weights)
    assert (temperatures == 1).all()
    kept = np.stack([SQUARED_ERROR.keep(one, y, 0) for one in values])
    for row, found in zip(weights, counts, strict=True):
        tally = empty(SQUARED_ERROR, make_rows(y, 0, row))
        expected = Greedy()(tally, kept, rng)
        assert np.isclose(
            tally.plus(np.repeat(kept, found, axis=0)).loss(),
            tally.plus(np.repeat(kept, expected, axis=0)).loss(),
            rtol=1e-4,
            atol=1e-9,
        )


def test_temperatures_are_near_those_of_the_rows_alone() -> None:
    rng = np.random.default_rng(0)
    p, y = pool_of_classes(rng, 6, 80, 3)
    weights = draws(rng, 4, 80)
    _, temperatures = Resampled(Greedy(), TEMPERED_BRIER, p, y)(weights)
    for row, found in zip(weights, temperatures, strict=True):
        expected = [temperature_of(one, y, row) for one in p]
        assert np.abs(np.log(found) - np.log(expected)).max() < 0.15  # half a step of the grid, and a bit


@pytest.mark.parametrize(
    ("greedy", "loss", "can"),
    [
        (Greedy(), TEMPERED_BRIER, True),
        (Greedy(most_members=8), BRIER, True),
        (Greedy(), SQUARED_ERROR, True),
        (Greedy(), ABSOLUTE_ERROR, False),
        (Greedy(), LOG_LOSS, False),
        (Greedy(), ZERO_ONE, False),
        (Greedy(n_bags=3), BRIER, False),
        (Greedy(per_second=0.1), BRIER, False),
        (Greedy(n_warm=3), BRIER, False),
    ],
)
def test_only_sums_of_squares_have_the_short_way(greedy: Greedy, loss: Any, can: bool) -> None:
    assert can_choose(greedy, loss) == can
