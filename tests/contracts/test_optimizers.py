"""What every optimizer of the registry must do. A new method joins by being in the registry."""

import math
import zlib
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from scipy import stats

from comitia import METHODS, Config, History, Observation, Seeds, Space, Trial, get_space
from comitia.goals import MeanLoss
from comitia.optimizers import CMAES
from comitia.seams import Ask, Optimizer, Values

SEEDS = Seeds(7)


def mixed_space() -> Space:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b"])
    x = CS.UniformFloatHyperparameter("x", 0.0, 1.0)
    n = CS.UniformIntegerHyperparameter("n", 1, 4)
    one = CS.Constant("one", 1)
    definition.add(kind, x, n, one, CS.EqualsCondition(n, kind, "b"))
    definition.add(CS.ForbiddenAndConjunction(CS.ForbiddenEqualsClause(kind, "b"), CS.ForbiddenEqualsClause(n, 2)))
    return Space(definition)


def finite_space() -> Space:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b", "c"])
    n = CS.UniformIntegerHyperparameter("n", 1, 4)
    definition.add(kind, n, CS.EqualsCondition(n, kind, "b"))
    return Space(definition)  # 2 + 4 = 6 configurations


SPACES = {
    "mixed": mixed_space,
    "finite": finite_space,
    "one value": lambda: Space({"a": [1]}),
    "reals": lambda: Space({"x": stats.uniform(0, 1), "y": stats.loguniform(1e-3, 1e3)}),
    "svm-kernels": lambda: get_space("svm-kernels").space,
}


class Play:
    """A history that grows as a study's would."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.history = History(len(space))

    def values(self) -> Values:
        return MeanLoss().values(self.history, SEEDS)

    def ask(self, optimizer: Optimizer, n: int) -> list[Ask]:
        return list(optimizer.ask(self.history, self.values(), n, SEEDS))

    def begin(self, asks: list[Ask]) -> list[Trial]:
        trials = []
        for ask in asks:
            [config] = self.space.decode(ask.x[None])
            trials.append(Trial(len(self.history), 0, tuple(ask.x.tolist()), config, ask.repeats, ask.folds))
            self.history.append(trials[-1])
        return trials

    def finish(self, trials: list[Trial], loss: float | None) -> None:
        for trial in trials:
            if loss is None:
                self.history.finish(Observation(trial, "failed", error="no"))
            else:
                self.history.finish(Observation(trial, "ok", (loss,)))


# methods that differ in their resampling or selection alone share an optimizer, which is run once
OPTIMIZERS = {METHODS[name].optimizer: name for name in sorted(METHODS, reverse=True)}


@pytest.fixture(params=sorted(OPTIMIZERS.values()))
def make(request: pytest.FixtureRequest) -> Any:
    return METHODS[request.param].make_optimizer


@pytest.fixture(params=sorted(SPACES))
def space(request: pytest.FixtureRequest) -> Space:
    return SPACES[request.param]()


def asks_again(optimizer: Optimizer) -> bool:
    """Tell whether an optimizer may want one configuration twice: where every trial is judged on its own splits, that
    is information, and a finite space is never exhausted.
    """
    return isinstance(optimizer, CMAES) and optimizer.asks_again


def loss_of(config: Config) -> float:
    return sum(zlib.crc32(repr(item).encode()) % 97 for item in config.items()) / 97


def test_stays_inside_the_space_and_its_conditions(make: Any, space: Space) -> None:
    play = Play(space)
    optimizer = make(space)
    for _ in range(5):
        asks = play.ask(optimizer, 3)
        X = np.array([ask.x for ask in asks]).reshape(-1, len(space))
        assert np.isfinite(X).all()
        assert ((X >= 0) & (X <= 1)).all()
        assert space.is_allowed(X).all()
        configs = space.decode(X)
        assert space.decode(space.encode(configs)) == configs
        play.finish(play.begin(asks), 0.5)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_gives_at_most_n(make: Any, space: Space, n: int) -> None:
    assert len(Play(space).ask(make(space), n)) <= n


def test_a_fresh_one_answers_as_one_that_lived_through_it(make: Any, space: Space) -> None:
    play = Play(space)
    old = make(space)
    for step in range(6):
        asks = play.ask(old, 1 + step % 3)
        again = play.ask(make(space), 1 + step % 3)
        assert [ask.x.tolist() for ask in asks] == [ask.x.tolist() for ask in again]
        trials = play.begin(asks)
        # some stay pending, some fail
        for trial in trials[step % 2 :]:
            play.finish([trial], None if trial.number % 4 == 1 else loss_of(trial.config))


def test_asking_twice_without_a_change_gives_the_same(make: Any, space: Space) -> None:
    play = Play(space)
    optimizer = make(space)
    assert [a.x.tolist() for a in play.ask(optimizer, 2)] == [a.x.tolist() for a in play.ask(optimizer, 2)]


def test_pending_trials_are_not_proposed_again(make: Any, space: Space) -> None:
    play = Play(space)
    optimizer = make(space)
    for _ in range(4):
        play.begin(play.ask(optimizer, 1))
    has_real = any(np.isinf(column.size) for column in space.columns)
    if (not has_real and not asks_again(optimizer)) or (has_real and len(space.names) == 2):
        assert play.history.n_configs == len(play.history)


def test_forbidden_points_do_not_make_the_others_repeat(make: Any) -> None:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", ["a", "b", "c"])
    definition.add(kind, CS.UniformFloatHyperparameter("x", 0.0, 1.0), CS.ForbiddenInClause(kind, ["b", "c"]))
    play = Play(Space(definition))
    optimizer = make(play.space)
    for _ in range(9):
        play.finish(play.begin(play.ask(optimizer, 1)), 0.5)
    # UH-CMA-ES re-evaluates two of a generation on purpose
    assert play.history.n_configs >= (7 if asks_again(optimizer) else 9)


@pytest.mark.parametrize("loss", [None, 0.25, 1e300], ids=["all fail", "ties", "huge"])
def test_survives_failures_ties_and_huge_values(make: Any, space: Space, loss: float | None) -> None:
    play = Play(space)
    optimizer = make(space)
    for _ in range(6):
        play.finish(play.begin(play.ask(optimizer, 1)), loss)
    n_configs = math.inf if space.all is None or asks_again(optimizer) else len(space.all)
    assert len(play.history) == min(6, n_configs)


def test_a_finite_space_is_covered_once_and_then_there_is_nothing(make: Any) -> None:
    space = finite_space()
    play = Play(space)
    optimizer = make(space)
    seen: list[Config] = []
    if asks_again(optimizer):
        play.finish(play.begin(play.ask(optimizer, 100)), 0.5)
        assert play.ask(optimizer, 100)
        return
    for _ in range(20):
        if not (asks := play.ask(optimizer, 4)):
            break
        trials = play.begin(asks)
        play.finish(trials, 0.5)
        seen += [trial.config for trial in trials]
    else:
        pytest.fail("it still asks in a space of 6: ask for nothing twice, and return [] at the end, as `Unseen` does")
    assert len(seen) == len(set(seen)) == 6


def test_other_seeds_give_other_points(make: Any) -> None:
    space = SPACES["reals"]()
    play = Play(space)
    first = [a.x.tolist() for a in make(space).ask(play.history, play.values(), 4, Seeds(1))]
    second = [a.x.tolist() for a in make(space).ask(play.history, play.values(), 4, Seeds(2))]
    assert first != second


@pytest.mark.parametrize("name", ["rs", "grid", "sobol"])
def test_one_ask_for_two_equals_two_asks_for_one(name: str, space: Space) -> None:
    together, apart = Play(space), Play(space)
    optimizer = METHODS[name].make_optimizer(space)
    together.begin(together.ask(optimizer, 4))
    for _ in range(4):
        apart.begin(apart.ask(METHODS[name].make_optimizer(space), 1))
    assert together.history.X.tolist() == apart.history.X.tolist()
