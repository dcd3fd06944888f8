"""What is believed of a function after observations: mean, variance and joint samples, for many theta at once.

Lévesque 2018, eq. 2.6-2.7, block by block, the constant mean integrated: with alpha = K^-1 (y - m 1), u = K^-1 1 and
p = a + 1/v ::

    mean(x) = m + k' alpha        variance(x) = k(x, x) - k' K^-1 k + (1 - k' u)^2 / p

A pending point counts as found to have its mean, without noise: it has alpha 0, so that the mean stays as it is
everywhere, and the variance shrinks around the point, by one more row of the factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from comitia.arrays import Array, Indices
from comitia.gp.blocks import Block, Blocks
from comitia.gp.kernels import Labels, distances
from comitia.gp.linalg import JITTER, backward, cholesky, forward, inverse_factor
from comitia.gp.theta import MEAN_VARIANCE, Structure

MOST_ENTRIES = 4_000_000
"""Entries of covariances that are held at once: more points or theta than fit are taken in turns."""
JITTER_GROWTH = 10.0
MOST_JITTERS = 7
SMALLEST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Factor:
    """One block, factorised for every theta."""

    X: Array
    W: Array
    """Inverse of the lower factor, (n_samples, m, m): K^-1 = W' W."""
    alpha: Array
    """K^-1 (y - m 1), (n_samples, m)."""
    u: Array
    """K^-1 1, (n_samples, m)."""

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Least and greatest value in each dimension."""
        return self.X.min(axis=0), self.X.max(axis=0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """A mixture of Gaussian processes, one for each theta."""

    structure: Structure
    theta: Array
    """One row per sample, (n_samples, n_theta)."""
    factors: dict[int, Factor]
    mean: Array
    """The constant mean under each theta."""
    p: Array
    """Precision of the constant mean under each theta."""

    @cached_property
    def weights(self) -> Array:
        """What `Structure.weights` says of theta."""
        return self.structure.weights(self.theta)

    @cached_property
    def variances(self) -> tuple[Array, Array, Array]:
        """What `Structure.variances` says of theta."""
        return self.structure.variances(self.theta)

    # ---- mean and variance ------------------------------------------------------------------------------------------

    def mean_var(self, X: Array, labels: Labels | None = None) -> tuple[Array, Array]:
        """Return mean and variance of the function, without noise, both (n_samples, n) arrays."""
        labels = np.zeros(len(X), dtype=np.int64) if labels is None else labels
        amplitude, _, offset = self.variances
        mean = np.repeat(self.mean[:, None], len(X), axis=1)
        var = np.repeat((amplitude + offset + 1.0 / self.p)[:, None], len(X), axis=1)
        for label, rows in self._by_branch(X, labels):
            factor = self.factors[label]
            k, _, _ = self._cross(factor, X[rows])
            mean[:, rows] += (k @ factor.alpha[:, :, None])[:, :, 0]
            rest = 1.0 - (k @ factor.u[:, :, None])[:, :, 0]
            v = k @ factor.W.transpose(0, 2, 1)  # (n_samples, n, m)
            var[:, rows] += (rest**2 - 1.0) / self.p[:, None] - np.einsum("snm,snm->sn", v, v)
        return mean, np.maximum(var, SMALLEST_VARIANCE)

    def gradients(self, X: Array, labels: Labels | None = None) -> tuple[Array, Array, Array, Array]:
        """Return mean and variance, (n_samples, n), and their gradients with respect to rows, (n_samples, n, d)."""
        labels = np.zeros(len(X), dtype=np.int64) if labels is None else labels
        mean, var = self.mean_var(X, labels)
        d_mean = np.zeros((*mean.shape, X.shape[1]))
        d_var = np.zeros_like(d_mean)
        amplitude, _, _ = self.variances
        w = self.weights
        for label, rows in self._by_branch(X, labels):
            factor = self.factors[label]
            k, s, columns = self._cross(factor, X[rows])
            difference = X[rows][:, None, columns] - factor.X[None][:, :, columns]  # (n, m, c)
            direction = 2.0 * difference if self.structure.kernel.power == 2 else np.sign(difference)
            direction[:, :, self.structure.is_categorical[columns]] = 0.0
            slope = self.structure.kernel_at(self.theta, s.ndim).slope(s) * amplitude[:, None, None]
            rest = (1.0 - (k @ factor.u[:, :, None])[:, :, 0]) / self.p[:, None]
            solved = (k @ factor.W.transpose(0, 2, 1)) @ factor.W  # (n_samples, n, m)
            of_var = -2.0 * (solved + rest[:, :, None] * factor.u[:, None, :])
            at = np.ix_(np.arange(len(self.theta)), rows, columns)
            for target, weight in ((d_mean, factor.alpha[:, None, :]), (d_var, of_var)):
                change = np.einsum("snm,nmc->snc", slope * weight, direction, optimize=True)
                target[at] = change * w[:, None, columns]
        return mean, var, d_mean, d_var

    def sample(self, X: Array, n: int, rng: np.random.Generator, labels: Labels | None = None) -> Array:
        """Draw the function at all rows jointly, `n` times for each theta: an (n_samples, n, n_rows) array."""
        labels = np.zeros(len(X), dtype=np.int64) if labels is None else labels
        mean, _ = self.mean_var(X, labels)
        found = np.empty((len(self.theta), n, len(X)))
        for sample in range(len(self.theta)):
            L = _safe_cholesky(self._joint(X, labels, sample))
            found[sample] = mean[sample] + rng.standard_normal((n, len(X))) @ L.T
        return found

    def _joint(self, X: Array, labels: Labels, sample: int) -> Array:
        """Return the covariance of the function between all rows under one theta."""
        theta = self.theta[sample : sample + 1]
        amplitude, _, offset = (float(v[0]) for v in self.structure.variances(theta))
        w = self.structure.weights(theta)[0]
        D = distances(X, X, self.structure.is_categorical, self.structure.kernel.power)
        s = np.tensordot(w, D, axes=1)
        prior = amplitude * self.structure.kernel_at(theta, s.ndim).profile(s) + offset
        C = np.where(labels[:, None] == labels[None, :], prior, 0.0)
        rest = np.ones(len(X))
        for label, rows in self._by_branch(X, labels):
            factor = self.factors[label]
            k = self._cross(factor, X[rows])[0][sample]
            v = k @ factor.W[sample].T
            C[np.ix_(rows, rows)] -= v @ v.T
            rest[rows] -= k @ factor.u[sample]
        return np.asarray(C + np.outer(rest, rest) / self.p[sample])

    def _by_branch(self, X: Array, labels: Labels) -> Iterator[tuple[int, Indices]]:
        """Yield known branches and the rows that lie in each, as many at a time as fit into memory."""
        for label in np.unique(labels).tolist():
            if label in self.factors:
                rows = np.flatnonzero(labels == label)
                at_once = max(1, MOST_ENTRIES // (len(self.theta) * len(self.factors[label].X)))
                for first in range(0, len(rows), at_once):
                    yield label, rows[first : first + at_once]

    def _cross(self, factor: Factor, X: Array) -> tuple[Array, Array, Indices]:
        """Return covariances of rows with a block's points, scaled distances, and the dimensions that vary."""
        low, high = factor.ends
        columns = np.flatnonzero(np.minimum(low, X.min(axis=0)) != np.maximum(high, X.max(axis=0)))
        is_categorical, power = self.structure.is_categorical[columns], self.structure.kernel.power
        D = distances(X[:, columns], factor.X[:, columns], is_categorical, power)
        shape = (len(self.theta), len(X), len(factor.X))
        s = (self.weights[:, columns] @ D.reshape(len(columns), shape[1] * shape[2])).reshape(shape)
        amplitude, _, offset = self.variances
        k = self.structure.kernel_at(self.theta, s.ndim).profile(s)
        k *= amplitude[:, None, None]
        k += offset[:, None, None]
        return k, s, columns

    # ---- growing ----------------------------------------------------------------------------------------------------

    def believe(self, X: Array, labels: Labels | None = None) -> Posterior:
        """Return the posterior if the function were found to have its mean at each row, without noise."""
        labels = np.zeros(len(X), dtype=np.int64) if labels is None else labels
        factors, p = dict(self.factors), self.p.copy()
        for label in np.unique(labels).tolist():
            old = factors.get(label)
            factors[label] = self._grown(old, X[labels == label])
            p += factors[label].u.sum(axis=1) - (0.0 if old is None else old.u.sum(axis=1))
        return replace(self, factors=factors, p=p)

    def _grown(self, old: Factor | None, X: Array) -> Factor:
        """Add rows to the factor of every theta: v = k W', and the root of what is left of their covariance."""
        n, q = len(self.theta), len(X)
        if old is None:
            old = Factor(X[:0], np.empty((n, 0, 0)), np.empty((n, 0)), np.empty((n, 0)))
        m = len(old.X)
        left = self._cross(Factor(X, old.W, old.alpha, old.u), X)[0]  # (n_samples, q, q)
        left += JITTER * left.max(axis=(1, 2), keepdims=True) * np.eye(q)
        W = np.zeros((n, m + q, m + q))
        if m:
            v = self._cross(old, X)[0] @ old.W.transpose(0, 2, 1)  # (n_samples, q, m)
            left -= v @ v.transpose(0, 2, 1)
            W[:, :m, :m] = old.W
        for sample in range(n):
            W[sample, m:, m:] = inverse_factor(_safe_cholesky(left[sample]))
        if m:
            W[:, m:, :m] = -W[:, m:, m:] @ (v @ old.W)
        u = (W.transpose(0, 2, 1) @ W.sum(axis=2)[:, :, None])[:, :, 0]
        return Factor(np.concatenate([old.X, X]), W, np.pad(old.alpha, ((0, 0), (0, q))), u)


def fitted(blocks: Blocks, posterior: Posterior) -> Array:
    """Return the mean at observed points, (n_samples, n): y less noise times alpha, as K alpha = y - m."""
    amplitude, noise, offset = blocks.structure.variances(posterior.theta)
    found = np.empty((len(posterior.theta), blocks.n))
    for block in blocks.blocks:
        own = (noise + JITTER * (amplitude + offset))[:, None] + block.noise
        found[:, block.rows] = block.y - own * posterior.factors[block.label].alpha
    return found


def condition(blocks: Blocks, theta: Array) -> Posterior:
    """Return the posterior given all points, for each row of theta."""
    theta = np.atleast_2d(theta)
    solved = {block.label: _solve(blocks.structure, block, theta) for block in blocks.blocks}
    a = sum((u.sum(axis=1) for _, _, u in solved.values()), np.zeros(len(theta)))
    c = sum((z.sum(axis=1) for _, z, _ in solved.values()), np.zeros(len(theta)))
    p = a + 1.0 / MEAN_VARIANCE
    mean = c / p
    factors = {
        block.label: Factor(block.X, W, z - mean[:, None] * u, u)
        for block, (W, z, u) in zip(blocks.blocks, solved.values(), strict=True)
    }
    return Posterior(blocks.structure, theta, factors, mean, p)


def _solve(structure: Structure, block: Block, theta: Array) -> tuple[Array, Array, Array]:
    """Return the inverse factors of a block, K^-1 y and K^-1 1."""
    m = len(block)
    right = np.column_stack([block.y, np.ones(m)])
    W = np.empty((len(theta), m, m))
    solved = np.empty((len(theta), m, 2))
    at_once = max(1, MOST_ENTRIES // (m * m))
    for first in range(0, len(theta), at_once):
        K = block.covariances(structure, theta[first : first + at_once])
        for sample, matrix in enumerate(K, start=first):
            L = _safe_cholesky(matrix)
            solved[sample] = backward(L, forward(L, right))
            W[sample] = inverse_factor(L)
    return W, solved[:, :, 0], solved[:, :, 1]


def _safe_cholesky(K: Array) -> Array:
    """Factorise; where rounding made it indefinite, with more on the diagonal, up to a tenth of its largest entry."""
    L = cholesky(K.copy())
    if L is not None:
        return L
    lower = np.tril(K)
    diagonal = lower.diagonal().copy()
    jitter = JITTER * max(float(diagonal.max()), SMALLEST_VARIANCE)
    for _ in range(MOST_JITTERS):
        np.fill_diagonal(lower, diagonal + jitter)
        L = cholesky(lower.copy())
        if L is not None:
            return L
        jitter *= JITTER_GROWTH
    raise np.linalg.LinAlgError(
        f"A covariance must be positive definite. Got one of size {len(K)} that is not, even with {jitter:g} on its "
        "diagonal. Look for NaN in what it was computed from."
    )
