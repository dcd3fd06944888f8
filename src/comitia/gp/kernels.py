"""Covariance functions: small objects that are called with two sets of points and compose.

Every ARD kernel is a profile of one sum over dimensions::

    s(x, x') = sum_j |x_j - x'_j|^power / l_j^power        k = profile(s)

with `power` 2 for the squared exponential (T eq. 2.15, whose plus sign is a misprint) and Matern 5/2, and 1 for Laplace
(T eq. 5.15). Categories have no order: their |x_j - x'_j| is 0 if equal, else 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia.arrays import Array, Mask

Labels = NDArray[np.int64]


PIECE = 8192
"""Entries that are worked on at a time: temporaries that stay in the cache, and for which the system need not be asked
for memory, take a third of the time."""


class Kernel(Protocol):
    """A covariance function."""

    def __call__(self, A: Array, B: Array) -> Array:
        """Return the covariance of every row of `A` with every row of `B`.  # (n, m)."""


def distances(A: Array, B: Array, is_categorical: Mask, power: int) -> Array:
    """Return |a_j - b_j|^power for every pair and dimension, 0 or 1 for categories.  # (d, n, m)."""
    D = A.T[:, :, None] - B.T[:, None, :]
    if power == 2:
        np.multiply(D, D, out=D)
    else:
        np.abs(D, out=D)
    if is_categorical.any():
        D[is_categorical] = D[is_categorical] != 0
    return D


@dataclass(frozen=True, eq=False)
class ARD:
    """A stationary kernel with one length scale for each dimension; subclasses give the profile."""

    length_scales: ArrayLike
    """# (d,) or a single one for all."""
    is_categorical: ArrayLike = False
    """Which dimensions have values without an order.  # (d,)"""
    power: ClassVar[int] = 2

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        d = A.shape[1]
        scales = np.broadcast_to(np.asarray(self.length_scales, dtype=np.float64), d)
        categorical = np.broadcast_to(np.asarray(self.is_categorical, dtype=bool), d)
        D = distances(A, B, categorical, self.power)
        return self.profile(np.tensordot(scales ** -float(self.power), D, axes=1))

    @staticmethod
    def profile(s: Array) -> Array:
        """Return the covariance as a function of the scaled sum `s`."""
        raise NotImplementedError

    @staticmethod
    def slope(s: Array) -> Array:
        """Return the derivative of `profile`."""
        raise NotImplementedError


class SquaredExponential(ARD):
    """exp(-s / 2) (T eq. 2.15)."""

    @staticmethod
    def profile(s: Array) -> Array:
        """See `ARD`."""
        return np.asarray(np.exp(-0.5 * s))

    @staticmethod
    def slope(s: Array) -> Array:
        """See `ARD`."""
        return np.asarray(-0.5 * np.exp(-0.5 * s))


class Matern52(ARD):
    """(1 + sqrt(5 s) + 5 s / 3) exp(-sqrt(5 s)) (Snoek et al. 2012)."""

    @staticmethod
    def profile(s: Array) -> Array:
        """See `ARD`."""
        k = np.empty(s.shape)
        flat, out = s.reshape(-1), k.reshape(-1)
        room = np.empty((2, min(PIECE, len(flat))))
        for first in range(0, len(flat), PIECE):
            piece, e = flat[first : first + PIECE], out[first : first + PIECE]
            r, poly = room[:, : len(piece)]
            np.sqrt(np.multiply(piece, 5.0, out=r), out=r)
            np.exp(np.negative(r, out=e), out=e)
            # 1 + r + r^2 / 3, by Horner
            np.multiply(r, 1.0 / 3.0, out=poly)
            poly += 1.0
            poly *= r
            poly += 1.0
            e *= poly
        return k

    @staticmethod
    def slope(s: Array) -> Array:
        """See `ARD`; finite at 0."""
        r = np.sqrt(5.0 * s)
        return np.asarray((-5.0 / 6.0) * (1.0 + r) * np.exp(-r))


class Laplace(ARD):
    """exp(-s), s = sum_j |x_j - x'_j| / l_j (T eq. 5.15 with one length scale for each dimension)."""

    power: ClassVar[int] = 1

    @staticmethod
    def profile(s: Array) -> Array:
        """See `ARD`."""
        return np.asarray(np.exp(-s))

    @staticmethod
    def slope(s: Array) -> Array:
        """See `ARD`."""
        return np.asarray(-np.exp(-s))


@dataclass(frozen=True, eq=False)
class Hamming:
    """exp(-sum_j [x_j != x'_j] / l_j): for dimensions whose values have no order."""

    length_scales: ArrayLike

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        return Laplace(self.length_scales, is_categorical=True)(A, B)


@dataclass(frozen=True)
class Constant:
    """The same covariance everywhere: a common offset."""

    variance: float

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        return np.full((len(A), len(B)), self.variance)


@dataclass(frozen=True, eq=False)
class Scaled:
    """amplitude^2 times another kernel."""

    inner: Kernel
    amplitude: float

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        return self.amplitude**2 * self.inner(A, B)


@dataclass(frozen=True, eq=False)
class OnColumns:
    """Another kernel that sees some of the dimensions."""

    inner: Kernel
    columns: ArrayLike

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        columns = np.asarray(self.columns)
        return self.inner(A[:, columns], B[:, columns])


class Sum:
    """The sum of kernels."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        return np.asarray(sum(part(A, B) for part in self.parts))


class Product:
    """The product of kernels."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        return np.asarray(math.prod(part(A, B) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Conditional:
    """Another kernel inside a branch, exactly 0 between branches (T eq. 5.9, C eq. 8).

    Parameters
    ----------
    inner : Kernel
    branches : callable (X) -> labels
        Rows are comparable if and only if their labels are equal, as `Space.branches`.
    """

    inner: Kernel
    branches: Callable[[Array], Labels]

    def __call__(self, A: Array, B: Array) -> Array:
        """See `Kernel`."""
        same = self.branches(A)[:, None] == self.branches(B)[None, :]
        return np.where(same, self.inner(A, B), 0.0)
