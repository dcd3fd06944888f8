"""Gaussian processes for conditional spaces (Lévesque et al. 2017; Lévesque 2018, chapter 5)."""

from collections.abc import Callable
from functools import partial

from comitia.gp.kernels import Laplace
from comitia.methods.method import Method
from comitia.methods.papers.references import LEVESQUE_2017, LEVESQUE_2018, XAVIER_2020
from comitia.optimizers import CMAES, Bayes
from comitia.optimizers.bayes.forest import Forest
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients, LocalSearch, RandomCandidates, RandomNeighbours
from comitia.optimizers.bayes.mondrian_process import MondrianProcess
from comitia.seams import Maximiser, Surrogate
from comitia.space import Space

PAPERS = (LEVESQUE_2017, LEVESQUE_2018)
CANDIDATES, LOCAL_SEARCH = RandomCandidates(), LocalSearch()
GP_WITH_LOCAL_SEARCH = partial(Bayes, surrogate=GaussianProcess, maximiser=LOCAL_SEARCH)
GP_ON_BRANCHES = partial(GaussianProcess, view="branches")
LAPLACE_GP = partial(GaussianProcess, kernel=Laplace)


def bayes(spelling: str, summary: str, surrogate: Callable[[Space], Surrogate], maximiser: Maximiser) -> Method:
    """Return Bayesian optimisation with a surrogate; its name is the paper's spelling in lower case."""
    optimizer = partial(Bayes, surrogate=surrogate, maximiser=maximiser)
    return Method(spelling.lower(), optimizer, summary, spelling=spelling)


METHODS = [
    bayes(
        "Spearmint",
        "Gaussian process, every hyperparameter relaxed to a real, conditions ignored.",
        partial(GaussianProcess, view="relaxed"),
        Gradients(is_relaxed=True),
    ),
    bayes(
        "GP-matern-noimpute",
        "Gaussian process, inactive hyperparameters as sampled, 1,000 random candidates.",
        partial(GaussianProcess, view="sampled"),
        CANDIDATES,
    ),
    bayes(
        "GP-matern",
        "Gaussian process, inactive hyperparameters imputed, 1,000 random candidates.",
        GaussianProcess,
        CANDIDATES,
    ),
    Method(
        "gp-matern-ls",
        GP_WITH_LOCAL_SEARCH,
        "`gp-matern` with local search.",
        spelling="GP-matern-ls",
        aliases=("BO-best",),
    ),
    bayes(
        "GP-cond", "Gaussian process with the conditional kernel, 1,000 random candidates.", GP_ON_BRANCHES, CANDIDATES
    ),
    bayes("GP-cond-ls", "`gp-cond` with local search.", GP_ON_BRANCHES, LOCAL_SEARCH),
    bayes("GP-laplace", "Gaussian process with the Laplace kernel, 1,000 random candidates.", LAPLACE_GP, CANDIDATES),
    bayes("GP-laplace-ls", "`gp-laplace` with local search.", LAPLACE_GP, LOCAL_SEARCH),
    bayes(
        "GP-mondrian-ls", "Gaussian process with the Mondrian kernel and local search.", MondrianProcess, LOCAL_SEARCH
    ),
    Method(
        "smac-rf",
        partial(Bayes, surrogate=Forest, maximiser=RandomNeighbours(), random_every=2),
        "Random forest, EI and local search, every second configuration at random, as SMAC.",
        spelling="SMAC",
        papers=(*PAPERS, XAVIER_2020),
    ),
    Method(
        "cash-cma",
        CMAES,
        "CMA-ES, 4 + 3 ln d offspring, every hyperparameter relaxed, return the best.",
        spelling="CMA",
    ),
]
