"""What travels to worker processes: pickles, with large arrays beside them in memory that all processes share.

The memory is that of a file without a name: nothing of it is left when the last process that has it open or mapped has
ended, in whatever way. Workers map it privately (`worker.py`): pages are shared until somebody writes to one, who then
has a copy of that page alone. Where descriptors cannot be passed (Windows), arrays are part of the pickle.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import tempfile
import weakref
from multiprocessing.connection import Connection

import cloudpickle

from comitia.errors import ExecutionError

LEAST_BYTES = 2**20
"""Arrays below are part of the pickle: a copy costs less than a mapping."""
ALIGNED = 64
"""Bytes of which the place of an array is a multiple, as NumPy's own are."""


def pickled(what: str, thing: object, beside: list[pickle.PickleBuffer] | None = None) -> bytes:
    """Pickle a function or its arguments, by value what is defined in a script; say what to do if that fails.

    With a list `beside`, large arrays go there instead.
    """

    def is_part(buffer: pickle.PickleBuffer) -> bool:
        if beside is None or buffer.raw().nbytes < LEAST_BYTES:
            return True
        beside.append(buffer)
        return False

    try:
        return bytes(cloudpickle.dumps(thing, buffer_callback=is_part))
    except Exception as error:
        raise ExecutionError(
            f"The {what} of a task must be picklable to reach worker processes. Got {type(thing).__name__}: "
            f"{type(error).__name__}: {error}. Remove what cannot be pickled (locks, open files), or use n_jobs=1."
        ) from error


class PackedFunction:
    """A function that is ready for any number of workers."""

    def __init__(self, function: object) -> None:
        beside: list[pickle.PickleBuffer] | None = [] if can_share() else None
        self._payload = pickled("function", function, beside)
        self._places: list[tuple[int, int]] = []
        """Where each array begins and ends in the shared memory."""
        self._memory: int | None = None
        if beside:
            try:
                self._memory, self._places = _written(beside)
            except OSError:  # no memory or no room for it: then each worker has its own copy
                self._payload = pickled("function", function)
        self.close = weakref.finalize(self, _let_go, self._memory)
        """Let go of the memory; workers that have mapped it keep it."""

    @property
    def n_shared_bytes(self) -> int:
        return self._places[-1][1] if self._places else 0

    def send(self, connection: Connection, key: int) -> None:
        """Send it to one worker."""
        connection.send_bytes(pickle.dumps(("function", key, self._payload, self._places)))
        if self._memory is not None:
            with socket.socket(fileno=os.dup(connection.fileno())) as ours:
                socket.send_fds(ours, [b"!"], [self._memory])


def can_share() -> bool:
    """Tell whether descriptors can be passed to workers."""
    return sys.platform != "win32"


def _written(buffers: list[pickle.PickleBuffer]) -> tuple[int, list[tuple[int, int]]]:
    """Write arrays into a file without a name; return its descriptor and their places."""
    places: list[tuple[int, int]] = []
    memory = _nameless()
    try:
        with open(os.dup(memory), "wb") as file:
            for buffer in buffers:
                view = buffer.raw()
                start = -(-file.tell() // ALIGNED) * ALIGNED
                file.seek(start)
                file.write(view)
                places.append((start, start + view.nbytes))
    except OSError:
        os.close(memory)
        raise
    return memory, places


def _nameless() -> int:
    if sys.platform == "linux":
        return os.memfd_create("comitia")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _let_go(memory: int | None) -> None:
    if memory is not None:
        os.close(memory)
