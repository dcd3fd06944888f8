"""Agnostic Bayes: the best model of each bootstrap of the validation rows (Lacoste et al. 2014)."""

from functools import partial

from comitia.goals import BootstrapRisk
from comitia.methods.method import Method
from comitia.methods.papers.references import LACOSTE_2014
from comitia.optimizers import Bayes, RandomSearch
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients
from comitia.selections.committees import AgnosticBayes

PAPERS = (LACOSTE_2014,)
SMBO = partial(Bayes, surrogate=partial(GaussianProcess, n_samples=0), maximiser=Gradients())

METHODS = [
    Method("smbo", SMBO, "Gaussian process, Matern 5/2, most probable length scales, EI.", spelling="SMBO"),
    Method(
        "esmbo",
        SMBO,
        "`smbo` on bootstraps of the validation rows in turn, the best model of each.",
        goal=BootstrapRisk(),
        selection=AgnosticBayes(),
        spelling="ESMBO",
    ),
    Method(
        "ers",
        RandomSearch,
        "`rs`, the best model of each bootstrap of the validation rows.",
        selection=AgnosticBayes(),
        spelling="ERS",
    ),
]
