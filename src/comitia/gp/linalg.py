"""The LAPACK calls of a Gaussian process, without the checks and copies of their usual wrappers.

`L` is lower triangular in C order, which LAPACK reads as its transpose in Fortran order, hence the `trans` below.
"""

import numpy as np
from scipy.linalg import lapack

from comitia.arrays import Array

JITTER = 1e-8
"""What is added to the diagonal, relative to the amplitude: rounding must not make a covariance indefinite."""


def cholesky(K: Array) -> Array | None:
    """Return the lower factor of K, whose lower triangle is read and overwritten; None if not positive definite."""
    upper, info = lapack.dpotrf(K.T, lower=0, clean=1, overwrite_a=1)
    # NaN passes LAPACK's test of a pivot, and reaches the last one from wherever it is
    return np.asarray(upper.T) if info == 0 and np.isfinite(upper[-1, -1]) else None


def forward(L: Array, b: Array) -> Array:
    """Solve L v = b for a vector or a matrix b."""
    solution, _ = lapack.dtrtrs(L.T, b, lower=0, trans=1)
    return np.asarray(solution)


def backward(L: Array, v: Array) -> Array:
    """Solve L' a = v for a vector or a matrix v."""
    solution, _ = lapack.dtrtrs(L.T, v, lower=0, trans=0)
    return np.asarray(solution)


def inverse_factor(L: Array) -> Array:
    """Return L^-1, with which the variance at many points is one matrix product."""
    inverse, _ = lapack.dtrtri(L.T, lower=0)
    return np.asarray(inverse.T)


def precision(L: Array) -> Array:
    """Return the lower triangle of (L L')^-1: gradients of a likelihood need every entry of it."""
    inverse, _ = lapack.dpotri(L.T, lower=0)
    return np.asarray(inverse.T)
