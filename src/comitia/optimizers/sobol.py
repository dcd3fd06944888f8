"""Sobol points: random search that covers the space evenly, for good first trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from comitia.arrays import Array
from comitia.errors import SpaceError
from comitia.history import History
from comitia.optimizers.unseen import Unseen
from comitia.seams import Ask
from comitia.seeds import Seeds
from comitia.space import Space

MOST_POWER = 20


class Sobol:
    """Trial `k` is the `k`-th allowed point of one scrambled Sobol sequence."""

    needs_generations = False

    def __init__(self, space: Space) -> None:
        self._space = space
        self._points: tuple[int, Array] = (-1, np.empty((0, len(space))))  # cache: seed, points from the start

    def ask(self, history: History, values: Array, n: int, seeds: Seeds) -> Sequence[Ask]:
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
            yield self._first(k + 1, seeds)[k]
            k += 1

    def _first(self, n: int, seeds: Seeds) -> Array:
        """Return at least the first `n` allowed points."""
        seed, points = self._points
        if seed == seeds.seed and len(points) >= n:
            return points
        from scipy.stats import qmc

        for power in range(max(6, (n - 1).bit_length()), MOST_POWER + 1):
            engine = qmc.Sobol(len(self._space), scramble=True, rng=seeds("sobol"))
            points = self._space.from_uniform(engine.random_base2(power))  # balanced at powers of two
            points = points[self._space.is_allowed(points)]
            if len(points) >= n:
                self._points = (seeds.seed, points)
                return points
        raise SpaceError(
            f"Forbidden clauses must leave enough to sample. Got {len(points)} allowed points of {2**MOST_POWER:,}. "
            "Loosen them, or make impossible values impossible by conditions."
        )
