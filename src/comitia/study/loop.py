"""The loop of one run: ask, submit, wait, record, until the budget is spent.

It knows futures and clocks; what is asked and where results go is the recorder's business, which is the study.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from comitia.errors import ChoiceError, ExecutionError, ExhaustedError, TrialCrashed, TrialMemory, TrialTimeout
from comitia.evaluation.table import failed
from comitia.execution import Serial, Workers
from comitia.history import STATUSES, History, Observation, Predictions, Status, Trial
from comitia.seams import Evaluator
from comitia.seeds import Seeds
from comitia.study.budget import Meter
from comitia.study.interrupts import held_back

log = logging.getLogger("comitia")
Result = tuple[Observation, Predictions | None]


class Recorder(Protocol):
    """What the loop needs of a study."""

    @property
    def history(self) -> History:
        """What was asked and what came of it."""

    @property
    def is_stopped(self) -> bool:
        """Whether somebody asked for the end."""

    def ask(self, n: int) -> list[Trial]:
        """Return up to `n` trials; none means that results must come first."""

    def put_back(self, trials: Sequence[Trial]) -> None:
        """Take trials back that were asked and not begun."""

    def record(self, results: Sequence[Result], *, may_wait: bool = False) -> None:
        """Take results into the history and the store; into the latter a moment later if they may wait."""


@dataclass(eq=False)
class Task:
    """What travels to the workers: one object for the whole run, so that it is sent once."""

    evaluator: Evaluator
    seeds: Seeds

    def __call__(self, trial: Trial) -> Result:
        """Evaluate a trial."""
        return self.evaluator(trial, self.seeds)


@dataclass(eq=False)
class Run:
    """One call of `Study.run`."""

    study: Recorder
    task: Task
    pool: Executor
    n_slots: int
    meter: Meter
    notify: Callable[[Observation], None]

    def __post_init__(self) -> None:
        self.running: dict[Future[Any], tuple[Trial, float]] = {}
        self.owns_pool = isinstance(self.pool, Workers) and not self.pool.is_held

    def loop(self) -> str:
        """Ask, submit, wait, record; return why it ended."""
        if type(self.pool) is Serial and self.n_slots == 1:
            return self.loop_here()
        while True:
            reason = self.refill()
            if not self.running:
                return reason or "exhausted"
            seconds = self.meter.seconds_left
            done, _ = wait(
                self.running, timeout=None if seconds == math.inf else max(seconds, 0), return_when=FIRST_COMPLETED
            )
            if not done:
                self.record_endless()
                return "time"
            self.collect(done)
            if self.study.is_stopped:
                return "stopped"

    def loop_here(self) -> str:
        """Ask, evaluate, record, one trial after the other in this thread: without futures, for very cheap trials."""
        study, meter = self.study, self.meter
        while True:
            if meter.seconds_left <= 0:
                return "time"
            if meter.trials_left(study.history.n_finished) <= 0:
                return "budget"
            try:
                trials = study.ask(1)
            except ExhaustedError:
                return "exhausted"
            if not trials:
                return "exhausted"
            if not self.fits(trials[0]):
                study.put_back(trials)  # not begun: it stays asked, and is the first of the next
                return "budget"
            results = [self.result(self.task, trials[0], meter.seconds)]
            study.record(results, may_wait=True)
            self.tell_of(results)
            if study.is_stopped:
                return "stopped"

    def refill(self) -> str | None:
        """Submit as many trials as fit; return why none may begin any more, if so."""
        study, history = self.study, self.study.history
        while (room := self.n_slots - len(self.running)) > 0:
            if self.meter.seconds_left <= 0:
                return "time"
            n_begun = history.n_finished + len(self.running)
            room = int(min(room, self.meter.trials_left(n_begun)))
            if room <= 0:
                return "budget"
            if self.meter.budget.n_evaluations is not None:
                room = 1  # how many fit depends on each
            try:
                trials = study.ask(room)
            except ExhaustedError:
                return "exhausted"
            if not trials:
                return None
            for position, trial in enumerate(trials):
                if not self.fits(trial) or self.meter.seconds_left <= 0:
                    # not begun: it stays asked, and is the first of the next
                    study.put_back(trials[position:])
                    if self.fits(trial):
                        return "time"
                    return None if self.running else "budget"  # those that run may take fewer fits than foretold
                future = self.pool.submit(self.task, trial)
                self.running[future] = (trial, self.meter.seconds)
        return None

    def record_endless(self) -> None:
        """Record trials that ran for more than half of the whole time: begun again, they would take it all again."""
        limit = self.meter.budget.time_limit or math.inf
        endless = {f: (t, began) for f, (t, began) in self.running.items() if self.meter.seconds - began > limit / 2}
        if isinstance(self.pool, Workers):
            self.pool.abandon(endless)
        text = "The trial was still running after {:.3g} s, when the run's time was over. Use trial_time_limit."
        results: list[Result] = []
        for future, (trial, began) in endless.items():
            del self.running[future]
            seconds = self.meter.seconds - began
            results.append((failed(trial, "timeout", text.format(seconds), seconds), None))
        if results:
            self.study.record(results)

    def fits(self, trial: Trial) -> bool:
        """Tell whether a trial's evaluations are within the budget."""
        if self.meter.budget.n_evaluations is None:
            return True
        begun = sum(self.task.evaluator.n_fits(running) for running, _ in self.running.values())
        left = self.meter.budget.n_evaluations - self.study.history.n_evaluations - begun
        return self.task.evaluator.n_fits(trial) <= left

    def collect(self, done: Iterable[Future[Any]]) -> None:
        """Record finished trials in the order of their numbers."""
        finished = sorted(((self.running[future], future) for future in done), key=lambda pair: pair[0][0].number)
        results: list[Result] = []
        broken: Exception | None = None
        for began, future in finished:
            try:
                results.append(self.result(partial(_fetch, future), *began))
            except (ExecutionError, CancelledError) as error:  # the executor's fault: the others are good
                broken = error
        with held_back():
            for _, future in finished:
                del self.running[future]
            self.study.record(results)
        if broken is not None:
            raise broken
        self.tell_of(results)

    def tell_of(self, results: Sequence[Result]) -> None:
        """Log failures and call the callbacks."""
        for observation, _ in results:
            if not observation.is_ok:
                log.warning("trial %d %s: %s", observation.number, observation.status, observation.error)
            self.notify(observation)

    def result(self, fetch: Callable[[Trial], Any], trial: Trial, began: float) -> Result:
        """Return what came of a trial; what it was killed for is an observation like any other."""
        try:
            return _checked_result(trial, fetch(trial))
        except (TrialTimeout, TrialMemory, TrialCrashed) as error:
            return failed(trial, _STATUS_OF[type(error)], str(error), self.meter.seconds - began), None
        except (ExecutionError, CancelledError):
            raise
        except BrokenExecutor as error:
            raise ExecutionError(
                f"The executor must survive its tasks. Got {type(error).__name__}: {error}. A trial has probably "
                "killed its process. Everything finished is kept. Use Workers, which replaces a worker that died."
            ) from error
        except Exception as error:  # the evaluator's own mistake, or a result that could not travel
            text = f"{type(error).__name__}: {error}"
            return failed(trial, "failed", text, self.meter.seconds - began), None

    def give_up(self) -> None:
        """Leave nothing running: what has no result stays pending in the record."""
        if isinstance(self.pool, Workers):
            if self.owns_pool:
                self.pool.shutdown(cancel_futures=True)
            else:
                self.pool.abandon(self.running)
        for future in self.running:
            future.cancel()


def _fetch(future: Future[Any], trial: Trial) -> Any:
    return future.result()


def _checked_result(trial: Trial, result: Any) -> Result:
    """Refuse what an evaluator of the user's own must not return: it would be recorded for ever."""
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[0], Observation):
        raise TypeError(f"an evaluator must return (Observation, Predictions or None), got {type(result).__name__}")
    observation, predictions = result
    if observation.number != trial.number or observation.status not in STATUSES:
        raise ValueError(f"an evaluator must return its own trial and a status of {STATUSES}, got {observation!r}")
    if observation.is_ok and not (observation.losses and all(map(math.isfinite, observation.losses))):
        raise ValueError(f"an evaluator must return finite losses with the status 'ok', got {observation.losses}")
    if not all(map(math.isfinite, observation.selection_losses)):
        raise ValueError(f"an evaluator must return finite selection losses, got {observation.selection_losses}")
    if observation.trial is trial and all(
        type(loss) is float for loss in (*observation.losses, *observation.selection_losses)
    ):
        return observation, predictions
    # the trial itself, not its copy from another process; and plain floats, which can be written
    losses = tuple(map(float, observation.losses))
    selection_losses = tuple(map(float, observation.selection_losses))
    return replace(observation, trial=trial, losses=losses, selection_losses=selection_losses), predictions


_STATUS_OF: dict[type, Status] = {TrialTimeout: "timeout", TrialMemory: "memory", TrialCrashed: "crashed"}


def make_executor(executor: Executor | None, n_jobs: int | None, *, needs_kill: bool) -> tuple[Executor, int]:
    """Return an executor and how many trials it gets at a time."""
    is_number = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs > 0):
        raise ChoiceError(
            f"The 'n_jobs' parameter must be an int >= 1. Got {n_jobs!r} instead. For all cores: executor=Workers()."
        )
    if executor is None:
        # what runs in this process cannot be stopped, so a time limit alone means a worker
        executor = Workers(n_jobs or 1) if (n_jobs or 1) > 1 or needs_kill else Serial()
    if isinstance(executor, type) or not hasattr(executor, "submit"):
        raise ChoiceError(f"The executor must have concurrent.futures' `submit`. Got {executor!r} instead.")
    own = getattr(executor, "n_workers", None) or getattr(executor, "_max_workers", None)
    return executor, n_jobs or own or os.cpu_count() or 1
