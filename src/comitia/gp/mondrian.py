"""The Mondrian kernel: random partitions of the unit cube whose agreement tends to the Laplace kernel.

A Mondrian process cuts a box after an exponential time whose rate is the sum of its sides, each over its length scale;
the side is chosen in proportion, the place uniformly; and so on in both halves until time 1 (Balog et al. 2016). Two
points share a cell with probability exp(-sum |x_j - x'_j| / l_j), so the share of partitions in which they do
(Lévesque 2018, eq. 5.14) is the Laplace kernel in the limit (eq. 5.15; Lévesque et al. 2017, Fig. 4).

A cut depends only on its own place in the tree (random numbers are a hash of the path), so cells are made when a point
first falls into them, and the partition is the same in whatever order points come.
"""

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array, Mask

Words = NDArray[np.uint64]

TINY = 1e-300
MOST_CUTS = 400
"""Cuts on the way to one cell; reached by length scales of a thousandth in many dimensions."""


def mixed(words: Words) -> Words:
    """Scramble 64-bit words (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))


def uniform(words: Words, which: int) -> Array:
    """Return one uniform number in (0, 1) per word; another `which` gives other numbers."""
    return ((mixed(words ^ np.uint64(which)) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53


class Mondrian:
    """Random partitions, as a kernel.

    Parameters
    ----------
    length_scales : (d,)
    rng : numpy Generator
        Draws the partitions.
    n_partitions : int
    is_categorical : (d,), optional
        Dimensions whose values have no order: each value gets a side of its own, at twice the length scale, so that two
        different values are cut apart as by a distance of 1.
    """

    def __init__(
        self,
        length_scales: Array,
        rng: np.random.Generator,
        n_partitions: int = 50,
        is_categorical: Mask | None = None,
    ) -> None:
        scales = np.asarray(length_scales, dtype=np.float64)
        self._categorical = np.zeros(len(scales), dtype=bool) if is_categorical is None else is_categorical
        self._rates = 1.0 / scales
        self._seeds = rng.integers(2**63, size=n_partitions, dtype=np.uint64)
        self._known: tuple[bytes, Words] | None = None  # cache: the first argument of the last call

    def __call__(self, A: Array, B: Array) -> Array:
        """Return the share of partitions in which rows of A and B are in the same cell."""
        share = np.zeros((len(A), len(B)))
        for a, b in zip(self._remembered(A), self.cells(B), strict=True):
            share += a[:, None] == b
        return share / len(self._seeds)

    def _remembered(self, X: Array) -> Words:
        key = X.tobytes()
        if self._known is None or self._known[0] != key:
            self._known = key, self.cells(X)
        return self._known[1]

    def cells(self, X: Array) -> Words:
        """Return the name of the cell that each row falls into, an (n_partitions, n) array."""
        seeds = np.repeat(self._seeds, len(X))
        rows = np.tile(X, (len(self._seeds), 1))
        names = self._walk(rows[:, ~self._categorical], seeds)
        for j in np.flatnonzero(self._categorical).tolist():
            names = mixed(names ^ self._category(rows[:, j].copy(), j, seeds))
        return names.reshape(len(self._seeds), len(X))

    def _walk(self, numbers: Array, seeds: Words) -> Words:
        """Follow every row to its cell; a cell's name is the word of the path to it."""
        rates = self._rates[~self._categorical]
        low, high = np.zeros(numbers.shape), np.ones(numbers.shape)
        time = np.zeros(len(numbers))
        path = seeds.copy()
        walking = np.arange(len(numbers))
        for _ in range(MOST_CUTS if numbers.shape[1] else 0):
            words = path[walking]
            speed = rates * (high[walking] - low[walking])
            total = speed.sum(axis=1)
            time[walking] -= np.log(uniform(words, 1)) / np.maximum(total, TINY)
            continues = time[walking] < 1.0
            walking, speed, total, words = walking[continues], speed[continues], total[continues], words[continues]
            if not len(walking):
                break
            pick = uniform(words, 2) * total
            side = np.minimum((np.cumsum(speed, axis=1) < pick[:, None]).sum(axis=1), speed.shape[1] - 1)
            start, end = low[walking, side], high[walking, side]
            cut = start + uniform(words, 3) * (end - start)
            above = numbers[walking, side] > cut
            low[walking[above], side[above]] = cut[above]
            high[walking[~above], side[~above]] = cut[~above]
            path[walking] = mixed(words ^ np.where(above, np.uint64(5), np.uint64(7)))
        return path

    def _category(self, values: Array, j: int, seeds: Words) -> Words:
        """Return which values of a category are together: each is cut off with probability 1 - exp(-1 / 2l)."""
        words = mixed(values.view(np.uint64) ^ mixed(seeds ^ np.uint64(j + 11)))
        is_cut = uniform(words, 13) > np.exp(-0.5 * self._rates[j])
        return np.where(is_cut, words, np.uint64(17))
