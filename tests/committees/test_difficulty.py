"""Trials that were judged on different rows become comparable."""

from typing import Any

import numpy as np
import pytest

from comitia import Seeds
from comitia.committees.difficulty import Table, corrected_means, row_losses_of
from comitia.goals import CorrectedLoss, MeanLoss
from tests.committees.histories import Played

SEEDS = Seeds(0)


def game_of(losses: Any, is_judged: Any, weights: Any = None) -> Played:
    """A history of numbers whose squared errors are these losses."""
    game = Played(np.zeros(losses.shape[1]), 0, weights=weights)
    for row, mask in zip(losses, is_judged, strict=True):
        rows = np.flatnonzero(mask)
        game.tell(game.ask(), np.sqrt(row[rows]), rows=rows)
    return game


def planted(seed: int, n: int = 20, n_rows: int = 120, noise: float = 0.0) -> tuple[Any, Any, Any]:
    """Losses that are a sum of trial and row, each trial judged on a fifth of the rows."""
    rng = np.random.default_rng(seed)
    a, d = rng.random(n) + 1.0, rng.exponential(size=n_rows)
    is_judged = rng.permuted(np.tile(np.arange(n_rows) < n_rows // 5, (n, 1)), axis=1)
    return a, a[:, None] + d + noise * rng.random((n, n_rows)), is_judged


def test_where_all_trials_share_the_rows_values_are_plain_means() -> None:
    losses = np.random.default_rng(0).exponential(size=(7, 31))
    values = CorrectedLoss().values(game_of(losses, np.ones_like(losses, dtype=bool)).history, SEEDS)
    np.testing.assert_allclose(values.now, losses.mean(axis=1), rtol=1e-9)
    assert values.noise is not None
    assert values.noise.tolist() == [0.0] * 7


@pytest.mark.parametrize("seed", range(5))
def test_planted_values_are_recovered_under_missing_cells(seed: int) -> None:
    a, losses, is_judged = planted(seed, n=60)
    found, _ = corrected_means(np.where(is_judged, losses, 0.0), is_judged, np.ones(losses.shape[1]))
    plain = np.where(is_judged, losses, 0.0).sum(axis=1) / is_judged.sum(axis=1)
    # up to a level that all have in common
    missed, missed_plain = np.std(found - a), np.std(plain - a)
    assert missed < 0.35 * missed_plain
    assert np.corrcoef(found, a)[0, 1] > np.corrcoef(plain, a)[0, 1]


def test_incompetent_trials_do_not_say_which_rows_are_hard() -> None:
    """Half of the trials have huge losses on rows of their own, as the log loss of trees has."""
    a, losses, is_judged = planted(7, n=40)
    rng = np.random.default_rng(0)
    losses[20:] += np.where(rng.random((20, losses.shape[1])) < 0.1, 30.0, 0.0)
    good = np.where(is_judged, losses, 0.0)
    found = corrected_means(good, is_judged, np.ones(losses.shape[1]))[0]
    alike = Table(good, is_judged, np.ones(losses.shape[1])).means(np.ones(40))[0]
    assert np.std((found - a)[:20]) < 0.5 * np.std((alike - a)[:20])


@pytest.mark.parametrize("seed", range(3))
def test_the_system_is_solved_as_least_squares_would(seed: int) -> None:
    """One equation for each judged cell, one of the ridge for each row; with blocks of rows and weights."""
    rng = np.random.default_rng(seed)
    _, losses, is_judged = planted(seed, n=6, n_rows=24, noise=1.0)
    is_judged[:, :8] = is_judged[:, :1]  # a block that the same trials judged
    is_judged[0, :8] = True
    weights = rng.random(24) + 0.5
    some = is_judged.any(axis=0)
    losses, is_judged, weights = losses[:, some], is_judged[:, some], weights[some]
    n, m = losses.shape
    i, r = np.nonzero(is_judged)
    cells = np.zeros((len(i), n + m))
    cells[np.arange(len(i)), i] = cells[np.arange(len(i)), n + r] = 1.0
    ridge = np.concatenate([np.zeros((m, n)), np.eye(m)], axis=1)
    precision = rng.random(n) + 0.1
    w = np.sqrt(np.concatenate([weights[r] * precision[i], weights]))[:, None]
    right = np.concatenate([losses[i, r], np.zeros(m)])
    expected = np.linalg.lstsq(w * np.concatenate([cells, ridge]), w[:, 0] * right, rcond=None)[0]
    a, d = Table(np.where(is_judged, losses, 0.0), is_judged, weights).means(precision)
    np.testing.assert_allclose(np.concatenate([a, d]), expected, rtol=1e-6, atol=1e-8)


def test_a_trial_on_fewer_rows_is_less_certain() -> None:
    rng = np.random.default_rng(1)
    losses = rng.exponential(size=(6, 100))
    is_judged = np.ones_like(losses, dtype=bool)
    is_judged[4, 50:] = is_judged[5, 10:] = False
    noise = CorrectedLoss().values(game_of(losses, is_judged).history, SEEDS).noise
    assert noise is not None
    assert noise[:4].tolist() == [0.0] * 4
    assert 0 < noise[4] < noise[5]
    assert noise[5] < 1.0


def test_values_follow_the_history_as_fresh_ones_would() -> None:
    _, losses, is_judged = planted(2, n=10, noise=0.5)
    game = Played(np.zeros(losses.shape[1]), 0)
    goal = CorrectedLoss()
    then = []
    for row, mask in zip(losses, is_judged, strict=True):
        rows = np.flatnonzero(mask)
        game.tell(game.ask(), np.sqrt(row[rows]), rows=rows)
        then.append(goal.values(game.history, SEEDS).now.copy())
    fresh = goal.values(game_of(losses, is_judged).history, SEEDS)
    np.testing.assert_array_equal(then[-1], fresh.now)
    for n in (4, 9, 4):
        assert fresh.earlier is not None
        np.testing.assert_allclose(fresh.earlier(n), then[n - 1], rtol=1e-12)
        np.testing.assert_array_equal(fresh.of_first(n), fresh.earlier(n))


def test_failed_trials_are_as_bad_as_the_worst_and_without_row_losses_it_is_the_mean_loss() -> None:
    game = game_of(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2), dtype=bool))
    game.tell(game.ask(), None)
    values = CorrectedLoss().values(game.history, SEEDS)
    assert values.now.tolist() == pytest.approx([1.5, 3.5, 3.5])
    game.kept.clear()
    history = game.history
    history._folds.clear()
    np.testing.assert_array_equal(CorrectedLoss().values(history, SEEDS).now, MeanLoss().values(history, SEEDS).now)


def test_rows_that_count_nothing_do_not_count() -> None:
    losses = np.array([[1.0, 9.0, 1.0], [2.0, 0.0, 2.0]])
    values = CorrectedLoss().values(
        game_of(losses, np.ones((2, 3), dtype=bool), weights=np.array([1.0, 0.0, 1.0])).history, SEEDS
    )
    assert values.now.tolist() == pytest.approx([1.0, 2.0])


def test_what_is_remembered_is_one_table_for_all() -> None:
    history = game_of(np.ones((2, 3)), np.ones((2, 3), dtype=bool)).history
    assert row_losses_of(history) is row_losses_of(history)
