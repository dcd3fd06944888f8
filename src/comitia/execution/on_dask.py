"""What runs inside a Dask worker: each trial in a process that can be killed, its data kept between trials.

A run has one pool (`Workers`) per Dask worker, with as many processes as that has threads. The function with the data
is unpickled in those processes alone, and results are packed there; the Dask worker hands bytes on.
"""

from __future__ import annotations

import pickle
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import CancelledError, wait
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import cloudpickle

from comitia.execution.workers import Workers

if TYPE_CHECKING:
    from distributed import Worker

WANTED_SECONDS = 0.5
"""How often a worker looks whether a trial is still wanted."""
IDLE_SECONDS = 30.0
"""How long the processes of a run wait for its next trial."""
COMPRESSION = 1
"""zlib's level: predictions shrink to a half or less, at some hundred megabytes a second."""

Packed = tuple[bytes | None, bytes | None]
"""A compressed answer, or the pickled error."""


class Order(NamedTuple):
    """How a trial is to be carried out."""

    run: str
    topic: str
    """Where its beginning is told."""
    number: int
    key: str
    """Dask's name for it."""
    trial_time_limit: float | None
    trial_memory_limit: float | None


@dataclass(eq=False)
class Carrier:
    """The function of a run as it travels: unpickled in the process that calls it, once."""

    payload: bytes

    @cached_property
    def function(self) -> Callable[[object], object]:
        found: Callable[[object], object] = pickle.loads(self.payload)
        return found

    def __call__(self, task: bytes) -> bytes:
        answer = self.function(pickle.loads(task))
        return zlib.compress(cloudpickle.dumps(answer), COMPRESSION)


@dataclass(eq=False)
class _Pool:
    """The processes of one run on this Dask worker."""

    workers: Workers
    carrier: Carrier
    n_users: int = 0
    closing: threading.Timer | None = field(default=None)


_POOLS: dict[str, _Pool] = {}
_LOCK = threading.Lock()


def perform(payload: bytes, task: bytes, order: Order) -> Packed:
    """Carry out a trial in a process of its own; a failure, also one for its limits, is an answer."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(order.topic, order.number)
    pool = _enter(payload, order, worker)
    try:
        future = pool.workers.submit(pool.carrier, task)
        while not wait([future], WANTED_SECONDS).done:
            if not _is_wanted(worker, order.key):
                pool.workers.abandon([future])
                raise CancelledError(order.key)
        error = future.exception()
        return (future.result(), None) if error is None else (None, cloudpickle.dumps(error))
    finally:
        _leave(order.run, pool)


def _is_wanted(worker: Worker, key: str) -> bool:
    """Tell whether somebody still waits for a task: its driver may have given it up, or be gone."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state == "executing"


def _enter(payload: bytes, order: Order, worker: Worker) -> _Pool:
    """Return the pool of a run, started if this is its first trial here."""
    n_threads = worker.state.nthreads
    limit = worker.memory_manager.memory_limit
    with _LOCK:
        pool = _POOLS.get(order.run)
        if pool is None:
            memory = order.trial_memory_limit or (None if limit is None else limit / n_threads)
            workers = Workers(n_threads, trial_time_limit=order.trial_time_limit, trial_memory_limit=memory)
            pool = _POOLS[order.run] = _Pool(workers, Carrier(payload))
        if pool.closing is not None:
            pool.closing.cancel()
            pool.closing = None
        pool.n_users += 1
    return pool


def _leave(run: str, pool: _Pool) -> None:
    """Note that a trial has ended; a pool that nobody uses for a while is closed."""
    with _LOCK:
        pool.n_users -= 1
        if not pool.n_users:
            pool.closing = threading.Timer(IDLE_SECONDS, _close, (run, pool))
            pool.closing.daemon = True
            pool.closing.start()


def _close(run: str, pool: _Pool) -> None:
    with _LOCK:
        if pool.n_users or _POOLS.get(run) is not pool:
            return
        del _POOLS[run]
    pool.workers.shutdown(cancel_futures=True)
