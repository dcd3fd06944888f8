"""What a learner runs in: its warnings are silenced, and the global generators are seeded and given back."""

import contextlib
import random
import threading
import warnings
from collections.abc import Iterator

import numpy as np

from comitia.seeds import Seeds


@contextlib.contextmanager
def quiet(message: str = "") -> Iterator[None]:
    """Ignore warnings that begin with a message: thousands of trials would repeat them.

    In the main thread alone, because all threads share the filters.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=message)
        yield


class _GlobalGenerators:
    """The generators of `random` and `numpy.random`: the first trial to enter saves them, the last puts them back.

    Trials in threads of one process share them, as they share everything global.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._ours = np.random.MT19937(0)

    def enter(self, seed: int) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._state = random.getstate()
                # an exchange of generators: much cheaper than of their states
                self._theirs = np.random.get_bit_generator()  # type: ignore[attr-defined]
                np.random.set_bit_generator(self._ours)  # type: ignore[attr-defined]
            self._n_inside += 1
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - the global generator is the point here

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                random.setstate(self._state)
                np.random.set_bit_generator(self._theirs)  # type: ignore[attr-defined]


_GLOBAL_GENERATORS = _GlobalGenerators()


@contextlib.contextmanager
def seeded_globals(seeds: Seeds, *keys: int) -> Iterator[None]:
    """Seed the global generators for what has no `random_state`, and give them back as they were."""
    _GLOBAL_GENERATORS.enter(seeds.integer("globals", *keys))
    try:
        yield
    finally:
        _GLOBAL_GENERATORS.leave()
