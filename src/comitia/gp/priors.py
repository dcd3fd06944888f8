"""What is believed of theta before any trial; densities are of logarithms, Jacobian included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from comitia.arrays import Array, Indices
from comitia.gp.theta import AMPLITUDE, N_GLOBAL, NOISE, OFFSET


class Density(Protocol):
    """A prior of one positive number, as a density of its logarithm."""

    @property
    def start(self) -> float:
        """A typical logarithm, from which a search begins."""

    def log(self, t: Array) -> Array:
        """Return the log density at logarithms, up to a constant."""

    def gradient(self, t: Array) -> Array:
        """Return its derivative."""


@dataclass(frozen=True)
class LogNormal:
    """A log-normal: the logarithm is normal."""

    mu: float = 0.0
    sigma: float = 1.0

    @property
    def start(self) -> float:
        """See `Density`."""
        return self.mu

    def log(self, t: Array) -> Array:
        """See `Density`."""
        return np.asarray(-0.5 * ((t - self.mu) / self.sigma) ** 2)

    def gradient(self, t: Array) -> Array:
        """See `Density`."""
        return np.asarray(-(t - self.mu) / self.sigma**2)


@dataclass(frozen=True)
class Horseshoe:
    """p(v) ~ log(1 + (scale / v)^2), the usual bound of the horseshoe: much mass at 0 and heavy tails (T §5.5)."""

    scale: float = 1.0
    start: float = math.log(0.1)

    def log(self, t: Array) -> Array:
        """See `Density`: with the Jacobian, log p(v) + log v."""
        return np.asarray(np.log(np.log1p((self.scale * np.exp(-t)) ** 2)) + t)

    def gradient(self, t: Array) -> Array:
        """See `Density`."""
        q = (self.scale * np.exp(-t)) ** 2
        return np.asarray(1.0 - 2.0 * q / ((1.0 + q) * np.log1p(q)))


@dataclass(frozen=True)
class Priors:
    """One density for each kind of number in theta.

    Length scales may depend on how many dimensions they share their branch with: `dimensional` adds half the
    logarithm of that number to the location (Hvarfner et al. 2024).
    """

    amplitude: Density = LogNormal()
    noise: Density = Horseshoe()
    offset: Density = LogNormal()
    length: LogNormal = LogNormal()
    dimensional: bool = False

    def lengths(self, n_shared: Indices) -> list[LogNormal]:
        """Return the prior of each length scale; `n_shared` is the number of dimensions of its branch."""
        if not self.dimensional:
            return [self.length] * len(n_shared)
        return [LogNormal(self.length.mu + 0.5 * math.log(max(int(n), 1)), self.length.sigma) for n in n_shared]


THESIS = Priors()
"""T §5.5: log-normal(0, 1) on length scales and amplitude, horseshoe(1) on noise."""
DIMENSIONAL = Priors(length=LogNormal(math.sqrt(2.0), math.sqrt(3.0)), dimensional=True)
"""Hvarfner et al. 2024: length scales that grow with the root of the number of active dimensions."""
SHORT = Priors(length=LogNormal(math.log(0.4), 0.7))
"""Comitia's own: a loss usually changes within half of a range. With T's median of a whole range, a branch is taken
to be flat after a few equal values, and left for good."""


class JointPrior:
    """The prior of the whole of theta."""

    def __init__(self, priors: Priors, n_shared: Indices) -> None:
        lengths = priors.lengths(n_shared)
        self.start = np.empty(N_GLOBAL + len(lengths))
        self.start[AMPLITUDE], self.start[NOISE] = priors.amplitude.start, priors.noise.start
        self.start[OFFSET] = priors.offset.start
        self.start[N_GLOBAL:] = [density.start for density in lengths]
        self._globals = [(AMPLITUDE, priors.amplitude), (NOISE, priors.noise), (OFFSET, priors.offset)]
        self._mu = np.array([density.mu for density in lengths])
        self._sigma = np.array([density.sigma for density in lengths])

    def log(self, theta: Array) -> Array:
        """Return the log density of each row.  # (n_samples,)."""
        z = (theta[:, N_GLOBAL:] - self._mu) / self._sigma
        total = -0.5 * np.einsum("ij,ij->i", z, z)
        for j, density in self._globals:
            total = total + density.log(theta[:, j])
        return np.asarray(total)

    def gradient(self, theta: Array) -> Array:
        """Return the gradient of each row.  # (n_samples, n_theta)."""
        found = np.empty_like(theta)
        found[:, N_GLOBAL:] = -(theta[:, N_GLOBAL:] - self._mu) / self._sigma**2
        for j, density in self._globals:
            found[:, j] = density.gradient(theta[:, j])
        return found
