"""One thread for small matrices: more of them cost a surrogate's algebra time, the more so beside busy workers."""

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # imported and looked around once: that takes milliseconds

    return ThreadpoolController()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread inside."""
    with _controller().limit(limits=1):
        yield
