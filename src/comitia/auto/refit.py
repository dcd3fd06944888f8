"""What is fitted again at the end, and how the search leaves time for it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from comitia.arrays import Estimator, Indices
from comitia.auto.large import growth
from comitia.errors import NothingFound
from comitia.evaluation.table import TableEvaluator
from comitia.execution.crew import Crew, ExecutorLike, make_crew
from comitia.execution.outcome import Outcome
from comitia.history import History, Observation
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.space import Config
from comitia.study.budget import Meter
from comitia.study.study import Study

log = logging.getLogger("comitia")

OVERHEAD_SECONDS = 0.3
"""Seconds that a refit takes beside the fit itself."""
SPARE_SHARE = 0.25
"""Share of the remaining time that is kept for a cheaper model while no member is ready."""
Manner = Literal["full", "folds", False]


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


@dataclass(frozen=True, eq=False)
class Job:
    """One fit of a member."""

    config: Config
    rows: Indices
    keys: tuple[int, ...] = ()
    """What its randomness is drawn by: trial, repeat and fold of a model that was judged, to fit it as it was then."""


@dataclass(frozen=True, eq=False)
class Refit:
    """Fit one configuration on some rows; picklable."""

    evaluator: TableEvaluator
    seeds: Seeds

    def __call__(self, job: Job) -> Estimator:
        return self.evaluator.fit(job.config, job.rows, self.seeds, job.keys)

    def jobs(self, member: Member, history: History, manner: Manner, growth: float = 1.0) -> list[Job]:
        """Return the fits of a member: on all rows, on the training part of each fold, or of the first.

        Where trials were fitted on fewer rows, "all" are at most `growth` times as many.
        """
        evaluator = self.evaluator
        if manner == "full":
            rows = evaluator.rows_of_fit(member.config, np.arange(len(evaluator.y)), self.seeds, (), growth)
            return [Job(member.config, rows)]
        # the trial that named its splits; what was never tried has those of the first trial
        number = 0 if member.trial is None else history.trial(member.trial).root
        splits = enumerate(evaluator.splits(number, 0, self.seeds))
        jobs = [
            Job(member.config, evaluator.rows_of_fit(member.config, train, self.seeds, (0, fold)), (number, 0, fold))
            for fold, (train, _) in splits
        ]
        return jobs if manner == "folds" else jobs[:1]


@dataclass
class LeaveTimeToRefit:
    """Stop the search while the best so far can still be refitted."""

    meter: Meter
    is_full: bool
    n_folds: int

    def __call__(self, study: Study, observation: Observation) -> None:
        """Stop the study if another trial would leave too little."""
        best = study.history.best
        if best is None or np.isinf(self.meter.seconds_left):
            return
        one_fit = best.seconds / max(best.n_evaluations, 1)
        needed = OVERHEAD_SECONDS + 2.0 * one_fit * (1 if self.is_full else self.n_folds)
        if self.meter.seconds_left < needed:
            text = "the search ends: fitting the best again may take %.1f s, %.1f s are left"
            log.info(text, needed, self.meter.seconds_left)
            study.stop()


def fit_again(
    study: Study, evaluator: TableEvaluator, manner: Manner, executor: ExecutorLike, meter: Meter
) -> Refitted:
    """Fit what the method hands over within the time that is left.

    Members are fitted side by side, the heaviest first; those that fail or are not ready in time are left out, and
    the weights of the others grow. If none is left, single trials take their place, the best first, the cheapest last.
    """
    task = Refit(evaluator, study.seeds)
    good = [o for o in study.history.observations() if o.is_ok]
    costs: dict[int | None, float] = {o.number: o.seconds / max(o.n_evaluations, 1) for o in good}
    errors: list[str] = []
    n_late = 0
    crew = make_crew(task, executor)
    waiting = candidates(study)
    chosen = waiting[0] if waiting else []
    while waiting:
        members, *waiting = waiting
        # while there are others, enough is left for the cheapest and to replace the workers that are killed
        cheapest = min((costs[one.trial] for [one] in waiting if one.trial is not None), default=None)
        spare = 0.0
        if cheapest is not None and np.isfinite(meter.seconds_left):
            spare = max(2.0 * cheapest, SPARE_SHARE * meter.seconds_left)
        more = growth(members, study.history, evaluator, meter.seconds_left - spare, crew.n_slots)
        jobs = [task.jobs(member, study.history, manner, more) for member in members]
        # what was never tried may cost nothing, for all that is known
        if waiting and len(members) == 1 and costs.get(members[0].trial, 0.0) > meter.seconds_left - spare:
            n_late += len(jobs[0]) if members is chosen else 0
            continue
        fits = _fit(jobs, crew, meter, spare)
        errors += [error for fit in fits for error in fit.errors]
        if members is chosen:
            n_late = sum(len(job) - len(fit.models) - len(fit.errors) for job, fit in zip(jobs, fits, strict=True))
        if any(fit.models for fit in fits):
            return Refitted(_weighted(members, [fit.models for fit in fits]), errors, n_late)
        hopeless = {member.trial for member, fit in zip(members, fits, strict=True) if fit.errors or fit.n_late}
        waiting = [others for others in waiting if others[0].trial not in hopeless]
    return Refitted([], errors, n_late)


@dataclass
class _Fits:
    """What came of fitting one member."""

    models: list[Estimator] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    n_late: int = 0
    """Fits that had begun when the time was over."""


def _fit(jobs: Sequence[Sequence[Job]], crew: Crew[Job, Estimator], meter: Meter, spare: float) -> list[_Fits]:
    """Fit members side by side until the time is over; while no model is ready, some of it is spared."""
    for job in (job for jobs_of_member in jobs for job in jobs_of_member):
        if meter.seconds_left > OVERHEAD_SECONDS:  # an executor may run it here and now
            crew.begin(job)
    ended: dict[Job, Outcome[Job, Estimator]] = {}
    while crew.tasks:
        is_any_ready = any(outcome.error is None for outcome in ended.values())
        if not crew.wait(meter.seconds_left - OVERHEAD_SECONDS - (0.0 if is_any_ready else spare)):
            break
        ended |= {outcome.task: outcome for outcome in crew.collect()}
    late = {outcome.task for outcome in crew.abandon()}
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
