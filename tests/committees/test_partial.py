"""What a search learns from trials that were rejected."""

from typing import Any

import numpy as np
import pytest

from comitia import Observation, Predictions, Seeds
from comitia.committees.losses import SQUARED_ERROR, TEMPERED_BRIER
from comitia.committees.pool import pool_of
from comitia.committees.slots import SlotRules, committee_of
from comitia.goals import EnsembleLoss
from comitia.selections.committees import GreedyCommittee
from tests.committees.histories import SEARCH, Played, random_probabilities

SEEDS = Seeds(0)
RULES = SlotRules(TEMPERED_BRIER, TEMPERED_BRIER, n_slots=4, with_replacement=True)


def reject(game: Played, answer: Any, rows: Any) -> int:
    """Let a trial be left after it has judged some rows."""
    trial = game.ask()
    losses = np.ones(len(rows))
    game.kept[trial.number] = Predictions(np.asarray(rows), np.zeros(len(rows), dtype=np.intp), answer[rows], losses)
    game.history.finish(Observation(trial, "rejected", (1.0,)))
    return trial.number


def game_with(answers: Any, y: Any, n: int) -> Played:
    game = Played(y, 3)
    for answer in answers[:n]:
        game.tell(game.ask(), answer)
    return game


def test_with_all_rows_it_has_the_value_of_a_whole_trial() -> None:
    answers, y = random_probabilities(0, n_rows=60)
    whole, left = game_with(answers, y, 7), game_with(answers, y, 6)
    reject(left, answers[6], np.arange(60))
    values = EnsembleLoss(RULES).values(left.history, SEEDS)
    rest = committee_of(left.history, RULES).beside(left.history, len(left.history))
    assert rest is not None
    pool = pool_of(whole.history, TEMPERED_BRIER)
    assert values.now[6] == pytest.approx(float(rest.rest.losses_with(pool.answers[6:7])[0]), rel=1e-5)
    assert values.noise is not None
    assert values.noise.tolist() == [0.0] * 7


def test_with_some_rows_it_is_near_that_and_less_certain() -> None:
    answers, y = random_probabilities(1, n_rows=300)
    game = game_with(answers, y, 6)
    few, many = (reject(game, answers[6], np.arange(n)) for n in (60, 240))
    exact = reject(game, answers[6], np.arange(300))
    values = EnsembleLoss(RULES).values(game.history, SEEDS)
    assert values.noise is not None
    assert values.noise[few] > values.noise[many] > values.noise[exact] == 0.0
    for number in (few, many):
        assert abs(values.now[number] - values.now[exact]) < 4 * np.sqrt(values.noise[number])


def test_numbers_have_the_units_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(size=50), 100 * rng.normal(size=50)])
    rules = SlotRules(SQUARED_ERROR, SQUARED_ERROR, n_slots=3, with_replacement=True)
    game = Played(y, 0)
    for scale in (0.5, 0.8, 0.9):
        game.tell(game.ask(), scale * y)
    number = reject(game, 0.5 * y, np.arange(50))
    assert EnsembleLoss(rules).values(game.history, SEEDS).now[number] < 0.2


def test_earlier_values_are_those_of_that_time() -> None:
    answers, y = random_probabilities(2, n_models=9, n_rows=90)
    game, then = Played(y, 3), []
    for i, answer in enumerate(answers):
        if i in (3, 5, 8):
            reject(game, answer, np.arange(30))
        else:
            game.tell(game.ask(), answer)
        then.append(EnsembleLoss(RULES).values(game.history, SEEDS))
    last = then[-1]
    for n in (4, 6, 9):
        np.testing.assert_allclose(last.of_first(n), then[n - 1].now, rtol=1e-6)
        noise, noise_then = last.noise_of_first(n), then[n - 1].noise
        assert noise is not None
        assert noise_then is not None
        np.testing.assert_allclose(noise, noise_then, rtol=1e-6)


def test_it_is_never_a_member() -> None:
    answers, y = random_probabilities(3, n_rows=60)
    perfect = np.eye(3, dtype=np.float32)[y]
    game = game_with(answers, y, 5)
    best = reject(game, perfect, np.arange(60))
    for answer in answers[5:8]:
        game.tell(game.ask(), answer)
    assert best not in committee_of(game.history, RULES).members
    chosen = GreedyCommittee(loss=TEMPERED_BRIER).members(game.history, SEARCH, SEEDS)
    assert best not in {member.trial for member in chosen}
    assert game.history.best is not None
    assert game.history.best.number != best
    assert (game.history.n_rejected, game.history.n_failed) == (1, 0)
