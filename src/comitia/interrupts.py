"""Hold a Ctrl-C back while something must not be cut in half."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


class _Watch:
    """What happens to a Ctrl-C: held back while somebody is inside, else passed on to the handler of before."""

    def __init__(self) -> None:
        self.pass_on: Callable[[int, FrameType | None], Any] | None = None  # None: no watch
        self.depth = 0
        self.came: list[tuple[int, FrameType | None]] = []

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Be the process's handler of SIGINT."""
        if self.depth:
            self.came.append((number, frame))
        elif self.pass_on is not None:
            self.pass_on(number, frame)

    def leave(self) -> None:
        """Let what came take effect, if nobody is inside any more."""
        self.depth -= 1
        if not self.depth and self.came:
            first, self.came = self.came[0], []
            self.handle(*first)


_WATCH = _Watch()


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Exchange the handler once for all blocks of `held_back` inside, which then cost next to nothing."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or _WATCH.pass_on is not None or not callable(before):
        yield
        return
    _WATCH.pass_on = before
    signal.signal(signal.SIGINT, _WATCH.handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _WATCH.pass_on = None


class held_back:  # noqa: N801 - used as `with held_back():`
    """Let a Ctrl-C that comes inside the block take effect at its end; outside the main thread do nothing."""

    _is_main = False
    _own: contextlib.AbstractContextManager[None] | None = None

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        if not self._is_main:
            return
        if _WATCH.pass_on is None:
            self._own = watched()
            self._own.__enter__()
        _WATCH.depth += 1

    def __exit__(self, *exception: object) -> None:
        if not self._is_main:
            return
        try:
            _WATCH.leave()
        finally:
            if self._own is not None:
                self._own.__exit__(None, None, None)
