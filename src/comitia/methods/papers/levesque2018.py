"""Overfitting of the validation split (chapter 3) and ensemble optimisation (chapter 4) of Lévesque 2018.

The methods of its chapter 5 are those of Lévesque et al. 2017.
"""

from collections.abc import Callable
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
from comitia.seams import Optimizer, Selection
from comitia.selections.committees import GreedyCommittee, SlotCommittee
from comitia.selections.set_aside import Backwarding, GlobalValidation, PartialValidation, SelectionSplit
from comitia.selections.single import PosteriorMean
from comitia.space import Space

PAPERS = (LEVESQUE_2018,)
GP = partial(Bayes, surrogate=GaussianProcess, maximiser=Gradients())
CMA = partial(CMAES, population=6)
CMA_THAT_ASKS_AGAIN = partial(CMA, asks_again=True)
SEARCHES: dict[str, Callable[[Space], Optimizer]] = {"gp": GP, "gp-r": GP, "cma": CMA, "cma-r": CMA_THAT_ASKS_AGAIN}
GREEDY_FROM_THREE = GreedyCommittee(Greedy(n_warm=3))
SQUARED_MARGINS = SlotRules(SQUARED_MARGIN)


def selecting(name: str, what: str, selection: Selection) -> Method:
    """Return one of `SEARCHES` with another final selection (§3.2.2, §3.4); "-r" in its name reshuffles splits."""
    is_reshuffled = name.endswith("-r")
    search = name.split("-")[0] + ("-r" if is_reshuffled else "")
    return Method(
        name,
        SEARCHES[search],
        f"`{search}`, {what}.",
        selection=selection,
        is_reshuffled=is_reshuffled,
        has_selection_split=selection.needs.selection_split,
    )


def ensemble_optimisation(spelling: str, summary: str, rules: SlotRules, selection: Selection | None = None) -> Method:
    """Return a method of ensemble optimisation (Alg. 4.1), which hands over its own slots or another selection.

    Theta is sampled for each suggestion given the current values, as in the thesis; but where its chains start is tuned
    on earlier values: tuning for each suggestion would cost more than all the rest of it.
    """
    return Method(
        spelling.lower(),
        GP_WITH_LOCAL_SEARCH,
        summary,
        goal=EnsembleLoss(rules),
        selection=SlotCommittee(rules) if selection is None else selection,
        spelling=spelling,
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
    Method("gp", GP, "Gaussian process, Matern 5/2, slice sampling, EI, L-BFGS.", spelling="gp"),
    Method("gp-r", GP, "`gp`, splits reshuffled every trial.", is_reshuffled=True),
    selecting("gp-pm", "return the least posterior mean", PosteriorMean()),
    selecting("gp-pm-r", "return the least posterior mean", PosteriorMean()),
    selecting("gp-sel", "return the best on rows set aside for that", SelectionSplit()),
    selecting("gp-sel-r", "return the best on rows set aside for that, which stay the same", SelectionSplit()),
    Method("cma", CMA, "CMA-ES, 3 parents and 6 offspring, return the best.", spelling="cma"),
    Method("cma-r", CMA_THAT_ASKS_AGAIN, "`cma`, splits reshuffled every trial.", is_reshuffled=True),
    *(
        selecting(name + suffix, f"{what} on rows set aside", selection)
        for name, what, selection in (
            ("cma-pv", "return the last generation's best", PartialValidation()),
            ("cma-bw", "of each generation's best return the best", Backwarding()),
            ("cma-gv", "return the best of all generations", GlobalValidation()),
        )
        for suffix in ("", "-r")
    ),
]
ENSEMBLES = [
    Method(
        "bo-post", GP_WITH_LOCAL_SEARCH, "`bo-best`, a greedy committee of its trials.", selection=GREEDY_FROM_THREE
    ),
    Method("rs-post", RandomSearch, "`rs`, a greedy committee of its trials.", selection=GREEDY_FROM_THREE),
    ensemble_optimisation("EO-sqm", "What each trial would add to a committee of 12; squared margin.", SQUARED_MARGINS),
    ensemble_optimisation("EO-C", "`eo-sqm` with the C-bound.", SlotRules(C_BOUND)),
    ensemble_optimisation("EO-sig", "`eo-sqm` with the sigmoid loss.", SlotRules(SIGMOID)),
    ensemble_optimisation(
        "EO-post", "`eo-sqm`, a greedy committee of its trials.", SQUARED_MARGINS, selection=GREEDY_FROM_THREE
    ),
]
METHODS = [*OVERFITTING, *ENSEMBLES]
