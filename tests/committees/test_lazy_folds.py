"""A trial is left once it is worse than what is there, beyond noise."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from comitia import Predictions, Trial
from comitia.committees.lazy_folds import CommitteeBar, LazyFolds
from comitia.committees.losses import TEMPERED_BRIER, ZERO_ONE
from comitia.committees.slots import SlotRules
from comitia.seams import Bar
from tests.committees.histories import Played, random_probabilities

RULES = SlotRules(TEMPERED_BRIER, TEMPERED_BRIER, n_slots=4, with_replacement=True)


def bar_of(lazy: LazyFolds, game: Played) -> Bar:
    trial = game.ask()
    found = lazy.bar(game.history, trial)
    assert found is not None
    copy: Bar = pickle.loads(pickle.dumps(found))
    return copy


def said(answer: Any, rows: Any, losses: Any = None) -> Predictions:
    return Predictions(np.asarray(rows), np.zeros(len(rows), dtype=np.intp), answer[rows], losses)


def numbers_game(seed: int = 0) -> tuple[Played, Any]:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=200)
    game = Played(y, 0)
    for noise in (1.0, 0.5, 2.0):
        game.tell(game.ask(), y + noise * rng.normal(size=200))
    return game, y


def test_one_that_is_clearly_worse_than_the_best_is_rejected_and_one_that_is_as_good_is_not() -> None:
    game, y = numbers_game()
    bar, rng, rows = bar_of(LazyFolds(), game), np.random.default_rng(1), np.arange(40, 80)
    for noise, expected in ((3.0, True), (0.5, False), (0.1, False)):
        answer = y + noise * rng.normal(size=200)
        assert bar.rejects(said(answer, rows, (answer - y)[rows] ** 2)) is expected


def test_equals_are_rejected_about_as_often_as_chance_says() -> None:
    """Two standard errors, one-sided: one in forty."""
    game, y = numbers_game()
    bar, rng = bar_of(LazyFolds(), game), np.random.default_rng(2)
    n = 0
    for _ in range(400):
        answer, rows = y + 0.5 * rng.normal(size=200), rng.choice(200, 60, replace=False)
        n += bar.rejects(said(answer, rows, (answer - y)[rows] ** 2))
    assert n < 400 / 10


def test_there_is_nothing_to_compare_with_at_first_or_without_losses_of_rows() -> None:
    game = Played(np.zeros(5), 0)
    assert LazyFolds().bar(game.history, game.ask()) is None
    assert LazyFolds(RULES).bar(game.history, game.history.trial(0)) is None
    game, y = numbers_game()
    trial = game.ask()
    assert not bar_of(LazyFolds(), game).rejects(said(y, np.arange(5)))  # a scorer judged it
    for certain in ({"repeats": 2}, {"folds": (1,)}, {"continues": 0}):
        assert LazyFolds().bar(game.history, replace(trial, **certain)) is None
    game.kept.update({number: replace(kept, losses=None) for number, kept in game.kept.items()})
    assert LazyFolds().bar(game.history, trial) is None


def test_rows_that_the_best_has_not_judged_are_left_out() -> None:
    game, _ = numbers_game()
    bar = bar_of(LazyFolds(), game)
    far = Predictions(np.array([500, 501]), np.zeros(2, dtype=np.intp), np.array([9.0, 9.0]), np.array([9.0, 9.0]))
    assert not bar.rejects(far)


def committee_game(seed: int = 0, n_rows: int = 300) -> tuple[Played, Any, Any]:
    answers, y = random_probabilities(seed, n_rows=n_rows)
    game = Played(y, 3)
    for answer in answers[:8]:
        game.tell(game.ask(), answer)
    return game, answers, y


def test_a_committee_rejects_what_is_no_use_to_it() -> None:
    game, _, y = committee_game()
    bar, rows = bar_of(LazyFolds(RULES), game), np.arange(120)
    rng = np.random.default_rng(5)
    nothing = rng.dirichlet(np.ones(3), size=300).astype(np.float32)
    assert bar.rejects(said(nothing, rows))
    good = np.full((300, 3), 0.1, dtype=np.float32)
    good[np.arange(300), y] = 0.8
    assert not bar.rejects(said(good, rows))


def test_a_committee_keeps_a_poor_model_that_knows_what_the_others_do_not() -> None:
    """Worse than the best by itself, but right where the committee is wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    is_easy = rng.random(400) < 0.8
    p = np.where(is_easy, 0.9, 0.2)[:, None]
    base = np.where(np.arange(2) == y[:, None], p, 1 - p).astype(np.float32)
    game = Played(y, 2)
    for _ in range(6):
        jitter = np.clip(base + 0.02 * rng.normal(size=(400, 1)) * [1, -1], 0.01, 0.99).astype(np.float32)
        game.tell(game.ask(), jitter)
    q = np.where(is_easy, 0.5, 0.95)[:, None]
    other = np.where(np.arange(2) == y[:, None], q, 1 - q).astype(np.float32)
    bar = bar_of(LazyFolds(RULES), game)
    assert isinstance(bar, CommitteeBar)
    assert not bar.rejects(said(other, np.arange(350)))
    hopeless = replace(bar, together=bar.together - 10.0)  # beside a committee that nothing improves
    assert hopeless.rejects(said(other, np.arange(350)))


def test_votes_reject_nothing() -> None:
    game, _, _ = committee_game()
    assert LazyFolds(SlotRules(ZERO_ONE)).bar(game.history, game.ask()) is None


@pytest.mark.parametrize("lazy", [LazyFolds(), LazyFolds(RULES)], ids=["best", "committee"])
def test_what_a_trial_meets_follows_from_the_history_alone(lazy: LazyFolds) -> None:
    bars = []
    for _ in range(2):
        game, answers, _ = committee_game(seed=3)
        bars.append(lazy.bar(game.history, Trial(8, 0, (0.5,), game.history.trial(0).config)))
    one, other = bars
    for n in (30, 100, 200):
        for answer in answers[8:]:
            found = said(answer, np.arange(n), np.ones(n))
            assert one is not None
            assert other is not None
            assert one.rejects(found) == other.rejects(found)
