"""The marginal likelihood of a Gaussian process whose covariance is block diagonal, for many theta at once.

Rows of different branches have covariance 0 (Lévesque 2018, eq. 5.9-5.11), so every block is factorised by itself; a
plain kernel is the case of one block. Of a block b the likelihood needs four numbers (K includes noise, 1 is a vector
of ones)::

    log |K_b|     q_b = y' K_b^-1 y     a_b = 1' K_b^-1 1     c_b = 1' K_b^-1 y

because the constant mean m ~ N(0, v) that all blocks share adds one rank to the covariance (Lévesque 2018, eq. 2.16
with K + v 1 1')::

    log p(y) = -1/2 [ sum log |K_b| + log(1 + v a) + q - c^2 / (a + 1/v) ] - n/2 log 2 pi

So a change of a length scale that lives in one branch changes the four numbers of that block and nothing else.
Distances are kept for pairs i > j only, one contiguous row for each dimension that varies in the block: the weighted
sum over dimensions and the gradient with respect to all length scales are then one matrix product each.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.gp.kernels import Labels
from comitia.gp.linalg import JITTER, backward, cholesky, forward, precision
from comitia.gp.theta import AMPLITUDE, MEAN_VARIANCE, N_GLOBAL, NOISE, OFFSET, Structure

MOST_ENTRIES = 131_072
"""Entries of covariances that are held at once: more theta than fit are taken in turns. A megabyte stays in the cache
and in the process; larger arrays are returned to the system and requested again each time, which doubles the time of
a likelihood."""
MOST_REMEMBERED = 300
"""Blocks up to this size have their pairs remembered; for larger ones they are a small part of the work."""


def pairs(m: int) -> tuple[Indices, Indices, Mask]:
    """Return i and j of the pairs i > j, in rows, and which entries of a flat matrix they are."""
    return _small_pairs(m) if m <= MOST_REMEMBERED else _pairs(m)


def _pairs(m: int) -> tuple[Indices, Indices, Mask]:
    is_lower = np.tri(m, k=-1, dtype=bool)
    i, j = np.nonzero(is_lower)
    return i, j, is_lower.reshape(-1)


_small_pairs = lru_cache(maxsize=64)(_pairs)


@dataclass(frozen=True, eq=False)
class Block:
    """The points of one branch."""

    label: int
    rows: Indices
    """Where they are among all points: m positions."""
    X: Array
    y: Array
    noise: Array
    """Known variance of each observation, beside the one noise that is learned."""
    columns: Indices
    """The c dimensions that vary here: the others have distance 0."""
    D: Array
    """|x_j - x'_j|^power of pairs i > j, a (c, m (m - 1) / 2) array."""

    def __len__(self) -> int:
        return len(self.y)

    def covariances(self, structure: Structure, theta: Array) -> Array:
        """Return covariances, an (n_samples, m, m) array of which the lower triangle is filled."""
        m = len(self)
        amplitude, noise, offset = structure.variances(theta)
        s = structure.weights(theta)[:, self.columns] @ self.D
        k = structure.kernel_at(theta, s.ndim).profile(s)
        k *= amplitude[:, None]
        k += offset[:, None]
        K = np.empty((len(theta), m * m))
        is_lower = pairs(m)[2]
        for matrix, entries in zip(K, k, strict=True):
            matrix[is_lower] = entries
        peak = (amplitude + offset) * (1.0 + JITTER) + noise
        K[:, :: m + 1] = peak[:, None] + self.noise
        return K.reshape(len(theta), m, m)


def make_block(structure: Structure, label: int, rows: Indices, X: Array, y: Array, noise: Array) -> Block:
    """Precompute the distances between points of one branch."""
    i, j, _ = pairs(len(rows))
    columns = np.flatnonzero(X.max(axis=0) != X.min(axis=0))
    D = np.empty((len(columns), len(i)))
    for row, column in zip(D, columns.tolist(), strict=True):  # one at a time: temporaries as large as D would not fit
        x = np.ascontiguousarray(X[:, column])
        np.subtract(x[i], x[j], out=row)
        if structure.is_categorical[column]:
            row[:] = row != 0
        elif structure.kernel.power == 2:
            row *= row
        else:
            np.abs(row, out=row)
    return Block(label, rows, X, y, noise, columns, D)


class Joined(NamedTuple):
    """The blocks one after the other, for a gradient."""

    columns: Indices
    """The c dimensions that vary in some block."""
    D: Array
    """As in `Block`, a (c, n_pairs) array; 0 for dimensions that do not vary in a pair's block."""
    i: Indices
    j: Indices
    """Points of each pair."""
    right: Array
    """Observations, and ones: an (n, 2) array."""
    parts: list[tuple[Block, slice, slice]]
    """Each block, and where its points and its pairs are."""


class Blocks:
    """Points, their observations and their branches, ready for likelihoods.

    Parameters
    ----------
    structure : Structure
        Kernel, categories, offsets.
    X : (n, d)
        Coordinates, imputed or not.
    y : (n,)
        Observations, standardised.
    labels : (n,), optional
        Branch of each row; one block if not given.
    noise : (n,), optional
        Known variance of each observation.
    """

    def __init__(
        self, structure: Structure, X: Array, y: Array, labels: Labels | None = None, noise: Array | None = None
    ) -> None:
        self.structure = structure
        self.n = len(y)
        labels = np.zeros(self.n, dtype=np.int64) if labels is None else labels
        noise = np.zeros(self.n) if noise is None else noise
        self.blocks: list[Block] = []
        for label in np.unique(labels).tolist():
            rows = np.flatnonzero(labels == label)
            self.blocks.append(make_block(structure, label, rows, X[rows], y[rows], noise[rows]))

    def groups(self) -> list[tuple[Indices, list[int]]]:
        """Return positions of theta that touch the same blocks, with those blocks.

        Those that touch no block are left out: nothing is known of them but the prior.
        """
        touched: dict[int, list[int]] = {}
        everything = list(range(len(self.blocks)))
        for number, block in enumerate(self.blocks):
            for column in block.columns.tolist():
                touched.setdefault(N_GLOBAL + column, []).append(number)
        for position in self.structure.free[self.structure.free < N_GLOBAL].tolist():
            touched[position] = everything
        varied = [number for number, block in enumerate(self.blocks) if len(block.columns)]
        if varied:
            touched |= dict.fromkeys(range(self.structure.n_theta)[self.structure.own], varied)
        grouped: dict[tuple[int, ...], list[int]] = {}
        for position, blocks in sorted(touched.items()):
            grouped.setdefault(tuple(blocks), []).append(position)
        return [(np.array(positions), list(blocks)) for blocks, positions in grouped.items()]

    # ---- likelihood -------------------------------------------------------------------------------------------------

    def terms(self, theta: Array, number: int) -> Array:
        """Return the four numbers of one block for each theta, (n_samples, 4); NaN where K is not positive definite."""
        block = self.blocks[number]
        m = len(block)
        found = np.full((len(theta), 4), np.nan)
        right = np.column_stack([block.y, np.ones(m)])
        at_once = max(1, MOST_ENTRIES // (m * m))
        for first in range(0, len(theta), at_once):
            K = block.covariances(self.structure, theta[first : first + at_once])
            for offset, matrix in enumerate(K):
                L = cholesky(matrix)
                if L is not None:
                    v = forward(L, right)
                    gram = v.T @ v
                    logdet = 2.0 * np.log(L.diagonal()).sum()
                    found[first + offset] = logdet, gram[0, 0], gram[1, 1], gram[0, 1]
        return found

    def all_terms(self, theta: Array) -> Array:
        """Return the numbers of every block, an (n_samples, n_blocks, 4) array."""
        return np.stack([self.terms(theta, number) for number in range(len(self.blocks))], axis=1)

    def log_likelihood(self, terms: Array) -> Array:
        """Return log p(y | X, theta) from the numbers of all blocks, (n_samples,); -inf where one is missing."""
        logdet, q, a, c = terms.sum(axis=1).T
        value = -0.5 * (logdet + np.log1p(MEAN_VARIANCE * a) + q - c**2 / (a + 1.0 / MEAN_VARIANCE))
        value = value - 0.5 * self.n * math.log(2.0 * math.pi)
        return np.where(np.isfinite(value), value, -np.inf)

    def gradient(self, theta: Array) -> tuple[float, Array]:
        """Return log p(y | X, theta) and its gradient at one theta, 1/2 tr((alpha alpha' - C^-1) dK).

        C = K + v 1 1', so that C^-1 = K^-1 - u u' / (a + 1/v) with u = K^-1 1, and alpha = K^-1 (y - m 1).
        """
        structure, joined = self.structure, self._joined
        amplitude, noise, offset = (float(v[0]) for v in structure.variances(theta[None]))
        w = structure.weights(theta[None])[0, joined.columns]
        s = w @ joined.D
        kernel = structure.kernel_at(theta[None], s.ndim)
        k = kernel.profile(s)
        covariance = amplitude * k + offset
        peak = (amplitude + offset) * (1.0 + JITTER) + noise
        terms = np.empty((len(self.blocks), 4))
        solved = np.empty((self.n, 2))  # K^-1 y and K^-1 1
        inverse, diagonal = np.empty(len(k)), np.empty(self.n)  # of K: pairs, and the diagonal
        for number, (block, of_points, of_pairs) in enumerate(joined.parts):
            m, is_lower = len(block), pairs(len(block))[2]
            K = np.empty(m * m)
            K[is_lower] = covariance[of_pairs]
            K[:: m + 1] = peak + block.noise
            L = cholesky(K.reshape(m, m))
            if L is None:
                return -np.inf, np.zeros(structure.n_theta)
            v = forward(L, joined.right[of_points])
            gram = v.T @ v
            terms[number] = 2.0 * np.log(L.diagonal()).sum(), gram[0, 0], gram[1, 1], gram[0, 1]
            solved[of_points] = backward(L, v)
            of_block = precision(L)
            inverse[of_pairs], diagonal[of_points] = of_block.reshape(-1)[is_lower], of_block.diagonal()
        a, c = terms[:, 2].sum(), terms[:, 3].sum()
        weight = a + 1.0 / MEAN_VARIANCE
        u = solved[:, 1]
        alpha = solved[:, 0] - (c / weight) * u
        i, j = joined.i, joined.j
        G = alpha[i] * alpha[j] + u[i] * u[j] / weight - inverse
        trace = float((alpha * alpha + u * u / weight - diagonal).sum())
        found = np.zeros(structure.n_theta)
        # d K / d log amplitude = 2 amplitude^2 k, and so on; the diagonal of k is 1, and pairs are one of two triangles
        found[AMPLITUDE] = amplitude * (2.0 * float(G @ k) + trace * (1.0 + JITTER))
        found[NOISE] = noise * trace
        found[OFFSET] = offset * (2.0 * float(G.sum()) + trace * (1.0 + JITTER))
        found[N_GLOBAL + joined.columns] = -kernel.power * amplitude * w * (joined.D @ (G * kernel.slope(s)))
        if kernel.parameters:
            slopes = kernel.own_slopes(s)
            changes = np.array([float(G @ slopes[name]) for name in kernel.parameters])
            found[structure.own] = amplitude * structure.own_values(theta[None])[0] * changes
        return float(self.log_likelihood(terms[None])[0]), found

    @cached_property
    def _joined(self) -> Joined:
        """The pairs of all blocks one after the other: what is done to each entry is done to all of them at once."""
        columns = np.unique(np.concatenate([block.columns for block in self.blocks]))
        n_pairs = [block.D.shape[1] for block in self.blocks]
        D = np.zeros((len(columns), sum(n_pairs)))
        i, j = np.empty((2, D.shape[1]), dtype=np.intp)
        parts = []
        point = pair = 0
        for block, n in zip(self.blocks, n_pairs, strict=True):
            of_points, of_pairs = slice(point, point + len(block)), slice(pair, pair + n)
            D[np.searchsorted(columns, block.columns), of_pairs] = block.D
            first, second, _ = pairs(len(block))
            i[of_pairs], j[of_pairs] = first + point, second + point
            parts.append((block, of_points, of_pairs))
            point, pair = point + len(block), pair + n
        y = np.concatenate([block.y for block in self.blocks])
        return Joined(columns, D, i, j, np.column_stack([y, np.ones(len(y))]), parts)
