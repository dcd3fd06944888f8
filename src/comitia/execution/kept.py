"""Nurseries that this process keeps between runs, so that short ones need not wait for imports again.

What is kept is the process that forks workers, never a worker: each run gets fresh ones, so that nothing of an earlier
run is in them, neither its data nor modules that have changed since. A kept nursery ends when this process does, in
whatever way, and by itself after a minute without work. A fork of this process has none of them.
"""

import atexit
import os
import socket
import sys
import threading
import time
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as mp_connection
from multiprocessing.connection import Connection

from comitia.errors import ExecutionError
from comitia.execution.starters import Event, Nursery, Starter, make_starter

CHANGING = {"PYTEST_CURRENT_TEST"}
"""Variables that have another value for every test and that nothing depends on."""
KEPT_SECONDS = 60.0
"""How long a nursery is used again: shorter than it waits for that (`IDLE_SECONDS`)."""
MOST_KEPT = 2
"""Nurseries that wait: for all processors, and for a single worker."""
END_SECONDS = 2.0
"""How long workers may take to end before their nursery is ended, too."""


def kept_starter(n_workers: int) -> Starter:
    """Return a starter over a kept nursery, or over a new one that is kept afterwards (Linux)."""
    return LentNursery(n_workers) if sys.platform == "linux" else make_starter(n_workers)


def end_kept() -> None:
    """End what is kept now, to have its memory back."""
    _SHELF.clear()


class LentNursery:
    """A starter for one run: its nursery may have served earlier ones, and serves later ones."""

    def __init__(self, n_workers: int) -> None:
        self._settings = _settings(n_workers)
        kept = _SHELF.take(self._settings)
        self._nursery, self._first = (Nursery(n_workers), 0) if kept is None else (kept.nursery, kept.n_started)
        self._n_started = self._first  # over its whole life: each worker has a number of its own
        self._alive: set[int] = set()

    def start(self, worker: int) -> Connection:
        number = self._first + worker
        self._alive.add(number)
        self._n_started = max(self._n_started, number + 1)
        return self._nursery.start(number)

    def kill(self, worker: int) -> None:
        self._nursery.kill(self._first + worker)

    def waitables(self) -> list[socket.socket]:
        return self._nursery.waitables()

    def events(self) -> list[Event]:
        found = self._nursery.events()
        self._alive -= {event.worker for event in found if event.kind == "exited"}
        return [Event(event.kind, event.worker - self._first, event.value) for event in found]

    def close(self) -> None:
        """Kill every worker; keep the nursery if all of them have ended."""
        try:
            is_good = self._nursery.has_started and self._end_workers()
        except ExecutionError:
            is_good = False
        if not is_good or not _SHELF.put(_Kept(self._nursery, self._settings, self._n_started)):
            self._nursery.close()

    def _end_workers(self) -> bool:
        for number in self._alive:
            self._nursery.kill(number)
        end = time.monotonic() + END_SECONDS
        while self._alive and (left := end - time.monotonic()) > 0:
            mp_connection.wait(self._nursery.waitables(), left)
            self.events()
        return not self._alive


@dataclass(frozen=True, eq=False)
class _Kept:
    nursery: Nursery
    settings: Hashable
    n_started: int
    since: float = field(default_factory=time.monotonic)


def _settings(n_workers: int) -> Hashable:
    """Return what a nursery has from the process that starts it: another one is needed where it has changed."""
    here = errors = None
    with suppress(OSError):  # the folder is gone
        here = os.getcwd()
    with suppress(OSError):  # there is no standard error
        status = os.fstat(2)
        errors = (status.st_dev, status.st_ino)
    environment = {name: value for name, value in os.environ.items() if name not in CHANGING}
    return n_workers, here, errors, tuple(map(str, sys.path)), frozenset(environment.items())


class _Shelf:
    """Where nurseries wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[_Kept] = []
        self._is_prepared = self._is_over = False

    def take(self, settings: Hashable) -> _Kept | None:
        """Return a nursery with these settings that has time left to live, and update it."""
        with self._lock:
            self._drop_old()
            found = next((kept for kept in self._kept if kept.settings == settings), None)
            if found is None:
                return None
            self._kept.remove(found)
        try:
            found.nursery.preload()
        except ExecutionError:
            found.nursery.close()
            return None
        return found

    def put(self, kept: _Kept) -> bool:
        """Keep a nursery; False if this process ends."""
        with self._lock:
            if self._is_over:
                return False
            if not self._is_prepared:
                self._is_prepared = True
                atexit.register(self.close)
                os.register_at_fork(after_in_child=self._forget)
            self._drop_old()
            self._kept.append(kept)
            while len(self._kept) > MOST_KEPT:
                self._kept.pop(0).nursery.close()
        return True

    def _drop_old(self) -> None:
        """Let go of those that have ended or are about to."""
        now = time.monotonic()
        for kept in list(self._kept):
            if now - kept.since > KEPT_SECONDS or not kept.nursery.is_alive:
                self._kept.remove(kept)
                kept.nursery.close()

    def clear(self) -> None:
        """End all of them."""
        with self._lock:
            kept, self._kept = self._kept, []
        for one in kept:
            one.nursery.close()

    def close(self) -> None:
        """End all of them, and keep no more: for the end of this process."""
        self._is_over = True
        self.clear()

    def _forget(self) -> None:
        """Begin anew in a fork: nurseries let go of themselves there."""
        self._lock = threading.Lock()
        self._kept = []


_SHELF = _Shelf()
