"""Overfitting of the validation split (chapter 3) and ensemble optimisation (chapter 4) of Lévesque 2018.

The methods of its chapter 5 are those of Lévesque et al. 2017.
"""

from __future__ import annotations

from functools import partial

from comitia.committees.greedy import Greedy
from comitia.committees.losses import C_BOUND, SIGMOID, SQUARED_MARGIN
from comitia.committees.slots import SlotRules
from comitia.goals import EnsembleLoss
from comitia.methods.method import Method
from comitia.methods.papers.levesque2017 import GP_WITH_LOCAL_SEARCH
from comitia.methods.papers.references import LACOSTE_2014, LEVESQUE_2017, LEVESQUE_2018
from comitia.optimizers import CMAES, Bayes, Grid, RandomSearch
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients
from comitia.seams import Selection
from comitia.selections.committees import GreedyCommittee, SlotCommittee
from comitia.selections.set_aside import Backwarding, GlobalValidation, PartialValidation, SelectionSplit
from comitia.selections.single import PosteriorMean

PAPERS = (LEVESQUE_2018,)
GP_WITH_GRADIENTS = partial(Bayes, surrogate=GaussianProcess, maximiser=Gradients())
CMA_OF_SIX = partial(CMAES, population=6)
CMA_THAT_ASKS_AGAIN = partial(CMA_OF_SIX, asks_again=True)
GREEDY_FROM_THREE = GreedyCommittee(Greedy(n_warm=3))
SLOTS_BY_SQUARED_MARGIN = SlotRules(SQUARED_MARGIN)


def ensemble_optimisation(
    name: str, summary: str, rules: SlotRules, *, spelling: str = "", selection: Selection | None = None
) -> Method:
    """Return a method of ensemble optimisation (Alg. 4.1), which hands over its own slots or another selection.

    Theta is sampled for each suggestion given the current values, as in the thesis; but where its chains start is tuned
    on earlier values: tuning for each suggestion would cost more than all the rest of it.
    """
    return Method(
        name,
        GP_WITH_LOCAL_SEARCH,
        summary,
        goal=EnsembleLoss(rules),
        selection=SlotCommittee(rules) if selection is None else selection,
        spelling=spelling,
    )


def cma_with_rows_set_aside(short: str, what: str, selection: Selection, *, is_reshuffled: bool) -> Method:
    """Return CMA-ES with a final selection of §3.2.2."""
    suffix = "-r" if is_reshuffled else ""
    return Method(
        f"cma-{short}{suffix}",
        CMA_THAT_ASKS_AGAIN if is_reshuffled else CMA_OF_SIX,
        f"`cma{suffix}`, {what} on rows set aside.",
        selection=selection,
        is_reshuffled=is_reshuffled,
        has_selection_split=True,
    )


OVERFITTING = [
    Method(
        "rs",
        RandomSearch,
        "Random search: uniform draws, return the best.",
        spelling="RS",
        papers=(LEVESQUE_2018, LEVESQUE_2017, LACOSTE_2014),
        aliases=("RS-best",),
    ),
    Method("grid", Grid, "A grid of 10 values for each number, return the best.", spelling="grid"),
    Method("gp", GP_WITH_GRADIENTS, "Gaussian process, Matern 5/2, slice sampling, EI, L-BFGS.", spelling="gp"),
    Method("gp-r", GP_WITH_GRADIENTS, "`gp`, splits reshuffled every trial.", is_reshuffled=True),
    Method("gp-pm", GP_WITH_GRADIENTS, "`gp`, return the least posterior mean.", selection=PosteriorMean()),
    Method(
        "gp-pm-r",
        GP_WITH_GRADIENTS,
        "`gp-r`, return the least posterior mean.",
        selection=PosteriorMean(),
        is_reshuffled=True,
    ),
    Method(
        "gp-sel",
        GP_WITH_GRADIENTS,
        "`gp`, return the best on rows set aside for that.",
        selection=SelectionSplit(),
        has_selection_split=True,
    ),
    Method(
        "gp-sel-r",
        GP_WITH_GRADIENTS,
        "`gp-r`, return the best on rows set aside for that, which stay the same.",
        selection=SelectionSplit(),
        is_reshuffled=True,
        has_selection_split=True,
    ),
    Method("cma", CMA_OF_SIX, "CMA-ES, 3 parents and 6 offspring, return the best.", spelling="cma"),
    Method("cma-r", CMA_THAT_ASKS_AGAIN, "`cma`, splits reshuffled every trial.", is_reshuffled=True),
    *(
        cma_with_rows_set_aside(short, what, selection, is_reshuffled=is_reshuffled)
        for short, what, selection in (
            ("pv", "return the last generation's best", PartialValidation()),
            ("bw", "of each generation's best return the best", Backwarding()),
            ("gv", "return the best of all generations", GlobalValidation()),
        )
        for is_reshuffled in (False, True)
    ),
]
ENSEMBLES = [
    Method(
        "bo-post", GP_WITH_LOCAL_SEARCH, "`bo-best`, a greedy committee of its trials.", selection=GREEDY_FROM_THREE
    ),
    Method("rs-post", RandomSearch, "`rs`, a greedy committee of its trials.", selection=GREEDY_FROM_THREE),
    ensemble_optimisation(
        "eo-sqm",
        "What each trial would add to a committee of 12; squared margin.",
        SLOTS_BY_SQUARED_MARGIN,
        spelling="EO-sqm",
    ),
    ensemble_optimisation("eo-c", "`eo-sqm` with the C-bound.", SlotRules(C_BOUND), spelling="EO-C"),
    ensemble_optimisation("eo-sig", "`eo-sqm` with the sigmoid loss.", SlotRules(SIGMOID), spelling="EO-sig"),
    ensemble_optimisation(
        "eo-post",
        "`eo-sqm`, a greedy committee of its trials.",
        SLOTS_BY_SQUARED_MARGIN,
        spelling="EO-post",
        selection=GREEDY_FROM_THREE,
    ),
]
METHODS = [*OVERFITTING, *ENSEMBLES]
