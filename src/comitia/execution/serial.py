"""Run trials in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from comitia.errors import ChoiceError


class Serial(Executor):
    """Run each task at once, in the calling thread. It cannot kill, so it takes no limits for a trial.

    Parameters
    ----------
    batch : int
        How many trials to ask for and record at a time: one transaction for each batch, where trials are very cheap.
    """

    def __init__(self, batch: int = 1) -> None:
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ChoiceError(f"The 'batch' parameter of Serial must be an int >= 1. Got {batch!r} instead.")
        self.n_workers = batch

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the task and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
