"""`TrialStack`: an executor that gathers trials, of one study or of several, and has them evaluated together.

For evaluators that take little longer for many trials than for one, such as networks side by side on a GPU. The loop
of a study knows nothing of it: it submits a trial and waits for its future, as with any executor.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from comitia.errors import ChoiceError, check_int
from comitia.history import Trial
from comitia.seams import Evaluator, Together
from comitia.seeds import Seeds
from comitia.study.loop import Evaluate, Task

P = ParamSpec("P")
Answer = TypeVar("Answer")
Waiting = tuple[Future[Any], Evaluator, Trial, Seeds]


class TrialStack(Executor):
    """Gather trials until there are as many as fit, and evaluate them together, in a thread of its own.

    Parameters
    ----------
    size : int
        How many trials to gather. One study alone has as many under way: `study.run(evaluator, executor=stack)`. For
        studies in lockstep it is their number, and each runs in a thread, with `n_jobs=1`; see `lockstep`.
    patience : float
        Seconds without a new trial after which those that are there are evaluated: a study may have ended, or may be
        slower than the others. Who is evaluated with whom makes no difference beyond that of float arithmetic.
    """

    def __init__(self, size: int, *, patience: float = 2.0) -> None:
        check_int("TrialStack", "size", size)
        if not patience >= 0:
            raise ChoiceError(f"The 'patience' of TrialStack must be a number of seconds >= 0. Got {patience!r}.")
        self._max_workers = size  # what executors of the standard library call it
        self.patience = patience
        self.sizes: list[int] = []
        """How many trials were evaluated together, each time."""
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._n_expected = size
        self._is_shut = False
        self._thread = threading.Thread(target=self._work, name="TrialStack", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[P, Answer], /, *args: P.args, **kwargs: P.kwargs) -> Future[Answer]:
        """Take on a trial of a study."""
        if not isinstance(fn, Evaluate) or not isinstance(fn.evaluator, Together) or not isinstance(args[0], Task):
            raise ChoiceError(
                "A TrialStack must be given trials of an evaluator that has `together`, such as ImageEvaluator. "
                f"Got {fn!r}. Use Workers, or n_jobs."
            )
        future: Future[Answer] = Future()
        with self._changed:
            if self._is_shut:
                raise RuntimeError("cannot submit to a TrialStack after shutdown")
            self._waiting.append((future, fn.evaluator, args[0].trial, fn.seeds))
            self._changed.notify_all()
        return future

    def leave(self) -> None:
        """Say that one study of several has ended: the others need not wait for it."""
        with self._changed:
            self._n_expected = max(1, self._n_expected - 1)
            self._changed.notify_all()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Evaluate what is waiting, or cancel it, and end."""
        with self._changed:
            self._is_shut = True
            if cancel_futures:
                for future, *_ in self._waiting:
                    future.cancel()
            self._changed.notify_all()
        if wait:
            self._thread.join()

    def _work(self) -> None:
        while batch := self._gathered():
            begun = [waiting for waiting in batch if waiting[0].set_running_or_notify_cancel()]
            evaluators = {id(evaluator): evaluator for _, evaluator, _, _ in begun}
            for key, evaluator in evaluators.items():
                _evaluate(evaluator, [waiting for waiting in begun if id(waiting[1]) == key])
            self.sizes.append(len(begun))

    def _gathered(self) -> list[Waiting]:
        """Wait for trials, until all are there or nothing has come for a while; none means the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_shut)
            n_before, until = -1, 0.0
            while len(self._waiting) < self._n_expected and not self._is_shut:
                if len(self._waiting) > n_before:
                    n_before, until = len(self._waiting), time.monotonic() + self.patience
                if not self._changed.wait(max(0.0, until - time.monotonic())) and time.monotonic() >= until:
                    break
            batch, self._waiting = self._waiting[: self._max_workers], self._waiting[self._max_workers :]
            return batch


def _evaluate(evaluator: Evaluator, waiting: list[Waiting]) -> None:
    assert isinstance(evaluator, Together)
    try:
        results = evaluator.together([(trial, seeds) for _, _, trial, seeds in waiting])
        for (future, *_), result in zip(waiting, results, strict=True):
            future.set_result(result)
    except Exception as error:  # an evaluator's own mistake: every trial that has no result has failed by it
        for future, *_ in waiting:
            if not future.done():
                future.set_exception(error)


def lockstep(stack: TrialStack, runs: Iterable[Callable[[], object]]) -> None:
    """Carry out the runs of several studies at once, each in a thread, all on one stack; raise the first error.

    A run opens its study, calls `study.run(evaluator, executor=stack, n_jobs=1, ...)` and closes it. The others carry
    on after an error.
    """
    errors: list[BaseException] = []

    def carry_out(run: Callable[[], object]) -> None:
        try:
            run()
        except BaseException as error:  # raised again in the calling thread
            errors.append(error)
        finally:
            stack.leave()

    threads = [threading.Thread(target=carry_out, args=(run,), daemon=True) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
