"""Trials on a Dask cluster: on this machine, over SSH, under Slurm or Kubernetes, wherever a scheduler runs.

The driver sends the function with its data once, trials as futures, and alone writes the record. On a Dask worker a
trial runs in a process of its own (`on_dask`), so that it can be killed at its limits. A worker that dies is noticed by
the scheduler, which gives its trials to others; one that has lost its worker twice is given up here.

What comes back is unpickled: whoever can connect to the scheduler can run code in this process, as with any use of
Dask.
"""

from __future__ import annotations

import itertools
import logging
import pickle
import queue
import sys
import time
import traceback
import uuid
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import cloudpickle

from comitia.errors import ChoiceError, ExecutionError, TrialCrashed
from comitia.execution.on_dask import Order, Packed, perform
from comitia.execution.outcome import Outcome
from comitia.execution.packed import pickled
from comitia.execution.workers import check_limits

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger("comitia")
Task = TypeVar("Task")
Answer = TypeVar("Answer")

LOOK_SECONDS = 0.5
"""How often the driver looks whether the scheduler is still there while it waits."""
COUNT_SECONDS = 1.0
"""How long the number of workers counts as known."""
CLOSE_SECONDS = 2.0
"""How long a client may take to part from its scheduler, which may be gone."""
MOST_DEATHS = 2
"""Workers that may die under one trial."""
MOST_LOSSES = 20
"""How often a trial is sent again because the data were lost with the workers that had them."""


class DaskWorkers:
    """A Dask cluster as the place where trials run, with limits for each of them.

    Parameters
    ----------
    client : dask.distributed.Client or str
        A client, or the address of a scheduler, such as "tcp://scheduler.example:8786"; a client that is made here,
        for an address, uses Dask's own configuration, that of TLS included, and is closed after the run.
    trial_time_limit : float, optional
        Seconds after which a trial is killed, with its child processes.
    trial_memory_limit : float, optional
        Bytes of resident memory beyond which a trial is killed. If not given: an equal share of the Dask worker's own.
    """

    def __init__(
        self,
        client: Client | str,
        *,
        trial_time_limit: float | None = None,
        trial_memory_limit: float | None = None,
    ) -> None:
        if not is_client(client) and not (isinstance(client, str) and "://" in client):
            raise ChoiceError(
                "A Dask cluster must be a Client or the address of a scheduler, such as "
                f"'tcp://scheduler.example:8786'. Got {client!r} instead."
            )
        check_limits("DaskWorkers", trial_time_limit, trial_memory_limit)
        self.client = client
        self.trial_time_limit = trial_time_limit
        self.trial_memory_limit = trial_memory_limit


def is_client(thing: object) -> bool:
    """Tell whether something is a Dask client, without importing Dask for it."""
    module = sys.modules.get("distributed")
    return module is not None and isinstance(thing, module.Client)


def connect(address: str) -> Client:
    """Return a client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ChoiceError(
            f"An executor at {address!r} needs Dask, which is not installed. Install 'comitia[dask]'."
        ) from error
    try:
        return Client(address, set_as_default=False)
    except Exception as error:  # what another kind of server says may be read as anything
        close_failed_client(error)
        raise ExecutionError(
            f"A Dask scheduler must answer at {address!r}. It did not: {error}. Start one with `dask scheduler`, or "
            "check the address."
        ) from error


def close_failed_client(error: BaseException) -> None:
    """Close the client that could not be made, which is left in the traceback of the error.

    Else it closes itself when it is freed; if that happens to be while another client is made, it waits for ever for a
    lock that the same thread holds (`LoopRunner` of distributed 2026.8).
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        client: Any = frame.f_locals.get("self")
        if is_client(client):
            with suppress(Exception):
                client.close()
            return


@dataclass(eq=False)
class _Begun(Generic[Task]):
    """A task that is under way."""

    task: Task
    payload: bytes
    at: float
    future: Future[Packed] | None = None
    n_starts: int = 0
    n_losses: int = 0


class DaskCrew(Generic[Task, Answer]):
    """Carries out tasks on a cluster; see `Crew`."""

    is_here = False

    def __init__(self, function: Callable[[Task], Answer], cluster: DaskWorkers, n_slots: int | None = None) -> None:
        self._owns_client = isinstance(cluster.client, str)
        self._client: Client = connect(cluster.client) if isinstance(cluster.client, str) else cluster.client
        self._limits = (cluster.trial_time_limit, cluster.trial_memory_limit)
        self._n_wanted = n_slots
        self._n_slots, self._counted_at = 1, -COUNT_SECONDS
        self._address = self._client.scheduler_info().get("address")
        self._run = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._payload = pickled("function", function)
        self._data: Future[bytes] | None = None
        self._begun: dict[int, _Begun[Task]] = {}  # in the order of beginning
        self._done: dict[int, Outcome[Task, Answer]] = {}
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._topic = f"comitia-{self._run}"
        self._client.subscribe_topic(self._topic, self._note_start)

    @property
    def n_slots(self) -> int:
        """As many as the workers have threads now; at least one, which waits for the first worker."""
        if self._n_wanted is not None:
            return self._n_wanted
        if time.monotonic() - self._counted_at > COUNT_SECONDS and self._client.status == "running":
            with suppress(OSError, TimeoutError):  # a scheduler that is gone is found out by `wait`
                self._n_slots = max(1, sum(self._client.nthreads().values()))
            self._counted_at = time.monotonic()
        return self._n_slots

    @property
    def tasks(self) -> Sequence[Task]:
        return [begun.task for begun in self._begun.values()]

    def begin(self, task: Task) -> None:
        number = next(self._numbers)
        begun = _Begun(task, cloudpickle.dumps(task), time.monotonic())
        self._submit(number, begun)
        self._begun[number] = begun

    def _submit(self, number: int, begun: _Begun[Task]) -> None:
        if self._client.status != "running":
            raise self._lost()
        if self._data is None:
            self._data = self._scatter()
        key = f"{self._topic}-{number}-{begun.n_losses}"
        order = Order(self._run, self._topic, number, key, *self._limits)
        begun.future = self._client.submit(perform, self._data, begun.payload, order, key=key, pure=False)
        begun.future.add_done_callback(lambda _: self._ended.put(number))

    def _scatter(self) -> Future[bytes]:
        """Send the function to all workers that are there: what a single one has is lost with it."""
        while self._client.status == "running":
            try:
                if not self._client.nthreads():
                    log.info("waiting for a worker of the Dask scheduler at %s", self._address)
                    self._client.wait_for_workers(1)
                sent: Future[bytes] = self._client.scatter(self._payload, hash=False, broadcast=True)
                return sent
            except (OSError, TimeoutError, KeyError) as error:  # a worker died while it was sent
                log.info("sending the data again: %s", error)
                time.sleep(LOOK_SECONDS)
        raise self._lost()

    def _note_start(self, event: tuple[float, int]) -> None:
        """Count how often a task was begun: more than once where its worker had died."""
        begun = self._begun.get(event[1])
        if begun is not None:
            begun.n_starts += 1
            if begun.n_starts > MOST_DEATHS:
                self._ended.put(event[1])

    def wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            self._look()
            left = end - time.monotonic()
            if self._done or left <= 0:
                return bool(self._done)
            if self._client.status != "running":
                raise self._lost()
            try:
                self._ended.put(self._ended.get(timeout=min(left, LOOK_SECONDS)))  # `_look` takes it
            except queue.Empty:
                continue

    def _look(self) -> None:
        """Take what has ended from the queue."""
        while True:
            try:
                number = self._ended.get_nowait()
            except queue.Empty:
                return
            begun = self._begun.get(number)
            if begun is not None and number not in self._done and (outcome := self._outcome(number, begun)) is not None:
                self._done[number] = outcome

    def _outcome(self, number: int, begun: _Begun[Task]) -> Outcome[Task, Answer] | None:
        """Return what came of a task; None if it was sent again, or goes on."""
        future, seconds = begun.future, time.monotonic() - begun.at
        assert future is not None
        if future.status == "finished":
            answer, why = future.result()
            if answer is None:
                return Outcome(begun.task, None, pickle.loads(why or b""), seconds)
            return Outcome(begun.task, pickle.loads(zlib.decompress(answer)), None, seconds)
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                return Outcome(begun.task, None, _killed(begun.n_starts), seconds)
            fault = ExecutionError(f"A Dask worker failed: {type(error).__name__}: {error}")
            return Outcome(begun.task, None, fault, seconds)
        if begun.n_starts > MOST_DEATHS:
            self._client.cancel([future], force=True)
            return Outcome(begun.task, None, _killed(MOST_DEATHS), seconds)
        if future.status in ("cancelled", "lost"):
            if self._client.status != "running" or begun.n_losses >= MOST_LOSSES:
                raise self._lost()
            begun.n_losses += 1
            self._data = None  # the workers that had them are gone
            self._submit(number, begun)
        return None

    def _lost(self) -> ExecutionError:
        return ExecutionError(
            f"The Dask scheduler at {self._address} must stay in reach. The connection was lost with "
            f"{len(self._begun)} trials under way. Everything finished is kept: run again with the same storage and a "
            "client of this or another cluster to resume."
        )

    def collect(self) -> list[Outcome[Task, Answer]]:
        self._look()
        found = [self._done[number] for number in self._begun if number in self._done]
        self._begun = {number: begun for number, begun in self._begun.items() if number not in self._done}
        self._done = {}
        return found

    def abandon(self) -> list[Outcome[Task, Answer]]:
        running = [begun for number, begun in self._begun.items() if number not in self._done]
        self._begun, self._done = {}, {}
        if self._client.status == "running":
            # what runs is killed by its worker, which sees that nobody wants it any more
            self._client.cancel([begun.future for begun in running if begun.future is not None], force=True)
        now = time.monotonic()
        return [Outcome(begun.task, None, None, now - begun.at) for begun in running]

    def close(self) -> None:
        self.abandon()
        if self._client.status == "running":
            self._client.unsubscribe_topic(self._topic)
        self._data = None
        if self._owns_client:
            self._client.close(timeout=CLOSE_SECONDS)


def _killed(n: int) -> TrialCrashed:
    return TrialCrashed(f"The trial was given up after {n} Dask workers had died under it.")
