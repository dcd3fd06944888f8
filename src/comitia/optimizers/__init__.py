"""Optimizers: which configuration next, given the history."""

from comitia.optimizers.grid import Grid
from comitia.optimizers.random import RandomSearch
from comitia.optimizers.sobol import Sobol

__all__ = ["Grid", "RandomSearch", "Sobol"]
