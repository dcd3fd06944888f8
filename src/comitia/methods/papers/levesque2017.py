"""Gaussian processes for conditional spaces (Lévesque et al. 2017; Lévesque 2018, chapter 5)."""

from __future__ import annotations

from functools import partial

from comitia.gp.kernels import Laplace
from comitia.methods.method import Method
from comitia.methods.papers.references import LEVESQUE_2017, LEVESQUE_2018, XAVIER_2020
from comitia.optimizers import CMAES, Bayes
from comitia.optimizers.bayes.forest import Forest
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients, LocalSearch, RandomCandidates
from comitia.optimizers.bayes.mondrian_process import MondrianProcess

PAPERS = (LEVESQUE_2017, LEVESQUE_2018)
GP_WITH_LOCAL_SEARCH = partial(Bayes, surrogate=GaussianProcess, maximiser=LocalSearch())

METHODS = [
    Method(
        "spearmint",
        partial(Bayes, surrogate=partial(GaussianProcess, view="relaxed"), maximiser=Gradients(is_relaxed=True)),
        "Gaussian process, every hyperparameter relaxed to a real, conditions ignored.",
        spelling="Spearmint",
    ),
    Method(
        "gp-matern-noimpute",
        partial(Bayes, surrogate=partial(GaussianProcess, view="sampled"), maximiser=RandomCandidates()),
        "Gaussian process, inactive hyperparameters as sampled, 1,000 random candidates.",
        spelling="GP-matern-noimpute",
    ),
    Method(
        "gp-matern",
        partial(Bayes, surrogate=GaussianProcess, maximiser=RandomCandidates()),
        "Gaussian process, inactive hyperparameters imputed, 1,000 random candidates.",
        spelling="GP-matern",
    ),
    Method(
        "gp-matern-ls",
        GP_WITH_LOCAL_SEARCH,
        "`gp-matern` with local search.",
        spelling="GP-matern-ls",
        aliases=("BO-best",),
    ),
    Method(
        "gp-cond",
        partial(Bayes, surrogate=partial(GaussianProcess, view="branches"), maximiser=RandomCandidates()),
        "Gaussian process with the conditional kernel, 1,000 random candidates.",
        spelling="GP-cond",
    ),
    Method(
        "gp-cond-ls",
        partial(Bayes, surrogate=partial(GaussianProcess, view="branches"), maximiser=LocalSearch()),
        "`gp-cond` with local search.",
        spelling="GP-cond-ls",
    ),
    Method(
        "gp-laplace",
        partial(Bayes, surrogate=partial(GaussianProcess, kernel=Laplace), maximiser=RandomCandidates()),
        "Gaussian process with the Laplace kernel, 1,000 random candidates.",
        spelling="GP-laplace",
    ),
    Method(
        "gp-laplace-ls",
        partial(Bayes, surrogate=partial(GaussianProcess, kernel=Laplace), maximiser=LocalSearch()),
        "`gp-laplace` with local search.",
        spelling="GP-laplace-ls",
    ),
    Method(
        "gp-mondrian-ls",
        partial(Bayes, surrogate=MondrianProcess, maximiser=LocalSearch()),
        "Gaussian process with the Mondrian kernel and local search.",
        spelling="GP-mondrian-ls",
    ),
    Method(
        "smac-rf",
        partial(Bayes, surrogate=Forest, maximiser=LocalSearch(n_kept=())),
        "Random forest, EI and local search, as SMAC.",
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
