"""Optimizers: which configuration next, given the history."""

from comitia.optimizers.bayes.bayes import Bayes
from comitia.optimizers.cmaes.cmaes import CMAES
from comitia.optimizers.grid import Grid
from comitia.optimizers.pbil.pbil import PBIL
from comitia.optimizers.random import RandomSearch
from comitia.optimizers.sobol import Sobol

__all__ = ["CMAES", "PBIL", "Bayes", "Grid", "RandomSearch", "Sobol"]
