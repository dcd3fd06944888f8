"""How much of the time is kept to fit the members again, and which trials still end before that."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from comitia.arrays import Array
from comitia.errors import NothingFound
from comitia.evaluation.table import TableEvaluator
from comitia.history import History, Trial
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.space import Config
from comitia.study.budget import Meter
from comitia.study.pace import Fits, Typical, expected_seconds

SEARCH_SHARE = 0.8
"""Share of the time limit after which the search ends where no trial has succeeded, since nothing is known of a refit,
and where members get more rows than their trials had."""
MARGIN = 1.1
"""By how much refits may take longer than is expected of them: in proportion to rows, predictions of folds included. On
1,000 rows the default learners took .4 to 1.13 times as long as a fold of 800, where 1.25 times are expected."""
OVERHEAD_SECONDS = 0.5
"""Seconds that all refits take together beside the fits themselves: workers that were killed are replaced."""


Manner = Literal["full", "folds", False]
"""On which rows members are fitted again: all, those of each fold, or those of the first."""


def makespan(seconds: Sequence[float], n_workers: int) -> float:
    """Return when the last of some fits ends, if each begins in turn as soon as one of the workers is free."""
    ends = [0.0] * max(n_workers, 1)
    for one in seconds:
        heapq.heappush(ends, heapq.heappop(ends) + one)
    return max(ends)


@dataclass(frozen=True, kw_only=True)
class RefitCosts:
    """What it costs to fit members again, by what their trials took."""

    n_fits: int = 1
    """Fits of each member: 1, or one for each fold."""
    growth: float = 1.0
    """How much longer a fit takes than that of a fold, which has fewer rows."""

    def seconds(
        self, members: Sequence[Member], history: History, n_workers: int = 1, since: Mapping[int, float] | None = None
    ) -> float:
        """Return how long it takes to fit these members again, side by side in their order.

        `since` are the seconds since the fits of some have begun, by the numbers of their trials.
        """
        begun = since or {}
        fits = [
            max(self.one_fit(member, history) - begun.get(-1 if member.trial is None else member.trial, 0.0), 0.0)
            for member in members
        ]
        return kept_for(makespan([one for one in fits for _ in range(self.n_fits)], n_workers))

    def most_seconds(self, history: History, n_workers: int = 1) -> float:
        """Return how long it takes at most, whichever trials are members, each once: quickly, without choosing."""
        fits = [one.seconds / max(one.n_evaluations, 1) for one in history.observations() if one.is_ok]
        each = self.growth * self.n_fits
        return kept_for(each * (sum(fits) / n_workers + max(fits, default=0.0)))

    def of_newcomer(self, fit_seconds: float) -> float:
        """Return by how much a further member, whose fits take so long, prolongs all refits."""
        return MARGIN * self.growth * self.n_fits * fit_seconds

    def in_order(
        self, members: Sequence[Member], history: History, seconds_left: float, n_workers: int
    ) -> list[Member]:
        """Return members in the order in which they are fitted: as they are, the heaviest first.

        Where there is no time for all of them, those first that bring most of their weight for a second.
        """
        if len(members) == 1 or self.seconds(members, history, n_workers) <= seconds_left:
            return list(members)
        return sorted(members, key=lambda member: -member.weight / max(self.one_fit(member, history), 1e-6))

    def one_fit(self, member: Member, history: History) -> float:
        """Return the seconds of one refit; what was never tried costs what the best trial did."""
        observation = history.best if member.trial is None else history.observation(member.trial)
        if observation is None:
            return 0.0
        return self.growth * observation.seconds / max(observation.n_evaluations, 1)


def kept_for(seconds: float) -> float:
    """Return how many seconds are kept for fits that are expected to take so many."""
    return OVERHEAD_SECONDS + MARGIN * seconds


def refit_costs(evaluator: TableEvaluator, manner: Manner, seeds: Seeds) -> RefitCosts:
    """Return what refits cost beside the fits of trials."""
    splits = evaluator.splits(0, 0, seeds)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    growth = len(evaluator.y) / n_train if manner == "full" else 1.0
    return RefitCosts(n_fits=len(splits) if manner == "folds" else 1, growth=growth)


class Early(Protocol):
    """Refits that may begin before a search ends."""

    def since(self) -> Mapping[int, float]:
        """Return the seconds since fits have begun, by the numbers of their trials."""

    def begin_some(self, members: Sequence[Member], n: int) -> None:
        """Begin to fit the first `n` of these members that were not begun yet."""


@dataclass
class LeaveTimeToRefit:
    """The pace of a search that ends while what it would hand over can still be fitted again; see `Pace`.

    What would be handed over is worked out only where it decides: as long as even a committee of all trials could be
    fitted in time, nothing needs to be known of it.
    """

    meter: Meter
    costs: RefitCosts
    choose: Callable[[], Sequence[Member]]
    """Returns what would be handed over now."""
    n_fits: Fits
    """Fits of a trial."""
    estimate_seconds: Callable[[History], float] = lambda history: 0.0
    """Seconds that the estimate takes, which is made while workers fit if a core is free."""
    n_slow_decisions: int = 0
    """How often it chooses again as `choose` does, and takes as long."""
    n_cores: int = 1
    """Processors, for workers and the estimate."""
    typical: Typical | None = None
    """What a fit of a configuration usually costs, beside that of others."""
    early: Early | None = None
    """Refits that may begin where workers are idle."""
    draw: Callable[[int], Array] | None = None
    """`draw(number)` returns points of the space to choose from before that trial, (n, d)."""
    kept_seconds: float = 0.0
    """Seconds that are kept at most for fits on more rows than trials had."""
    whole_seconds: Callable[[Sequence[Member], int], float] = lambda members, n_workers: 0.0
    """`whole_seconds(members, n_workers)` returns how many of them these members need."""
    leaves_out: bool = True
    """Whether trials that would not end are left out; they are begun and given up otherwise."""
    _exact: tuple[int, float] = field(default=(-1, 0.0), repr=False)
    """The number of finished trials, and what was kept then."""
    _present: float = field(default=0.0, repr=False)
    """What the present committee needs of it."""
    _choice_seconds: float | None = field(default=None, repr=False)
    """What the latest choice took."""

    def seconds_left(self, history: History, n_slots: int) -> float:
        """Return for how long trials may still run."""
        left = self.meter.seconds_left
        if math.isinf(left):
            return left
        if history.best is None:
            return left - (1.0 - SEARCH_SHARE) * (left + self.meter.seconds)
        least = left - self._most(history, n_slots)
        return least if least > 0 else left - self._needed(history, n_slots)

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        """Tell whether a trial, if it begins now, is expected to end by then, and could be fitted again as well."""
        left = self.meter.seconds_left
        if math.isinf(left) or not self.leaves_out or history.best is None:
            return True
        expected = expected_seconds(history, trial, self.n_fits, self.typical)
        expected += self.costs.of_newcomer(expected / max(self.n_fits(trial), 1))
        return expected <= left - self._most(history, n_slots) or expected <= left - self._needed(history, n_slots)

    def instead(self, history: History, n_slots: int) -> Config | None:
        """Return the first of some random configurations that would end."""
        if self.draw is None or history.space is None:
            return None
        X, number = self.draw(len(history)), len(history)
        for x, config in zip(X, history.space.decode(X), strict=True):
            trial = Trial(number, 0, tuple(x.tolist()), config)
            if not history.was_asked(config) and self.ends(history, trial, n_slots):
                return config
        return None

    def idle(self, n_free: int) -> None:
        """Have members fitted again by workers that no trial needs any more."""
        if self.early is not None and n_free > 0:
            with suppress(NothingFound):
                self.early.begin_some(self.choose(), n_free)

    def _most(self, history: History, n_slots: int) -> float:
        """Return what is enough for any committee; what is enough for the present one, where that is known."""
        known, needed = self._exact
        if known == history.n_finished:
            return needed
        if self.n_slow_decisions and self._choice_seconds is None:
            return self._needed(history, n_slots)
        return self._with_estimate(max(self.costs.most_seconds(history, n_slots), self.kept_seconds), history, n_slots)

    def _needed(self, history: History, n_slots: int) -> float:
        """Return what is needed for what would be handed over now, or would have been before: it may come again."""
        known, needed = self._exact
        if known != history.n_finished:
            began = time.monotonic()
            try:
                since = None if self.early is None else self.early.since()
                members = self.choose()
                present = self.costs.seconds(members, history, n_slots, since)
                present = max(present, min(self.whole_seconds(members, n_slots), self.kept_seconds))
            except NothingFound:
                present = OVERHEAD_SECONDS
            self._choice_seconds = time.monotonic() - began
            needed = self._with_estimate(max(present, self._present), history, n_slots)
            self._present, self._exact = present, (history.n_finished, needed)
        return needed

    def _with_estimate(self, refits: float, history: History, n_slots: int) -> float:
        """Return what refits and the estimate need: side by side if a core is free, else one after the other."""
        estimate = self.estimate_seconds(history) + self.n_slow_decisions * (self._choice_seconds or 0.0)
        return max(refits, estimate) if n_slots < self.n_cores else refits + estimate
