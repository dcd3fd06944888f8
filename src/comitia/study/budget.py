"""How much a run may spend: seconds, trials, fits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from numbers import Integral, Real

from comitia.errors import ChoiceError

DEFAULT_SECONDS = 60.0


@dataclass(frozen=True)
class Budget:
    """Limits of one run; with none given, 60 seconds.

    Trials and evaluations count from the beginning of the study, so that an interrupted run that is started again
    with the same arguments ends where it would have ended. Seconds count from the start of the run.
    """

    time_limit: float | None = None
    n_trials: int | None = None
    n_evaluations: int | None = None

    def __post_init__(self) -> None:
        for name in ("time_limit", "n_trials", "n_evaluations"):
            value = getattr(self, name)
            if value is None:
                continue
            is_time = name == "time_limit"
            is_one = isinstance(value, Real if is_time else Integral) and not isinstance(value, bool)
            if not is_one or not value > 0:
                wants = "a number" if is_time else "an int"
                raise ChoiceError(f"The {name!r} parameter must be {wants} > 0. Got {value!r} instead.")
            object.__setattr__(self, name, float(value) if is_time else int(value))
        if self.time_limit is None and self.n_trials is None and self.n_evaluations is None:
            object.__setattr__(self, "time_limit", DEFAULT_SECONDS)

    def start(self) -> Meter:
        """Begin to count."""
        return Meter(self, time.monotonic())


@dataclass(frozen=True)
class Meter:
    """A budget that is being spent."""

    budget: Budget
    started: float

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; infinite without one."""
        return math.inf if self.budget.time_limit is None else self.budget.time_limit - self.seconds

    def trials_left(self, n_begun: int) -> float:
        """Return how many more trials may begin."""
        return math.inf if self.budget.n_trials is None else self.budget.n_trials - n_begun
