"""What is believed of theta before any trial: one density for each of its numbers."""

import math
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array
from comitia.gp.densities import Density, Horseshoe, LogNormal
from comitia.gp.theta import AMPLITUDE, NOISE, OFFSET, Structure

UNIT, HORSESHOE = LogNormal(), Horseshoe()


@dataclass(frozen=True)
class Priors:
    """One density for each kind of number in theta; a kernel brings those of its own parameters."""

    amplitude: Density = UNIT
    noise: Density = HORSESHOE
    offset: Density = UNIT
    length: LogNormal = UNIT


THESIS = Priors()
"""Lévesque 2018, §5.5: log-normal(0, 1) on length scales and amplitude, horseshoe(1) on noise."""
SHORT = Priors(length=LogNormal(math.log(0.4), 0.7))
"""Comitia's own: a loss usually changes within half of a range. If the median length scale is a whole range, as in
`THESIS`, a few equal values are enough for a branch to be taken as flat and never visited again."""


class JointPrior:
    """The prior of the whole of theta."""

    def __init__(self, priors: Priors, structure: Structure) -> None:
        self._lengths, self._length = structure.lengths, priors.length
        own = enumerate(structure.kernel.parameters.values(), start=structure.own.start)
        self._others = [(AMPLITUDE, priors.amplitude), (NOISE, priors.noise), (OFFSET, priors.offset), *own]
        self.start = np.full(structure.n_theta, priors.length.start)
        for j, density in self._others:
            self.start[j] = density.start

    def log(self, theta: Array) -> Array:
        """Return the log density of each row, an (n_samples,) array."""
        z = (theta[:, self._lengths] - self._length.mu) / self._length.sigma
        total = -0.5 * np.einsum("ij,ij->i", z, z)
        for j, density in self._others:
            total = total + density.log(theta[:, j])
        return np.asarray(total)

    def gradient(self, theta: Array) -> Array:
        """Return the gradient of each row, an (n_samples, n_theta) array."""
        found = np.empty_like(theta)
        found[:, self._lengths] = self._length.gradient(theta[:, self._lengths])
        for j, density in self._others:
            found[:, j] = density.gradient(theta[:, j])
        return found
