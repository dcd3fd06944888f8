"""How much a run may spend: seconds, trials, fits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from numbers import Real

from comitia.errors import ChoiceError, check_int

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Budget:
    """Limits of one run; with none given, 60 seconds.

    Trials and evaluations count from the beginning of the study, so that an interrupted run, started again with the
    same arguments, ends where it would have ended. Seconds count from the start of the run.
    """

    time_limit: float | None = None
    n_trials: int | None = None
    n_evaluations: int | None = None

    def __post_init__(self) -> None:
        limit = self.time_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Real) or not limit > 0):
            raise ChoiceError(f"The 'time_limit' parameter must be a number > 0. Got {limit!r} instead.")
        for name, value in (("n_trials", self.n_trials), ("n_evaluations", self.n_evaluations)):
            if value is not None:
                check_int("run", name, value)
                object.__setattr__(self, name, int(value))
        if limit is None and self.n_trials is None and self.n_evaluations is None:
            limit = DEFAULT_SECONDS
        object.__setattr__(self, "time_limit", None if limit is None else float(limit))

    def __str__(self) -> str:
        limits = {"trials": self.n_trials, "fits": self.n_evaluations, "s": self.time_limit}
        return ", ".join(f"{limit:.4g} {unit}" for unit, limit in limits.items() if limit is not None)

    def start(self) -> Meter:
        return Meter(self, time.monotonic())


@dataclass(frozen=True)
class Meter:
    """A budget that is being spent."""

    budget: Budget
    started: float

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; infinite without one."""
        return math.inf if self.budget.time_limit is None else self.budget.time_limit - self.seconds

    def sooner(self, seconds: float) -> Meter:
        """Return one whose time ends so many seconds before."""
        return replace(self, started=self.started - seconds)

    def trials_left(self, n_begun: int) -> float:
        """Return how many more trials may begin."""
        return math.inf if self.budget.n_trials is None else self.budget.n_trials - n_begun
