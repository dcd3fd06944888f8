"""Losses of committees: the thesis' toy tables, its bound, and what happens at the edges."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import brier_score_loss, log_loss

from comitia.committees.losses import (
    BRIER,
    C_BOUND,
    LOG_LOSS,
    MARGIN,
    SIGMOID,
    SQUARED_ERROR,
    SQUARED_MARGIN,
    ZERO_ONE,
    sigmoid_slope,
)
from comitia.committees.votes import Votes, empty, make_rows

from .histories import random_probabilities

COLUMNS = [ZERO_ONE, MARGIN, SQUARED_MARGIN, SIGMOID, C_BOUND]
# Lévesque 2018, Tables 4.1 and 4.2; rows are zero-one losses of members. In Table 4.1 the sigmoid of E has the slope
# of another size.
TABLES: list[tuple[list[str], list[float | None], dict[str, list[float]]]] = [
    (
        ["011", "101", "110"],
        [1.00, 0.67, 0.44, None, 1.00],
        {"100": [1.00, 0.58, 0.35, 0.67, 0.67], "111": [1.00, 0.75, 0.56, 1.00, 1.00]},
    ),
    (
        ["11000", "00011", "00110", "10010"],
        [0.40, 0.40, 0.20, 0.30, 0.40],
        {
            "00101": [0.20, 0.40, 0.18, 0.24, 0.31],
            "11000": [0.40, 0.40, 0.19, 0.38, 0.38],
            "00011": [0.20, 0.40, 0.21, 0.24, 0.41],
        },
    ),
]


def codes(texts: list[str]) -> Any:
    """The true class of every row is 0, so that a loss of 1 is a vote for class 1."""
    return np.array([[int(letter) for letter in text] for text in texts])


@pytest.mark.parametrize(("members", "own", "added"), TABLES, ids=["Table 4.1", "Table 4.2"])
def test_the_thesis_toy_tables_come_out_to_two_decimals(members: Any, own: Any, added: Any) -> None:
    committee, candidates = codes(members), codes(list(added))
    rows = make_rows(np.zeros(committee.shape[1], dtype=int), 2)
    for column, loss in enumerate(COLUMNS):
        tally = Votes.empty(loss, rows).plus(committee)
        if own[column] is not None:
            assert float(tally.loss()) == pytest.approx(own[column], abs=0.005)
        expected = [values[column] for values in added.values()]
        assert tally.losses_with(candidates) == pytest.approx(expected, abs=0.005)


@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_twice_the_adapted_c_bound_bounds_the_error_for_non_negative_mean_margins(m: int, n: int, seed: int) -> None:
    wrong = (np.random.default_rng(seed).random((m, n)) < 0.4).astype(int)
    rows = make_rows(np.zeros(n, dtype=int), 2)
    margins = 1 - 2 * wrong.mean(axis=0)
    if margins.mean() >= 0:
        bound, error = (float(Votes.empty(loss, rows).plus(wrong).loss()) for loss in (C_BOUND, ZERO_ONE))
        assert error <= 2 * bound + 1e-12


def test_the_c_bound_is_a_half_where_the_margin_is_always_zero() -> None:
    rows = make_rows(np.zeros(4, dtype=int), 2)
    assert float(Votes.empty(C_BOUND, rows).plus(codes(["0011", "1100"])).loss()) == 0.5


@pytest.mark.parametrize(("size", "slope"), [(1, 20.72), (2, 20.72), (3, 20.72), (4, 13.81), (5, 11.49)])
def test_slopes_of_the_sigmoid_are_the_printed_ones(size: int, slope: float) -> None:
    assert sigmoid_slope(size) == pytest.approx(slope, abs=0.005)


@pytest.mark.parametrize("size", [3, 12, 100, 400])
def test_one_vote_changes_the_sigmoid_by_a_thousandth_where_it_is_flattest(size: int) -> None:
    a = sigmoid_slope(size)
    assert a > 1
    assert expit(a) - expit(a * (1 - 2 / size)) == pytest.approx(1e-3, rel=1e-6)


def test_large_committees_have_a_slope_too() -> None:
    assert 1 < sigmoid_slope(2000) < sigmoid_slope(400)


def test_the_multiclass_sigmoid_looks_at_the_strongest_rival() -> None:
    """Two votes for the true class against one each for two others is a lead of a quarter of the votes."""
    rows = make_rows(np.array([0]), 3)
    tally = Votes.empty(SIGMOID, rows).plus(np.array([[0], [0], [1], [2]]))
    assert float(tally.loss()) == pytest.approx(float(expit(-sigmoid_slope(4) / 4)))


@pytest.mark.parametrize("n_members", [1, 2, 5])
def test_losses_of_averages_are_scikit_learns(n_members: int) -> None:
    p, y = random_probabilities(0)
    mean = p[:n_members].mean(axis=0, dtype=float)
    mean /= mean.sum(axis=1, keepdims=True)
    rows = make_rows(y, 3)
    expected = {
        LOG_LOSS: log_loss(y, mean, labels=[0, 1, 2]),
        BRIER: sum(brier_score_loss(y == c, mean[:, c]) for c in range(3)),
    }
    for loss, value in expected.items():
        tally = empty(loss, rows).plus([loss.keep(answer, y, 3) for answer in p[:n_members]])
        assert float(tally.loss()) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e-170, 1e170])
def test_numbers_are_judged_by_the_squared_error_of_their_mean_in_units_of_the_variance(scale: float) -> None:
    rng = np.random.default_rng(0)
    y, answers = rng.normal(size=20), rng.normal(size=(3, 20))
    kept = [SQUARED_ERROR.keep(scale * answer, scale * y, 0) for answer in answers]
    expected = ((answers.mean(axis=0) - y) ** 2).mean() / y.var()
    assert float(empty(SQUARED_ERROR, make_rows(scale * y, 0)).plus(kept).loss()) == pytest.approx(expected, rel=1e-5)


def test_numbers_that_are_all_alike_have_the_unit_one() -> None:
    y = np.full(7, 0.1)
    assert SQUARED_ERROR.keep(y + 2.0, y, 0).tolist() == pytest.approx([2.0] * 7)


def test_votes_stand_for_probabilities_where_there_are_none() -> None:
    y, answers = np.array([0, 1, 2]), np.array([[0, 1, 1], [0, 0, 2]])
    for loss in (BRIER, LOG_LOSS):
        hard = [loss.keep(answer, y, 3) for answer in answers]
        soft = [loss.keep(np.eye(3)[answer], y, 3) for answer in answers]
        assert np.array_equal(hard, soft)
