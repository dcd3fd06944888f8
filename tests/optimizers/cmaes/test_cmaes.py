"""CMA-ES: how its distribution searches a bounded space with choices, and that the history is all it remembers."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from scipy import stats

from comitia import (
    METHODS,
    FunctionEvaluator,
    History,
    Observation,
    Seeds,
    Serial,
    Space,
    Study,
    Trial,
    get_space,
    minimize,
)
from comitia.errors import ChoiceError
from comitia.goals import MeanLoss
from comitia.methods import Method
from comitia.optimizers.cmaes.cmaes import CMAES, Evolution
from comitia.optimizers.cmaes.distribution import CONVERGED, Distribution
from comitia.seams import Values

PLANE = {"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)}


def bowl(config: Any) -> float:
    return float((config["x"] - 0.3) ** 2 + 10 * (config["y"] - 0.8) ** 2)


def points_of(study: Study) -> list[tuple[float, ...]]:
    return [study.history.trial(number).x for number in range(len(study.history))]


def told(study: Study, losses: Callable[[Any], float | str], n: int) -> Study:
    """Go on until there are `n` trials."""
    while len(study.history) < n:
        study.tell_all([(trial, losses(trial.config)) for trial in study.ask(100)])
    return study


# ---- the landscape ------------------------------------------------------------------------------------------------


def test_an_optimum_in_a_corner_is_found_exactly_enough() -> None:
    study = minimize(lambda c: c["x"] - c["y"], PLANE, method="cma", n_trials=400, seed=0)
    assert study.best_trial.loss < -1 + 1e-4


def test_a_bowl_is_found_much_closer_than_at_random() -> None:
    assert minimize(bowl, PLANE, method="cma", n_trials=300, seed=0).best_trial.loss < 1e-8


def test_one_coordinate_is_enough() -> None:
    study = minimize(lambda c: (c["x"] - 0.3) ** 2, {"x": stats.uniform(0, 1)}, method="cma", n_trials=200, seed=0)
    assert study.best_trial.loss < 1e-8


def test_integers_and_choices_do_not_get_stuck_beside_the_optimum() -> None:
    space = {"n": stats.randint(0, 40), "kind": list("abcde"), "x": stats.uniform(0, 1)}

    def loss(c: Any) -> float:
        return abs(c["n"] - 31) / 40 + (c["kind"] != "b") + (c["x"] - 0.2) ** 2

    study = minimize(loss, space, method="cma", n_trials=500, seed=0)
    assert study.best_trial.config["n"] == 31
    assert study.best_trial.config["kind"] == "b"


def test_a_step_in_natural_logarithms_is_the_same_in_every_range() -> None:
    """Glasmachers and Igel 2008 search ln C with a step of 1."""
    space = Space({"C": stats.loguniform(1e-5, 1e5), "gamma": stats.loguniform(1e-8, 1e8)})
    study = told(Study(space, Method("u", lambda s: CMAES(s, population=500, log_step=1.0), "u."), seed=0), bool, 500)
    spread = [np.std([math.log(trial.config[name]) for trial in study.history._trials]) for name in ("C", "gamma")]
    assert spread == pytest.approx([1.0, 1.0], rel=0.15)


def test_a_space_that_is_mostly_forbidden_is_searched_where_it_is_allowed() -> None:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", list("abcdefgh"))
    definition.add(kind, CS.UniformFloatHyperparameter("x", 0.0, 1.0), CS.ForbiddenInClause(kind, list("bcdefgh")))
    study = minimize(lambda c: (c["x"] - 0.9) ** 2, definition, method="cma", n_trials=150, seed=0)
    assert {trial.config["kind"] for trial in study.history._trials} == {"a"}
    assert study.best_trial.loss < 1e-3


# ---- the history is all it remembers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cma", "cma-r", "cma-5x", "uh-cma"])
def test_a_kill_in_the_middle_of_a_generation_changes_nothing(name: str, tmp_path: Path) -> None:
    space = get_space("svm-kernels").space

    def loss(config: Any) -> float:
        return sum(len(str(item)) for item in config.items()) % 17

    whole = told(Study(space, name, seed=3), loss, 40)
    study = Study(space, name, seed=3, storage=tmp_path / "study.db")
    while len(study.history) < 40:
        for trial in study.ask(2):  # what else the generation needs was asked with them and waits in the record
            study.tell(trial, loss(trial.config))
        study.close()
        study = Study(storage=tmp_path / "study.db")
    assert points_of(study)[:40] == points_of(whole)[:40]
    assert study.history.trial(39).repeats == whole.history.trial(39).repeats
    study.close()


def test_generations_are_batches_and_wait_for_the_slowest() -> None:
    study = Study(Space(PLANE), "cma", seed=0)
    first = study.ask(6)
    study.tell_all([(trial, bowl(trial.config)) for trial in first[1:]])
    assert study.ask(1) == []
    study.tell(first[0], bowl(first[0].config))
    assert {trial.batch for trial in study.ask(6)} == {1}


@pytest.mark.parametrize("name", ["cma", "cma-r"])
def test_what_the_user_enqueues_is_not_mistaken_for_offspring(name: str) -> None:
    alone, disturbed = Study(Space(PLANE), name, seed=0), Study(Space(PLANE), name, seed=0)
    told(alone, bowl, 18)
    for k in range(3):
        disturbed.enqueue({"x": 0.1 * k, "y": 0.5})
        told(disturbed, bowl, 7 * (k + 1))
    assert [x for x in points_of(disturbed) if x[1] != 0.5] == points_of(alone)


def test_only_the_order_of_losses_matters() -> None:
    plain = told(Study(Space(PLANE), "cma", seed=0), bowl, 60)
    bent = told(Study(Space(PLANE), "cma", seed=0), lambda c: math.exp(5 * bowl(c)) * 1e200, 60)
    assert points_of(plain) == points_of(bent)


def test_a_failure_counts_as_the_worst_whatever_comes_later() -> None:
    """The goal's value for a failure grows as worse trials come; a distribution that was told must not change."""
    study = Study(Space(PLANE), "cma", seed=0)
    told(study, lambda c: "no" if c["x"] > 0.6 else bowl(c), 30)
    assert study.history.n_failed > 0
    told(study, lambda c: 1e6 + bowl(c), 36)
    fresh = METHODS["cma"].make_optimizer(study.space)
    values = MeanLoss().values(study.history, study.seeds)
    again = [tuple(ask.x.tolist()) for ask in fresh.ask(study.history, values, 100, study.seeds)]
    assert again == [trial.x for trial in study.ask(100)]


# ---- on another machine ---------------------------------------------------------------------------------------------


class Otherwise(Distribution):
    """Draws a little otherwise, by eigenvectors of another sign."""

    def _make_strategy(self, mean: Any, stds: Any) -> Any:
        strategy = super()._make_strategy(mean, stds)
        draw, rng = strategy.ask, np.random.default_rng(0)

        def turned(C: Any) -> Any:
            values, vectors = np.linalg.eigh(C)
            return values, vectors * rng.choice([-1, 1], size=len(C))

        strategy.sm.eigenmethod = turned
        strategy.ask = lambda *n: [y + 1e-9 * strategy.stds * rng.normal(size=len(y)) for y in draw(*n)]
        return strategy


class Elsewhere(Evolution):
    """A search on another machine."""

    make_distribution = Otherwise


def folded(study: Study, history: History, kind: type[Evolution] = Evolution) -> Evolution:
    """Read a history from its beginning."""
    optimizer: Any = study.method.make_optimizer(study.space)
    evolution = kind(study.space, optimizer._options, study.seeds)
    values = MeanLoss().values(history, study.seeds).now
    while evolution.is_complete(history):
        evolution.advance(history, values)
    return evolution


def disturbed_study(name: str, space: Any, loss: Callable[[Any], float], n: int) -> Study:
    """Return a study in which the user enqueues a configuration between generations, close to the best so far."""
    study = Study(space, name, seed=0)
    for k in range(1, 5):
        told(study, loss, k * n // 4)
        x = study.history.X[study.best_trial.number] * (1 - 1e-4)
        told(study, loss, study.enqueue(study.space.decode(x[None])[0]).number + 1)
    return study


CASES = [
    *((name, PLANE, bowl, 420) for name in ("cma", "cma-r", "uh-cma")),
    *((name, get_space("svm-kernels").space, lambda c: math.log(c["C"]) ** 2, 120) for name in ("cma", "cma-r")),
]


@pytest.mark.parametrize(("name", "space", "loss", "n"), CASES, ids=lambda value: value if type(value) is str else "")
def test_a_study_is_read_where_offspring_are_drawn_a_little_otherwise(name: str, space: Any, loss: Any, n: int) -> None:
    """Also after the distribution has shrunk to 5e-7: there, differences of its beginning would be as wide as it."""
    study = disturbed_study(name, space, loss, n)
    here, there = folded(study, study.history), folded(study, study.history, Elsewhere)
    assert there._number == here._number > n / 10
    assert there.mean == pytest.approx(here.mean, abs=1e-9)
    widths = there._distribution._strategy.stds / here._distribution._strategy.stds
    assert widths == pytest.approx(np.ones(len(widths)), rel=1e-6)
    assert len(there.asks(study.history, 100)) == len(here.asks(study.history, 100))


@pytest.mark.parametrize("size", [1e-16, 1e-13, 1e-11])
@pytest.mark.parametrize("name", ["cma", "cma-r"])
def test_a_record_may_differ_in_the_last_digits(name: str, size: float) -> None:
    study = disturbed_study(name, PLANE, bowl, 120)
    rng, history = np.random.default_rng(0), History(2)
    for observation in study.history.observations():
        x = np.clip(observation.trial.x + size * rng.choice([-1, 1], size=2), 0, 1)
        trial = Trial(len(history), 0, tuple(x.tolist()), study.space.decode(x[None])[0])
        history.append(trial)
        history.finish(Observation(trial, "ok", observation.losses))
    here, there = folded(study, study.history), folded(study, history)
    assert there._number == here._number > 12
    assert there.mean == pytest.approx(here.mean, abs=2 * size + 1e-15)  # rounding depends on the processor


def test_differences_do_not_grow_from_generation_to_generation() -> None:
    """The record has where offspring were evaluated, beyond the bounds as their mirror image: that is what is told."""
    study = told(Study(PLANE, "cma-r", seed=0), lambda c: c["x"] - c["y"], 36)  # the optimum is in a corner
    here, there = folded(study, History(2)), folded(study, History(2), Elsewhere)
    history, n_outside = History(2), 0
    for observation in study.history.observations():
        history.append(observation.trial)
        history.finish(observation)
        if len(history) % 6 == 0:
            n_outside += int((np.abs(here._generation.points - 0.5) > 0.5).sum())
            for evolution in (here, there):
                assert evolution.is_complete(history)
                evolution.advance(history, history.losses)
            assert there._distribution.mean == pytest.approx(here._distribution.mean, abs=1e-15)
    assert n_outside > 5


@pytest.mark.parametrize("name", ["cma", "uh-cma"])
def test_a_study_that_ran_can_be_pickled_and_goes_on_as_it_would_have(name: str) -> None:
    study = told(Study(Space(PLANE), name, seed=0), bowl, 20)
    copy = pickle.loads(pickle.dumps(study))
    assert points_of(told(copy, bowl, 40)) == points_of(told(study, bowl, 40))


# ---- what is asked again --------------------------------------------------------------------------------------------


def test_a_fixed_objective_is_never_asked_twice_and_the_search_starts_again() -> None:
    study = told(Study(Space(PLANE), "cma", seed=0), bowl, 900)
    assert study.history.n_configs == len(study.history)
    assert min(np.ptp(study.history.X[400:], axis=0)) > 0.3  # far beyond the first basin


def test_reshuffled_rows_ask_a_configuration_again() -> None:
    study = told(Study({"a": [1, 2]}, "cma-r", seed=0), lambda c: 0.5, 30)
    assert study.history.n_configs == 2


def test_without_restarts_it_ends_when_it_has_converged() -> None:
    study = Study(Space(PLANE), "cma-1x", seed=0)
    study.run(FunctionEvaluator(bowl), n_trials=5000, executor=Serial())
    assert study.stop_reason == "exhausted"
    [member] = study.members()
    assert (member.config["x"], member.config["y"]) == pytest.approx((0.3, 0.8), abs=100 * CONVERGED)


# ---- nothing it is told can break it --------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [PLANE, {"a": stats.randint(0, 30), "b": list("abcd")}], ids=["reals", "bins"])
def test_hundreds_of_generations_of_noise_stay_inside(space: Any) -> None:
    rng = np.random.default_rng(0)
    study = Study(Space(space), Method("x", lambda s: CMAES(s, population=3, asks_again=True), "x."), seed=0)
    told(study, lambda c: rng.normal(), 1200)
    assert ((study.history.X >= 0) & (study.history.X <= 1)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "'population' parameter of CMAES must be an int >= 3. Got 1"),
        ({"population": 6.0}, "'population'"),
        ({"averages": 0}, "'averages'"),
        ({"step": 0.0}, "'step' parameter of CMAES must be a number > 0"),
        ({"log_step": math.nan}, "'log_step'"),
    ],
)
def test_impossible_options_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        CMAES(Space(PLANE), **options)


def test_the_default_population_grows_with_the_dimension() -> None:
    """Lévesque et al. 2017: lambda = 4 + floor(3 ln d)."""
    for d, population in ((1, 4), (2, 6), (5, 8), (20, 12)):
        space = Space({f"x{i}": stats.uniform(0, 1) for i in range(d)})
        assert len(CMAES(space).ask(History(d), Values(np.empty(0)), 1000, Seeds(0))) == population


def test_it_prints_nothing_writes_nothing_and_leaves_the_global_generator_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = np.random.get_state(legacy=False)["state"]  # noqa: NPY002 - what must not change
    told(Study(Space(PLANE), "cma", seed=0), bowl, 60)
    after = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    assert np.array_equal(before["key"], after["key"])
    assert before["pos"] == after["pos"]
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_mean_stays_among_the_offspring_however_thin_the_distribution_gets() -> None:
    """Noise makes it as thin as a thread after 500 generations; pycma would then go over to coordinates of its own."""
    space = Space({"C": stats.loguniform(1e-5, 1e5), "gamma": stats.loguniform(1e-5, 1e5)})
    evolution = Evolution(space, CMAES(space, population=6, log_step=1.0, asks_again=True)._options, Seeds(0))
    rng = np.random.default_rng(0)
    thinnest = 1.0
    history = History(2, space=space)
    for _ in range(1200):
        for ask in evolution.asks(history, 6):
            [config] = space.decode(ask.x[None])
            history.append(Trial(len(history), 0, tuple(ask.x.tolist()), config))
            history.finish(Observation(history.trial(len(history) - 1), "ok", (rng.integers(6) / 20,)))
        evolution.advance(history, history.losses)
        strategy = evolution._distribution._strategy
        thinnest = min(thinnest, float(strategy.D.min() / strategy.D.max()))
        if not len(evolution._generation.points):
            continue  # it had shrunk to a point and starts again elsewhere
        offspring = evolution._generation.points.mean(axis=0)
        assert np.abs(offspring - strategy.mean).max() < 6 * strategy.stds.max()
    assert thinnest < 1e-3
