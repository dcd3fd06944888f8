"""Gaussian process regression with any kernel: the obvious version beside the fast one of `blocks` and `posterior`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comitia.gp.kernels import Kernel
from comitia.gp.linalg import backward, cholesky, forward

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DensePosterior:
    """What is believed after observations (T eq. 2.6-2.7)."""

    kernel: Kernel
    X: Array
    L: Array
    alpha: Array
    mean: float

    def mean_var(self, X: Array) -> tuple[Array, Array]:
        """Return mean and variance of the function, without noise.  # (n,) both."""
        k = self.kernel(self.X, X)  # (m, n)
        v = forward(self.L, k)
        prior = np.array([self.kernel(x[None], x[None])[0, 0] for x in X])
        return self.mean + k.T @ self.alpha, prior - np.einsum("mn,mn->n", v, v)

    def covariance(self, X: Array) -> Array:
        """Return the covariance of the function between rows.  # (n, n)."""
        v = forward(self.L, self.kernel(self.X, X))
        return np.asarray(self.kernel(X, X) - v.T @ v)

    def sample(self, X: Array, n: int, rng: np.random.Generator) -> Array:
        """Draw the function at all rows jointly.  # (n, n_rows)."""
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

    def fit(self, X: Array, y: Array, noise_variances: Array | None = None) -> DensePosterior:
        """Return the posterior; `noise_variances` are known ones, added for each observation."""
        extra = np.zeros(len(y)) if noise_variances is None else noise_variances
        L = cholesky(self.kernel(X, X) + np.diag(self.noise**2 + extra))
        if L is None:
            raise np.linalg.LinAlgError(
                "A covariance must be positive definite. Got one that is not. Use more noise, or remove duplicates."
            )
        return DensePosterior(self.kernel, X, L, backward(L, forward(L, y - self.mean)), self.mean)
