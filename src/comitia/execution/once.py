"""A function with its data that travels once to the processes of a pool which would pickle it for every task."""

import os
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from comitia.execution.packed import pickled

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_LOADED: dict[str, Callable[..., object]] = {}
"""What this process has read, the last one alone."""


class OnceFromFile(Generic[Task, Answer]):
    """A function that is read from a file by each process that calls it, at its first call."""

    def __init__(self, function: Callable[[Task], Answer]) -> None:
        descriptor, self._path = tempfile.mkstemp(prefix="comitia-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(pickled("function", function))

    def __call__(self, task: Task) -> Answer:
        if self._path not in _LOADED:
            with open(self._path, "rb") as file:  # by this user alone: `mkstemp` sees to it
                function = pickle.load(file)
            _LOADED.clear()
            _LOADED[self._path] = function
        answer: Answer = _LOADED[self._path](task)  # type: ignore[assignment]
        return answer

    def close(self) -> None:
        """Remove the file: processes that have read it do not need it any more."""
        with suppress(OSError):
            os.unlink(self._path)
