"""Points, branches and theta that the tests of Gaussian processes share."""

from collections.abc import Callable

import numpy as np

from comitia.arrays import Array
from comitia.gp import Conditional, Constant, Kernel, Scaled, Sum
from comitia.gp.kernels import ARD, Labels
from comitia.gp.linalg import JITTER
from comitia.gp.theta import MEAN_VARIANCE, N_GLOBAL, Structure

CATEGORICAL = np.array([False, True, False, False])
THETA = np.array([0.3, -1.5, -0.5, -0.2, 0.4, -1.0, 0.1])
"""For four dimensions and a kernel without parameters of its own."""


def theta_of(structure: Structure) -> Array:
    """Return THETA, with a value for each of the kernel's own parameters."""
    return np.append(THETA, np.linspace(0.4, -0.3, structure.n_theta - len(THETA)))


def branch_of(X: Array) -> Labels:
    return (X[:, 0] * 4).astype(np.int64)


def problem(n: int = 40, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return points, observations and their known noise variances."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    X[:, 1] = np.floor(X[:, 1] * 3) / 3
    return X, rng.standard_normal(n), rng.random(n) * 0.1


def dense_kernel(structure: Structure, theta: Array, branches: Callable[[Array], Labels] | None) -> Kernel:
    """Write the kernel of a model down as it is in the papers; the constant mean is a constant covariance."""
    amplitude, _, offset = np.exp(theta[:N_GLOBAL])
    own = dict(zip(structure.kernel.parameters, np.exp(theta[structure.own]).tolist(), strict=True))
    ard: ARD = structure.kernel(np.exp(theta[structure.lengths]), structure.is_categorical, **own)
    inner: Kernel = Scaled(ard, amplitude)
    if structure.has_offsets:
        inner = Sum(inner, Constant(offset**2))
    return Sum(Conditional(inner, branches) if branches else inner, Constant(MEAN_VARIANCE))


def dense_noise(structure: Structure, theta: Array) -> float:
    """Return the variance that a model adds to each observation: the noise, and what keeps matrices positive."""
    amplitude, noise, offset = np.exp(2 * theta[:N_GLOBAL])
    return float(noise + JITTER * (amplitude + (offset if structure.has_offsets else 0.0)))
