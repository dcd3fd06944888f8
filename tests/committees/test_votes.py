"""Adding to a sum is counting again."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia.committees import votes
from comitia.committees.losses import (
    BRIER,
    C_BOUND,
    LOG_LOSS,
    MARGIN,
    SIGMOID,
    SQUARED_MARGIN,
    ZERO_ONE,
    VoteLoss,
)
from comitia.committees.votes import empty, make_rows

from .histories import random_answers, random_probabilities

VOTES: list[Any] = [ZERO_ONE, MARGIN, SQUARED_MARGIN, SIGMOID, C_BOUND]
AVERAGES: list[Any] = [LOG_LOSS, BRIER]
sizes = st.tuples(st.integers(0, 5), st.integers(1, 7), st.integers(2, 4), st.integers(0, 2**32 - 1))


def pool_for(loss: Any, n_models: int, n_rows: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    """What a loss keeps of models, and its rows."""
    make = random_answers if isinstance(loss, VoteLoss) else random_probabilities
    answers, y = make(seed, n_models, n_rows, n_classes)
    weights = np.random.default_rng(seed).integers(0, 3, size=n_rows).astype(float)
    return np.stack([loss.keep(answer, y, n_classes) for answer in answers]), make_rows(y, n_classes, weights)


@pytest.mark.parametrize("loss", VOTES + AVERAGES, ids=lambda loss: loss.name)
@given(sizes)
def test_the_losses_with_each_model_added_equal_a_recount(loss: Any, size: Any) -> None:
    n_members, *shape = size
    pool, rows = pool_for(loss, n_members + 3, *shape)
    tally = empty(loss, rows).plus(pool[:n_members])
    recounted = [float(empty(loss, rows).plus([*pool[:n_members], model]).loss()) for model in pool]
    assert tally.losses_with(pool) == pytest.approx(recounted, rel=1e-4, abs=1e-6)


@given(sizes)
def test_votes_are_counted_as_by_hand(size: Any) -> None:
    n_members, *shape = size
    pool, rows = pool_for(ZERO_ONE, n_members + 1, *shape)
    errors = []
    for row, y in enumerate(rows.y):
        count = Counter(pool[:, row].tolist())
        errors.append(float(count[y] <= max([count[c] for c in range(rows.n_classes) if c != y])))
    assert float(empty(ZERO_ONE, rows).plus(pool).loss()) == pytest.approx(float(errors @ rows.weights))


@pytest.mark.parametrize("loss", [SIGMOID, C_BOUND, LOG_LOSS], ids=lambda loss: loss.name)
@given(sizes, st.randoms())
def test_the_order_of_members_does_not_matter_and_who_leaves_is_forgotten(loss: Any, size: Any, random: Any) -> None:
    n_members, *shape = size
    pool, rows = pool_for(loss, n_members + 2, *shape)
    order = list(range(len(pool)))
    random.shuffle(order)
    tally = empty(loss, rows).plus(pool)
    assert float(tally.loss()) == pytest.approx(float(empty(loss, rows).plus(pool[order]).loss()))
    without = tally.plus(pool[:1], -1)
    assert without.size == tally.size - 1
    assert float(without.loss()) == pytest.approx(float(empty(loss, rows).plus(pool[1:]).loss()), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("loss", [ZERO_ONE, C_BOUND, LOG_LOSS, BRIER], ids=lambda loss: loss.name)
def test_a_pool_in_pieces_gives_the_same(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, rows = pool_for(loss, 9, 20, 3, 0)
    tally = empty(loss, rows).plus(pool[:2])
    whole = tally.losses_with(pool)
    monkeypatch.setattr(votes, "CHUNK", 130)
    assert tally.losses_with(pool) == pytest.approx(whole)


def test_rows_of_weight_zero_do_not_count() -> None:
    y, pool = np.array([0, 1, 1]), np.array([[0, 1, 0], [1, 1, 0]])
    rows = make_rows(y, 2, np.array([1.0, 1.0, 0.0]))
    assert empty(ZERO_ONE, rows).losses_with(pool).tolist() == [0.0, 0.5]


def test_weights_that_are_all_zero_are_as_good_as_none() -> None:
    assert make_rows(np.zeros(4), 2, np.zeros(4)).weights.tolist() == [0.25] * 4
