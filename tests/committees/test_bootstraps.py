"""Agnostic Bayes: bootstraps of the validation rows (Lacoste et al. 2014, Alg. 2)."""

from typing import Any

import numpy as np
import pytest

from comitia import Seeds
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.losses import SINGLE_LOG_LOSS, SINGLE_ZERO_ONE
from comitia.goals import BootstrapRisk
from comitia.selections.committees import AgnosticBayes

from .histories import SEARCH, played, random_answers, random_probabilities

SEEDS = Seeds(0)


def drawn(n: int, j: int) -> Any:
    return SEEDS("bootstrap", j).integers(n, size=n)


def test_the_goal_is_the_mean_loss_on_the_bootstrap_whose_turn_it_is() -> None:
    answers, y = random_answers(0, n_models=7)
    rows = drawn(len(y), 7 % 4)
    values = BootstrapRisk(Bootstraps(4)).values(played(answers, y, 3), SEEDS).now
    assert values == pytest.approx((answers != y)[:, rows].mean(axis=1))


def test_the_best_model_of_each_bootstrap_is_a_member_and_duplicates_are_weights() -> None:
    answers, y = random_answers(1, n_models=9)
    best = [int((answers != y)[:, drawn(len(y), j)].mean(axis=1).argmin()) for j in range(25)]
    members = AgnosticBayes(Bootstraps(25)).members(played(answers, y, 3), SEARCH, SEEDS)
    assert {m.trial: m.weight for m in members} == {k: best.count(k) / 25 for k in set(best)}
    assert len(members) > 1
    capped = AgnosticBayes(Bootstraps(25), most_members=2).members(played(answers, y, 3), SEARCH, SEEDS)
    assert [m.trial for m in capped] == [m.trial for m in members[:2]]
    assert sum(m.weight for m in capped) == pytest.approx(1)


def test_regression_and_weights_work_alike() -> None:
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=40), rng.integers(0, 3, size=40).astype(float)
    answers = y + rng.normal(size=(5, 40))
    rows = drawn(40, 2)
    values = BootstrapRisk(Bootstraps(3)).values(played(answers, y, 0, weights=weights), SEEDS).now
    expected = [np.average((answer - y)[rows] ** 2, weights=weights[rows]) for answer in answers]
    assert values == pytest.approx(expected, rel=1e-5)


def test_bootstraps_may_be_judged_by_another_loss() -> None:
    p, y = random_probabilities(0, n_models=4)
    rows = drawn(len(y), 0)
    history = played(p, y, 3)
    log_losses = -np.log(p[:, np.arange(len(y)), y])
    errors = p.argmax(axis=2) != y
    for loss, expected in ((SINGLE_LOG_LOSS, log_losses), (SINGLE_ZERO_ONE, errors)):
        values = BootstrapRisk(Bootstraps(4, loss)).values(history, SEEDS).now
        assert values == pytest.approx(expected[:, rows].mean(axis=1), rel=1e-5)


def test_without_a_number_there_are_half_as_many_as_trials_and_all_get_their_turn() -> None:
    assert [Bootstraps().turn(k) for k in range(15)] == [0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7]
    answers, y = random_answers(0, n_models=9)
    assert Bootstraps().count(played(answers, y, 3)) == 4
    for budget in (30, 75, 150):  # a quarter of them, at least, in the second half or shortly before
        late = {Bootstraps().turn(k) for k in range(budget // 4, budget)}
        assert late >= set(range(budget // 4))


def test_failures_identical_models_and_rows_of_weight_zero_are_fine() -> None:
    answers, y = random_answers(0, n_models=1)
    weights = np.zeros(len(y))
    weights[0] = 1.0
    history = played([None, answers[0], answers[0]], y, 3, weights=weights)
    values = BootstrapRisk().values(history, SEEDS).now
    assert np.isfinite(values).all()
    assert values[0] == values.max()
    assert [m.trial for m in AgnosticBayes().members(history, SEARCH, SEEDS)] == [1]
