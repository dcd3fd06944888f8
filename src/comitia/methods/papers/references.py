"""The papers whose methods are here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One paper, cited as in `Lévesque 2018, eq. 4.8`."""

    key: str
    """The name of the file with its methods."""
    citation: str
    authors: str
    title: str
    venue: str

    @property
    def reference(self) -> str:
        """The full reference."""
        return f"{self.authors}: {self.title}. {self.venue}."


LEVESQUE_2018 = Paper(
    key="levesque2018",
    citation="Lévesque 2018",
    authors="J.-C. Lévesque",
    title="Bayesian Hyperparameter Optimization: Overfitting, Ensembles and Conditional Spaces",
    venue="PhD thesis, Université Laval, 2018",
)
LEVESQUE_2017 = Paper(
    key="levesque2017",
    citation="Lévesque et al. 2017",
    authors="J.-C. Lévesque, A. Durand, C. Gagné, R. Sabourin",
    title="Bayesian Optimization for Conditional Hyperparameter Spaces",
    venue="International Joint Conference on Neural Networks (IJCNN), 2017",
)
LACOSTE_2014 = Paper(
    key="lacoste2014",
    citation="Lacoste et al. 2014",
    authors="A. Lacoste, H. Larochelle, M. Marchand, F. Laviolette",
    title="Sequential Model-Based Ensemble Optimization",
    venue="Uncertainty in Artificial Intelligence (UAI), 2014",
)
GLASMACHERS_2008 = Paper(
    key="glasmachers2008",
    citation="Glasmachers and Igel 2008",
    authors="T. Glasmachers, C. Igel",
    title="Uncertainty Handling in Model Selection for Support Vector Machines",
    venue="Parallel Problem Solving from Nature (PPSN X), 2008",
)
XAVIER_2020 = Paper(
    key="xavier2020",
    citation="Xavier-Júnior et al. 2020",
    authors="J. C. Xavier-Júnior, A. A. Freitas, T. B. Ludermir, A. Feitosa-Neto, C. A. S. Barreto",
    title="An evolutionary algorithm for automated machine learning focusing on classifier ensembles: "
    "an improved algorithm and extended results",
    venue="Theoretical Computer Science 805, pp. 1-18, 2020, doi:10.1016/j.tcs.2019.12.002",
)
