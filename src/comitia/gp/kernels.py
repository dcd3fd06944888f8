"""Covariance functions: small objects that are called with two sets of points and compose.

Every ARD kernel is a profile of one sum over dimensions::

    s(x, x') = sum_j |x_j - x'_j|^power / l_j^power        k = profile(s)

with `power` 2 for the squared exponential (Lévesque 2018, eq. 2.15, whose plus sign is a misprint), Matern 5/2 and the
rational quadratic, and 1 for Laplace (Lévesque 2018, eq. 5.15). Categories have no order: their |x_j - x'_j| is 0 if
equal, else 1.

A new ARD kernel is one class here and one line in `KERNELS`: likelihood, sampling of theta, posterior and the contract
suite take it from there, parameters of its own included.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia.arrays import Array, Mask
from comitia.gp.densities import Density, LogNormal

Labels = NDArray[np.int64]


PIECE = 8192
"""Entries that are worked on at a time: temporaries that stay in the cache, and for which the system need not be asked
for memory, take a third of the time."""


class Kernel(Protocol):
    """A covariance function."""

    def __call__(self, A: Array, B: Array) -> Array:
        """Return the covariance of every row of `A` with every row of `B`, an (n, m) array."""


def distances(A: Array, B: Array, is_categorical: Mask, power: int) -> Array:
    """Return |a_j - b_j|^power for every dimension and pair, 0 or 1 for categories, as a (d, n, m) array."""
    D = A.T[:, :, None] - B.T[:, None, :]
    if power == 2:
        np.multiply(D, D, out=D)
    else:
        np.abs(D, out=D)
    if is_categorical.any():
        D[is_categorical] = D[is_categorical] != 0
    return D


@dataclass(frozen=True, eq=False)
class ARD(ABC):
    """A stationary kernel with one length scale per dimension; subclasses give the profile.

    A kernel with parameters of its own has one dataclass field for each, names them in `parameters` with their priors,
    and gives their derivatives in `own_slopes`. They are positive. Inside a model each is an array that broadcasts
    against `s`, one value per sample of theta.
    """

    length_scales: ArrayLike
    """One per dimension, or a single one for all."""
    is_categorical: ArrayLike = False
    """Which dimensions have values without an order: one flag per dimension, or a single one for all."""
    power: ClassVar[int] = 2
    """1 or 2."""
    parameters: ClassVar[Mapping[str, Density]] = {}
    """The prior of each parameter beside the length scales, by the name of its field."""

    def __call__(self, A: Array, B: Array) -> Array:
        d = A.shape[1]
        scales = np.broadcast_to(np.asarray(self.length_scales, dtype=np.float64), d)
        categorical = np.broadcast_to(np.asarray(self.is_categorical, dtype=bool), d)
        D = distances(A, B, categorical, self.power)
        return self.profile(np.tensordot(scales ** -float(self.power), D, axes=1))

    @abstractmethod
    def profile(self, s: Array) -> Array:
        """Return the covariance as a function of the scaled sum `s`, in a new array; 1 at 0."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """Return the derivative of `profile` with respect to `s`; finite at 0."""

    def own_slopes(self, s: Array) -> Mapping[str, Array]:
        """Return the derivative of `profile` with respect to each of `parameters`, by name."""
        return {}


class SquaredExponential(ARD):
    """exp(-s / 2) (Lévesque 2018, eq. 2.15)."""

    def profile(self, s: Array) -> Array:
        return np.asarray(np.exp(-0.5 * s))

    def slope(self, s: Array) -> Array:
        return np.asarray(-0.5 * np.exp(-0.5 * s))


class Matern52(ARD):
    """(1 + sqrt(5 s) + 5 s / 3) exp(-sqrt(5 s)) (Snoek et al. 2012)."""

    def profile(self, s: Array) -> Array:
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

    def slope(self, s: Array) -> Array:
        r = np.sqrt(5.0 * s)
        return np.asarray((-5.0 / 6.0) * (1.0 + r) * np.exp(-r))


class Laplace(ARD):
    """exp(-s), s = sum_j |x_j - x'_j| / l_j (Lévesque 2018, eq. 5.15, with one length scale per dimension)."""

    power: ClassVar[int] = 1

    def profile(self, s: Array) -> Array:
        return np.asarray(np.exp(-s))

    def slope(self, s: Array) -> Array:
        return np.asarray(-np.exp(-s))


@dataclass(frozen=True, eq=False)
class RationalQuadratic(ARD):
    """(1 + s / (2 alpha))^-alpha (Rasmussen and Williams 2006, eq. 4.19).

    A mixture of squared exponentials of many length scales; the larger `alpha`, the fewer. The limit is a single one.
    """

    alpha: float | Array = 1.0
    parameters: ClassVar[Mapping[str, Density]] = {"alpha": LogNormal()}

    def profile(self, s: Array) -> Array:
        return np.asarray(np.exp(-self.alpha * np.log1p(s / (2.0 * self.alpha))))

    def slope(self, s: Array) -> Array:
        return np.asarray(-0.5 * np.exp(-(self.alpha + 1.0) * np.log1p(s / (2.0 * self.alpha))))

    def own_slopes(self, s: Array) -> Mapping[str, Array]:
        u = s / (2.0 * self.alpha)
        return {"alpha": np.asarray(self.profile(s) * (u / (1.0 + u) - np.log1p(u)))}


KERNELS: tuple[type[ARD], ...] = (SquaredExponential, Matern52, Laplace, RationalQuadratic)
"""Every kernel that a model can be built on; tests/contracts/test_kernels.py runs over them."""


@dataclass(frozen=True, eq=False)
class Hamming:
    """exp(-sum_j [x_j != x'_j] / l_j): for dimensions whose values have no order."""

    length_scales: ArrayLike

    def __call__(self, A: Array, B: Array) -> Array:
        return Laplace(self.length_scales, is_categorical=True)(A, B)


@dataclass(frozen=True)
class Constant:
    """The same covariance everywhere: a common offset."""

    variance: float

    def __call__(self, A: Array, B: Array) -> Array:
        return np.full((len(A), len(B)), self.variance)


@dataclass(frozen=True, eq=False)
class Scaled:
    """amplitude^2 times another kernel."""

    inner: Kernel
    amplitude: float

    def __call__(self, A: Array, B: Array) -> Array:
        return self.amplitude**2 * self.inner(A, B)


class Sum:
    """The sum of kernels."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts

    def __call__(self, A: Array, B: Array) -> Array:
        return np.asarray(sum(part(A, B) for part in self.parts))


class Product:
    """The product of kernels."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts

    def __call__(self, A: Array, B: Array) -> Array:
        return np.asarray(math.prod(part(A, B) for part in self.parts))


@dataclass(frozen=True, eq=False)
class Conditional:
    """Another kernel within a branch, exactly 0 between branches (Lévesque 2018, eq. 5.9; Lévesque et al. 2017, eq. 8).

    Parameters
    ----------
    inner : Kernel
    branches : callable (X) -> labels
        Rows are comparable if and only if their labels are equal, as with `Space.branches`.
    """

    inner: Kernel
    branches: Callable[[Array], Labels]

    def __call__(self, A: Array, B: Array) -> Array:
        same = self.branches(A)[:, None] == self.branches(B)[None, :]
        return np.where(same, self.inner(A, B), 0.0)
