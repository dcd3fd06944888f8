"""What runs inside a worker process: receive a function once, then arguments, and send back results.

Only the standard library is imported here, so that a worker starts fast and imports what its tasks need. Where there is
no safe fork (macOS, Windows) a worker is a program of its own: `python worker.py` reads one line of JSON from standard
input, with Python's path and the descriptor of a socket, or, on Windows, where to connect and with which key.

Messages, pickled, from the parent: `("function", key, payload, places)`, `("forget", key)`, `("task", number, key,
payload)`. Where there are places, of arrays in shared memory, its descriptor follows the message.
From the worker: `("begin", number)`; `("result", number)` or `("error", number)`, then the payload by itself: as a
part of the message a large model would be copied once more at either end.
"""

import contextlib
import json
import mmap
import os
import pickle
import socket
import sys
from collections.abc import Callable
from multiprocessing.connection import Client, Connection

Sent = tuple[bytes, list[memoryview]]
"""A pickled function, and its arrays in shared memory."""
Functions = dict[int, "Sent | Callable[..., object]"]
"""What was sent, by key: pickled until its first task."""


def serve(connection: Connection) -> None:
    """Work until the parent hangs up."""
    functions: Functions = {}
    ours = os.getpid()
    while True:
        try:
            message = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        if message[0] == "function":
            _, key, payload, places = message
            # loaded by the first task, so that a failure has a task to go to
            functions[key] = payload, (shared(connection, places) if places else [])
            continue
        if message[0] == "forget":
            functions.pop(message[1], None)
            continue
        _, number, key, arguments = message
        kind, answer = _perform(connection, functions, number, key, arguments)
        if os.getpid() != ours:  # a child that the task forked and that came back here: the answer is the parent's
            os._exit(0)
        with contextlib.suppress(Exception):  # what the task printed, while it is still its turn
            sys.stdout.flush()
            sys.stderr.flush()
        try:
            connection.send_bytes(pickle.dumps((kind, number)))
            connection.send_bytes(answer)
        except OSError:
            return
        del answer


def shared(connection: Connection, places: list[tuple[int, int]]) -> list[memoryview]:
    """Receive shared memory; return the arrays in it, which may be written to without effect on other processes."""
    with socket.socket(fileno=os.dup(connection.fileno())) as ours:
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    try:
        memory = memoryview(mmap.mmap(descriptors[0], places[-1][1], access=mmap.ACCESS_COPY))
    finally:
        os.close(descriptors[0])
    return [memory[start:end] for start, end in places]


def _perform(
    connection: Connection, functions: Functions, number: int, key: int, arguments: bytes
) -> tuple[str, bytes]:
    try:
        import cloudpickle

        function = functions[key]
        if isinstance(function, tuple):
            function = functions[key] = pickle.loads(function[0], buffers=function[1])
        args = pickle.loads(arguments)
        connection.send_bytes(pickle.dumps(("begin", number)))
        result = function(*args)
        return "result", cloudpickle.dumps(result)
    except BaseException as error:  # whatever a task raises belongs to its future, SystemExit included
        return "error", _pickled(error)


def _pickled(error: BaseException) -> bytes:
    """Pickle an exception, or its text where it cannot be pickled and read again."""
    import cloudpickle

    try:
        payload = cloudpickle.dumps(error)
        pickle.loads(payload)
    except Exception:
        payload = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return bytes(payload)


def settle_in() -> None:
    """Read from nothing, print to standard error: standard output belongs to the parent's results."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        for descriptor in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def main() -> None:
    """Connect to the parent, then serve."""
    order = json.loads(sys.stdin.readline())
    sys.path[:] = order["path"]
    settle_in()
    if "socket" in order:
        serve(Connection(order["socket"]))
    else:
        serve(Client(order["address"], authkey=bytes.fromhex(order["key"])))


if __name__ == "__main__":
    main()
