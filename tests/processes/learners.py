"""Objectives that misbehave in every way a learner can. They run in real processes that are really killed."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from typing import Any

ODD_SECONDS = "98765" + os.environ.get("PYTEST_XDIST_WORKER", "gw4").removeprefix("gw")
"""How long what is left behind would sleep, by which it is found; each process of pytest-xdist has its own."""


def misbehave(how: str) -> str:
    match how:
        case "raise":
            raise ValueError("no such thing")
        case "hang":
            time.sleep(1000)
        case "spin":
            while True:
                pass
        case "ignore SIGTERM":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            time.sleep(1000)
        case "segfault":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "sys.exit":
            sys.exit(4)
        case "abort":
            os.abort()
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "fork a child that hangs":
            if os.fork() == 0:
                time.sleep(1000)
            time.sleep(1000)
        case "leave a child":
            subprocess.Popen(["sleep", ODD_SECONDS])
        case "leave a daemon":
            subprocess.Popen(["sleep", ODD_SECONDS], start_new_session=True)
        case "crash with a child":
            subprocess.Popen(["sleep", ODD_SECONDS])
            os._exit(5)
        case "memory":
            held = []
            while True:
                held.append(b"x" * 25_000_000)
                time.sleep(0.005)
        case "memory of a child":
            greedy = "import time\na = []\nwhile True:\n    a.append(b'x' * 25_000_000)\n    time.sleep(0.005)"
            subprocess.run([sys.executable, "-c", greedy], check=True)
        case "unpicklable error":
            raise Unpicklable(lambda: 0)
        case "unpicklable answer":
            return Unpicklable(open(os.devnull))  # type: ignore[return-value]
    return how


class Unpicklable(Exception):
    def __init__(self, thing: Any) -> None:
        super().__init__("this one cannot travel")
        self.thing = thing

    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


class Heavy:
    """Counts how often it is pickled."""

    pickled = 0

    def __init__(self) -> None:
        self.data = bytes(8000)

    def __call__(self, x: int) -> int:
        return x

    def __getstate__(self) -> dict[str, Any]:
        Heavy.pickled += 1
        return self.__dict__


class DiesWhenLoaded:
    """A task that ends its worker while it is being loaded there."""

    def __init__(self) -> None:
        self.home = os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        if os.getpid() != self.home:
            os._exit(7)

    def __call__(self) -> int:
        return 1


def objective(config: Any) -> float:
    misbehave(config["how"])
    return 1.0 if config["how"] == "fine" else 0.5
