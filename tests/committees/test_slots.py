"""Ensemble optimisation: the slots are a fold over the history."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia import History, Seeds
from comitia.committees.losses import C_BOUND, LOG_LOSS, SIGMOID, SQUARED_MARGIN
from comitia.committees.slots import Committee, SlotRules
from comitia.errors import ChoiceError
from comitia.goals import EnsembleLoss

from .histories import Played, played, random_answers, random_probabilities

SEEDS = Seeds(0)


def votes_loss(members: Any, y: Any, squared: bool) -> float:
    """The squared margin loss, or the error with ties as errors, counted by hand."""
    right = (members == y).sum(axis=0)
    if squared:
        return float(np.mean((1 - right / len(members)) ** 2))
    rival = np.max([(members == c).sum(axis=0) * (c != y) for c in range(3)], axis=0)
    return float(np.mean(right <= rival))


def by_hand(answers: Any, y: Any, m: int, repeats: bool) -> tuple[dict[int, int], list[float]]:
    """Alg. 4.1 of Lévesque 2018: the committee after all trials, and the losses of the pool for the next."""
    slots: dict[int, int] = {}
    for i in range(len(answers) + 1):
        j = i % m
        inside = [k for slot, k in slots.items() if slot != j]
        joined = [[*inside, *([k] if repeats or k not in inside else [])] for k in range(len(answers))]  # E_i and {h}
        squared = [votes_loss(answers[members], y, True) for members in joined]
        if i == len(answers):
            return slots, squared
        errors = [votes_loss(answers[members], y, False) for members in joined]
        offered = [k for k in range(i + 1) if repeats or k not in inside]
        slots[j] = min(offered, key=lambda k: (round(errors[k], 9), round(squared[k], 9), k))
    raise AssertionError


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(0, 14), st.integers(1, 5), st.booleans())
def test_the_slots_and_the_values_are_those_of_algorithm_4_1(seed: int, n: int, m: int, repeats: bool) -> None:
    answers, y = random_answers(seed, n_models=n + 1)
    slots, losses = by_hand(answers, y, m, repeats)
    history = played(answers, y, 3)
    rules = SlotRules(SQUARED_MARGIN, n_slots=m, with_replacement=repeats, inside="nothing")
    committee = Committee(rules)
    committee.update(history)
    assert {slot: k for slot, k in enumerate(committee.slots) if k >= 0} == slots
    assert EnsembleLoss(rules).values(history, SEEDS).now == pytest.approx(losses)


@pytest.mark.parametrize("inside", ["again", "out"])
def test_members_of_other_slots_count_again_or_are_left_out(inside: Any) -> None:
    answers, y = random_answers(7, n_models=10)
    history = played(answers, y, 3)
    rules = SlotRules(SQUARED_MARGIN, n_slots=4, inside=inside)
    committee = Committee(rules)
    committee.update(history)
    assert committee.slots == played_slots(answers, y, 4)  # how slots are filled is another question
    others = [k for slot, k in enumerate(committee.slots) if slot != 10 % 4]
    losses = [votes_loss(answers[[*others, k]], y, True) for k in range(10)]
    expected = [math.nan if inside == "out" and k in others else loss for k, loss in enumerate(losses)]
    assert EnsembleLoss(rules).values(history, SEEDS).now == pytest.approx(expected, nan_ok=True)


def test_where_all_are_members_none_is_left_out() -> None:
    answers, y = random_answers(7, n_models=3)
    rules = SlotRules(SQUARED_MARGIN, n_slots=12, inside="out")
    assert np.isfinite(EnsembleLoss(rules).values(played(answers, y, 3), SEEDS).now).all()


def test_rules_know_three_ways_to_score_a_member() -> None:
    with pytest.raises(ChoiceError, match="'inside' of SlotRules must be one of"):
        SlotRules(SQUARED_MARGIN, inside="twice")  # type: ignore[arg-type]


def played_slots(answers: Any, y: Any, m: int) -> tuple[int, ...]:
    slots = by_hand(answers, y, m, False)[0]
    return tuple(slots[slot] for slot in range(m))


@pytest.mark.parametrize("n_slots", [3, None])
def test_a_fresh_one_agrees_with_one_that_lived_through_late_and_failed_trials(n_slots: int | None) -> None:
    answers, y = random_probabilities(1, n_models=20)
    rules = SlotRules(LOG_LOSS, LOG_LOSS, n_slots)
    game, lived = Played(y, 3), Committee(rules)
    rng = np.random.default_rng(0)
    pending = [game.ask() for _ in range(4)]
    for answer in answers:
        trial = pending.pop(int(rng.integers(len(pending))))
        game.tell(trial, None if trial.number % 5 == 2 else answer)
        pending.append(game.ask())
        lived.update(game.history)
        fresh = Committee(rules)
        fresh.update(game.history)
        assert lived.slots == fresh.slots
        for old, new in zip(lived.losses(game.history), fresh.losses(game.history), strict=True):
            assert np.array_equal(old, new)


def test_trials_that_speak_of_more_rows_take_the_place_of_all_before() -> None:
    answers, y = random_answers(4, n_models=8)
    rules = SlotRules(SQUARED_MARGIN, n_slots=3)
    game, lived = Played(y, 3), Committee(rules)
    for number, answer in enumerate(answers):
        n = 20 if number < 5 else 30
        game.tell(game.ask(), answer[:n], rows=np.arange(n))
        lived.update(game.history)
        fresh = Committee(rules)
        fresh.update(game.history)
        assert lived.slots == fresh.slots
        assert np.isfinite(lived.losses(game.history)[1]).all()
    assert set(lived.members) == {5, 6, 7}


@pytest.mark.parametrize("loss", [SQUARED_MARGIN, C_BOUND, SIGMOID], ids=lambda loss: loss.name)
def test_the_committee_gets_better_than_its_best_member(loss: Any) -> None:
    answers, y = random_answers(3, n_models=40, n_rows=200)
    committee = Committee(SlotRules(loss))
    committee.update(played(answers, y, 3))
    assert len(committee.members) == 12
    alone = min((answer != y).mean() for answer in answers)
    assert votes_loss(answers[committee.members], y, False) < 0.8 * alone


def test_a_bad_beginning_is_left_behind() -> None:
    """Copies of the first model would have the majority for ever: no single slot changes a vote."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    first, common = (np.where(rng.random(300) < right, y, rng.integers(3, size=300)) for right in (0.2, 0.6))
    alike = [np.where(rng.random(300) < 0.9, common, rng.integers(3, size=300)) for _ in range(40)]
    models = [first, *alike]
    committee = Committee(SlotRules(SQUARED_MARGIN))
    committee.update(played(models, y, 3))
    assert len(set(committee.members)) == 12
    stuck = Committee(SlotRules(SQUARED_MARGIN, with_replacement=True))
    stuck.update(played(models, y, 3))
    errors = [votes_loss(np.array(models)[found.members], y, False) for found in (committee, stuck)]
    assert errors[0] < 0.7 * errors[1]
    assert errors[1] == pytest.approx((first != y).mean())


def test_a_committee_without_a_fixed_size_grows_while_that_helps_and_can_shrink() -> None:
    answers, y = random_probabilities(2, n_models=30, n_rows=200)
    rules = SlotRules(LOG_LOSS, LOG_LOSS, None)
    committee, game, lengths = Committee(rules), Played(y, 3), []
    for answer in answers:
        game.tell(game.ask(), answer)
        committee.update(game.history)
        lengths.append(len(committee.slots))
    assert lengths[0] == 1
    assert max(lengths) >= 4
    twin = Committee(rules)
    twin.update(played([answers[0]] * 10, y, 3))  # nobody helps anybody
    assert len(twin.slots) == 1


def test_the_first_values_are_those_of_single_models_and_failures_are_as_bad_as_the_worst() -> None:
    answers, y = random_answers(0, n_models=3)
    rules = SlotRules(SQUARED_MARGIN, n_slots=4)
    errors = (answers != y).mean(axis=1)
    one = EnsembleLoss(SlotRules(SQUARED_MARGIN, n_slots=1)).values(played(answers, y, 3), SEEDS).now
    assert one == pytest.approx(errors)  # the slot whose turn it is is always the only one
    values = EnsembleLoss(rules).values(played([answers[0], None, answers[1], answers[2]], y, 3), SEEDS).now
    assert values[1] == values.max()


def test_without_predictions_the_goal_is_the_mean_loss() -> None:
    history = History(1)
    assert EnsembleLoss(SlotRules(SQUARED_MARGIN)).values(history, SEEDS).now.tolist() == []


def test_a_class_that_no_model_predicts_and_identical_models_are_fine() -> None:
    y = np.array([0, 1, 2, 2])
    history = played([[0, 1, 1, 1]] * 3, y, 3)
    for loss in (SQUARED_MARGIN, C_BOUND, SIGMOID, LOG_LOSS):
        values = EnsembleLoss(SlotRules(loss)).values(history, SEEDS).now
        assert np.isfinite(values).all()
        assert np.ptp(values) == 0
