"""Crews: who carries out the tasks of one run, and which of them are under way.

A crew has one function, which it calls for every task; the function carries the data and travels once. `HereCrew`
calls it in this thread, for `Serial`. `DaskCrew` sends it to a cluster, `FuturesCrew` to any other executor of
`concurrent.futures`. One for another system is a class with the methods of `Crew`: it sends the function once, keeps
the tasks in the order in which they were begun, and `make_crew` chooses it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, Union, runtime_checkable

from comitia.errors import ChoiceError, ExecutionError, check_int
from comitia.execution.dask import DaskCrew, DaskWorkers, is_client
from comitia.execution.kept import kept_starter
from comitia.execution.machine import count_jobs, n_processors
from comitia.execution.once import OnceFromFile
from comitia.execution.outcome import Outcome
from comitia.execution.workers import Workers

if TYPE_CHECKING:
    from distributed import Client

ExecutorLike: TypeAlias = Union[Executor, DaskWorkers, "Client", str]
"""Where trials run: an executor of `concurrent.futures`, or a Dask cluster, by a client or a scheduler's address."""
P = ParamSpec("P")
Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Crew(Protocol[Task, Answer]):
    """Carries out tasks, and knows which ones."""

    @property
    def n_slots(self) -> int:
        """How many tasks may be under way at a time."""

    @property
    def is_here(self) -> bool:
        """Whether tasks run in `wait`, in the calling thread, so that nothing happens between the calls."""

    @property
    def tasks(self) -> Sequence[Task]:
        """What was begun and not collected or abandoned, in the order of beginning."""

    def begin(self, task: Task) -> None:
        """Take on a task."""

    def wait(self, seconds: float) -> bool:
        """Wait until a task has ended, but not longer than so many seconds; tell whether one has."""

    def collect(self) -> list[Outcome[Task, Answer]]:
        """Return what came of the tasks that have ended, in the order of beginning, and let go of them."""

    def abandon(self) -> list[Outcome[Task, Answer]]:
        """Give up every task, and kill those that run where that is possible; return those that were running."""

    def close(self) -> None:
        """Leave nothing running that was begun here."""


class Serial(Executor):
    """Run each task at once, in the calling thread. It cannot kill, so it takes no limits for a trial.

    Parameters
    ----------
    n_slots : int
        How many trials to ask for and record at a time: one transaction for all of them, where trials are very cheap.
    """

    def __init__(self, n_slots: int = 1) -> None:
        check_int("Serial", "n_slots", n_slots)
        self.n_slots = int(n_slots)

    def submit(self, fn: Callable[P, Answer], /, *args: P.args, **kwargs: P.kwargs) -> Future[Answer]:
        """Run the task and return its finished future."""
        future: Future[Answer] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class HereCrew(Generic[Task, Answer]):
    """Carries out tasks in the calling thread, one after the other, without futures: for very cheap ones."""

    is_here = True

    def __init__(self, function: Callable[[Task], Answer], n_slots: int = 1) -> None:
        self.n_slots = n_slots
        self.tasks: list[Task] = []
        self._function = function
        self._done: list[Outcome[Task, Answer]] = []

    def begin(self, task: Task) -> None:
        self.tasks.append(task)

    def wait(self, seconds: float) -> bool:
        """Carry out everything that was begun, as far as the seconds allow another task to start."""
        began = time.monotonic()
        end = began + seconds
        for task in self.tasks[len(self._done) :]:
            if began >= end:
                break
            answer, error = None, None
            try:
                answer = self._function(task)
            except Exception as caught:
                error = caught
            now = time.monotonic()
            self._done.append(Outcome(task, answer, error, now - began))
            began = now
        return bool(self._done)

    def collect(self) -> list[Outcome[Task, Answer]]:
        done, self._done = self._done, []
        del self.tasks[: len(done)]
        return done

    def abandon(self) -> list[Outcome[Task, Answer]]:
        self.tasks, self._done = [], []
        return []

    def close(self) -> None:
        self.abandon()


class FuturesCrew(Generic[Task, Answer]):
    """Hands tasks to an executor; with `Workers` it can kill them, with others it can only let them run on."""

    is_here = False

    def __init__(self, function: Callable[[Task], Answer], executor: Executor, n_slots: int) -> None:
        self.n_slots = n_slots
        # a pool of processes would get the data with every task
        self._file = OnceFromFile(function) if _is_process_pool(executor) else None
        self._function = self._file or function
        self._executor = executor
        self._workers = executor if isinstance(executor, Workers) else None
        self._owns_workers = self._workers is not None and not self._workers.is_held
        self._begun: dict[Future[Answer], tuple[Task, float]] = {}  # when it was begun, too

    @property
    def tasks(self) -> Sequence[Task]:
        return [task for task, _ in self._begun.values()]

    def begin(self, task: Task) -> None:
        future = self._executor.submit(self._function, task)
        self._begun[future] = (task, time.monotonic())

    def wait(self, seconds: float) -> bool:
        timeout = None if seconds == math.inf else max(seconds, 0.0)
        return bool(wait(self._begun, timeout, FIRST_COMPLETED).done)

    def collect(self) -> list[Outcome[Task, Answer]]:
        done = [future for future in self._begun if future.done()]
        outcomes = [self._outcome(future) for future in done]
        for future in done:
            del self._begun[future]
        return outcomes

    def _outcome(self, future: Future[Answer]) -> Outcome[Task, Answer]:
        answer: Answer | None = None
        error: Exception | None = None
        try:
            answer = future.result()
        except BrokenExecutor as caught:
            error = ExecutionError(
                f"The executor must survive its tasks. Got {type(caught).__name__}: {caught}. A trial has probably "
                "killed its process. Everything finished is kept. Use Workers, which replaces a worker that died."
            )
            error.__cause__ = caught
        except Exception as caught:
            error = caught
        task, at = self._begun[future]
        return Outcome(task, answer, error, time.monotonic() - at)

    def abandon(self) -> list[Outcome[Task, Answer]]:
        # those that wait for their turn first: they would take the place of those that are killed
        running = {future: begun for future, begun in self._begun.items() if not future.cancel()}
        self._begun = {}
        if self._workers is not None:
            self._workers.abandon(running)
        now = time.monotonic()
        return [Outcome(task, None, None, now - at) for task, at in running.values()]

    def close(self) -> None:
        if self._workers is not None and self._owns_workers:
            self._workers.shutdown(cancel_futures=True)
        self.abandon()
        if self._file is not None:
            self._file.close()


def make_crew(
    function: Callable[[Task], Answer],
    executor: ExecutorLike | None = None,
    n_jobs: int | None = None,
    *,
    must_kill: bool = False,
) -> Crew[Task, Answer]:
    """Return a crew for a function: over the executor, else over as many workers as there are jobs, or here.

    What runs in this process cannot be stopped: with `must_kill` there is at least one worker.
    """
    n_wanted = count_jobs("run", "n_jobs", n_jobs)
    if executor is None:
        executor = Workers(n_wanted, starter=kept_starter) if n_wanted > 1 or must_kill else Serial()
    if isinstance(executor, str) or is_client(executor):
        executor = DaskWorkers(executor)  # type: ignore[arg-type]  # a client, if not an address
    if isinstance(executor, DaskWorkers):
        return DaskCrew(function, executor, None if n_jobs is None else n_wanted)
    if isinstance(executor, type) or not isinstance(executor, _Submits):
        raise ChoiceError(
            f"The executor must have concurrent.futures' `submit`, or be a Dask client or address. Got {executor!r}."
        )
    n_slots = _n_slots(executor) if n_jobs is None else n_wanted
    if type(executor) is Serial:  # a subclass may submit in its own way
        return HereCrew(function, n_slots)
    return FuturesCrew(function, executor, n_slots)


def with_limits(executor: ExecutorLike, seconds: float | None, memory: float | None) -> ExecutorLike:
    """Return a Dask cluster with limits for a trial; other executors as they are."""
    if isinstance(executor, str) or is_client(executor):
        return DaskWorkers(executor, trial_time_limit=seconds, trial_memory_limit=memory)  # type: ignore[arg-type]
    return executor


@runtime_checkable
class _Submits(Protocol):
    def submit(self, fn: Callable[[Task], Answer], task: Task, /) -> Future[Answer]: ...


def _is_process_pool(executor: Executor) -> bool:
    """Tell whether tasks run in processes on this machine: those of `concurrent.futures`, of loky or of joblib.

    Other executors may be on other machines, which do not see our files: they get the data with every task.
    """
    return any(kind.__name__ == ProcessPoolExecutor.__name__ for kind in type(executor).__mro__)


def _n_slots(executor: Executor) -> int:
    """Return how many tasks an executor carries out at a time; those of others do not say it in public."""
    if isinstance(executor, Serial):
        return executor.n_slots
    if isinstance(executor, Workers):
        return executor.n_workers
    return getattr(executor, "_max_workers", None) or n_processors()
