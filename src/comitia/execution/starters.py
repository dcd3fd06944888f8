"""How worker processes begin and end: forked from a nursery (Linux), or as fresh programs (everywhere).

Both start without importing the user's `__main__` again, so that a plain script needs no guard, in a process group of
their own, so that a Ctrl-C at the terminal does not reach them and a kill reaches their children.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import weakref
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Literal, Protocol

import psutil

from comitia.arrays import Json
from comitia.errors import ExecutionError
from comitia.execution.machine import n_processors

PRELOADED = ("numpy", "scipy", "sklearn", "pandas", "ConfigSpace", "lightgbm", "cloudpickle", "comitia")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
"""What tells linear algebra, OpenMP and loky how many threads or processes to use."""
IDLE_SECONDS = 90.0
"""How long a nursery without workers waits for the next ones."""
MODULES_PER_MESSAGE = 30
"""A control message has at most 4,096 bytes."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a worker."""

    kind: Literal["started", "exited"]
    worker: int
    value: int
    """Process id, or exit code (negative: killed by that signal)."""


class Starter(Protocol):
    """Begins and ends worker processes."""

    def start(self, worker: int) -> Connection:
        """Begin a worker and return the connection to it."""

    def kill(self, worker: int) -> None:
        """Kill a worker and its descendants, now."""

    def waitables(self) -> list[socket.socket]:
        """Return what becomes readable when there are events; empty where they must be polled."""

    def events(self) -> list[Event]:
        """Return what has happened since the last call."""

    def close(self) -> None:
        """Kill everything that was started."""


def make_starter(n_workers: int) -> Starter:
    """Return the best starter of this platform."""
    return Nursery(n_workers) if sys.platform == "linux" else FreshProcesses(n_workers)


def environment(n_workers: int) -> dict[str, str]:
    """Return the environment of workers: processors are shared out among them, unless the user's says otherwise."""
    share = max(1, n_processors() // n_workers)
    with contextlib.suppress(KeyError, ValueError):  # who sets one of them means all: OpenBLAS has two
        share = min(share, max(1, int(os.environ["OMP_NUM_THREADS"])))
    return {**dict.fromkeys(THREAD_VARIABLES, str(share)), **os.environ}


def heavy_modules() -> set[str]:
    """Return what this process has imported of the usual heavy packages: workers will need the same."""
    return {name for name in list(sys.modules) if name.split(".")[0] in PRELOADED and "__main__" not in name}


class Nursery:
    """Forks workers from a process that has done the imports; see `nursery.py`."""

    def __init__(self, n_workers: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._preloaded = heavy_modules()
        order = {"preload": sorted(self._preloaded), "idle_seconds": idle_seconds}
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _launch("nursery.py", {**order, "socket": theirs.fileno()}, n_workers)
        self.has_started = False
        """Whether a worker has begun, so that the imports are done."""
        _forget_in_children()
        _OPEN.add(self)

    def start(self, worker: int) -> Connection:
        ours, theirs = socket.socketpair()
        with theirs:
            self._send({"start": worker}, [theirs.fileno()])
        return Connection(ours.detach())

    def kill(self, worker: int) -> None:
        self._send({"kill": worker}, [])

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def preload(self) -> None:
        """Import what this process has imported since the start, before further workers begin."""
        new = sorted(heavy_modules() - self._preloaded)
        self._preloaded.update(new)
        for i in range(0, len(new), MODULES_PER_MESSAGE):
            self._send({"preload": new[i : i + MODULES_PER_MESSAGE]}, [])

    def let_go(self) -> None:
        """Forget it in a forked child: it is the parent's, and must see that one's end."""
        self._control.close()
        self._process.returncode = 0  # nothing to wait for here

    def _send(self, message: Json, sockets: list[int]) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], sockets)
        except OSError as error:
            raise self._broken() from error

    def waitables(self) -> list[socket.socket]:
        return [self._control]

    def events(self) -> list[Event]:
        found: list[Event] = []
        while True:
            try:
                data = self._control.recv(4096, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return found
            except OSError:
                data = b""
            if not data:
                raise self._broken()
            message = json.loads(data)
            if "started" in message:
                self.has_started = True
                found.append(Event("started", message["started"], message["pid"]))
            else:
                found.append(Event("exited", message["exited"], message["code"]))

    def _broken(self) -> ExecutionError:
        return ExecutionError(
            f"The process that starts workers must keep running. It ended with code {self._process.poll()}; its "
            "messages are on standard error. Run again to resume, or with n_jobs=1."
        )

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # a fork by the user's code may hold a copy
        self._control.close()
        try:
            # still importing: nothing of ours runs yet, so there is nothing to wait for
            self._process.wait(timeout=2 if self.has_started else 0)
        except subprocess.TimeoutExpired:
            kill_tree(self._process.pid)
            self._process.wait()


_OPEN: weakref.WeakSet[Nursery] = weakref.WeakSet()


@cache
def _forget_in_children() -> None:
    """See to it, once, that a fork of this process lets go of our nurseries."""
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    for nursery in list(_OPEN):
        nursery.let_go()


class FreshProcesses:
    """Starts a new Python for each worker; see `worker.py`."""

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._new: list[Event] = []

    def start(self, worker: int) -> Connection:
        if sys.platform == "win32":
            return self._start_and_accept(worker)
        ours, theirs = socket.socketpair()
        with theirs:
            self._launch(worker, {"socket": theirs.fileno()})
        return Connection(ours.detach())

    def _start_and_accept(self, worker: int) -> Connection:
        """Start on Windows, where descriptors are not inherited by number: the worker connects to us."""
        key = secrets.token_bytes(32)
        with Listener(authkey=key) as listener:
            self._launch(worker, {"address": listener.address, "key": key.hex()})
            return listener.accept()

    def _launch(self, worker: int, order: Json) -> None:
        self._processes[worker] = _launch("worker.py", order, self._n_workers)
        self._new.append(Event("started", worker, self._processes[worker].pid))

    def kill(self, worker: int) -> None:
        if worker in self._processes:
            kill_tree(self._processes[worker].pid)

    def waitables(self) -> list[socket.socket]:
        return []

    def events(self) -> list[Event]:
        found, self._new = self._new, []
        for worker, process in list(self._processes.items()):
            if (code := process.poll()) is not None:
                kill_group(process.pid)  # children that it left
                del self._processes[worker]
                found.append(Event("exited", worker, code))
        return found

    def close(self) -> None:
        for process in self._processes.values():
            kill_tree(process.pid)
            process.wait()


def _launch(program: str, order: Json, n_workers: int) -> subprocess.Popen[bytes]:
    """Start a program of this folder; its order, and Python's path, are a line of JSON on its standard input."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name(program))],
        stdin=subprocess.PIPE,
        env=environment(n_workers),
        pass_fds=[order["socket"]] if "socket" in order else [],
        start_new_session=True,
    )
    assert process.stdin is not None
    path = [os.path.abspath(str(entry)) for entry in sys.path]  # the program may start elsewhere
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:  # its end shows as an event
        stdin.write(json.dumps({**order, "path": path}).encode() + b"\n")
    return process


def kill_group(pid: int) -> None:
    """Kill the process group that a process leads, also when the process itself has ended."""
    if sys.platform == "win32":  # no groups
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
        return
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:  # something else is in the group: at least its leader
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def kill_tree(pid: int) -> None:
    """Kill a process, its process group and its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        family = [*process.children(recursive=True), process]
        kill_group(pid)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
