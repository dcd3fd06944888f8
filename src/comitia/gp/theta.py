"""What a Gaussian process is tuned by: theta, a row of logarithms, and where each number is in it.

theta = (log amplitude, log noise, log offset, log length scales). The constant mean of T §2.4 is not in it: given the
rest it is Gaussian, so it is integrated in closed form instead of sampled. The offset is the standard deviation of the
branches' own means around the common one; -inf where branches have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.gp.kernels import ARD, Matern52

AMPLITUDE, NOISE, OFFSET, N_GLOBAL = 0, 1, 2, 3
MEAN_VARIANCE = 1.0
"""Prior variance of the constant mean, y being standardised."""
MOST = 12.0
"""Bound on logarithms, so that no exponential overflows."""


@dataclass(frozen=True, eq=False)
class Form:
    """The part of a model that is fixed: the kernel's profile, which dimensions are categories, branch offsets."""

    is_categorical: Mask
    kernel: type[ARD] = Matern52
    has_offsets: bool = False

    @property
    def n_theta(self) -> int:
        """Length of theta."""
        return N_GLOBAL + len(self.is_categorical)

    @property
    def free(self) -> Indices:
        """Positions of theta that are not fixed."""
        fixed = () if self.has_offsets else (OFFSET,)
        return np.array([j for j in range(self.n_theta) if j not in fixed])

    def weights(self, theta: Array) -> Array:
        """Return l_j^-power for each row of theta.  # (n_samples, d)."""
        return np.asarray(np.exp(-self.kernel.power * np.clip(theta[:, N_GLOBAL:], -MOST, MOST)))

    def variances(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return amplitude^2, noise^2 and offset^2.  # (n_samples,) each."""
        squares = np.exp(2 * np.clip(theta[:, :N_GLOBAL], -MOST, MOST))
        offset = squares[:, OFFSET] if self.has_offsets else np.zeros(len(theta))
        return squares[:, AMPLITUDE], squares[:, NOISE], offset
