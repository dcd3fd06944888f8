"""Run trials in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from comitia.errors import check_int

P = ParamSpec("P")
Answer = TypeVar("Answer")


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
