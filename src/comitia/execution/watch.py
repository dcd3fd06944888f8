"""Limits of a trial: how long it may run and how much memory it may use, children included."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import psutil

from comitia.errors import ExecutionError, TrialMemory, TrialTimeout
from comitia.execution.machine import available_memory

TICK_SECONDS = 0.05
"""How often memory is looked at, and exits where the platform does not report them."""
CHILDREN_SECONDS = 0.5
"""How often the memory of a trial's own children is added up: that reads the whole process table."""
STARTING_SECONDS = 120.0
"""How long a task may wait for a new worker to import what it needs, on top of its limit."""
LEAST_BYTES = 2**29
"""Memory that a trial may use in any case, if the user sets no limit: the imports take a quarter of it."""
FREE_SHARE = 0.9
"""Share of the free memory that all trials together may use, if the user sets no limit."""


@dataclass(frozen=True)
class Limits:
    """What one task may use."""

    seconds: float
    memory: float
    """Bytes."""


def make_limits(seconds: float | None, memory: float | None, n_workers: int) -> Limits:
    """Return the user's limits; without one of memory, an equal share of what is free now."""
    share = FREE_SHARE * available_memory() / n_workers
    return Limits(seconds=seconds or math.inf, memory=memory or max(share, LEAST_BYTES))


class Watch:
    """Watches what one worker does with its task."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.pid: int | None = None
        """Of the worker, once it has started."""
        self.has_begun = False
        """Whether the task itself runs, after it was loaded."""
        self._deadline = math.inf
        self._children_bytes = 0
        self._children_at = 0.0

    def start(self) -> None:
        """Note that a task was sent."""
        now = time.monotonic()
        self.has_begun = False
        self._deadline = now + self._limits.seconds + STARTING_SECONDS
        self._children_bytes, self._children_at = 0, now  # a short task has no time for children

    def begin(self) -> None:
        """Note that the task itself runs: its time counts from here."""
        self.has_begun = True
        self._deadline = time.monotonic() + self._limits.seconds

    def verdict(self) -> ExecutionError | None:
        """Return why the task must be killed, if so."""
        now = time.monotonic()
        if now > self._deadline:
            limit = self._limits.seconds if self.has_begun else STARTING_SECONDS
            what = "The trial" if self.has_begun else "Loading the trial in its worker"
            return TrialTimeout(f"{what} went over its limit of {limit:g} s and was killed.")
        used = _resident(self.pid) + self._resident_children(now)
        if used > self._limits.memory:
            return TrialMemory(
                f"The trial went over its limit of {self._limits.memory / 2**20:,.0f} MiB of memory with "
                f"{used / 2**20:,.0f} MiB and was killed."
            )
        return None

    def is_bloated(self) -> bool:
        """Tell whether the worker, now idle, still holds so much that it would count against its next task."""
        return _resident(self.pid) > self._limits.memory / 2

    def _resident_children(self, now: float) -> int:
        if self.pid is not None and now - self._children_at > CHILDREN_SECONDS:
            self._children_at = now
            with suppress(psutil.Error):
                children = psutil.Process(self.pid).children(recursive=True)
                self._children_bytes = sum(_resident(child.pid) for child in children)
        return self._children_bytes


def _resident(pid: int | None) -> int:
    """Return the resident bytes of a process; 0 if it has not started or is gone."""
    with suppress(psutil.Error):
        return 0 if pid is None else int(psutil.Process(pid).memory_info().rss)
    return 0
