"""Sobol points: random search that covers the space evenly, for good first trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from comitia.history import History
from comitia.optimizers.unseen import Unseen
from comitia.seams import Ask
from comitia.seeds import Seeds
from comitia.space import Space

Array = NDArray[np.float64]


class Sobol:
    """Trial `k` is point `k` of one scrambled Sobol sequence; forbidden points give way to the next allowed one."""

    needs_generations = False

    def __init__(self, space: Space) -> None:
        self._space = space
        self._points: tuple[int, Array] = (-1, np.empty((0, len(space))))  # cache: seed, points from the start

    def ask(self, history: History, values: NDArray[np.float64], n: int, seeds: Seeds) -> Sequence[Ask]:
        """See `Optimizer`."""
        numbers = range(len(history), len(history) + n)
        if not self._space.is_finite:
            return [Ask(next(self._from(k, seeds))) for k in numbers]
        unseen = Unseen(self._space, history)
        found = []
        for k in numbers:
            x = unseen.first(self._from(k, seeds), lambda k=k: seeds("sobol-rest", k))  # type: ignore[misc]
            if x is None:
                break
            found.append(Ask(x))
        return found

    def _from(self, k: int, seeds: Seeds) -> Iterator[Array]:
        """Yield the allowed points from number `k` on."""
        while True:
            points = self._first(k + 1, seeds)
            if self._space.is_allowed(points[k : k + 1])[0]:
                yield points[k]
            k += 1

    def _first(self, n: int, seeds: Seeds) -> Array:
        """Return at least the first `n` points, a power of two of them: the sequence is balanced there."""
        seed, points = self._points
        if seed != seeds.seed or len(points) < n:
            from scipy.stats import qmc

            engine = qmc.Sobol(len(self._space), scramble=True, rng=seeds("sobol"))
            points = self._space.from_uniform(engine.random_base2(max(6, (n - 1).bit_length())))
            self._points = (seeds.seed, points)
        return points
