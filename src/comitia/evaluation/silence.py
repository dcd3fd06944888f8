"""Silence warnings of learners and splitters: thousands of trials would repeat them."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def quiet(message: str = "") -> Iterator[None]:
    """Ignore warnings that begin with a message; in the main thread alone, because all threads share the filters."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message)
        yield
