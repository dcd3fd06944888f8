"""A progress bar on standard error: what is left, the best so far, failures."""

from __future__ import annotations

import math

from comitia.history import Observation
from comitia.study.budget import Meter
from comitia.study.loop import Recorder


class ProgressBar:
    """Shows the share of the budget that is spent; a context manager, and a callback of `Study.run`."""

    def __init__(self, meter: Meter) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._meter = meter
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

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def update(self, study: Recorder, observation: Observation) -> None:
        """Redraw after a trial."""
        history = study.history
        best = f"best {history.best.value:.4g}" if history.best is not None else "none succeeded"
        failures = f", {history.n_failed} failed" if history.n_failed else ""
        spent = self._spent(history.n_finished, history.n_evaluations)
        self._progress.update(
            self._task,
            completed=spent,
            description=f"{history.n_finished} trials, {best}{failures}",
            left=self._left(spent),
        )

    def _spent(self, n_trials: int, n_evaluations: int) -> float:
        """Return the share of the budget that is spent, by the limit that is nearest."""
        budget = self._meter.budget
        shares = [
            n_trials / budget.n_trials if budget.n_trials else 0.0,
            n_evaluations / budget.n_evaluations if budget.n_evaluations else 0.0,
            self._meter.seconds / budget.time_limit if budget.time_limit else 0.0,
        ]
        return min(max(shares), 1.0)

    def _left(self, spent: float) -> str:
        by_pace = self._meter.seconds * (1 - spent) / spent if spent > 0 else math.inf
        seconds = min(by_pace, self._meter.seconds_left)
        return "" if math.isinf(seconds) else f"{max(seconds, 0):.0f} s left"
