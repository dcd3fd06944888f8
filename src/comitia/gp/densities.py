"""Priors of single positive numbers; densities are of their logarithms, Jacobian included."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from comitia.arrays import Array


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
        return self.mu

    def log(self, t: Array) -> Array:
        return np.asarray(-0.5 * ((t - self.mu) / self.sigma) ** 2)

    def gradient(self, t: Array) -> Array:
        return np.asarray(-(t - self.mu) / self.sigma**2)


@dataclass(frozen=True)
class Horseshoe:
    """p(v) ~ log(1 + (scale / v)^2), the usual bound of the horseshoe: much mass at 0 and heavy tails.

    (Lévesque 2018, §5.5.)
    """

    scale: float = 1.0
    start: float = math.log(0.1)

    def log(self, t: Array) -> Array:
        return np.asarray(np.log(np.log1p((self.scale * np.exp(-t)) ** 2)) + t)

    def gradient(self, t: Array) -> Array:
        q = (self.scale * np.exp(-t)) ** 2
        return np.asarray(1.0 - 2.0 * q / ((1.0 + q) * np.log1p(q)))
