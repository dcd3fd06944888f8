"""Read a study's file while another process writes it: no writer waits for us, and nothing in the folder changes."""

import sqlite3
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from comitia.study.store import SqliteStore

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int] | None, ...]
"""Of the file and of its log: which file it is, its size and when it was written; None where there is none."""
TIMEOUT = 1.0
"""Seconds to wait while another process makes the log, or folds it back."""


def read_only(path: Path, query: Callable[[sqlite3.Connection], T]) -> T:
    """Return what a query finds in a SQLite file, all of it of one moment.

    The file is open only meanwhile: a connection that stays would keep the writer from folding its log back at the end.

    Raises
    ------
    sqlite3.Error
        If the file cannot be read.
    """
    while True:
        # without a log there is no writer; SQLite would make a log, and leave it behind
        is_alone = not _beside(path, "-wal").exists()
        try:
            found = _read(path, query, "&immutable=1" if is_alone else "")
        except sqlite3.OperationalError:
            # the log of a killed run in a folder that may not be written: what was folded back before can be read
            if is_alone or _beside(path, "-shm").exists():
                raise
            return _read(path, query, "&immutable=1")
        if not is_alone or not _beside(path, "-wal").exists():  # else a writer has begun: was it half of a change?
            return found


def _read(path: Path, query: Callable[[sqlite3.Connection], T], option: str) -> T:
    with closing(_connected(path, option)) as connection:
        connection.execute("BEGIN")
        return query(connection)


def _connected(path: Path, option: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro{option}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=TIMEOUT)


def stamp_of(path: Path) -> Stamp:
    """Return what changes whenever something is written to a SQLite file."""
    return tuple(_stamp(one) for one in (path, _beside(path, "-wal")))


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class ReadOnlyStore(SqliteStore):
    """The record of a study that has ended: a `SqliteStore` that refuses to be written."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with self._clear_errors("open"):
            is_alone = not _beside(self.path, "-wal").exists()
            self._connection = _connected(self.path, "&immutable=1" if is_alone else "")
            self._finalizer = weakref.finalize(self, self._connection.close)
            self._check_ours()
