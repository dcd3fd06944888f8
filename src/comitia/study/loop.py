"""The loop of one run: ask, begin, wait, record, until the budget is spent.

The study knows what to ask and where results go, the history who works on what, the crew how trials are evaluated.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from comitia.errors import ExecutionError, ExhaustedError, TrialCrashed, TrialMemory, TrialTimeout
from comitia.execution.crew import Crew
from comitia.execution.outcome import Outcome
from comitia.history import STATUSES, History, Observation, Status, Trial
from comitia.seams import Bar, Evaluator, Screener
from comitia.seeds import Seeds
from comitia.study.budget import Meter
from comitia.study.interrupts import held_back, raise_if_lost
from comitia.study.pace import Pace
from comitia.study.record import Result

log = logging.getLogger("comitia")
STATUS_OF: dict[type, Status] = {TrialTimeout: "timeout", TrialMemory: "memory", TrialCrashed: "crashed"}
"""What a trial was killed for."""
MOST_LEFT_OUT = 4
"""Suggestions in a row that would not end in time, before the pace is asked for something that would."""


class Recorder(Protocol):
    """What the loop needs of a study."""

    @property
    def history(self) -> History:
        """What was asked and what came of it."""

    @property
    def is_stopped(self) -> bool:
        """Whether the end was asked for, by a callback."""

    def propose(self, n: int) -> list[Trial]:
        """Return up to `n` waiting trials; none means that results must come first."""

    def enqueue(self, config: Mapping[str, object]) -> Trial:
        """Have a configuration asked before any other."""

    def bar_for(self, trial: Trial) -> Bar | None:
        """Return what a trial is compared with, fold by fold; None if all its folds count."""

    def record(self, results: Sequence[Result], *, may_wait: bool = False) -> list[Observation]:
        """Take results into the history and the store, into the latter a moment later if they may wait; return them."""


class Task(NamedTuple):
    """A trial and what it is compared with while it runs."""

    trial: Trial
    bar: Bar | None = None

    @property
    def number(self) -> int:
        return self.trial.number


@dataclass(frozen=True, eq=False)
class Evaluate:
    """What a crew does with a trial: one object for the whole run, so that it travels to the workers once."""

    evaluator: Evaluator
    seeds: Seeds

    def __call__(self, task: Task) -> Result:
        if task.bar is not None and isinstance(self.evaluator, Screener):
            return self.evaluator.screened(task.trial, self.seeds, task.bar)
        return self.evaluator(task.trial, self.seeds)


@dataclass(frozen=True, eq=False)
class Run:
    """One call of `Study.run`."""

    study: Recorder
    crew: Crew[Task, Result]
    n_fits: Callable[[Trial], int]
    meter: Meter
    notify: Callable[[Observation], None]
    pace: Pace | None = None
    """What is known of time beyond the limit; all trials may begin if None."""

    def loop(self) -> str:
        """Ask, begin, wait, record; return why it ended."""
        reason: str | None = None
        while True:
            reason = reason if reason == "time" else self.refill()
            if not self.crew.tasks:
                return reason or "exhausted"
            if reason == "time" and self.pace is not None:
                self.pace.idle(self.crew.n_slots - len(self.crew.tasks))
            if not self.crew.wait(self.seconds_left):
                if self.seconds_left > 0:  # the pace has looked again, more closely
                    continue
                self.give_up()
                return "time"
            for observation in self.take():
                if observation.status == "rejected":
                    log.info("trial %d rejected: %s", observation.number, observation.error)
                elif not observation.is_ok:
                    log.warning("trial %d %s: %s", observation.number, observation.status, _short(observation.error))
                self.notify(observation)
            if self.study.is_stopped:
                return "stopped"

    def refill(self) -> str | None:
        """Begin as many trials as fit; return why none may begin any more, if so."""
        crew, history, meter = self.crew, self.study.history, self.meter
        while (room := crew.n_slots - len(crew.tasks)) > 0:
            if self.seconds_left <= 0:
                return "time"
            room = int(min(room, meter.trials_left(history.n_finished + len(crew.tasks))))
            if room <= 0:
                return "budget"
            if meter.budget.n_evaluations is not None:
                room = 1  # how many fit depends on each
            try:
                trials = self.next_trials(room)
            except ExhaustedError:
                return "exhausted"
            raise_if_lost()
            if not trials:
                return None if all(map(self.ends, history.waiting)) else "time"
            for trial in trials:  # those that do not begin are still waiting, and the first of the next run
                if not self.fits(trial):
                    return None if crew.tasks else "budget"  # those that run may need fewer fits than expected
                if self.seconds_left <= 0:
                    return "time"
                crew.begin(Task(trial, self.study.bar_for(trial)))
                history.begin(trial.number)  # last: a Ctrl-C before it leaves the trial waiting
        return None

    @property
    def seconds_left(self) -> float:
        """For how long trials may run."""
        left = self.meter.seconds_left
        return left if self.pace is None else min(left, self.pace.seconds_left(self.study.history, self.crew.n_slots))

    def ends(self, trial: Trial) -> bool:
        """Tell whether a trial is expected to end in time if it begins now."""
        return self.pace is None or self.pace.ends(self.study.history, trial, self.crew.n_slots)

    def next_trials(self, room: int) -> list[Trial]:
        """Return up to so many waiting trials; those that would not end in time go on waiting, others are asked for."""
        history, n_wanted = self.study.history, room
        n_first = len(history)
        while True:
            n_known = len(history)
            trials = self.study.propose(n_wanted)
            found = [trial for trial in trials if self.ends(trial)]
            if found:
                return found[:room]
            is_all = len(trials) < n_wanted and len(history) == n_known
            if is_all or len(history) - n_first >= MOST_LEFT_OUT or self.seconds_left <= 0:
                config = None if self.pace is None else self.pace.instead(history, self.crew.n_slots)
                return [] if config is None else [self.study.enqueue(config)]
            n_wanted = len(trials) + room

    def fits(self, trial: Trial) -> bool:
        """Tell whether a trial's evaluations are within the budget."""
        if self.meter.budget.n_evaluations is None:
            return True
        begun = sum(self.n_fits(task.trial) for task in self.crew.tasks)
        return self.n_fits(trial) <= self.meter.budget.n_evaluations - self.study.history.n_evaluations - begun

    def take(self) -> list[Observation]:
        """Record what came of the trials that have ended, in the order of their numbers."""
        results: list[Result] = []
        faults: dict[int, Exception] = {}
        with held_back():  # what leaves the crew is recorded or given back
            for outcome in self.crew.collect():
                if outcome.error is not None and _is_fault(outcome.error):
                    faults[outcome.task.number] = outcome.error
                else:
                    results.append(_result(outcome))
            recorded = self.study.record(results, may_wait=self.crew.is_here)
            self.study.history.give_back(faults)
        for error in faults.values():
            raise error
        return recorded

    def give_up(self) -> None:
        """End what runs; record trials that had half of the whole time, which would take it all again."""
        limit = self.meter.budget.time_limit or math.inf
        text = "The trial was still running after {:.3g} s, when the run's time was over. Use trial_time_limit."
        with held_back():
            begun = [task.number for task in self.crew.tasks]
            late = [outcome for outcome in self.crew.abandon() if outcome.seconds > limit / 2]
            failed = [
                Observation.failed(task.trial, text.format(seconds), status="timeout", seconds=seconds)
                for task, _, _, seconds in late
            ]
            self.study.record([(observation, None) for observation in failed])
            self.study.history.give_back(begun)


def _short(error: str | None, most: int = 100) -> str:
    """Return one line of an error's text, for people; the record has all of it."""
    line = " ".join((error or "").split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _is_fault(error: Exception) -> bool:
    """Tell whether an error is the executor's own, so that it says nothing about the trial."""
    return isinstance(error, ExecutionError | CancelledError) and type(error) not in STATUS_OF


def _result(outcome: Outcome[Task, Result]) -> Result:
    """Return what came of a trial; what it was killed for is an observation like any other."""
    (trial, _), answer, error, seconds = outcome
    if error is None:
        try:
            return _checked_result(trial, answer)
        except Exception as caught:  # the evaluator's own mistake
            error = caught
    status = STATUS_OF.get(type(error), "failed")
    text = str(error) if type(error) in STATUS_OF else f"{type(error).__name__}: {error}"
    return Observation.failed(trial, text, status=status, seconds=seconds), None


def _checked_result(trial: Trial, result: Result | None) -> Result:
    """Refuse what a user's own evaluator must not return: it would be recorded for ever."""
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
