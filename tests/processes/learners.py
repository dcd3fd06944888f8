"""Objectives that misbehave in every way a learner can. They run in real processes that are really killed."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from typing import Any


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
            subprocess.Popen(["sleep", "987654"])
        case "leave a daemon":
            subprocess.Popen(["sleep", "987654"], start_new_session=True)
        case "crash with a child":
            subprocess.Popen(["sleep", "987654"])
            os._exit(5)
        case "memory":
            held = []
            while True:
                held.append(b"x" * 5_000_000)
                time.sleep(0.005)
        case "memory of a child":
            greedy = "import time\na = []\nwhile True:\n    a.append(b'x' * 5_000_000)\n    time.sleep(0.005)"
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


def objective(config: Any) -> float:
    misbehave(config["how"])
    return 1.0 if config["how"] == "fine" else 0.5
