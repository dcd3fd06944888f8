"""The time that is kept to fit members again: enough for all of them, and no more."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import Config, Observation, Space, Trial
from comitia.auto.estimate import N_DECISIONS, N_SLOW_DECISIONS, affordable_decisions, decides_quickly, decision_seconds
from comitia.auto.reserve import MARGIN, OVERHEAD_SECONDS, SEARCH_SHARE, LeaveTimeToRefit, RefitCosts, makespan
from comitia.errors import NothingFound
from comitia.history import History
from comitia.learners.default import LEARNERS
from comitia.learners.default.costs import COSTS, rows_within, typical_seconds
from comitia.methods import get_method
from comitia.seams import Member
from comitia.study.budget import Budget

COSTS_OF_FITS = st.lists(st.floats(0.01, 50.0), min_size=1, max_size=12)


@dataclass(frozen=True)
class Still:
    """A clock that stands still."""

    seconds: float
    budget: Budget

    @property
    def seconds_left(self) -> float:
        return math.inf if self.budget.time_limit is None else self.budget.time_limit - self.seconds


def history_of(fits: list[float], k: int = 5) -> History:
    """Return trials of k folds, of which each fit took so many seconds."""
    history = History(1)
    for number, seconds in enumerate(fits):
        trial = Trial(number, number, (0.5,), Config({"number": number}))
        history.append(trial)
        history.finish(Observation(trial, "ok", (0.5,) * k, seconds=k * seconds, n_evaluations=k))
    return history


def members_of(history: History, numbers: list[int]) -> list[Member]:
    return [Member(history.trial(i).config, 1 / len(numbers), i) for i in numbers]


def pace_of(history: History, limit: float, spent: float, numbers: list[int], **options: Any) -> LeaveTimeToRefit:
    meter: Any = Still(spent, Budget(limit))
    costs = RefitCosts(growth=1.25)
    return LeaveTimeToRefit(meter, costs, lambda: members_of(history, numbers), lambda trial: 5, **options)


def next_trial(history: History) -> Trial:
    return Trial(len(history), 0, (0.5,), Config({"number": -1}))


@given(COSTS_OF_FITS, st.integers(1, 8))
def test_no_fit_ends_after_the_makespan_and_workers_share_the_work(fits: list[float], n_workers: int) -> None:
    found = makespan(fits, n_workers)
    assert max(fits) <= found + 1e-9
    assert sum(fits) / n_workers <= found + 1e-9
    assert found <= sum(fits) / n_workers + max(fits) + 1e-9
    assert makespan(fits, 1) == pytest.approx(sum(fits))


@given(COSTS_OF_FITS, st.integers(1, 8), st.integers(1, 12), st.sampled_from([1, 5]))
def test_what_is_enough_for_any_committee_is_enough_for_each(fits: list[float], n_workers: int, m: int, k: int) -> None:
    history = history_of(fits)
    costs = RefitCosts(growth=1.25, n_fits=k)
    members = members_of(history, list(range(min(m, len(fits)))))
    assert costs.seconds(members, history, n_workers) <= costs.most_seconds(history, n_workers) + 1e-6


@given(COSTS_OF_FITS, st.floats(0, 400))
def test_whatever_begins_ends_while_there_is_time_for_all_refits_with_a_margin(fits: list[float], spent: float) -> None:
    history = history_of(fits)
    numbers = list(range(len(fits)))
    pace = pace_of(history, 400.0, spent, numbers)
    trial = next_trial(history)
    if pace.ends(history, trial, 1):
        expected = 5 * math.exp(sum(map(math.log, fits)) / len(fits))  # all trials are alike
        refits = 1.25 * sum(fits)
        assert expected + MARGIN * refits + OVERHEAD_SECONDS <= 400.0 - spent + 1e-6
    kept = 400.0 - spent - pace.seconds_left(history, 1)
    assert kept >= MARGIN * 1.25 * sum(fits)


def test_a_search_goes_on_where_only_a_committee_of_all_trials_could_not_be_fitted() -> None:
    history = history_of([1.0] * 40)
    assert pace_of(history, 60.0, 50.0, [0]).seconds_left(history, 1) > 8.0
    assert pace_of(history, 60.0, 50.0, [0]).ends(history, next_trial(history), 1)
    assert pace_of(history, 60.0, 50.0, list(range(8))).seconds_left(history, 1) < 0.0


def test_where_suggestions_would_not_end_a_random_configuration_is_named_that_would() -> None:
    space = Space({"size": (0.0, 1.0)})
    history = History(1, space=space)
    for number, size in enumerate((0.1, 0.5, 0.9)):
        X = space.encode([{"size": size}])
        trial = Trial(number, number, tuple(X[0].tolist()), space.decode(X)[0])
        history.append(trial)
        seconds = 5 * 10 ** (4 * size - 2)
        history.finish(Observation(trial, "ok", (0.5,) * 5, seconds=seconds, n_evaluations=5))
    pace = pace_of(history, 100.0, 95.0, [0], draw=lambda n: np.linspace(1, 0, 11)[:, None])
    found = pace.instead(history, 1)
    assert found is not None
    assert 0.1 < float(found["size"]) < 0.5
    assert pace_of(history, 100.0, 95.0, [0]).instead(history, 1) is None
    assert pace_of(history, 100.0, 99.5, [0], draw=lambda n: np.linspace(1, 0, 11)[:, None]).instead(history, 1) is None


@dataclass
class Moved:
    """A clock that a simulation moves."""

    budget: Budget
    seconds: float = 0.0

    @property
    def seconds_left(self) -> float:
        assert self.budget.time_limit is not None
        return self.budget.time_limit - self.seconds


@given(st.integers(0, 10_000), st.floats(20, 600), st.floats(0.005, 0.1), st.integers(1, 8))
def test_a_search_of_fits_that_take_as_long_as_expected_ends_in_time_and_leaves_little(
    seed: int, limit: float, share: float, m: int
) -> None:
    """All fits of a learner take about as long; committees are the `m` latest trials or other ones."""
    rng = np.random.default_rng(seed)
    one_fit, k = share * limit / 5, 5
    history, meter = History(1), Moved(Budget(limit))
    committee: list[int] = []

    def members() -> list[Member]:
        return members_of(history, committee)

    costs = RefitCosts(growth=1.25)
    pace = LeaveTimeToRefit(meter, costs, members, lambda trial: k)  # type: ignore[arg-type]
    while pace.ends(history, trial := next_trial(history), 1):
        history.append(trial)
        took = k * one_fit
        meter.seconds += took
        history.finish(Observation(trial, "ok", (0.5,) * k, seconds=took, n_evaluations=k))
        committee[:] = rng.permutation(len(history))[: max(m, 1)].tolist()
    refits = costs.growth * one_fit * min(m, len(history))
    left = meter.seconds_left - refits
    assert left >= 0 or len(history) == 1
    assert left <= OVERHEAD_SECONDS + (MARGIN - 1) * refits + (k + 1.25 * MARGIN) * one_fit + 1e-6


def test_what_has_begun_needs_only_the_rest_of_its_time() -> None:
    history = history_of([4.0, 2.0])
    members, costs = members_of(history, [0, 1]), RefitCosts()
    whole = costs.seconds(members, history)
    assert whole - costs.seconds(members, history, since={0: 1.0}) == pytest.approx(MARGIN * 1.0)
    assert costs.seconds(members, history, since={0: 100.0}) == pytest.approx(OVERHEAD_SECONDS + MARGIN * 2.0)


def test_where_nothing_has_succeeded_a_fifth_is_kept() -> None:
    history = history_of([])
    assert pace_of(history, 60.0, 40.0, []).seconds_left(history, 1) == pytest.approx(SEARCH_SHARE * 60.0 - 40.0)
    assert pace_of(history, 60.0, 40.0, []).ends(history, next_trial(history), 1)


def test_without_a_limit_nothing_is_kept() -> None:
    history = history_of([1.0])
    pace = pace_of(history, 60.0, 59.0, [0])
    pace.meter = Still(59.0, Budget(n_trials=3))  # type: ignore[assignment]
    assert pace.seconds_left(history, 1) == math.inf
    assert pace.ends(history, next_trial(history), 1)


def test_what_comes_after_is_kept_too() -> None:
    history = history_of([1.0])
    [plain, more] = [pace_of(history, 60.0, 10.0, [0], estimate_seconds=lambda h, s=s: s) for s in (0.0, 3.0)]
    assert plain.seconds_left(history, 1) - more.seconds_left(history, 1) == pytest.approx(3.0)
    for pace in (plain, more):
        pace.n_cores = 2  # then it is made beside the fits, which take less
    assert 0 <= plain.seconds_left(history, 1) - more.seconds_left(history, 1) < 3.0
    more.n_slow_decisions = 10
    assert more.seconds_left(history, 1) <= 60.0 - 10.0 - 3.0


@pytest.mark.parametrize(("name", "is_quick"), [("committee", True), ("committee[bags=8]", False), ("bayes", False)])
def test_choices_in_bags_have_no_short_way(name: str, is_quick: bool) -> None:
    assert decides_quickly(get_method(name).selection) == is_quick


def test_a_selection_that_finds_nothing_needs_little() -> None:
    def nothing() -> list[Member]:
        raise NothingFound("nothing")

    history = history_of([9.0] * 9)
    pace = pace_of(history, 60.0, 20.0, [0])
    pace.choose = nothing
    assert 0 < pace.seconds_left(history, 1) <= 40.0 - OVERHEAD_SECONDS


def test_where_time_is_short_members_that_bring_most_weight_for_a_second_are_fitted_first() -> None:
    history = history_of([10.0, 0.1, 1.0])
    members = [Member(history.trial(i).config, weight, i) for i, weight in enumerate((0.6, 0.1, 0.3))]
    costs = RefitCosts()
    assert [one.trial for one in costs.in_order(members, history, 60.0, 1)] == [0, 1, 2]
    assert [one.trial for one in costs.in_order(members, history, 5.0, 1)] == [1, 2, 0]


@given(st.floats(1e-6, 1e3), st.floats(1e-9, 10.0))
def test_decisions_for_an_estimate_are_whole_partitions_within_the_time(seconds: float, one: float) -> None:
    n = affordable_decisions(seconds, one)
    assert n % N_SLOW_DECISIONS == 0
    assert N_SLOW_DECISIONS <= n <= N_DECISIONS
    assert n == N_SLOW_DECISIONS or n * one <= seconds * 1.000001


def test_an_estimate_of_a_small_table_is_made_of_all_decisions_within_ten_seconds() -> None:
    assert affordable_decisions(0.02 * 10, decision_seconds(30, 1_000, 3)) == N_DECISIONS
    assert affordable_decisions(0.02 * 10, decision_seconds(30, 100_000, 10)) < N_DECISIONS


def test_every_learner_has_a_usual_cost() -> None:
    assert set(COSTS) == {name for name, learner in LEARNERS.items() if learner.tasks}
    assert typical_seconds("somebody's", 1_000) == typical_seconds("extra-trees", 1_000)
    assert typical_seconds("svm", 5_000) > 5 * typical_seconds("svm", 1_000)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("n_rows", [300, 6_400, 6_401, 90_000])
def test_rows_within_some_seconds_are_those_that_usually_take_so_long(name: str, n_rows: int) -> None:
    seconds = typical_seconds(name, n_rows, 7, 3)
    assert abs(rows_within(seconds, name, 7, 3) - n_rows) <= 1
    assert typical_seconds(name, 2 * n_rows, 7, 3) > seconds
    assert typical_seconds(name, 200_000) >= 2 * typical_seconds(name, 100_000) * 0.999
