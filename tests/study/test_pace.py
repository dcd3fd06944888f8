"""How long a trial will take: from the trials of its own branch, else from what is typical of learners."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import Config, FunctionEvaluator, Observation, Study, Trial
from comitia.history import History
from comitia.space import Space
from comitia.study.pace import DOUBT, expected_seconds

N_FITS = 5


def of_kinds(*names: str) -> Space:
    """Return a space of learners, each with a size."""
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", list(names))
    sizes = [CS.UniformFloatHyperparameter(f"{name}:size", 1.0, 100.0, log=True) for name in names]
    definition.add(kind, *sizes, *(CS.EqualsCondition(x, kind, x.name.split(":")[0]) for x in sizes))
    return Space(definition)


SPACE = of_kinds("slow", "quick")


def trial_of(number: int, kind: str, size: float) -> Trial:
    X = SPACE.encode([{"kind": kind, f"{kind}:size": size}])
    return Trial(number, number, tuple(X[0].tolist()), SPACE.decode(X)[0])


def history_of(*seen: tuple[str, float, float, str]) -> History:
    """Return what is known after trials of (kind, size, seconds, status)."""
    history = History(len(SPACE), space=SPACE)
    for number, (kind, size, seconds, status) in enumerate(seen):
        trial = trial_of(number, kind, size)
        history.append(trial)
        losses = (0.5,) * N_FITS if status == "ok" else ()
        n = N_FITS if status == "ok" else 1
        history.finish(Observation(trial, status, losses, seconds=seconds, n_evaluations=n))  # type: ignore[arg-type]
    return history


def expected(history: History, kind: str, size: float = 10.0, **options: Any) -> float:
    return expected_seconds(history, trial_of(len(history), kind, size), lambda trial: N_FITS, **options)


def test_where_nothing_is_known_every_trial_may_begin() -> None:
    assert expected(history_of(), "slow") == 0.0
    assert expected(history_of(("slow", 10.0, 3.0, "failed")), "slow") == 0.0


def test_the_same_again_takes_as_long_as_before() -> None:
    history = history_of(("slow", 10.0, 30.0, "ok"), ("quick", 10.0, 0.3, "ok"))
    assert expected(history, "slow") == pytest.approx(30.0)
    assert expected(history, "quick") == pytest.approx(0.3)


def test_costly_values_of_hyperparameters_are_learnt() -> None:
    sizes = (1.0, 3.0, 10.0, 30.0, 100.0)
    history = history_of(*(("slow", size, size, "ok") for size in sizes))
    assert expected(history, "slow", 100.0) > 5 * expected(history, "slow", 3.0)
    assert expected(history, "slow", 10.0) == pytest.approx(10.0, rel=0.3)


def test_a_trial_that_was_killed_took_at_least_as_long() -> None:
    assert expected(history_of(("slow", 10.0, 40.0, "timeout")), "slow") == pytest.approx(40.0)


def test_a_trial_that_was_given_up_after_some_fits_is_known_by_those() -> None:
    history = History(len(SPACE), space=SPACE)
    trial = trial_of(0, "slow", 10.0)
    history.append(trial)
    history.finish(Observation(trial, "timeout", (0.5, 0.5), seconds=4.0, n_evaluations=2))
    assert expected(history, "slow") == pytest.approx(2.0 * N_FITS)


def test_a_branch_that_was_never_tried_is_known_by_what_is_typical() -> None:
    history = history_of(("slow", 10.0, 30.0, "ok"))
    assert expected(history, "quick") == pytest.approx(DOUBT * 30.0)
    typical = {"slow": 2.0, "quick": 0.02}
    assert expected(history, "quick", typical=lambda config: typical[str(config["kind"])]) == pytest.approx(DOUBT * 0.3)


def test_a_branch_that_was_never_tried_gets_the_benefit_of_the_doubt() -> None:
    """One learner that takes much longer than usual, on these columns, says little about another."""
    space = of_kinds("dear", "usual", "new")
    history = History(len(space), space=space)

    def trial(number: int, kind: str) -> Trial:
        X = space.encode([{"kind": kind, f"{kind}:size": 10.0}])
        return Trial(number, number, tuple(X[0].tolist()), space.decode(X)[0])

    for number, (kind, seconds) in enumerate((("dear", 12.0), ("usual", 2.0))):
        history.append(trial(number, kind))
        history.finish(Observation(trial(number, kind), "ok", (0.5,), seconds=seconds, n_evaluations=1))
    found = expected_seconds(history, trial(2, "new"), lambda trial: 1, lambda config: 2.0)
    assert found == pytest.approx(DOUBT * 2.0)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1e-3, 1e3)), min_size=1, max_size=12), st.floats(1, 100))
def test_expectations_are_positive_numbers_that_scale_with_the_machine(seen: Any, size: float) -> None:
    one, ten = (history_of(*(("slow", x, scale * max(s, 0.1), "ok") for x, s in seen)) for scale in (1.0, 10.0))
    assert 0 < expected(one, "slow", size) < np.inf
    assert expected(ten, "slow", size) == pytest.approx(10 * expected(one, "slow", size))


class Quick:
    """A pace that lets only quick trials begin."""

    def seconds_left(self, history: History, n_slots: int) -> float:
        return 1e3

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        return trial.config["kind"] == "quick"

    def instead(self, history: History, n_slots: int) -> Config | None:
        return None

    def idle(self, n_free: int) -> None:
        """Do nothing."""


class Nothing(Quick):
    """A pace that lets nothing begin."""

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        return False


def test_what_would_not_end_goes_on_waiting_and_something_else_is_tried() -> None:
    study = Study(SPACE, "rs", seed=0)
    for kind in ("slow", "quick", "slow"):
        study.enqueue({"kind": kind, f"{kind}:size": 10.0 + len(study.history)})
    study.run(FunctionEvaluator(lambda config: 0.5), n_trials=3, pace=Quick())
    assert [observation.config["kind"] for observation in study.history.observations()] == ["quick"] * 3
    assert [trial.number for trial in study.history.waiting][:2] == [0, 2]
    study.run(FunctionEvaluator(lambda config: 0.5), n_trials=5)  # a later run begins with them
    assert study.history.observation(0) is not None
    assert study.history.observation(2) is not None


@pytest.mark.parametrize("lag", [None, 1])
def test_a_run_in_which_nothing_would_end_is_over(lag: int | None) -> None:
    study = Study(SPACE, "rs", seed=0, lag=lag).run(FunctionEvaluator(lambda config: 0.5), n_trials=3, pace=Nothing())
    assert study.stop_reason == "time"
    assert study.history.n_finished == 0
    assert 1 <= study.history.n_pending < 20


class Instead(Nothing):
    """A pace that names a configuration for what would not end."""

    def instead(self, history: History, n_slots: int) -> Config | None:
        return Config({"kind": "quick", "quick:size": 2.0 + history.n_finished})


def test_a_pace_may_name_something_that_ends_instead() -> None:
    study = Study(SPACE, "rs", seed=0)
    study.run(FunctionEvaluator(lambda config: 0.5), n_trials=3, pace=Instead())
    assert [observation.config["quick:size"] for observation in study.history.observations()] == [2.0, 3.0, 4.0]


class First(Quick):
    """A pace that lets one trial begin, and notes how many slots are free then."""

    def __init__(self, hold: threading.Event) -> None:
        self.heard: list[int] = []
        self._hold = hold

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        return trial.number == 0

    def idle(self, n_free: int) -> None:
        self.heard.append(n_free)
        self._hold.set()


def test_a_pace_hears_of_workers_that_are_idle_while_others_go_on() -> None:
    hold = threading.Event()

    def patient(config: Any) -> float:
        assert hold.wait(60)
        return 0.5

    pace = First(hold)
    study = Study(SPACE, "rs", seed=0)
    with ThreadPoolExecutor(3) as pool:
        study.run(FunctionEvaluator(patient), n_trials=5, executor=pool, pace=pace)
    assert pace.heard == [2]
    assert (study.stop_reason, study.history.n_finished) == ("time", 1)


class Over(Quick):
    """A pace that says that time is over."""

    def seconds_left(self, history: History, n_slots: int) -> float:
        return 2.5 - history.n_finished

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        return True


def test_a_run_ends_when_its_pace_says_so() -> None:
    study = Study(SPACE, "rs", seed=0).run(FunctionEvaluator(lambda config: 0.5), n_trials=9, pace=Over())
    assert (study.stop_reason, study.history.n_finished) == ("time", 3)
