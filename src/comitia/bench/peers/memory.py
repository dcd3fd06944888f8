"""The memory of a process with all that it started, watched from outside."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Self

import psutil

EVERY_SECONDS = 0.25
MOST_SHARE = 0.01
"""Between two looks; what comes and goes in between is not seen. Where looking takes long, as it does with gigabytes,
it is done more rarely, so that it takes at most this share of a processor."""


def tree_bytes(pid: int) -> int:
    """Return the memory of a process and its descendants; 0 where it has ended.

    On Linux pages that several of them share count once (the sum of proportional set sizes); elsewhere each process
    counts with its resident pages.
    """
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    return sum(_own_bytes(process) for process in processes)


def _own_bytes(process: psutil.Process) -> int:
    with contextlib.suppress(psutil.Error, OSError):  # it has just ended
        return int(process.memory_full_info().pss if psutil.LINUX else process.memory_info().rss)
    return 0


class PeakMemory:
    """Watches a process tree while the context is open; `peak_bytes` is the most that was seen.

    Parameters
    ----------
    pid : int
    is_over : callable
        Asked before each look: whether what follows no longer counts.
    """

    def __init__(self, pid: int, is_over: Callable[[], bool] = lambda: False) -> None:
        self.peak_bytes = 0
        self._pid = pid
        self._is_over = is_over
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over():
            began = time.thread_time()
            self.peak_bytes = max(self.peak_bytes, tree_bytes(self._pid))
            seconds = time.thread_time() - began
            if self._ended.wait(max(EVERY_SECONDS, seconds / MOST_SHARE)):
                return
