"""Bayesian optimisation: what it asks, and that nothing it is told can break it."""

from functools import partial
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from comitia import (
    METHODS,
    Config,
    FunctionEvaluator,
    History,
    Observation,
    Seeds,
    Serial,
    Space,
    Study,
    Trial,
    get_space,
)
from comitia.gp.acquisition import lower_confidence_bound, probability_of_improvement
from comitia.methods import Method, get_method
from comitia.optimizers import Bayes
from comitia.optimizers.bayes.forest import Forest
from comitia.optimizers.bayes.gaussian_process import GaussianProcess, last_checkpoint, n_settled
from comitia.optimizers.bayes.maximise import LocalSearch
from comitia.optimizers.bayes.per_second import share_left
from comitia.seams import Values
from tests.optimizers.observed import observed

MODELS = ["gp", "spearmint", "gp-cond-ls", "gp-laplace-ls", "smbo", "smac-rf", "bayes"]


def line() -> Space:
    return Space({"x": stats.uniform(0, 1)})


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "values",
    [
        [0.5] * 8,
        [0.5] * 7 + [1e6],
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1e300],
        [np.inf, 1.0, 2.0, -np.inf, 0.0, np.nan, 1.0, 1.0],
        [np.inf] * 8,
        [1e-320, 0.0, 0.0, 2e-320, 0.0, 0.0, 0.0, 0.0],
    ],
    ids=["constant", "outlier", "huge", "infinite", "nothing finite", "tiny"],
)
def test_no_numbers_break_it(name: str, values: list[float]) -> None:
    space = get_space("sklearn-cash").space
    X = space.sample(8, np.random.default_rng(0))
    X[3:6] = X[2]  # duplicates
    history = observed(space, X, np.zeros(8))
    asks = METHODS[name].make_optimizer(space).ask(history, Values(np.array(values)), 2, Seeds(0))
    assert len(asks) == 2
    assert all(np.isfinite(ask.x).all() for ask in asks)


@pytest.mark.parametrize("name", MODELS)
def test_one_observation_is_enough_to_go_on(name: str) -> None:
    space = line()
    optimizer: Any = METHODS[name].make_optimizer(space)
    optimizer._n_initial = 1
    asks = optimizer.ask(observed(space, np.array([[0.5]]), [0.3]), Values(np.array([0.3])), 3, Seeds(0))
    assert len({float(ask.x[0]) for ask in asks}) == 3


@pytest.mark.parametrize("name", [name for name in MODELS if name != "smac-rf"])  # one of its two is random
def test_suggestions_made_while_others_run_are_elsewhere(name: str) -> None:
    """Two valleys of the same depth: the second suggestion is in the other one, asked together or while one runs."""
    space = line()
    X = np.array([0.02, 0.1, 0.18, 0.33, 0.42, 0.5, 0.58, 0.67, 0.82, 0.9, 0.98])[:, None]  # symmetric
    y = np.cos(4 * np.pi * X[:, 0])
    optimizer = METHODS[name].make_optimizer(space)
    together = [float(ask.x[0]) for ask in optimizer.ask(observed(space, X, y), Values(y), 2, Seeds(0))]
    [first] = optimizer.ask(observed(space, X, y), Values(y), 1, Seeds(0))
    pending = observed(space, np.append(X, first.x[None], axis=0), np.append(y, 0.0), n_pending=1)
    [second] = optimizer.ask(pending, Values(y), 1, Seeds(0))
    for one, other in (together, (float(first.x[0]), float(second.x[0]))):
        assert sorted(round(x * 2 - 0.5) for x in (one, other)) == [0, 1]


def test_suggestions_together_still_look_where_it_is_good() -> None:
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    X = space.sample(30, np.random.default_rng(0))
    y = ((X - 0.3) ** 2).sum(axis=1)
    asks = METHODS["gp"].make_optimizer(space).ask(observed(space, X, y), Values(y), 3, Seeds(0))
    assert np.abs(asks[0].x - 0.3).max() < 0.1


@pytest.mark.parametrize("name", MODELS)
def test_finds_the_bottom_of_a_valley(name: str) -> None:
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    study = Study(space, name, seed=0)
    study.run(FunctionEvaluator(lambda c: (c["x"] - 0.3) ** 2 + (c["y"] - 0.6) ** 2), n_trials=25, executor=Serial())
    assert study.best_trial.loss < (0.02 if name == "smac-rf" else 1e-3)


def test_learns_which_branch_is_good() -> None:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b", "c"])
    reals = [CS.UniformFloatHyperparameter(f"{name}:x", 0.0, 1.0) for name in "abc"]
    definition.add(kind, *reals, *(CS.EqualsCondition(x, kind, x.name[0]) for x in reals))

    def loss(config: Any) -> float:
        return {"a": 0.5, "b": 0.1, "c": 0.8}[config["kind"]] + (config[f"{config['kind']}:x"] - 0.4) ** 2

    study = Study(Space(definition), "gp-cond-ls", seed=0).run(FunctionEvaluator(loss), n_trials=30, executor=Serial())
    late = [study.history.trial(k).config["kind"] for k in range(15, 30)]
    assert late.count("b") >= 10
    assert study.best_trial.loss < 0.101


@pytest.mark.parametrize("acquisition", [probability_of_improvement, lower_confidence_bound])
def test_other_acquisitions_are_one_argument(acquisition: Any) -> None:
    surrogate = partial(GaussianProcess, acquisition=acquisition)
    method = Method("own", partial(Bayes, surrogate=surrogate, maximiser=LocalSearch()), "Another acquisition.")
    study = Study(line(), method, seed=0)
    study.run(FunctionEvaluator(lambda c: (c["x"] - 0.3) ** 2), n_trials=12, executor=Serial())
    assert study.best_trial.loss < 1e-3


def test_the_incumbent_is_the_best_mean_not_the_luckiest_observation() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(np.linspace(0.1, 0.9, 5), 8)[:, None]
    y = rng.standard_normal(40)  # nothing but noise
    belief = GaussianProcess(line()).belief(X, Values(y), 40, Seeds(0))
    z = (y - y.mean()) / y.std()
    assert (belief.best > z.min() + 1).all()


def test_an_observation_with_more_known_noise_counts_for_less() -> None:
    X = np.linspace(0, 1, 15)[:, None]
    truth = np.cos(3 * X[:, 0])
    y = np.where(np.arange(15) == 3, truth - 1.5, truth)  # far too good
    noise = np.where(np.arange(15) == 3, 2.0, 0.0)
    plain, known = (
        GaussianProcess(line(), n_samples=0).belief(X, Values(y, noise=some), 15, Seeds(0)).mean(X)
        for some in (None, noise)
    )
    assert 1 - np.corrcoef(known, truth)[0, 1] < 0.1 * (1 - np.corrcoef(plain, truth)[0, 1])
    # no noise at all is as if nothing were said of it
    nothing = GaussianProcess(line(), n_samples=0).belief(X, Values(y, noise=0 * noise), 15, Seeds(0)).mean(X)
    np.testing.assert_allclose(nothing, plain)


def test_noise_goes_with_the_values_that_say_something() -> None:
    space = line()
    X, y = np.linspace(0, 1, 8)[:, None], np.array([0.3, np.nan, 0.1, 0.4, 0.2, np.nan, 0.5, 0.6])
    noise = np.where(np.isnan(y), 9.0, 0.01)
    asks = (
        METHODS["bayes"]
        .make_optimizer(space)
        .ask(observed(space, X, np.nan_to_num(y)), Values(y, noise=noise), 1, Seeds(0))
    )
    assert np.isfinite(asks[0].x).all()


def test_trials_that_end_late_do_not_make_theta_be_tuned_again() -> None:
    assert n_settled(100, 0) == 100
    assert n_settled(100, 30) == 70
    assert n_settled(100, 40) == 100  # too few would be left
    assert n_settled(40, 16) == 40
    assert n_settled(100, 7) == 100  # few workers have the time
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    X = space.sample(60, np.random.default_rng(0))
    y = np.sin(5 * X).sum(axis=1)
    late = 50
    process = GaussianProcess(space, n_samples=0)
    before = process.belief(np.delete(X, late, axis=0), Values(np.delete(y, late), n_pending=16), 80, Seeds(0))
    after = process.belief(X, Values(y, n_pending=16), 80, Seeds(0))
    assert np.array_equal(before.posterior.theta, after.posterior.theta)


def test_theta_is_tuned_at_checkpoints_that_depend_on_the_observations_alone() -> None:
    y = np.random.default_rng(0).standard_normal(500)
    points = [last_checkpoint(y[:n]) for n in range(1, 500)]
    assert points[:20] == list(range(1, 21))
    assert all(0.89 * n <= c <= n for n, c in enumerate(points, start=1))
    assert len(set(points)) < 60
    assert last_checkpoint(np.append(y[:250], 1e3)) == 251  # another scale: theta is found anew
    jumped = np.concatenate([y[:250], [1e3], y[251:]])
    assert len({last_checkpoint(jumped[:n]) for n in range(251, 275)}) <= 4  # once, not until the next tenth


def test_many_observations_are_tuned_on_a_part() -> None:
    space = line()
    X = space.sample(700, np.random.default_rng(0))
    y = np.sin(9 * X[:, 0])
    belief = GaussianProcess(space, n_samples=2).belief(X, Values(y), 700, Seeds(0))
    z = (y - y.mean()) / y.std()
    np.testing.assert_allclose(belief.mean(X[:50]), z[:50], atol=0.1)


def test_a_forest_has_less_variance_where_it_has_seen_more() -> None:
    space = line()
    X = np.concatenate([np.linspace(0, 0.4, 40), [0.7, 0.95]])[:, None]
    y = np.where(X[:, 0] < 0.5, X[:, 0], 3.0 + 5 * X[:, 0])
    belief = Forest(space).belief(X, Values(y), 42, Seeds(0))
    _, var = belief.mean_var(np.array([[0.2], [0.8]]))
    assert var[0] < var[1]


def kinds_asked(name: str, scale: float = 1.0) -> list[object]:
    """Return six suggestions in two branches of which nothing is known but that one is a hundred times as slow."""
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["slow", "fast"])
    reals = [CS.UniformFloatHyperparameter(f"{name}:x", 0.0, 1.0) for name in ("slow", "fast")]
    definition.add(kind, *reals, *(CS.EqualsCondition(x, kind, x.name.split(":")[0]) for x in reals))
    space = Space(definition)
    rng = np.random.default_rng(0)
    X = space.sample(16, rng)
    history = History(len(space), space=space)
    for number, (x, config) in enumerate(zip(X, space.decode(X), strict=True)):
        trial = Trial(number, 0, tuple(x.tolist()), config)
        loss = float(rng.random())
        history.append(trial)
        seconds = scale * (10.0 if config["kind"] == "slow" else 0.1)
        history.finish(Observation(trial, "ok", (loss,), seconds=seconds))
    asks = get_method(name).make_optimizer(space).ask(history, Values(history.losses.copy()), 6, Seeds(0))
    return [config["kind"] for config in space.decode(np.array([ask.x for ask in asks]))]


def test_improvement_per_second_prefers_what_is_fast() -> None:
    assert kinds_asked("bayes-per-second").count("fast") >= 5


def test_costs_cool_down_with_the_budget_that_is_left() -> None:
    """While nothing is spent it is improvement per second; once all of it is, seconds count no more."""
    spent = kinds_asked("bayes-cooled[seconds=60]", scale=1.0)  # more than a minute
    assert spent == kinds_asked("bayes")
    assert kinds_asked("bayes-cooled[seconds=60]", scale=1e-3).count("fast") >= 5
    assert kinds_asked("bayes-cooled[seconds=100000]") != spent


@given(st.lists(st.floats(0, 100), max_size=8), st.floats(1, 200))
def test_the_share_that_is_left_falls_from_one_to_nothing(seconds: list[float], budget: float) -> None:
    history, shares = History(1), [1.0]
    for number, took in enumerate(seconds):
        trial = Trial(number, 0, (0.5,), Config({"x": number}))
        history.append(trial)
        history.finish(Observation(trial, "ok", (0.5,), seconds=took))
        shares.append(share_left(history, budget))
    assert shares == sorted(shares, reverse=True)
    assert min(shares) >= 0.0
