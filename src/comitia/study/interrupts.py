"""Hold a Ctrl-C back while something must not be cut in half."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


class _Watch:
    """What happens to a Ctrl-C: held back inside a block of `held_back`, else passed on to the previous handler."""

    def __init__(self) -> None:
        self.pass_on: Callable[[int, FrameType | None], object] = signal.default_int_handler
        self.depth = 0
        self.came: list[tuple[int, FrameType | None]] = []
        self.was_raised = False  # since the last time somebody asked

    @property
    def is_on(self) -> bool:
        """Whether `handle` is the process's handler: the process itself is asked, which cannot be half-way between."""
        return signal.getsignal(signal.SIGINT) == self.handle

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Be the process's handler of SIGINT."""
        if self.depth:
            self.came.append((number, frame))
        else:
            self.came.clear()  # several of them are one
            try:
                self.pass_on(number, frame)
            except KeyboardInterrupt:
                self.was_raised = True
                raise

    def leave(self) -> None:
        """Let what came take effect at the end of the outermost block."""
        self.depth -= 1
        if not self.depth and self.came:
            self.handle(*self.came[0])


_WATCH = _Watch()


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Exchange the handler once for all blocks of `held_back` inside, which then cost next to nothing.

    A Ctrl-C in the middle of the exchange leaves our handler in place, which passes on to the previous one.
    """
    _WATCH.was_raised = False
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or _WATCH.is_on or not callable(before):
        yield
        return
    _WATCH.pass_on = before
    signal.signal(signal.SIGINT, _WATCH.handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def raise_if_lost() -> None:
    """Raise a Ctrl-C again that came during the watch: whoever gets here did not see it.

    What is raised inside a finaliser, a callback of the garbage collector or a function of Cython's that cannot raise
    (SciPy's Sobol sequence has one) is printed and dropped.
    """
    if _WATCH.was_raised:
        _WATCH.was_raised = False
        raise KeyboardInterrupt


class held_back:  # noqa: N801 - used as `with held_back():`
    """Let a Ctrl-C that comes inside the block take effect at its end; outside the main thread do nothing."""

    _is_main = False
    _own: contextlib.AbstractContextManager[None] | None = None

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        if not self._is_main:
            return
        # inside another block our handler is in place, and asking the process takes 5 us
        if not _WATCH.depth and not _WATCH.is_on:
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
