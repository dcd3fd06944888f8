"""PBIL: the update of Xavier-Júnior et al. 2020, §4.4, individuals down the hierarchy, generations as a fold."""

from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import uniform

from comitia import Config, FunctionEvaluator, History, Observation, Seeds, Space, Study, Trial, get_space
from comitia.errors import ChoiceError
from comitia.goals import MeanLoss
from comitia.methods import Method
from comitia.optimizers import PBIL
from comitia.optimizers.pbil.pbil import Generation, State
from comitia.seams import Values
from tests.ids import stable

SEEDS = Seeds(3)


def hierarchy() -> Space:
    """Two kinds with tuning of their own, and one that only opens another choice."""
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b", "single"])
    x = CS.UniformFloatHyperparameter("a:x", 0.0, 1.0)
    n = CS.UniformIntegerHyperparameter("b:n", 1, 5)
    base = CS.CategoricalHyperparameter("base", ["tree", "line"])
    definition.add(kind, x, n, base)
    definition.add(CS.EqualsCondition(x, kind, "a"), CS.EqualsCondition(n, kind, "b"))
    definition.add(CS.EqualsCondition(base, kind, "single"))
    return Space(definition)


def loss(config: Config) -> float:
    if config["kind"] == "a":
        return abs(config["a:x"] - 0.7)
    return 0.3 + 0.1 * (config["kind"] == "b")


def generation_of(space: Space, configs: list[dict[str, Any]]) -> Generation:
    X = space.encode(configs)
    return Generation(X, tuple(space.decode(X)))


def start_of(optimizer: PBIL) -> State:
    return State(0, tuple(vector.start for vector in optimizer.vectors))


def by_name(optimizer: PBIL, state: State) -> dict[str, dict[str, float]]:
    return {
        vector.name: dict(zip(vector.labels, p.tolist(), strict=True))
        for vector, p in zip(optimizer.vectors, state.p, strict=True)
    }


# ---- the update ---------------------------------------------------------------------------------------------------

FIGURE_2 = {
    "ensemble": "adaboost",
    "ad:resample": True,
    "ad:percent": 51,
    "ad:iterations": 127,
    "ad:base": "ibk",
    "ibk:k": 63,
    "ibk:validated": False,
    "ibk:similarity": True,
    "ibk:inverse": True,
}


def test_the_individual_of_figure_2_moves_the_vectors_as_in_figure_3() -> None:
    """Fig. 2: AdaBoost with Q = True, P = 51, I = 127; IBk with K = 63, X = False, F = True, I = True.

    Fig. 3 raises the components that it used, each to (1 - 0.5) / k + 0.5; the seed S and IBk's E, which does nothing
    for classes, are not in our space.
    """
    space = get_space("ensembles").space
    optimizer = PBIL(space, population=1, bins=256)
    after = by_name(
        optimizer, optimizer.advance(start_of(optimizer), generation_of(space, [FIGURE_2]), np.array([0.1]))
    )
    sizes = {"ensemble": 7, "ad:resample": 2, "ad:percent": 51, "ad:iterations": 127, "ad:base": 9, "ibk:k": 64}
    for name, size in {**sizes, "ibk:validated": 2, "ibk:similarity": 2, "ibk:inverse": 2}.items():
        assert len(after[name]) == size
        chosen = after[name].pop(str(FIGURE_2[name]))
        assert chosen == pytest.approx(0.5 / size + 0.5)
        assert list(after[name].values()) == pytest.approx([0.5 / size] * (size - 1))
    untouched = {name: p for name, p in after.items() if name not in FIGURE_2}
    assert all(max(p.values()) == pytest.approx(min(p.values())) for p in untouched.values())


def test_the_individual_of_figure_2_can_be_sampled() -> None:
    space = get_space("ensembles").space
    optimizer = PBIL(space, population=40, bins=256)
    state = start_of(optimizer)
    for _ in range(8):
        state = optimizer.advance(state, generation_of(space, [FIGURE_2] * 40), np.zeros(40))
    assert Config(FIGURE_2) in optimizer.generation(state, SEEDS).configs


def test_frequencies_count_those_that_used_the_vector() -> None:
    """Of three selected ones, one used `b:n`: its relative frequency is 1, and `base`, which none used, stays."""
    space = hierarchy()
    optimizer = PBIL(space, population=6)
    generation = generation_of(
        space,
        [
            {"kind": "a", "a:x": 0.11},
            {"kind": "single", "base": "tree"},
            {"kind": "b", "b:n": 2},
            {"kind": "a", "a:x": 0.9},
            {"kind": "b", "b:n": 4},
            {"kind": "single", "base": "line"},
        ],
    )
    after = by_name(optimizer, optimizer.advance(start_of(optimizer), generation, np.array([1, 9, 2, 3, 8, np.nan])))
    assert after["kind"] == pytest.approx({"a": 0.5 / 3 + 0.5 * 2 / 3, "b": 0.5 / 3 + 0.5 / 3, "single": 0.5 / 3})
    assert after["b:n"] == pytest.approx({"1": 0.1, "2": 0.6, "3": 0.1, "4": 0.1, "5": 0.1})
    assert after["base"] == pytest.approx({"tree": 0.5, "line": 0.5})
    assert sorted(after["a:x"].values())[-2:] == pytest.approx([0.5 / 32 + 0.25] * 2)


@given(
    population=st.integers(1, 12),
    rate=st.floats(0.01, 1),
    selected=st.floats(0.01, 1),
    floor=st.floats(0, 0.9),
    flat=st.booleans(),
    losses=st.lists(st.one_of(st.floats(-1e300, 1e300), st.just(np.nan)), min_size=12, max_size=12),
    seed=st.integers(0, 99),
)
def test_vectors_stay_distributions(
    population: int, rate: float, selected: float, floor: float, flat: bool, losses: list[float], seed: int
) -> None:
    optimizer = PBIL(
        hierarchy(), population=population, learning_rate=rate, selected=selected, floor=floor, flat=flat, bins=4
    )
    state = start_of(optimizer)
    for _ in range(4):
        generation = optimizer.generation(state, Seeds(seed))
        state = optimizer.advance(state, generation, np.array(losses[: len(generation.configs)]))
        for p in state.p:
            assert (p >= 0).all()
            assert p.sum() == pytest.approx(1)


def test_equal_individuals_are_selected_in_the_order_of_their_draw() -> None:
    optimizer = PBIL(hierarchy(), population=2)
    generation = generation_of(hierarchy(), [{"kind": "b", "b:n": 1}, {"kind": "b", "b:n": 5}])
    after = by_name(optimizer, optimizer.advance(start_of(optimizer), generation, np.array([0.5, 0.5])))
    assert after["b:n"]["1"] > after["b:n"]["5"]


def test_nothing_is_learned_from_failures() -> None:
    optimizer = PBIL(hierarchy(), population=3)
    state = start_of(optimizer)
    after = optimizer.advance(state, optimizer.generation(state, SEEDS), np.full(3, np.nan))
    assert all((a == b).all() for a, b in zip(state.p, after.p, strict=True))


# ---- vectors ------------------------------------------------------------------------------------------------------


def test_hyperparameters_share_a_vector_by_name() -> None:
    definition = CS.ConfigurationSpace()
    slots = [CS.CategoricalHyperparameter(f"slot_{k}", ["x", "y", "z"], meta={"vector": "slot"}) for k in range(3)]
    definition.add(*slots)
    space = Space(definition)
    optimizer = PBIL(space, population=1)
    assert [vector.name for vector in optimizer.vectors] == ["slot"]
    generation = generation_of(space, [{"slot_0": "x", "slot_1": "x", "slot_2": "z"}])
    after = by_name(optimizer, optimizer.advance(start_of(optimizer), generation, np.zeros(1)))
    assert after["slot"] == pytest.approx({"x": 1 / 6 + 1 / 3, "y": 1 / 6, "z": 1 / 6 + 1 / 6})
    definition.add(CS.CategoricalHyperparameter("other", ["x"], meta={"vector": "slot"}))
    with pytest.raises(ChoiceError, match="same number of values"):
        PBIL(Space(definition))


def test_the_first_version_samples_and_learns_joint_values() -> None:
    space = hierarchy()
    optimizer = PBIL(space, population=400, flat=True)
    configs = optimizer.generation(start_of(optimizer), SEEDS).configs
    share = np.mean([config["kind"] == "single" for config in configs])
    assert share == pytest.approx(0.5, abs=0.1)  # two of four components, not one of three
    generation = generation_of(space, [{"kind": "single", "base": "line"}] * 400)
    after = by_name(optimizer, optimizer.advance(start_of(optimizer), generation, np.zeros(400)))
    assert after["kind"] == pytest.approx({"a": 0.125, "b": 0.125, "tree": 0.125, "line": 0.625})


# ---- the search ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [False, True])
def test_it_converges_on_an_easy_conditional_function(flat: bool) -> None:
    method = Method("pbil-here", lambda space: PBIL(space, population=30, bins=20, flat=flat), "PBIL of a test.")
    study = Study(hierarchy(), method, seed=0).run(FunctionEvaluator(loss), n_trials=60)
    assert study.best_trial.loss <= 0.025  # half a cell
    course = PBIL(hierarchy(), population=30, bins=20, flat=flat).courses(
        study.history, MeanLoss().values(study.history, study.seeds), study.seeds
    )
    kind = course["kind"]
    assert kind.p[0] == pytest.approx(np.full(len(kind.labels), 1 / len(kind.labels)))
    assert kind.p[-1, kind.labels.index("a")] > 0.8
    assert len(kind.p) >= 3


def test_a_known_configuration_is_not_fitted_again() -> None:
    """A generation asks for what is new alone; what the user enqueued counts too."""
    space = Space({"a": [1, 2, 3]})
    history = History(1)
    optimizer = PBIL(space, population=8)
    asks = optimizer.ask(history, Values(np.empty(0)), 99, SEEDS)
    assert len(asks) <= 3
    [config] = space.decode(asks[0].x[None])
    history.append(Trial(0, 0, tuple(asks[0].x.tolist()), config))
    assert len(optimizer.ask(history, Values(np.empty(0)), 99, SEEDS)) == len(asks) - 1


def test_it_waits_while_a_generation_is_pending() -> None:
    space = Space({"a": list(range(50))})
    study = Study(space, Method("pbil-here", lambda space: PBIL(space, population=5), "PBIL."), seed=1)
    trials = study.ask(50)
    assert 1 <= len(trials) <= 5
    assert study.ask(50) == []
    for trial in trials[1:]:
        study.tell(trial, trial.config["a"])
    assert study.ask(50) == []
    study.tell(trials[0], error="no")
    assert {trial.batch for trial in study.ask(50)} == {1}


def test_a_search_that_has_converged_starts_over_with_what_is_new() -> None:
    space = Space({"x": uniform(0, 1), "kind": ["a", "b"]})
    optimizer = Method("pbil-here", lambda space: PBIL(space, population=4, bins=2), "PBIL.")
    study = Study(space, optimizer, seed=0).run(FunctionEvaluator(lambda c: c["x"]), n_trials=20)
    assert study.history.n_configs == 20  # four cells, sixteen points beside


@pytest.mark.parametrize("n_told", [1, 7, 19])
def test_a_study_that_is_opened_again_goes_on_with_the_same_generation(n_told: int, tmp_path: Path) -> None:
    """Closed in the middle of the second generation: the rest of it and the third are the same."""

    def next_generations(study: Study) -> list[Any]:
        while study.history.n_finished < 50 and (trials := study.ask(1)):
            study.tell(trials[0], loss(trials[0].config))
        return [(trial.number, trial.batch, trial.config) for trial in map(study.history.trial, range(50))]

    whole = next_generations(Study(hierarchy(), "pbil-floor", seed=5))
    with Study(hierarchy(), "pbil-floor", seed=5, storage=tmp_path / "study.db") as study:
        first = len(study.ask(1)) + len(list(study.history.waiting))
        for number in range(first + n_told):
            if number:
                study.ask(1)
            study.tell(number, loss(study.history.trial(number).config))
    with Study.open(tmp_path / "study.db") as study:
        assert next_generations(study) == whole


def test_an_objective_that_always_fails_is_searched_on() -> None:
    def fails(config: Config) -> float:
        raise ValueError("no")

    study = Study(hierarchy(), "pbil-v2", seed=0).run(FunctionEvaluator(fails), n_trials=60)
    assert study.history.n_failed == 60


def test_a_late_failure_does_not_change_what_was_learned() -> None:
    """A failed trial's value is that of the worst so far, which grows; its rank must not."""
    space = Space({"a": list(range(40))})
    history = History(1, space=space)
    old = PBIL(space, population=4)
    for step in range(10):
        values = MeanLoss().values(history, SEEDS)
        asks = old.ask(history, values, 99, SEEDS)
        fresh = PBIL(space, population=4).ask(history, values, 99, SEEDS)
        assert [ask.x.tolist() for ask in asks] == [ask.x.tolist() for ask in fresh]
        for k, ask in enumerate(asks):
            [config] = space.decode(ask.x[None])
            trial = Trial(len(history), 0, tuple(ask.x.tolist()), config)
            history.append(trial)
            history.finish(
                Observation(trial, "failed", error="no") if k == 1 else Observation(trial, "ok", (float(step),))
            )


@pytest.mark.parametrize(
    "options",
    [
        {"population": 0},
        {"population": 2.5},
        {"bins": 0},
        {"most": 0},
        {"learning_rate": 0},
        {"learning_rate": 1.5},
        {"selected": 0},
        {"floor": 1},
        {"floor": -0.1},
    ],
    ids=stable,
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    [name] = options
    with pytest.raises(ChoiceError, match=f"'{name}' parameter of PBIL must be"):
        PBIL(hierarchy(), **options)


def test_a_population_of_one_and_a_floor_work() -> None:
    method = Method("pbil-here", lambda space: PBIL(space, population=1, floor=0.3), "PBIL.")
    study = Study(hierarchy(), method, seed=0).run(FunctionEvaluator(loss), n_trials=25)
    assert study.history.n_configs == 25


def test_a_floor_keeps_every_component_alive() -> None:
    space = Space({"a": list(range(4))})
    optimizer = PBIL(space, population=2000, floor=0.2, learning_rate=1.0)
    state = optimizer.advance(start_of(optimizer), generation_of(space, [{"a": 2}] * 2000), np.zeros(2000))
    drawn = [config["a"] for config in optimizer.generation(state, SEEDS).configs]
    assert np.bincount(drawn, minlength=4) / 2000 == pytest.approx([0.05, 0.05, 0.85, 0.05], abs=0.02)


def test_cells_whose_centres_are_forbidden_do_not_stop_it() -> None:
    definition = CS.ConfigurationSpace()
    n = CS.UniformIntegerHyperparameter("n", 1, 9, default_value=1)
    definition.add(n, CS.ForbiddenEqualsClause(n, 5))
    optimizer = PBIL(Space(definition), population=6, bins=1)
    configs = optimizer.generation(start_of(optimizer), SEEDS).configs
    assert len(configs) == 6
    assert all(config["n"] != 5 for config in configs)
