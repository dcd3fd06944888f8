"""Local worker processes that are really killed when a trial goes over its limits.

Every worker has a connection of its own, so a worker that dies, even while it sends, harms no other. One thread, the
supervisor, hands out tasks, watches clocks and resident memory, and replaces workers that ended.
"""

from __future__ import annotations

import itertools
import pickle
import signal
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as mp_connection
from numbers import Real
from typing import Any, ParamSpec, TypeAlias, TypeVar

from comitia.errors import ChoiceError, ExecutionError, TrialCrashed
from comitia.execution.machine import count_jobs
from comitia.execution.packed import PackedFunction, pickled
from comitia.execution.starters import Event, Starter, make_starter
from comitia.execution.watch import TICK_SECONDS, Limits, Watch, make_limits

MOST_FRUITLESS = 4
"""Workers in a row that may end before beginning any task."""
P = ParamSpec("P")
Answer = TypeVar("Answer")
AnyFuture: TypeAlias = Future[Any]
Function: TypeAlias = Callable[..., Any]


@dataclass(eq=False)
class _Task:
    number: int
    key: int
    arguments: bytes
    future: AnyFuture


@dataclass(eq=False)
class _Worker:
    number: int
    connection: mp_connection.Connection
    watch: Watch
    task: _Task | None = None
    functions: set[int] = field(default_factory=set)
    verdict: ExecutionError | None = None
    """Why it is being killed, once that is decided."""


class Workers(Executor):
    """A pool of local processes; a `concurrent.futures.Executor` whose tasks can be killed.

    A function is pickled once and sent once to each worker, so one that carries the data costs nothing per task; its
    large arrays are in memory once, for all workers together (not on Windows).
    Functions and classes defined in a script or a notebook work without a `__main__` guard. Nothing is started before
    the first task; after `shutdown` a pool may be used again.

    Parameters
    ----------
    n_workers : int, optional
        Number of processes, 1 if not given; -1 means all processors, -2 all but one. Each gets its share of BLAS and
        OpenMP threads.
    trial_time_limit : float, optional
        Seconds after which a task is killed, with its child processes.
    trial_memory_limit : float, optional
        Bytes of resident memory, child processes included, beyond which a task is killed. If not given: an equal share
        of nine tenths of the memory that is free at the start, within the limits of a container.

    Examples
    --------
    >>> from comitia import Workers
    >>> with Workers(1, trial_time_limit=10) as pool:
    ...     pool.submit(abs, -3).result()
    3
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        trial_time_limit: float | None = None,
        trial_memory_limit: float | None = None,
        starter: Callable[[int], Starter] = make_starter,
    ) -> None:
        self.n_workers = count_jobs("Workers", "n_workers", n_workers)
        check_limits("Workers", trial_time_limit, trial_memory_limit)
        self.trial_time_limit = trial_time_limit
        self.trial_memory_limit = trial_memory_limit
        self._make_starter = starter
        self._lock = threading.Lock()
        self._supervisor: _Supervisor | None = None
        self._is_entered = False

    @property
    def is_held(self) -> bool:
        """Whether the pool is in use elsewhere: inside its `with` block, or with processes already running."""
        return self._is_entered or self._supervisor is not None

    def __enter__(self) -> Workers:
        self._is_entered = True
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_entered = False
        # after an exception the results are not wanted
        self.shutdown(cancel_futures=exception[0] is not None)

    def submit(self, fn: Callable[P, Answer], /, *args: P.args, **kwargs: P.kwargs) -> Future[Answer]:
        """Queue a call; its future ends with the result, the task's own exception, or why it was killed."""
        if kwargs:
            raise ChoiceError("Workers.submit takes only positional arguments. Use functools.partial for keywords.")
        with self._lock:
            if self._supervisor is None:
                limits = make_limits(self.trial_time_limit, self.trial_memory_limit, self.n_workers)
                self._supervisor = _Supervisor(self.n_workers, limits, self._make_starter)
                # a pool that is dropped without a shutdown takes its processes with it
                weakref.finalize(self, self._supervisor.stop, finish=False)
            future = self._supervisor.submit(fn, args)
        future.pool = self  # type: ignore[attr-defined]  # whoever waits for it keeps the pool
        return future

    def abandon(self, futures: Iterable[AnyFuture]) -> None:
        """Give up tasks: those that wait are cancelled, those that run are killed."""
        with self._lock:
            if self._supervisor is not None:
                self._supervisor.abandon(list(futures))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End every worker: after their tasks if `wait`, else now."""
        with self._lock:
            supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.stop(finish=wait and not cancel_futures)


class _Supervisor:
    """One life of a pool: the processes, the thread that looks after them, the tasks."""

    def __init__(self, n_workers: int, limits: Limits, starter: Callable[[int], Starter]) -> None:
        self._n_workers = n_workers
        self._limits = limits
        self._starter = starter(n_workers)
        self._workers: dict[int, _Worker] = {}
        self._worker_numbers = itertools.count()
        self._task_numbers = itertools.count()
        self._queue: deque[_Task] = deque()
        self._queue_lock = threading.Lock()
        self._has_ended = False
        self._functions: dict[int, PackedFunction] = {}
        self._function_numbers = itertools.count()
        self._keys: dict[int, tuple[Callable[[], Function | None], int]] = {}  # by the function's id
        self._dropped: deque[int] = deque()
        self._abandoned: deque[AnyFuture] = deque()
        self._fruitless = 0
        self._is_stopping = False
        self._finishes = False
        self._broken: ExecutionError | None = None
        self._wake_read, self._wake_write = mp_connection.Pipe(duplex=False)
        self._wake_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="comitia-workers", daemon=True)
        self._thread.start()

    # ---- called from the user's threads ---------------------------------------------------------------------------

    def submit(self, fn: Function, args: tuple[object, ...]) -> AnyFuture:
        key = self._key_of(fn)
        arguments = pickled("arguments", args)
        with self._queue_lock:
            if self._has_ended:
                raise self._broken or ExecutionError("The pool was shut down while a task was submitted to it.")
            task = _Task(next(self._task_numbers), key, arguments, Future())
            self._queue.append(task)
        self._wake()
        return task.future

    def _key_of(self, fn: Function) -> int:
        """Pickle a function the first time it is seen; once it is gone, so is the pickle."""
        known = self._keys.get(id(fn))
        if known is not None and known[0]() is fn:
            return known[1]
        key = next(self._function_numbers)
        self._functions[key] = PackedFunction(fn)
        try:
            reference: Callable[[], Function | None] = weakref.ref(fn, lambda _: self._dropped.append(key))
        except TypeError:  # kept, where it cannot be watched
            reference = lambda: fn  # noqa: E731
        self._keys[id(fn)] = (reference, key)
        return key

    def _forget_dropped(self) -> None:
        """Let go of functions that are gone and that no task needs any more."""
        in_use = {task.key for task in self._queue} | {w.task.key for w in self._workers.values() if w.task}
        for key in [key for key in self._dropped if key not in in_use]:
            self._dropped.remove(key)
            if (packed := self._functions.pop(key, None)) is not None:
                packed.close()
            self._keys = {i: known for i, known in self._keys.items() if known[1] != key}
            for worker in self._workers.values():
                if key in worker.functions and worker.watch.pid is not None:
                    worker.functions.discard(key)
                    with suppress(OSError):
                        worker.connection.send_bytes(pickle.dumps(("forget", key)))

    def abandon(self, futures: list[AnyFuture]) -> None:
        self._abandoned.extend(futures)
        self._wake()

    def stop(self, *, finish: bool) -> None:
        self._finishes = finish
        self._is_stopping = True
        self._wake()
        if threading.current_thread() is self._thread:  # the pool was dropped, and its own thread found out
            return
        try:
            self._thread.join()
        except BaseException:  # a Ctrl-C while tasks end: do not wait for them
            self._finishes = False
            self._wake()
            self._thread.join()
            raise

    def _wake(self) -> None:
        with self._wake_lock, suppress(OSError, ValueError):  # closed: the supervisor has ended
            self._wake_write.send_bytes(b"!")

    # ---- the supervisor's thread -------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._is_done():
                self._hand_out()
                if self._is_done():  # only cancelled tasks were left: nothing would wake us
                    break
                self._listen()
                self._watch()
                self._carry_out_abandoned()
                if self._dropped:
                    self._forget_dropped()
        except ExecutionError as error:
            self._broken = error
        except Exception as error:  # our own fault: no future may wait for ever because of it
            self._broken = ExecutionError(f"The workers' supervisor failed: {type(error).__name__}: {error}")
        finally:
            self._starter.close()
            for worker in self._workers.values():
                worker.connection.close()
            self._end_futures()
            for packed in list(self._functions.values()):
                packed.close()
            with self._wake_lock:
                self._wake_read.close()
                self._wake_write.close()

    def _is_done(self) -> bool:
        if not self._is_stopping or not self._finishes:
            return self._is_stopping
        with self._queue_lock:
            is_waiting = any(not task.future.cancelled() for task in self._queue)
        return not is_waiting and not any(worker.task for worker in self._workers.values())

    def _end_futures(self) -> None:
        with self._queue_lock:
            self._has_ended = True
            left = [worker.task for worker in self._workers.values() if worker.task] + list(self._queue)
        for task in left:
            if task.future.cancelled() or (self._broken is None and task.future.cancel()):
                task.future.set_running_or_notify_cancel()  # who waits for it must be told
            else:
                given_up = TrialCrashed("The task was given up because its pool was shut down.")
                task.future.set_exception(self._broken or given_up)

    def _hand_out(self) -> None:
        n_tasks = len(self._queue) + sum(worker.task is not None for worker in self._workers.values())
        while len(self._workers) < min(self._n_workers, max(n_tasks, 1)):
            number = next(self._worker_numbers)
            self._workers[number] = _Worker(number, self._starter.start(number), Watch(self._limits))
        for worker in self._workers.values():
            # a worker that has not started would not read: a large function would block us in the middle
            while self._queue and worker.watch.pid is not None and worker.task is None and worker.verdict is None:
                task = self._queue.popleft()
                if task.future.set_running_or_notify_cancel():
                    self._send(worker, task)

    def _send(self, worker: _Worker, task: _Task) -> None:
        worker.task = task
        worker.watch.start()
        try:
            if task.key not in worker.functions:
                self._functions[task.key].send(worker.connection, task.key)
                worker.functions.add(task.key)
            worker.connection.send_bytes(pickle.dumps(("task", task.number, task.key, task.arguments)))
        except OSError:
            pass  # it has died: its exit is on the way

    def _listen(self) -> None:
        connections = {worker.connection: worker for worker in self._workers.values() if not worker.connection.closed}
        waitables = self._starter.waitables()
        is_idle = not any(worker.task for worker in self._workers.values())
        patience = None if is_idle and waitables else TICK_SECONDS  # for ever, where nothing needs to be looked at
        for ready in mp_connection.wait([self._wake_read, *waitables, *connections], patience):
            if ready is self._wake_read:
                while self._wake_read.poll():
                    self._wake_read.recv_bytes()
            elif ready in connections:
                self._receive(connections[ready])
        for event in self._starter.events():
            self._happened(event)

    def _receive(self, worker: _Worker) -> None:
        try:
            kind, number = pickle.loads(worker.connection.recv_bytes())
            payload = b"" if kind == "begin" else worker.connection.recv_bytes()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.connection.close()  # dying: its exit code follows as an event
            self._condemn(worker, None)
            return
        if worker.task is None or worker.task.number != number:
            return
        if kind == "begin":
            worker.watch.begin()
            self._fruitless = 0
            return
        task, worker.task = worker.task, None
        try:
            value = pickle.loads(payload)
        except Exception as error:
            task.future.set_exception(ExecutionError(f"A worker's answer could not be read: {error}"))
            return
        if kind == "result":
            task.future.set_result(value)
        else:
            task.future.set_exception(
                value if isinstance(value, Exception) else RuntimeError(f"{type(value).__name__}: {value}")
            )
        if worker.watch.is_bloated():
            self._condemn(worker, None)

    def _happened(self, event: Event) -> None:
        worker = self._workers.get(event.worker)
        if worker is None:
            return
        if event.kind == "started":
            worker.watch.pid = event.value
            return
        # a result may have been sent just before the end
        while not worker.connection.closed and worker.connection.poll():
            self._receive(worker)
        del self._workers[event.worker]
        worker.connection.close()
        if worker.task is None:
            if worker.verdict is None:
                self._count_fruitless(event.value)
            return
        worker.task.future.set_exception(worker.verdict or TrialCrashed(_how_it_ended(event.value)))
        if not worker.watch.has_begun and worker.verdict is None:
            self._count_fruitless(event.value)

    def _count_fruitless(self, code: int) -> None:
        self._fruitless += 1
        if self._fruitless >= MOST_FRUITLESS:
            raise ExecutionError(
                f"Workers must be able to start. The last {self._fruitless} ended before they began a task: "
                f"{_how_it_ended(code)} Their messages are on standard error. Try n_jobs=1 to see the error here."
            )

    def _condemn(self, worker: _Worker, verdict: ExecutionError | None) -> None:
        if worker.verdict is None:
            worker.verdict = verdict
            if worker.task is None:
                worker.verdict = ExecutionError("replaced")
            self._starter.kill(worker.number)

    def _watch(self) -> None:
        """Condemn what is over its limits."""
        for worker in list(self._workers.values()):
            if worker.task is None or worker.verdict is not None:
                continue
            if (verdict := worker.watch.verdict()) is not None:
                self._condemn(worker, verdict)

    def _carry_out_abandoned(self) -> None:
        while self._abandoned:
            future = self._abandoned.popleft()
            if future.cancel():
                continue
            for worker in self._workers.values():
                if worker.task is not None and worker.task.future is future:
                    self._condemn(worker, TrialCrashed("The task was given up and killed."))


def check_limits(of: str, seconds: float | None, memory: float | None) -> None:
    """Refuse limits of a trial that are not positive numbers."""
    for name, limit in (("trial_time_limit", seconds), ("trial_memory_limit", memory)):
        if limit is not None and not (isinstance(limit, Real) and limit > 0):
            raise ChoiceError(f"The {name!r} parameter of {of} must be a number > 0. Got {limit!r} instead.")


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"The process of the trial exited with code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown"
    return f"The process of the trial was killed by signal {-code} ({name})."
