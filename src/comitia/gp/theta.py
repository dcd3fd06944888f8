"""What a Gaussian process is tuned by: theta, a vector of logarithms, and where each number is in it.

theta = (log amplitude, log noise, log offset, log length scales, logs of the kernel's own parameters). The constant
mean of Lévesque 2018, §2.4, is not in it: given the rest it is Gaussian, so it is integrated in closed form instead of
sampled. The offset is the standard deviation of the branches' own means around the common one; it is fixed where
branches have no means of their own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.gp.kernels import ARD, Matern52

AMPLITUDE, NOISE, OFFSET, N_GLOBAL = 0, 1, 2, 3
MEAN_VARIANCE = 1.0
"""Prior variance of the constant mean, y being standardised."""
MOST = 12.0
"""Bound on logarithms, so that no exponential overflows."""


@dataclass(frozen=True, eq=False)
class Structure:
    """The part of a model that is fixed: which kernel, which dimensions are categories, whether branches have offsets.

    Methods take several theta at once, an (n_samples, n_theta) array.
    """

    is_categorical: Mask
    kernel: type[ARD] = Matern52
    has_offsets: bool = False

    @cached_property
    def lengths(self) -> slice:
        """Positions of the length scales in theta."""
        return slice(N_GLOBAL, N_GLOBAL + len(self.is_categorical))

    @cached_property
    def own(self) -> slice:
        """Positions of the kernel's own parameters in theta."""
        return slice(self.lengths.stop, self.n_theta)

    @cached_property
    def n_theta(self) -> int:
        """Length of theta."""
        return N_GLOBAL + len(self.is_categorical) + len(self.kernel.parameters)

    @property
    def free(self) -> Indices:
        """Positions of theta that are not fixed."""
        fixed = () if self.has_offsets else (OFFSET,)
        return np.array([j for j in range(self.n_theta) if j not in fixed])

    def weights(self, theta: Array) -> Array:
        """Return l_j^-power for each row of theta, an (n_samples, d) array."""
        return np.asarray(np.exp(-self.kernel.power * np.clip(theta[:, self.lengths], -MOST, MOST)))

    def variances(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return amplitude^2, noise^2 and offset^2, (n_samples,) arrays."""
        squares = np.exp(2 * np.clip(theta[:, :N_GLOBAL], -MOST, MOST))
        offset = squares[:, OFFSET] if self.has_offsets else np.zeros(len(theta))
        return squares[:, AMPLITUDE], squares[:, NOISE], offset

    def own_values(self, theta: Array) -> Array:
        """Return the kernel's own parameters, an (n_samples, n_parameters) array."""
        return np.asarray(np.exp(np.clip(theta[:, self.own], -MOST, MOST)))

    def kernel_at(self, theta: Array, n_axes: int) -> ARD:
        """Return the kernel for scaled sums `s` that have `n_axes` axes, of which the first is that of theta.

        Its profile and slopes are those of theta; it has no length scales, which are in `s` already.
        """
        if not self.kernel.parameters:
            return self._plain
        columns = self.own_values(theta).T.reshape(-1, len(theta), *(1,) * (n_axes - 1))
        return self.kernel(1.0, **dict(zip(self.kernel.parameters, columns, strict=True)))

    @cached_property
    def _plain(self) -> ARD:
        return self.kernel(1.0)
