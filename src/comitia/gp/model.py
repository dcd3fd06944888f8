"""Gaussian process regression with any kernel: the obvious version beside the fast one of `blocks` and `posterior`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.gp.kernels import Kernel
from comitia.gp.linalg import JITTER, backward, cholesky, forward


@dataclass(frozen=True, eq=False)
class DensePosterior:
    """What is believed after observations (Lévesque 2018, eq. 2.6-2.7)."""

    kernel: Kernel
    X: Array
    L: Array
    alpha: Array
    mean: float
    variance: float | None = None
    """The kernel's value at distance 0, where it is the same everywhere and known."""

    def mean_var(self, X: Array) -> tuple[Array, Array]:
        """Return mean and variance of the function at each row, without noise."""
        k = self.kernel(self.X, X)  # (m, n)
        v = forward(self.L, k)
        prior = self.variance if self.variance is not None else self.kernel(X, X).diagonal()
        return self.mean + k.T @ self.alpha, prior - np.einsum("mn,mn->n", v, v)

    def covariance(self, X: Array) -> Array:
        """Return the covariance of the function between rows."""
        v = forward(self.L, self.kernel(self.X, X))
        return np.asarray(self.kernel(X, X) - v.T @ v)

    def believe(self, X: Array, noise: float) -> DensePosterior:
        """Return the posterior if each row were observed to have its mean: one more row of the factor, and alpha 0."""
        found = self
        for x in X:
            k = self.kernel(found.X, x[None])[:, 0]
            row = forward(found.L, k)
            left = float(self.kernel(x[None], x[None])[0, 0]) + noise**2 - float(row @ row)
            m = len(k)
            L = np.zeros((m + 1, m + 1))
            L[:m, :m], L[m, :m], L[m, m] = found.L, row, np.sqrt(max(left, JITTER))
            found = replace(found, X=np.concatenate([found.X, x[None]]), L=L, alpha=np.append(found.alpha, 0.0))
        return found

    def sample(self, X: Array, n: int, rng: np.random.Generator) -> Array:
        """Draw the function at all rows jointly: an (n, n_rows) array."""
        mean, _ = self.mean_var(X)
        values, vectors = np.linalg.eigh(self.covariance(X))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(mean + rng.standard_normal((n, len(X))) @ root.T)


@dataclass(frozen=True, eq=False)
class GP:
    """A prior over functions.

    Parameters
    ----------
    kernel : Kernel
    noise : float
        Standard deviation of an observation around the function.
    mean : float
        The constant mean.
    variance : float, optional
        The kernel's value at distance 0, where it is the same everywhere: saves computing it.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.gp import GP, Matern52
    >>> X = np.array([[0.0], [0.5], [1.0]])
    >>> posterior = GP(Matern52([0.3]), noise=0.01).fit(X, np.array([1.0, 0.0, 1.0]))
    >>> mean, var = posterior.mean_var(np.array([[0.5]]))
    >>> bool(abs(mean[0]) < 0.01 and var[0] < 0.001)
    True
    """

    kernel: Kernel
    noise: float = 0.1
    mean: float = 0.0
    variance: float | None = None

    def fit(self, X: Array, y: Array, noise_variances: Array | None = None) -> DensePosterior:
        """Return the posterior; `noise_variances` are known ones, one per observation, added to the noise."""
        extra = np.zeros(len(y)) if noise_variances is None else noise_variances
        L = cholesky(self.kernel(X, X) + np.diag(self.noise**2 + extra))
        if L is None:
            raise np.linalg.LinAlgError(
                "A covariance must be positive definite. Got one that is not. Use more noise, or remove duplicates."
            )
        return DensePosterior(self.kernel, X, L, backward(L, forward(L, y - self.mean)), self.mean, self.variance)
