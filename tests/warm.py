"""Programs in processes of their own that need not wait for imports: a Python that has done them forks each of them.

Most of what `python script.py` or `python -m comitia.cli` takes are the imports of scikit-learn and comitia: two
seconds of a processor, more than a hundred times in this suite. A program that is begun here is a real process with
its own arguments, folder, environment and standard streams, which receives signals and ends as any other. Its
interpreter and its imports are shared: tests of those start a Python of their own with `subprocess`.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import types
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

IMPORTS = ("comitia", "comitia.cli.commands")
"""What is done before: all that programs begin with."""
MOST_BYTES = 2**17
"""Of an order: arguments and environment."""


@dataclass
class Program:
    """A program that runs, or ran, with the methods that `subprocess.Popen` has for it."""

    pid: int
    stdout: IO[bytes] | None = field(repr=False)
    _end: socket.socket = field(repr=False)
    returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code; negative is the signal that ended it."""
        if self.returncode is None:
            self._end.settimeout(timeout)
            self.returncode = int(self._end.recv(100))
            self._end.close()
        return self.returncode

    def poll(self) -> int | None:
        """Return its exit code if it has ended."""
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.send_signal(signal.SIGKILL)


def begin(
    *arguments: Any,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: IO[Any] | None = None,
    stdout: IO[Any] | None = None,
    stderr: IO[Any] | None = None,
    is_read: bool = False,
) -> Program:
    """Begin `python *arguments`: a script, `-m module` or `-c code`, with its arguments after it.

    What it prints can be read from `stdout` of the program with `is_read`. Without these, standard input and output are
    empty, and standard error is ours.
    """
    order = {
        "arguments": [str(argument) for argument in arguments],
        "folder": str(cwd),
        "environment": dict(os.environ if env is None else env),
    }
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ExitStack() as stack:
        stack.enter_context(theirs)
        nothing = stack.enter_context(open(os.devnull, "r+b"))
        pipe = None
        if is_read:
            reader, writer = os.pipe()
            pipe, stdout = os.fdopen(reader, "rb"), stack.enter_context(os.fdopen(writer, "wb"))
        streams = [stream.fileno() for stream in (stdin or nothing, stdout or nothing)]
        socket.send_fds(_control(), [b"begin"], [theirs.fileno(), *streams, stderr.fileno() if stderr else 2])
        ours.send(json.dumps(order).encode())
        return Program(int(ours.recv(100)), pipe, ours)


def run(
    *arguments: Any, cwd: Path, env: Mapping[str, str] | None = None, given: str = "", timeout: float = 300.0
) -> subprocess.CompletedProcess[str]:
    """Run `python *arguments` to its end, as `subprocess.run` does, and return what it wrote."""
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        stdin.write(given)
        stdin.seek(0)
        program = begin(*arguments, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err)
        try:
            program.wait(timeout)
        finally:
            program.kill()
            code = program.wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(arguments), code, out.read(), err.read())


@cache
def _control() -> socket.socket:
    """Start what forks programs, once for all tests; it ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


# ---- on the other side ----------------------------------------------------------------------------------------------


def serve(control: socket.socket) -> list[str] | None:
    """Fork a program for each message; return its arguments there, and None here, at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for programs
    waiting: set[int] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 100, 4)
        waiting = {pid for pid in waiting if os.waitpid(pid, os.WNOHANG) == (0, 0)}
        if not message:
            return None
        if (pid := os.fork()) == 0:
            control.close()
            return begin_here(socket.socket(fileno=descriptors[0]), descriptors[1:])
        waiting.add(pid)
        for descriptor in descriptors:
            os.close(descriptor)


def begin_here(asker: socket.socket, streams: list[int]) -> list[str]:
    """Fork the program and return in it; the process that was here tells its number and how it ends."""
    order = json.loads(asker.recv(MOST_BYTES))
    if pid := os.fork():
        for descriptor in (0, 1, *streams):
            os.close(descriptor)
        with suppress(OSError):  # nobody asks any more
            asker.send(str(pid).encode())
            _, status = os.waitpid(pid, 0)
            asker.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    asker.close()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    return list(order["arguments"])


def become(arguments: list[str]) -> None:
    """Do what `python *arguments` does."""
    if arguments[:2] == ["-W", "error"]:
        warnings.simplefilter("error")
        arguments = arguments[2:]
    kind, rest = (arguments[0], arguments[1:]) if arguments[0] in ("-m", "-c") else ("", arguments)
    sys.argv = [kind, *rest[1:]] if kind else rest
    sys.path[0] = {"-c": "", "-m": os.getcwd(), "": os.path.dirname(os.path.abspath(rest[0]))}[kind]
    if kind == "-m":
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if not kind:
        main.__file__ = rest[0]
    code = rest[0] if kind else Path(rest[0]).read_text()
    exec(compile(code, "<string>" if kind else rest[0], "exec"), main.__dict__)


if __name__ == "__main__":
    for name in IMPORTS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    if (asked := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        become(asked)
