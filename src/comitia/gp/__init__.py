"""Gaussian processes: arrays in, arrays out; numpy and scipy only; nothing about trials or spaces."""

from comitia.gp.blocks import Blocks
from comitia.gp.kernels import (
    Conditional,
    Constant,
    Hamming,
    Kernel,
    Laplace,
    Matern52,
    Product,
    RationalQuadratic,
    Scaled,
    SquaredExponential,
    Sum,
)
from comitia.gp.model import GP
from comitia.gp.posterior import Posterior

__all__ = [
    "GP",
    "Blocks",
    "Conditional",
    "Constant",
    "Hamming",
    "Kernel",
    "Laplace",
    "Matern52",
    "Posterior",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SquaredExponential",
    "Sum",
]
