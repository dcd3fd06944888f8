"""Every trial of a study as columns: what the page shows is made of them.

They come from a study, or straight from its file, which is opened for reading alone: another process may be writing it,
and 50,000 trials are read in a second. A file that is damaged gives what can be read of it, and says what is wrong.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.errors import ComitiaError
from comitia.history import Observation, Trial
from comitia.study.read_only import read_only
from comitia.study.record import Header
from comitia.study.store import APPLICATION_ID
from comitia.study.study import Study

PENDING = "pending"
"""The status of a trial that has no result yet."""
QUERY = """
SELECT t.number, t.config, t.continues, t.x, o.status, o.losses, o.metrics, o.seconds, o.error
FROM trials t LEFT JOIN observations o ON o.number = t.number WHERE {where} ORDER BY t.number
"""


@dataclass(frozen=True, eq=False)
class Trials:
    """Columns with one entry per trial, in the order of numbers."""

    numbers: Indices
    losses: Array
    """Mean over the splits; NaN for a trial that failed or is pending: (n,)."""
    seconds: Array
    """What each took; 0 while it is pending: (n,)."""
    statuses: Sequence[str]
    errors: Sequence[str]
    configs: Sequence[Mapping[str, Any]]
    metrics: Sequence[Mapping[str, float]]
    splits: Sequence[Sequence[float]]
    """Loss on each split."""
    is_superseded: Mask
    """Which of them a later one continues: (n,)."""
    X: Array
    """Coordinates: (n, d)."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_ok(self) -> Mask:
        """Which of them count: those with a loss that no later one continues."""
        return np.isfinite(self.losses) & ~self.is_superseded

    @property
    def is_pending(self) -> Mask:
        return np.array([status == PENDING for status in self.statuses], dtype=bool)

    @property
    def best(self) -> int | None:
        """Place of the least loss, the earliest of equals; None if no trial succeeded."""
        return int(np.argmin(np.where(self.is_ok, self.losses, np.inf))) if self.is_ok.any() else None

    @property
    def elapsed(self) -> Array:
        """Seconds of all trials up to each, added up: (n,)."""
        return np.cumsum(self.seconds)


@dataclass(frozen=True, eq=False)
class Recorded:
    """What could be read of a study's file."""

    header: Header | None
    """Which study it is; None where it has not begun, or that cannot be read."""
    trials: Trials
    problem: str | None = None
    metric: tuple[str, float] | None = None
    """What trials of a fit are judged by, and the score of a loss of 0; None where it is not recorded."""


def trials_of(study: Study) -> Trials:
    """Return the trials of a study that is open."""
    history = study.history
    return columns((_entry(history.trial(i), history.observation(i)) for i in range(len(history))), history.X)


def read_trials(path: Path) -> Recorded:
    """Read the trials of a study's file without ever writing to it."""
    if not path.is_file():
        return Recorded(None, columns([]), f"There is no study in {str(path)!r}: the file does not exist.")
    try:
        return read_only(path, lambda connection: _recorded(connection, path.name))
    except (sqlite3.Error, UnicodeError) as error:
        return Recorded(None, columns([]), f"The study's file {path.name!r} cannot be read: {error}.")


def _recorded(connection: sqlite3.Connection, name: str) -> Recorded:
    if not (kind := kind_of_file(connection)):
        return Recorded(None, columns([]), "The study has not begun yet: its file is empty.")
    if kind != APPLICATION_ID:
        return Recorded(None, columns([]), f"{name!r} is not a comitia study, but another SQLite file.")
    header, problem = header_of(connection)
    trials, worse = _rows(connection)
    return Recorded(header, trials, worse or problem, metric_of(connection))


def kind_of_file(connection: sqlite3.Connection) -> int | None:
    """Return the number of the program that a SQLite file is of; None for one without tables."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [n_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return int(application) or -1 if n_tables else None


def header_of(connection: sqlite3.Connection) -> tuple[Header | None, str | None]:
    """Return which study a file holds, or why that is not known."""
    row = connection.execute("SELECT value FROM blobs WHERE key = 'study'").fetchone()
    if row is None:
        return None, "The study has not begun yet: nothing is recorded."
    try:
        return Header(**json.loads(row[0])), None
    except (ValueError, TypeError) as error:
        return None, f"The study's record is damaged: {error}."


def metric_of(connection: sqlite3.Connection) -> tuple[str, float] | None:
    """Return the metric of a fit and the score of a loss of 0; None for a function, or before it is known."""
    row = connection.execute("SELECT value FROM blobs WHERE key = 'metric'").fetchone()
    try:
        found = {} if row is None else json.loads(row[0])
        return (str(found["name"]), float(found["best"])) if found else None
    except (ValueError, TypeError, LookupError):
        return None


def _rows(connection: sqlite3.Connection) -> tuple[Trials, str | None]:
    """Return the trials that can be read, and what is wrong with others."""
    entries: list[Entry] = []
    n_broken, problem = 0, None
    cursor = connection.execute(QUERY.format(where="true"))
    while True:
        try:
            row = cursor.fetchone()
        except sqlite3.Error as error:
            problem = f"The study's file is damaged after trial {len(entries)}: {error}. What could be read is shown."
            break
        if row is None:
            break
        try:
            entry = entry_of(row)
        except (ValueError, TypeError, AttributeError):
            n_broken += 1
        else:
            n_broken += bool(entries) and len(entry.x) != len(entries[0].x)
            if not entries or len(entry.x) == len(entries[0].x):
                entries.append(entry)
    if n_broken and problem is None:
        problem = f"{n_broken} of {len(entries) + n_broken} recorded trials are damaged and are left out."
    return columns(entries), problem


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial, and what came of it so far."""

    config: Mapping[str, Any]
    number: int = -1
    """-1: its place."""
    continues: int | None = None
    x: bytes = b""
    status: str = PENDING
    splits: Sequence[float] = ()
    metrics: Mapping[str, float] | None = None
    seconds: float = 0.0
    error: str = ""

    @property
    def loss(self) -> float:
        return math.fsum(self.splits) / len(self.splits) if self.status == "ok" and self.splits else math.nan


def _entry(trial: Trial, found: Observation | None) -> Entry:
    if found is None:
        return Entry(trial.config)
    means = found.mean_metrics
    return Entry(trial.config, -1, trial.continues, b"", found.status, found.losses, means, found.seconds, found.error)


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Return the trial of a row of `QUERY`."""
    number, config, continues, x, status, losses, metrics, seconds, error = row
    settings = json.loads(config)
    if status is None:
        return Entry(settings, number, x=x)
    splits = json.loads(losses)
    means = {} if metrics == "{}" else {k: sum(v) / len(v) for k, v in json.loads(metrics).items() if v}
    if not (isinstance(settings, dict) and isinstance(splits, list)):
        raise ValueError("not as it was written")
    return Entry(settings, number, continues, x, status, splits, means, float(seconds), str(error))


def columns(entries: Iterable[Entry], X: Array | None = None) -> Trials:
    """Return entries as columns; their coordinates, where not given, are what was written."""
    found = list(entries)
    if X is None:
        X = (
            np.frombuffer(b"".join(entry.x for entry in found), dtype="<f8").reshape(len(found), -1)
            if found
            else np.empty((0, 0))
        )
    numbers = [place if entry.number < 0 else entry.number for place, entry in enumerate(found)]
    continued = {e.continues for e in found if e.continues is not None and e.status == "ok"}
    return Trials(
        numbers=np.array(numbers, dtype=np.intp),
        losses=np.array([entry.loss for entry in found], dtype=np.float64),
        seconds=np.array([entry.seconds for entry in found], dtype=np.float64),
        statuses=[entry.status for entry in found],
        errors=[entry.error for entry in found],
        configs=[entry.config for entry in found],
        metrics=[entry.metrics or {} for entry in found],
        splits=[entry.splits for entry in found],
        is_superseded=np.array([number in continued for number in numbers], dtype=bool),
        X=X,
    )


def problem_of(error: ComitiaError) -> str:
    """Return what an error says, for the page."""
    return " ".join(str(error).split())
