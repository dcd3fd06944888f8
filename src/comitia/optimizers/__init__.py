"""Optimizers: which configuration next, given the history."""

from comitia.optimizers.bayes import Bayes
from comitia.optimizers.grid import Grid
from comitia.optimizers.pbil import PBIL
from comitia.optimizers.random import RandomSearch
from comitia.optimizers.sobol import Sobol

__all__ = ["PBIL", "Bayes", "Grid", "RandomSearch", "Sobol"]
