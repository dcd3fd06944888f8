"""Follow the trials of a study that another process runs: what was read once is not read again."""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from pathlib import Path

from comitia.report.trials import (
    PENDING,
    QUERY,
    Entry,
    Recorded,
    columns,
    entry_of,
    header_of,
    kind_of_file,
    metric_of,
    read_trials,
)
from comitia.study.read_only import Stamp, read_only, stamp_of
from comitia.study.record import Header
from comitia.study.store import APPLICATION_ID, Row

N_NEWEST = 8
"""Trials that are remembered as the newest."""
PAUSE_SECONDS = 10.0
"""Between two looks at a file that is damaged: all of it is read then."""


class Follower:
    """The trials of a study's file, as far as they are written by now.

    Parameters
    ----------
    path : Path
        There may be no such file yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self._stamp: Stamp | None = None
        self._broken: Recorded | None = None
        self._again_at = 0.0
        self._entries: list[Entry] = []
        self._pending: set[int] = set()
        self.header: Header | None = None
        """Which study it is; None while there is none."""
        self.metric: tuple[str, float] | None = None
        """That of a fit, with the score of a loss of 0."""
        self.n_failed = 0
        self.newest: deque[Entry] = deque(maxlen=N_NEWEST)
        """What ended last, the oldest first; those of one look in the order of their numbers."""
        self.best: Entry | None = None

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def n_pending(self) -> int:
        return len(self._pending)

    @property
    def is_open(self) -> bool:
        """Whether somebody writes the file, or was killed while doing so: it has a log."""
        return stamp_of(self.path)[1] is not None

    def look(self) -> bool:
        """Read what is new; tell whether anything is."""
        stamp = stamp_of(self.path)
        if stamp == self._stamp or (self._broken is not None and time.monotonic() < self._again_at):
            return False
        is_other = self._stamp is not None and _which(stamp) != _which(self._stamp)
        if is_other:
            self._forget()  # another file has taken its place
        self._stamp = stamp  # of before: what is written while we read is read at the next look
        before = self.header, self.metric, self.problem
        try:
            rows = [] if stamp[0] is None else read_only(self.path, self._new_rows)
            self._take([entry_of(row) for row in rows])
            self._broken = None
        except (sqlite3.Error, ValueError, TypeError, AttributeError, LookupError):
            self._broken = read_trials(self.path)  # says what is wrong, and reads what can be read
            self._again_at = time.monotonic() + PAUSE_SECONDS
            return True
        return bool(rows) or is_other or before != (self.header, self.metric, self.problem)

    @property
    def problem(self) -> str | None:
        """What is wrong with the file."""
        return None if self._broken is None else self._broken.problem

    @property
    def recorded(self) -> Recorded:
        """All trials as columns."""
        if self._broken is not None:
            return self._broken
        return Recorded(self.header, columns(self._entries), metric=self.metric)

    def _new_rows(self, connection: sqlite3.Connection) -> list[Row]:
        kind = kind_of_file(connection)
        if kind is None:
            return []
        if kind != APPLICATION_ID:
            raise ValueError("not a study")
        if self.header is None:
            if connection.execute("SELECT 1 FROM blobs WHERE key = 'study'").fetchone() is None:
                return []  # not written yet
            self.header, problem = header_of(connection)
            if self.header is None:
                raise ValueError(problem)
        if self.metric is None:
            self.metric = metric_of(connection)
        n = len(self._entries)
        found = []
        if self._pending:
            ended = connection.execute(
                "SELECT number FROM observations WHERE number BETWEEN ? AND ?", (min(self._pending), n - 1)
            )
            for number in [number for (number,) in ended if number in self._pending]:
                found += connection.execute(QUERY.format(where="t.number = ?"), (number,)).fetchall()
        return found + connection.execute(QUERY.format(where="t.number >= ?"), (n,)).fetchall()

    def _take(self, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.number == len(self._entries):
                self._entries.append(entry)
            else:
                self._entries[entry.number] = entry
            if entry.status == PENDING:
                self._pending.add(entry.number)
                continue
            self._pending.discard(entry.number)
            self.newest.append(entry)
            self.n_failed += entry.status != "ok"
            self._take_best(entry)

    def _take_best(self, entry: Entry) -> None:
        if entry.status != "ok":
            return
        if self.best is not None and entry.continues == self.best.number:  # what it continues does not count any more
            counted = columns(self._entries)
            self.best = None if counted.best is None else self._entries[counted.best]
        elif self.best is None or entry.loss < self.best.loss:
            self.best = entry


def _which(stamp: Stamp) -> int | None:
    return None if stamp[0] is None else stamp[0][0]
