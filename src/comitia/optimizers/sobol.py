"""Sobol points: random search that covers the space evenly, for good first trials."""

from collections.abc import Iterator, Sequence

from comitia.arrays import Array
from comitia.errors import SpaceError
from comitia.history import History
from comitia.optimizers.unseen import Unseen
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Space

MOST_POWER = 20


class Sobol:
    """Trial `k` is the `k`-th allowed point of one scrambled Sobol sequence."""

    needs = Needs()

    def __init__(self, space: Space) -> None:
        self._space = space

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        numbers = range(len(history), len(history) + n)
        if not self._space.is_finite:
            return [Ask(next(self._from(k, history, seeds))) for k in numbers]
        unseen = Unseen(self._space, history)
        found = []
        for k in numbers:
            x = unseen.first(self._from(k, history, seeds), lambda k=k: seeds("sobol-rest", k))  # type: ignore[misc]
            if x is None:
                break
            found.append(Ask(x))
        return found

    def _from(self, k: int, history: History, seeds: Seeds) -> Iterator[Array]:
        """Yield the allowed points from number `k` on."""
        while True:
            yield self._first(k + 1, history, seeds)[k]
            k += 1

    def _first(self, n: int, history: History, seeds: Seeds) -> Array:
        """Return at least the first `n` allowed points."""
        for power in range(max(6, (n - 1).bit_length()), MOST_POWER + 1):
            points = history.remember((self, seeds, power), lambda power=power: self._allowed(power, seeds))  # type: ignore[misc]
            if len(points) >= n:
                return points
        raise SpaceError(
            f"Forbidden clauses must leave enough to sample. Got {len(points)} allowed points of {2**MOST_POWER:,}. "
            "Loosen them, or make impossible values impossible by conditions."
        )

    def _allowed(self, power: int, seeds: Seeds) -> Array:
        """Return the allowed ones of the first points, a power of two of them: there the sequence is balanced."""
        from scipy.stats import qmc

        engine = qmc.Sobol(len(self._space), scramble=True, rng=seeds("sobol"))
        points = self._space.from_uniform(engine.random_base2(power))
        return points[self._space.is_allowed(points)]
