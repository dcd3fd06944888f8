"""No proposal twice in finite spaces: pick the first candidate that the history has not seen."""

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from comitia.arrays import Array
from comitia.history import History
from comitia.space import Config, Space

CHUNK = 16
"""Rows of a ranking that are decoded together after the first, which is nearly always new."""
MOST_REPEATS = 100
"""Candidates that may be known already before the rest of a small space is listed instead."""
MOST_REPEATS_IN_LARGE_SPACE = 10_000
"""The same where there is no list: a space so lopsided counts as exhausted."""


class Unseen:
    """Keeps track of what one call of `ask` has handed out beside what the history knows."""

    def __init__(self, space: Space, history: History) -> None:
        self._space = space
        self._history = history
        self._new: set[Config] = set()

    @property
    def is_exhausted(self) -> bool:
        """Whether every configuration of a listable space was asked."""
        everything = self._space.all
        return everything is not None and self._history.n_configs + len(self._new) >= len(everything)

    def best(self, ranked: Array) -> Array | None:
        """Return the first new row of a ranking, however many before it are known; None if all are."""
        for start, end in itertools.pairwise([0, *range(1, len(ranked), CHUNK), len(ranked)]):
            rows = ranked[start:end]
            for x, config in zip(rows, self._space.decode(rows), strict=True):
                if self._is_new(config):
                    self._new.add(config)
                    return np.asarray(x)
        return None

    def first(self, candidates: Iterable[Array], rng: Callable[[], np.random.Generator]) -> Array | None:
        """Return the first new candidate, else any new point of the space, else None if there is none.

        `rng` makes the generator that picks from the rest of the space; only called if needed.
        """
        if self.is_exhausted:
            return None
        everything = self._space.all
        most = MOST_REPEATS if everything is not None else MOST_REPEATS_IN_LARGE_SPACE
        for x in itertools.islice(candidates, most):
            if self._add(x):
                return x
        if everything is None:
            return None
        for index in rng().permutation(len(everything)):
            if self._add(everything[index]):
                found: Array = everything[index]
                return found
        return None

    def _add(self, x: Array) -> bool:
        [config] = self._space.decode(x[None])
        if not self._is_new(config):
            return False
        self._new.add(config)
        return True

    def _is_new(self, config: Config) -> bool:
        return not self._history.was_asked(config) and config not in self._new
