"""The pool: predictions by row, read once, whatever order trials come in."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from comitia import Config, Observation, Predictions, Trial
from comitia.committees.losses import LOG_LOSS, SQUARED_ERROR, SQUARED_MARGIN, ZERO_ONE
from comitia.committees.pool import by_row, loss_for, pool_of

from .histories import Played, played, random_answers, random_probabilities


def codes_of(history: Any) -> dict[int, list[int]]:
    pool = pool_of(history, ZERO_ONE)
    return {int(n): answer.tolist() for n, answer in zip(pool.numbers, pool.answers, strict=True)}


def test_answers_are_sorted_by_row_whatever_fold_they_came_from() -> None:
    game = Played([0, 1, 0, 1], 2)
    game.tell(game.ask(), [1, 0, 1, 0], rows=[3, 2, 1, 0])
    game.tell(game.ask(), [0, 1, 0, 1], rows=[2, 3, 0, 1])
    assert codes_of(game.history) == {0: [0, 1, 0, 1], 1: [0, 1, 0, 1]}


def test_each_trials_predictions_are_read_once_and_the_pool_grows_past_its_first_size() -> None:
    answers, y = random_answers(0, n_models=40)
    game = Played(y, 3)
    reads: list[int] = []

    def load(number: int) -> Predictions | None:
        reads.append(number)
        return game.kept.get(number)

    game.history._load = load
    for answer in answers:
        game.tell(game.ask(), answer)
        pool_of(game.history, ZERO_ONE)
    assert np.array_equal(pool_of(game.history, ZERO_ONE).answers, answers)
    assert sorted(reads)[2:] == list(range(1, 40))  # the first one twice: it decides which rows there are


def test_failed_trials_and_those_without_predictions_are_not_in_the_pool() -> None:
    game = Played([0, 1], 2)
    game.tell(game.ask(), None)
    game.tell(game.ask(), [0, 1])
    game.history.finish(Observation(game.ask(), "ok", (0.5,)))
    assert codes_of(game.history) == {1: [0, 1]}


def test_a_trial_that_judged_fewer_rows_is_left_out_in_any_order() -> None:
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        game = Played([0, 1, 0], 2)
        trials = [game.ask() for _ in range(3)]
        said = {0: ([0, 1], [0, 1]), 1: ([0, 1, 1], [0, 1, 2]), 2: ([1, 1, 1], [0, 1, 2])}
        for number in order:
            game.tell(trials[number], said[number][0], rows=said[number][1])
            codes_of(game.history)
        assert codes_of(game.history) == {1: [0, 1, 1], 2: [1, 1, 1]}


def test_a_trial_that_goes_on_with_another_takes_its_place() -> None:
    game = Played([0, 1, 0, 1], 2)
    game.tell(game.ask(), [0, 1], rows=[0, 1])
    assert codes_of(game.history) == {0: [0, 1]}
    trial = Trial(1, 0, (0.5,), Config({"a": 0}), continues=0, root=0)
    game.history.append(trial)
    game.tell(trial, [1, 1], rows=[2, 3])
    assert codes_of(game.history) == {1: [0, 1, 1, 1]}


def test_rows_that_were_judged_twice_count_once() -> None:
    rows = np.array([1, 0, 1, 0, 0])
    assert by_row(rows, np.array([2, 0, 1, 1, 1], dtype=np.int16), 3).tolist() == [1, 1]
    assert by_row(rows, np.array([2.0, 0.0, 1.0, 1.0, 2.0]), 0).tolist() == [1.0, 1.5]
    p = by_row(rows, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), 2)
    assert p.tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_a_hold_out_has_the_truth_and_the_weights_of_its_own_rows() -> None:
    game = Played([0, 1, 2, 1, 0], 3, rows=[1, 3, 4], weights=np.array([9.0, 1.0, 9.0, 0.0, 1.0]))
    game.tell(game.ask(), [1, 1, 2])
    pool = pool_of(game.history, ZERO_ONE)
    assert pool.rows is not None
    assert pool.rows.y.tolist() == [1, 1, 0]
    assert pool.rows.weights.tolist() == [0.5, 0.0, 0.5]


def test_seconds_are_those_of_a_thousand_rows() -> None:
    game = Played(np.zeros(50), 0)
    game.tell(game.ask(), np.zeros(50), seconds=0.1)
    assert pool_of(game.history, SQUARED_ERROR).seconds.tolist() == pytest.approx([2.0])


def test_the_loss_follows_from_what_was_kept() -> None:
    codes, y = random_answers(0, 2)
    p, _ = random_probabilities(0, 2)
    assert loss_for(played(codes, y, 3), None) is ZERO_ONE
    assert loss_for(played(p, y, 3), None) is LOG_LOSS
    assert loss_for(played(p, y, 3), SQUARED_MARGIN) is SQUARED_MARGIN
    assert loss_for(played([np.zeros(4)], np.zeros(4), 0), SQUARED_MARGIN) is SQUARED_ERROR
    assert loss_for(played([None], y, 3), None) is None


def test_predictions_and_the_truth_survive_being_written() -> None:
    game = Played([0, 1], 2, weights=np.array([1.0, 2.0]))
    game.tell(game.ask(), [0, 1])
    predictions = game.kept[0]
    again = Predictions.from_bytes(predictions.to_bytes())
    assert again.seconds is not None
    assert again.seconds.tolist() == [1.0]
    truth: Any = game.history.truth
    back = type(truth).from_bytes(truth.to_bytes())
    assert (back.y.tolist(), back.n_classes, back.weights.tolist()) == ([0, 1], 2, [1.0, 2.0])
    assert type(truth).from_bytes(replace(truth, weights=None).to_bytes()).weights is None
