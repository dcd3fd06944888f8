"""The normal distribution of CMA-ES over the encoded space: pycma's, with mirrors at the bounds and margins for bins.

- *Bounds*: the landscape is mirrored at every bound, `x(y) = 1 - |(y mod 2) - 1|`, so the search itself has none. An
  optimum on a bound is an ordinary one, and nothing piles up there.
- *Integers, ordinals, categories*: the coordinate is a real of which the bin counts. Its standard deviation never
  falls so low that a generation is expected to leave the bin less than once (`margins`).
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from comitia.arrays import Array
from comitia.space import Space

STEP = 0.3
"""Initial standard deviation in the encoded range: pycma's advice is a quarter to a third; Lévesque 2018 names none."""
WIDEST = 1.0
"""Largest standard deviation: on a landscape mirrored at both ends it is nearly uniform already."""
CONVERGED = 1e-9
"""Standard deviation of reals, in the encoded range, below which configurations hardly differ in their ten digits."""
MOST_SCALE = 1e30
"""pycma's factors of the standard deviations (step size, axes) must be between this and its inverse."""
MOST_AXIS_RATIO = 1e6
"""Of the longest and the shortest axis; its square is what double precision can just invert."""


class Distribution:
    """A normal distribution that is moved and shaped by the order of what was drawn from it; changed in place.

    Parameters
    ----------
    mean : array of shape (d,)
    stds : array of shape (d,)
        Initial standard deviations.
    margins : array of shape (d,)
        Least standard deviations.
    population : int
        How many are drawn for a generation.

    Attributes
    ----------
    stds : array
        Standard deviations as the last generation left them.
    """

    def __init__(self, mean: Array, stds: Array, margins: Array, population: int) -> None:
        self._margins, self._population = margins, population
        self._strategy = self._make_strategy(mean, stds)
        self.stds: Array = stds

    @property
    def mean(self) -> Array:
        """The mean, outside the bounds too; a single coordinate has an idle one beside it."""
        return np.asarray(self._strategy.mean)

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Array:
        """Draw a population, or `n` points, from a stream."""
        self._rng = rng
        return np.asarray(self._strategy.ask() if n is None else self._strategy.ask(n))

    def tell(self, points: Array, values: Sequence[float]) -> None:
        """Move towards the better half of a population; the smaller value is the better."""
        self._strategy.tell(list(points), places(values), check_points=False)
        self._keep_sound()

    def _make_strategy(self, mean: Array, stds: Array) -> Any:
        """Return pycma's object, silent, without files, without a look at numpy's global generator."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it could not draw: we do not ask it to
            import cma  # here: it takes as long to import as everything else together

        idle = max(2 - len(stds), 0)  # pycma needs two coordinates
        return cma.CMAEvolutionStrategy(
            np.concatenate([mean, np.full(idle, 0.5)]),
            1.0,
            {
                "popsize": self._population,
                "CMA_stds": np.concatenate([stds, np.full(idle, STEP)]),
                "CMA_active": False,  # neither Glasmachers and Igel 2008 nor Lévesque 2018 learn from the worse half
                "CMA_mirrors": 0,  # else the first of fewer than six offspring is not drawn, but the worst one's mirror
                # else pycma goes over to coordinates of its own, in which its mean is not ours
                "conditioncov_alleviate": False,
                "minstd": np.concatenate([self._margins, np.zeros(idle)]),
                "randn": self._normals,
                "seed": math.nan,  # a number would be written to numpy's global state
                "verbose": -9,
            },
        )

    def _normals(self, n: int, d: int) -> Array:
        """Return what pycma turns into offspring by `B D`, (n, d): `B' z`, so that they are `C^(1/2) z = B D B' z`.

        With `z` itself they would be other ones where linear algebra gives eigenvectors another sign, or others of
        equal eigenvalues.
        """
        return np.asarray(self._rng.standard_normal((n, d)) @ self._strategy.sm.B)

    def _keep_sound(self) -> None:
        """Keep the distribution within the mirrored landscape's period, and its numbers far from overflow.

        Without information (noise, plateaus) step size, axes and mean are random walks in the logarithm.
        """
        strategy = self._strategy
        self.stds = strategy.stds  # worked out at every look
        widest = float(self.stds.max())
        if widest > WIDEST:
            strategy.sigma *= WIDEST / widest
        if abs(strategy.mean - 0.5).max() > 1.5:
            strategy.mean = np.mod(strategy.mean, 2.0)  # the same landscape: its period is 2
        narrow, wide = float(strategy.D.min()), float(strategy.D.max())
        is_sound = (
            1 / MOST_SCALE < strategy.sigma < MOST_SCALE
            and narrow > 1 / MOST_SCALE
            and wide < min(MOST_SCALE, MOST_AXIS_RATIO * narrow)
        )
        if not is_sound:
            n = len(self._margins)
            stds = np.clip(np.nan_to_num(strategy.stds[:n]), np.maximum(self._margins, CONVERGED / 2), WIDEST)
            self._strategy = self._make_strategy(mirrored(np.nan_to_num(strategy.mean[:n])), stds)


def mirrored(Y: Array) -> Array:
    """Fold R^d onto [0, 1]^d as if there were mirrors at the bounds."""
    return np.asarray(1 - np.abs(np.mod(Y, 2.0) - 1))


def margins(space: Space, population: int) -> Array:
    """Return the least standard deviation of each coordinate, (d,); 0 for reals and constants.

    A coordinate in the middle of a bin of width `w` leaves it with probability `2 (1 - Phi(w / 2 s))`. That is at least
    `1 / (lambda d)`, so that a generation is expected to leave some bin of a space that has nothing but bins (Hamano et
    al. 2022).
    """
    from scipy.special import ndtri

    furthest = ndtri(1 - 1 / (2 * population * len(space)))
    widths = [0.0 if column.size == 1 or math.isinf(column.size) else 1 / column.size for column in space.columns]
    return np.asarray(np.minimum(np.array(widths) / (2 * furthest), WIDEST))


def places(values: Sequence[float]) -> list[int]:
    """Return each value's place in their order: what CMA-ES sees of values, whatever their size; infinite are last.

    Of equal values the one drawn first comes first. pycma's own sort is not stable, and leaves ties to the processor.
    """
    found = [0] * len(values)
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        found[index] = place
    return found
