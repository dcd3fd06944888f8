"""The papers whose methods are here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One paper, with its short citation and its full reference."""

    citation: str
    reference: str


LEVESQUE_2018 = Paper(
    "Lévesque 2018",
    "J.-C. Lévesque: Bayesian Hyperparameter Optimization: Overfitting, Ensembles and Conditional Spaces. "
    "PhD thesis, Université Laval, 2018.",
)
LEVESQUE_2017 = Paper(
    "Lévesque et al. 2017",
    "J.-C. Lévesque, A. Durand, C. Gagné, R. Sabourin: Bayesian Optimization for Conditional Hyperparameter Spaces. "
    "International Joint Conference on Neural Networks (IJCNN), 2017.",
)
LACOSTE_2014 = Paper(
    "Lacoste et al. 2014",
    "A. Lacoste, H. Larochelle, M. Marchand, F. Laviolette: Sequential Model-Based Ensemble Optimization. "
    "Uncertainty in Artificial Intelligence (UAI), 2014.",
)
GLASMACHERS_2008 = Paper(
    "Glasmachers and Igel 2008",
    "T. Glasmachers, C. Igel: Uncertainty Handling in Model Selection for Support Vector Machines. "
    "Parallel Problem Solving from Nature (PPSN X), 2008.",
)
XAVIER_2020 = Paper(
    "Xavier-Júnior et al. 2020",
    "J. C. Xavier-Júnior, A. A. Freitas, T. B. Ludermir, A. Feitosa-Neto, C. A. S. Barreto: An evolutionary algorithm "
    "for automated machine learning focusing on classifier ensembles: an improved algorithm and extended results. "
    "Theoretical Computer Science 805, pp. 1-18, 2020, doi:10.1016/j.tcs.2019.12.002.",
)
