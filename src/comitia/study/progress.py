"""Progress on standard error: what is left, the best so far, failures. A bar, or lines where it is no terminal."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, Self

from comitia.history import Observation
from comitia.study.budget import Meter
from comitia.study.loop import Recorder

SECONDS_BETWEEN = 5.0
"""Between two lines."""


class Progress(AbstractContextManager["Progress"], Protocol):
    """What a run shows: a context manager, and a callback of `Study.run`."""

    def update(self, study: Recorder, observation: Observation) -> None:
        """Show what there is after a trial."""


def make_progress(meter: Meter, score: Callable[[float], float] | None = None) -> Progress:
    """Return a bar, or lines for a log, a pipe or a notebook; `score` turns a loss into what users know it by."""
    return ProgressBar(meter, score) if sys.stderr.isatty() else ProgressLines(meter, score)


class ProgressBar:
    """Shows the share of the budget that is spent."""

    def __init__(self, meter: Meter, score: Callable[[float], float] | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._meter, self._score = meter, score
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True, force_jupyter=False),
            redirect_stdout=False,  # what trials print is the user's
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("no trial yet", total=1.0, left="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def update(self, study: Recorder, observation: Observation) -> None:
        """Redraw after a trial."""
        spent = spent_share(study, self._meter)
        left = seconds_text(self._meter, spent)
        self._progress.update(self._task, completed=spent, description=so_far(study, self._score), left=left)


class ProgressLines:
    """Prints a line every few seconds, and one at the end."""

    def __init__(self, meter: Meter, score: Callable[[float], float] | None = None) -> None:
        self._meter, self._score = meter, score
        self._printed = -math.inf
        self._latest: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._print()

    def update(self, study: Recorder, observation: Observation) -> None:
        """Print after a trial, unless there was a line a moment ago."""
        spent = spent_share(study, self._meter)
        parts = [
            so_far(study, self._score),
            f"{100 * spent:.0f} %",
            f"{self._meter.seconds:.0f} s",
            seconds_text(self._meter, spent),
        ]
        self._latest = ", ".join(part for part in parts if part)
        if time.monotonic() - self._printed >= SECONDS_BETWEEN:
            self._print()

    def _print(self) -> None:
        if self._latest is not None:
            print(self._latest, file=sys.stderr, flush=True)
            self._printed, self._latest = time.monotonic(), None


def so_far(study: Recorder, score: Callable[[float], float] | None = None) -> str:
    """Say how many trials there are, the best loss, or its score, and how many failed."""
    history = study.history
    best = "none succeeded"
    if history.best is not None:
        found = history.best
        name = "value" if found.is_maximised else "loss"
        best = f"best {name} {found.value:.4g}" if score is None else f"best score {score(found.loss):.4g}"
    return f"{history.n_finished} trials, {best}" + (f", {history.n_failed} failed" if history.n_failed else "")


def spent_share(study: Recorder, meter: Meter) -> float:
    """Return the share of the budget that is spent, by the limit that is nearest."""
    budget, history = meter.budget, study.history
    shares = [
        history.n_finished / budget.n_trials if budget.n_trials else 0.0,
        history.n_evaluations / budget.n_evaluations if budget.n_evaluations else 0.0,
        meter.seconds / budget.time_limit if budget.time_limit else 0.0,
    ]
    return min(max(shares), 1.0)


def seconds_text(meter: Meter, spent: float) -> str:
    """Say how many seconds are left, by the limit or the pace so far."""
    by_pace = meter.seconds * (1 - spent) / spent if spent > 0 else math.inf
    seconds = min(by_pace, meter.seconds_left)
    return "" if math.isinf(seconds) else f"{max(seconds, 0):.0f} s left"
