"""The kernels of WEKA's SVM beside the radial one, between all rows of two tables."""

from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array


@dataclass(frozen=True)
class Polynomial:
    """`(<a, b> + c)^e` with c = 1 or 0 (lower-order terms or not).

    A power that is not whole keeps the sign of its base: `sign(s) |s|^e`, where WEKA's is not a number.
    """

    exponent: float = 1.0
    lower_order: bool = False

    def __call__(self, A: Array, B: Array) -> Array:
        return self._power(A @ B.T)

    def _power(self, products: Array) -> Array:
        s = products + self.lower_order
        if self.exponent == int(self.exponent):
            return np.asarray(s ** int(self.exponent))
        return np.asarray(np.sign(s) * np.abs(s) ** self.exponent)


@dataclass(frozen=True)
class NormalisedPolynomial(Polynomial):
    """`k(a, b) / sqrt(k(a, a) k(b, b))` of the polynomial kernel; 0 for a row of zeros without lower-order terms."""

    def __call__(self, A: Array, B: Array) -> Array:
        lengths = [np.sqrt(self._power((M * M).sum(axis=1))) for M in (A, B)]
        left, right = (np.where(length > 0, length, 1.0) for length in lengths)
        return np.asarray(self._power(A @ B.T) / left[:, None] / right)


@dataclass(frozen=True)
class PearsonVII:
    """The Pearson VII kernel (Uestuen, Melssen, Buydens 2006), which WEKA calls Puk.

    `1 / (1 + (2 |a - b| sqrt(2^(1/omega) - 1) / sigma)^2)^omega`: sigma is the width at half height, omega goes from
    Lorentzian tails (1) to Gaussian ones (infinity).
    """

    sigma: float = 1.0
    omega: float = 1.0

    def __call__(self, A: Array, B: Array) -> Array:
        squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2 * (A @ B.T)
        np.maximum(squares, 0.0, out=squares)
        squares *= 4 * (2 ** (1 / self.omega) - 1) / self.sigma**2
        squares += 1
        return np.asarray(squares**-self.omega)
