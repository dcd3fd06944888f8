"""CMA-ES for support vector machines, with and without uncertainty handling (Glasmachers and Igel 2008)."""

from __future__ import annotations

from functools import partial

from comitia.methods.method import Method
from comitia.methods.papers.references import GLASMACHERS_2008
from comitia.optimizers import CMAES
from comitia.optimizers.cmaes.uncertainty import UncertaintyHandling
from comitia.selections.single import DistributionMean

PAPERS = (GLASMACHERS_2008,)


def evolved(
    name: str,
    summary: str,
    spelling: str,
    *,
    is_reshuffled: bool = True,
    averages: int = 1,
    uncertainty: UncertaintyHandling | None = None,
) -> Method:
    """Return CMA-ES in natural logarithms with a step of 1, which hands over the distribution's mean."""
    return Method(
        name,
        partial(
            CMAES, log_step=1.0, restarts=False, asks_again=is_reshuffled, averages=averages, uncertainty=uncertainty
        ),
        summary,
        selection=DistributionMean(),
        is_reshuffled=is_reshuffled,
        spelling=spelling,
    )


METHODS = [
    evolved("cma-1x", "CMA-ES on one fresh subset per value, return the distribution's mean.", "CMA-1x"),
    evolved("cma-5x", "`cma-1x` on five fresh subsets per value.", "CMA-5x", averages=5),
    evolved("cma-cv", "`cma-1x` on fixed folds.", "CMA-CV", is_reshuffled=False),
    evolved(
        "uh-cma",
        "`cma-1x` on as many fresh subsets per value as noise demands.",
        "UH-CMA",
        uncertainty=UncertaintyHandling(),
    ),
]
