"""What is fitted again at the end; how the search leaves time for it is in `reserve`."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from comitia.arrays import Estimator, Indices
from comitia.auto.large import growth
from comitia.auto.reserve import Manner, kept_for, refit_costs
from comitia.errors import NothingFound
from comitia.evaluation.growth import size_for
from comitia.evaluation.table import TableEvaluator
from comitia.execution.crew import ExecutorLike, make_crew
from comitia.execution.outcome import Outcome
from comitia.history import History
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.space import Config
from comitia.study.budget import Meter
from comitia.study.study import Study

log = logging.getLogger("comitia")

INSURANCE_SHARE = 0.05
"""Share of the remaining time that a model may take which is fitted in case that no member is ready."""
SPARE_SHARE = 0.25
"""Share of the remaining time that is kept for a cheaper model while no member is ready."""


@dataclass(frozen=True, kw_only=True)
class FittedMember(Member):
    """A member that was fitted again: one voter of what was returned. The fallback has an empty configuration."""

    pipeline: Estimator
    """Fitted; it takes the cleaned table."""


class Refitted(NamedTuple):
    """What came of fitting the members again."""

    members: list[FittedMember]
    """None if nothing could be fitted; their weights sum to 1."""
    errors: list[str]
    """Why others failed."""
    n_late: int
    """How many models of what the method handed over were not ready in time."""

    @property
    def is_whole(self) -> bool:
        """Whether these are all the members that the method handed over."""
        return bool(self.members) and not self.errors and not self.n_late


@dataclass(frozen=True, eq=False)
class Job:
    """One fit of a member."""

    config: Config
    rows: Indices
    keys: tuple[int, ...] = ()
    """What its randomness is drawn by: trial, repeat and fold of a model that was judged, to fit it as it was then."""
    n_threads: int = 1
    """Processors that nothing else needs."""
    size: int | None = None
    """How large the models of its folds grew, where they found that out."""


@dataclass(frozen=True, eq=False)
class Refit:
    """Fit one configuration on some rows; picklable."""

    evaluator: TableEvaluator
    seeds: Seeds

    def __call__(self, job: Job) -> Estimator:
        return self.evaluator.fit(job.config, job.rows, self.seeds, job.keys, job.n_threads, job.size)

    def jobs(self, member: Member, history: History, manner: Manner, growth: float = 1.0) -> list[Job]:
        """Return the fits of a member: on all rows, on the training part of each fold, or of the first.

        Where trials were fitted on fewer rows, "all" are at most `growth` times as many.
        """
        evaluator = self.evaluator
        if manner == "full":
            rows = evaluator.rows_of_fit(member.config, np.arange(len(evaluator.y)), self.seeds, (), growth)
            return [Job(member.config, rows, size=size_for(_sizes_of(member, history)))]
        # the trial that named its splits; what was never tried has those of the first trial
        number = 0 if member.trial is None else history.trial(member.trial).root
        splits = enumerate(evaluator.splits(number, 0, self.seeds))
        sizes = _sizes_of(member, history)
        jobs = []
        for fold, (train, _) in splits:
            rows = evaluator.rows_of_fit(member.config, train, self.seeds, (0, fold))
            was_told = fold < len(sizes) and math.isnan(sizes[fold])
            jobs.append(Job(member.config, rows, (number, 0, fold), size=size_for(sizes) if was_told else None))
        return jobs if manner == "folds" else jobs[:1]


def _sizes_of(member: Member, history: History) -> list[float]:
    """Return how large the models of a member's trial grew that found it out, NaN for others; empty if none did."""
    told = None if member.trial is None else history.predictions(member.trial)
    return [] if told is None or told.sizes is None else told.sizes.tolist()


class Refits:
    """Fits of members on the workers of a search: begun where one of them is idle, waited for at the end.

    Where the workers are those of this machine (`is_local`), fewer fits than workers get several threads each.
    """

    def __init__(
        self,
        study: Study,
        evaluator: TableEvaluator,
        manner: Manner,
        executor: ExecutorLike,
        *,
        is_local: bool = False,
    ) -> None:
        self.is_local = is_local
        self.task = Refit(evaluator, study.seeds)
        self.crew = make_crew(self.task, executor)
        self._history, self._manner = study.history, manner
        self._begun: dict[tuple[Member, float], tuple[list[Job], float]] = {}

    def since(self) -> dict[int, float]:
        """Return the seconds since fits have begun, by the numbers of their trials."""
        now = time.monotonic()
        return {member.trial: now - at for (member, _), (_, at) in self._begun.items() if member.trial is not None}

    def begin_some(self, members: Sequence[Member], n: int) -> None:
        """Begin to fit the first `n` of these members that were not begun yet."""
        for member in [one for one in members if self._key(one, 1.0) not in self._begun][:n]:
            self.begin(member)

    def n_threads(self, n_fits: int) -> int:
        """Return how many threads each of so many fits may have, side by side."""
        return max(self.crew.n_slots // max(n_fits, 1), 1) if self.is_local else 1

    def begin(self, member: Member, growth: float = 1.0, n_threads: int = 1) -> list[Job]:
        """Begin to fit a member, unless that has begun; return its fits, on up to `growth` times as many rows."""
        key = self._key(member, growth)
        if key not in self._begun:
            jobs = self.task.jobs(member, self._history, self._manner, growth)
            jobs = [replace(job, n_threads=n_threads) for job in jobs]
            self._begun[key] = jobs, time.monotonic()
            for job in jobs:
                self.crew.begin(job)
        return self._begun[key][0]

    def abandon(self) -> set[Job]:
        """Give up what runs; return it."""
        self._begun = {}
        return {outcome.task for outcome in self.crew.abandon()}

    def _key(self, member: Member, growth: float) -> tuple[Member, float]:
        """Return what its fits depend on: neither its weight nor its temperature, nor more rows if it has all."""
        most_rows = self.task.evaluator.most_rows
        has_part = self._manner == "full" and most_rows is not None and most_rows(member.config) is not None
        return Member(member.config, 1.0, member.trial), growth if has_part else 1.0


def fit_again(
    study: Study,
    evaluator: TableEvaluator,
    manner: Manner,
    executor: ExecutorLike,
    meter: Meter,
    *,
    meanwhile: Callable[[Sequence[Member]], None] | None = None,
    refits: Refits | None = None,
) -> Refitted:
    """Fit what the method hands over within the time that is left.

    `meanwhile` is called with it while workers fit, and not at all where fits run in this thread; `refits` has what
    has begun before.

    Members are fitted side by side, the heaviest first; those that fail or are not ready in time are left out, and
    the weights of the others grow. If none is left, single trials take their place, the best first, the cheapest last.
    Where time is limited, a cheap trial is fitted before all of them: it is handed over if nothing else is ready.
    """
    refits = refits or Refits(study, evaluator, manner, executor)
    good = [o for o in study.history.observations() if o.is_ok]
    costs: dict[int | None, float] = {o.number: o.seconds / max(o.n_evaluations, 1) for o in good}
    expected = refit_costs(evaluator, manner, study.seeds)
    errors: list[str] = []
    n_late = 0
    waiting = candidates(study)
    chosen = waiting[0] if waiting else []
    time_left = "" if math.isinf(meter.seconds_left) else f", {meter.seconds_left:.1f} s are left for it"
    log.info("%d models are fitted again%s", len(chosen), time_left)
    safe, insured = _insurance(waiting[1:], costs, meter), _Fits()
    safe_jobs = [] if safe is None else refits.begin(safe)
    while waiting:
        members, *waiting = waiting
        is_chosen = members is chosen
        members = expected.in_order(members, study.history, meter.seconds_left, refits.crew.n_slots)
        # while there are others, enough is left for the cheapest and to replace the workers that are killed
        cheapest = min((costs[one.trial] for [one] in waiting if one.trial is not None), default=None)
        spare = 0.0
        if cheapest is not None and np.isfinite(meter.seconds_left):
            # but not what the first of these is expected to need
            left = meter.seconds_left - kept_for(expected.one_fit(members[0], study.history))
            spare = max(2.0 * cheapest, min(SPARE_SHARE * meter.seconds_left, left))
        # what was never tried may cost nothing, for all that is known
        if waiting and len(members) == 1 and costs.get(members[0].trial, 0.0) > meter.seconds_left - spare:
            n_late += expected.n_fits if is_chosen else 0
            continue
        more = growth(members, study.history, evaluator, meter.seconds_left - spare, refits.crew.n_slots)
        # an executor may run them here and now
        n_threads = refits.n_threads(len(safe_jobs) + expected.n_fits * len(members))
        jobs = [refits.begin(one, more, n_threads) if meter.seconds_left > 0 else [] for one in members]
        if meanwhile is not None and is_chosen and not refits.crew.is_here:
            meanwhile(members)
        *fits, now_insured = _finish([*jobs, safe_jobs], refits, meter, spare)
        insured, safe_jobs = now_insured if safe_jobs else insured, []
        errors += [error for fit in fits for error in fit.errors]
        if is_chosen:
            n_late = sum(expected.n_fits - len(fit.models) - len(fit.errors) for fit in fits)
        if any(fit.models for fit in fits):
            return Refitted(_weighted(members, [fit.models for fit in fits]), errors, n_late)
        tried = [*zip(members, fits, strict=True), *([] if safe is None else [(safe, insured)])]
        hopeless = {member.trial for member, fit in tried if fit.errors or fit.n_late}
        waiting = [others for others in waiting if others[0].trial not in hopeless]
    if safe is not None and insured.models:
        return Refitted(_weighted([safe], [insured.models]), errors, n_late)
    return Refitted([], errors, n_late)


def _insurance(others: Sequence[Sequence[Member]], costs: Mapping[int | None, float], meter: Meter) -> Member | None:
    """Return the cheapest single trial, where fitting it takes a small part of the time that is left."""
    if math.isinf(meter.seconds_left):
        return None
    known = [one for [one] in others if one.trial in costs]
    cheapest = min(known, key=lambda one: costs[one.trial], default=None)
    is_cheap = cheapest is not None and costs[cheapest.trial] < INSURANCE_SHARE * meter.seconds_left
    return cheapest if is_cheap else None


@dataclass
class _Fits:
    """What came of fitting one member."""

    models: list[Estimator] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    n_late: int = 0
    """Fits that had begun when the time was over."""


def _finish(jobs: Sequence[Sequence[Job]], refits: Refits, meter: Meter, spare: float) -> list[_Fits]:
    """Wait for fits until the time is over; while no model is ready, some of it is spared."""
    ended: dict[Job, Outcome[Job, Estimator]] = {}
    wanted = [job for jobs_of_member in jobs for job in jobs_of_member]
    while not all(job in ended for job in wanted):
        is_any_ready = any(ended[job].error is None for job in wanted if job in ended)
        if not refits.crew.wait(meter.seconds_left - (0.0 if is_any_ready else spare)):
            break
        ended |= {outcome.task: outcome for outcome in refits.crew.collect()}
    late = refits.abandon()
    return [_fits_of(jobs_of_member, ended, late) for jobs_of_member in jobs]


def _fits_of(jobs: Sequence[Job], ended: Mapping[Job, Outcome[Job, Estimator]], late: set[Job]) -> _Fits:
    fits = _Fits(n_late=sum(job in late for job in jobs))
    for outcome in (ended[job] for job in jobs if job in ended):
        if outcome.answer is not None:
            fits.models.append(outcome.answer)
        else:  # a crash, a limit, or the learner's own
            fits.errors.append(f"{type(outcome.error).__name__}: {outcome.error}")
    return fits


def _weighted(members: Sequence[Member], models: Sequence[Sequence[Estimator]]) -> list[FittedMember]:
    """Share each member's weight among its models, and that of the missing among all."""
    ready = [(member, fitted) for member, fitted in zip(members, models, strict=True) if fitted]
    total = sum(member.weight for member, _ in ready)
    return [
        FittedMember(**{**vars(member), "weight": member.weight / total / len(fitted)}, pipeline=model)
        for member, fitted in ready
        for model in fitted
    ]


def candidates(study: Study) -> list[Sequence[Member]]:
    """Return what the method selects, then single trials from the best on, the cheapest last; nothing if all failed."""
    try:
        members = study.members()
    except NothingFound:
        return []
    good = sorted((o for o in study.history.observations() if o.is_ok), key=lambda o: o.loss)
    cheap = sorted(good, key=lambda o: -o.seconds)[-3:]
    return [members, *([Member(o.config, 1.0, o.number)] for o in [*good[:4], *cheap])]
