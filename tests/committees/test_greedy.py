"""Greedy forward selection."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia.committees.greedy import Greedy, argmin_with_ties, tolerance
from comitia.committees.losses import LOG_LOSS, SQUARED_ERROR, ZERO_ONE
from comitia.committees.votes import empty, make_rows

from .histories import random_answers, random_probabilities


def log_pool(seed: int, n_models: int = 12) -> tuple[Any, Any]:
    p, y = random_probabilities(seed, n_models)
    return empty(LOG_LOSS, make_rows(y, 3)), np.stack([LOG_LOSS.keep(answer, y, 3) for answer in p])


def loss_of(no_members: Any, answers: Any, counts: Any) -> float:
    return float(no_members.plus(np.repeat(answers, counts, axis=0)).loss())


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_every_step_takes_the_best_and_the_best_prefix_is_returned(seed: int, n_models: int) -> None:
    no_members, answers = log_pool(seed, n_models)
    members: list[int] = []
    losses = []
    for _ in range(8):
        after = [float(no_members.plus(answers[[*members, i]]).loss()) for i in range(n_models)]
        members.append(int(np.argmin(after)))
        losses.append(min(after))
    expected = np.bincount(members[: int(np.argmin(losses)) + 1], minlength=n_models)
    assert Greedy(n_steps=8)(no_members, answers, rng()).tolist() == expected.tolist()


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_a_committee_is_never_worse_than_its_start(seed: int) -> None:
    """But for what counts as equal: sums are in single precision, and differ with the order of their parts."""
    no_members, answers = log_pool(seed)
    alone = no_members.losses_with(answers)
    three = np.argsort(alone)[:3]
    best = float(alone.min())
    assert loss_of(no_members, answers, Greedy()(no_members, answers, rng())) <= best + tolerance(best)
    warm = Greedy(n_warm=3)(no_members, answers, rng())
    assert (warm[three] > 0).all()
    start = float(no_members.plus(answers[three]).loss())
    assert loss_of(no_members, answers, warm) <= start + tolerance(start)


def test_equals_go_to_who_is_inside() -> None:
    """Beside 0, 2, 2 and 3 a vote of 1 does the same as another of 3; alone they are equal, and 1 is earlier."""
    answers = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]])
    no_members: Any = empty(ZERO_ONE, make_rows(np.zeros(4, dtype=int), 2))
    beside = no_members.plus(answers[[0, 2, 2, 3]])
    for tally in (beside, beside.smooth(), no_members):
        losses = tally.losses_with(answers)
        assert losses[1] == pytest.approx(losses[3])
    assert Greedy(n_steps=5, n_warm=2)(no_members, answers, rng()).tolist() == [1, 0, 2, 2]


def test_identical_models_are_one_member() -> None:
    no_members, answers = log_pool(0, 1)
    counts = Greedy()(no_members, np.repeat(answers, 5, axis=0), rng())
    assert counts.tolist() == [1, 0, 0, 0, 0]


def test_the_number_of_different_members_can_be_limited() -> None:
    no_members, answers = log_pool(1, 30)
    assert np.count_nonzero(Greedy()(no_members, answers, rng())) > 3
    for greedy in (Greedy(most_members=3), Greedy(most_members=3, n_bags=6), Greedy(most_members=3, n_warm=9)):
        assert 1 <= np.count_nonzero(greedy(no_members, answers, rng())) <= 3


def test_slow_models_stay_out_where_seconds_cost() -> None:
    no_members, answers = log_pool(2)
    best = int(np.argmax(Greedy()(no_members, answers, rng())))
    seconds = np.where(np.arange(len(answers)) == best, 5.0, 0.01)
    assert Greedy(per_second=1.0)(no_members, answers, rng(), seconds)[best] == 0
    assert Greedy(per_second=1e-9)(no_members, answers, rng(), seconds)[best] > 0
    unknown = np.where(np.arange(len(seconds)) == best, np.nan, seconds)  # as slow as most, not free
    as_most = np.where(np.arange(len(seconds)) == best, np.median(np.delete(seconds, best)), seconds)
    dear = Greedy(per_second=1.0)
    assert dear(no_members, answers, rng(), unknown).tolist() == dear(no_members, answers, rng(), as_most).tolist()


def test_bags_draw_from_their_stream_alone() -> None:
    no_members, answers = log_pool(3)
    greedy = Greedy(n_bags=5)
    assert greedy(no_members, answers, rng()).tolist() == greedy(no_members, answers, rng()).tolist()
    assert greedy(no_members, answers, rng()).tolist() != greedy(no_members, answers, np.random.default_rng(9)).tolist()


@pytest.mark.parametrize("greedy", [Greedy(), Greedy(n_warm=3), Greedy(n_bags=3), Greedy(n_steps=1)])
def test_a_pool_of_one_is_that_one(greedy: Greedy) -> None:
    no_members, answers = log_pool(0, 1)
    assert (greedy(no_members, answers, rng()) > 0).tolist() == [True]


def test_numbers_and_votes_work_alike() -> None:
    generator = rng()
    y = generator.normal(size=50)
    numbers = y + generator.normal(size=(6, 50))
    no_members: Any = empty(SQUARED_ERROR, make_rows(y, 0))
    kept = np.stack([SQUARED_ERROR.keep(answer, y, 0) for answer in numbers])
    assert loss_of(no_members, kept, Greedy()(no_members, kept, rng())) < 0.6 * no_members.losses_with(kept).min()
    codes, classes = random_answers(0, 15, 60)
    no_members = empty(ZERO_ONE, make_rows(classes, 3))
    assert loss_of(no_members, codes, Greedy()(no_members, codes, rng())) < no_members.losses_with(codes).min()


def test_what_is_no_number_is_never_the_least() -> None:
    assert argmin_with_ties(np.array([np.nan, 2.0, 1.0])).tolist() == [2]
    assert argmin_with_ties(np.array([1.0, 1.0, 2.0]), np.array([np.nan, 3.0, 0.0])).tolist() == [1]
    assert argmin_with_ties(np.array([np.nan, np.nan])).tolist() == [0, 1]
