"""The nursery: a small process that has imported what workers need and forks them on request (Linux).

`python nursery.py` is started by `comitia.execution.starters`. It never runs a task, has one thread and has used no
OpenMP, so forking it is safe, and a fresh worker costs milliseconds instead of seconds of imports. It does not import
the user's `__main__`. When the parent goes away, for whatever reason, the control socket closes and every worker is
killed with all its descendants: nothing is left, even after kill -9. A nursery that has had no worker for a while ends
by itself: `comitia.execution.kept` may have put it aside.

Control messages are JSON, one per packet. In: `{"start": id}` with a socket attached, `{"kill": id}`,
`{"preload": [modules]}`.
Out: `{"started": id, "pid": pid}`, `{"exited": id, "code": code}` (negative: killed by that signal).
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Nursery:
    """Forks workers, kills them with all their descendants, reports how they ended."""

    def __init__(self, control: socket.socket, idle_seconds: float) -> None:
        self.control = control
        self.idle_seconds = idle_seconds
        self.pids: dict[int, int] = {}  # by worker id
        self.worker = runpy.run_path(WORKER)  # by its place: as a module, it would bring all of comitia
        # orphaned grandchildren come to us, so that none escapes by leaving its process group
        prctl(PR_SET_CHILD_SUBREAPER, 1)

    def run(self) -> None:
        """Serve until the parent hangs up or nothing happens for long, then leave nothing behind."""
        wakeup_read, wakeup_write = socket.socketpair()
        wakeup_read.setblocking(False)
        wakeup_write.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler there is no wake-up
        signal.set_wakeup_fd(wakeup_write.fileno(), warn_on_full_buffer=False)
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        selector.register(wakeup_read, selectors.EVENT_READ)
        self.inherited = [self.control, wakeup_read, wakeup_write, selector]
        with contextlib.suppress(OSError):  # the parent is gone
            while True:
                ready = [key.fileobj for key, _ in selector.select(None if self.pids else self.idle_seconds)]
                if not ready:
                    break
                if wakeup_read in ready:
                    with contextlib.suppress(BlockingIOError):
                        wakeup_read.recv(4096)
                    self.reap()
                if self.control in ready and not self.obey():
                    break
        for worker, pid in list(self.pids.items()):
            self.kill(worker)
            os.waitpid(pid, 0)  # only now have its orphans come to us
            del self.pids[worker]
        self.sweep()

    def obey(self) -> bool:
        """Carry out one message; False when the parent has hung up."""
        data, sockets, _, _ = socket.recv_fds(self.control, 4096, 1)
        if not data:
            return False
        message = json.loads(data)
        if "start" in message:
            self.start(message["start"], sockets[0])
        elif "preload" in message:
            preload(message["preload"])
        else:
            self.kill(message["kill"])
        return True

    def start(self, worker: int, fd: int) -> None:
        """Fork a worker that listens at `fd`."""
        try:
            pid = os.fork()
        except OSError:  # no memory, too many processes: this worker ends before it began
            traceback.print_exc()
            os.close(fd)
            self.tell({"exited": worker, "code": 1})
            return
        if pid == 0:
            become_worker(fd, self.inherited, self.worker)
        os.close(fd)
        self.pids[worker] = pid
        self.tell({"started": worker, "pid": pid})

    def kill(self, worker: int) -> None:
        """Kill a worker and its process group."""
        if worker in self.pids:  # not reaped yet, so its number cannot belong to another process
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pids[worker], signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pids[worker], signal.SIGKILL)

    def reap(self) -> None:
        """Report workers that have ended and kill what they left behind."""
        for worker, pid in list(self.pids.items()):
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                continue
            self.kill(worker)  # children in its process group
            os.waitpid(pid, 0)
            del self.pids[worker]
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            self.tell({"exited": worker, "code": code})
        self.sweep()

    def sweep(self) -> None:
        """Kill orphans that came to us, children that are not workers, and those that come to us for that."""
        with contextlib.suppress(OSError, ValueError):
            while orphans := self.children() - set(self.pids.values()):
                for pid in orphans:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)

    def children(self) -> set[int]:
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as listing:
            return {int(pid) for pid in listing.read().split()}

    def tell(self, message: dict[str, int]) -> None:
        self.control.send(json.dumps(message).encode())


def become_worker(fd: int, inherited: list[Any], worker: dict[str, Any]) -> None:
    """Turn a fresh fork into a worker with a process group of its own; never returns."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for resource in inherited:
            resource.close()
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # if the nursery itself is killed
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # its orphans come to us when it ends, not before
        worker["settle_in"]()
        worker["serve"](Connection(fd))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def prctl(option: int, value: int) -> None:
    """Call Linux's prctl; where it does not exist, killing process groups must be enough."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main() -> None:
    """Import what was asked for, then serve."""
    line = sys.stdin.readline()
    if not line:  # whoever wanted workers was interrupted before it could say which
        return
    order = json.loads(line)
    control = socket.socket(fileno=order["socket"])
    sys.path[:] = order["path"]
    preload(order["preload"])
    Nursery(control, order["idle_seconds"]).run()


def preload(modules: list[str]) -> None:
    """Import what workers will need."""
    gc.disable()  # nearly all of it stays, and a look for what does not takes a fifth of the time
    for module in modules:
        with contextlib.suppress(Exception):  # a worker that needs it will say so
            importlib.import_module(module)
    gc.freeze()  # what is here stays shared with the forks
    gc.enable()


if __name__ == "__main__":
    main()
