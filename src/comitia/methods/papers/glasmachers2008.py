"""CMA-ES for support vector machines, with and without uncertainty handling (Glasmachers and Igel 2008)."""

from functools import partial

from comitia.methods.method import Method
from comitia.methods.papers.references import GLASMACHERS_2008
from comitia.optimizers import CMAES
from comitia.optimizers.cmaes.uncertainty import UncertaintyHandling
from comitia.selections.single import DistributionMean

PAPERS = (GLASMACHERS_2008,)
EVOLUTION = partial(CMAES, log_step=1.0, restarts=False, asks_again=True, averages=1, uncertainty=None)
"""In natural logarithms, with a step of 1."""


def evolved(spelling: str, summary: str, optimizer: partial[CMAES], *, is_reshuffled: bool = True) -> Method:
    """Return an evolution that hands over the distribution's mean; its name is the spelling in lower case."""
    return Method(
        spelling.lower(),
        optimizer,
        summary,
        selection=DistributionMean(),
        is_reshuffled=is_reshuffled,
        spelling=spelling,
    )


METHODS = [
    evolved("CMA-1x", "CMA-ES on one fresh subset per value, return the distribution's mean.", EVOLUTION),
    evolved("CMA-5x", "`cma-1x` on five fresh subsets per value.", partial(EVOLUTION, averages=5)),
    evolved("CMA-CV", "`cma-1x` on fixed folds.", partial(EVOLUTION, asks_again=False), is_reshuffled=False),
    evolved(
        "UH-CMA",
        "`cma-1x` on as many fresh subsets per value as noise demands.",
        partial(EVOLUTION, uncertainty=UncertaintyHandling()),
    ),
]
