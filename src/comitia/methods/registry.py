"""The registry: one row for each named method of the papers, and comitia's own.

A method is four choices: an optimizer, a goal, flags for the resampling (the splitter itself is the user's `cv`) and a
selection. Adding one is adding a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from comitia.committees.greedy import Greedy
from comitia.committees.losses import C_BOUND, LOG_LOSS, SIGMOID, SQUARED_MARGIN, TEMPERED_BRIER
from comitia.committees.slots import SlotRules
from comitia.errors import ChoiceError, UnknownName
from comitia.evaluation.scoring import make_loss
from comitia.goals import BootstrapRisk, EnsembleLoss, MeanLoss
from comitia.gp.acquisition import augmented_improvement
from comitia.gp.kernels import Laplace
from comitia.gp.outputs import clipped
from comitia.gp.priors import SHORT
from comitia.optimizers import PBIL, Bayes, Grid, RandomSearch, Sobol
from comitia.optimizers.bayes.belief import Maximiser
from comitia.optimizers.bayes.forest import Forest
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients, LocalSearch, Perturbations, RandomCandidates
from comitia.optimizers.bayes.mondrian_process import MondrianProcess
from comitia.optimizers.cmaes.cmaes import CMAES
from comitia.optimizers.cmaes.uncertainty import UncertaintyHandling
from comitia.seams import Goal, Keep, Optimizer, Resampling, Selection
from comitia.selections.committees import AgnosticBayes, GreedyCommittee, SlotCommittee
from comitia.selections.single import (
    Argmin,
    Backwarding,
    DistributionMean,
    GlobalValidation,
    PartialValidation,
    PosteriorMean,
    SelectionSplit,
)
from comitia.space import Space


@dataclass(frozen=True)
class Method:
    """A name for four choices.

    Raises
    ------
    ChoiceError
        Where choices clash: an optimizer that works by generations with a goal that moves; a selection by generations,
        or on a selection split, without them.
    """

    name: str
    optimizer: Callable[[Space], Optimizer]
    summary: str
    goal: Goal = field(default_factory=MeanLoss)
    selection: Selection = field(default_factory=Argmin)
    is_reshuffled: bool = False
    has_selection_split: bool = False
    spelling: str = ""
    """The paper's own spelling."""
    paper: str = "comitia"

    def __post_init__(self) -> None:
        if self.goal.moves and getattr(_unwrapped(self.optimizer), "needs_generations", False):
            raise ChoiceError(
                f"The method {self.name!r} must not combine an optimizer that works by generations with a goal whose "
                f"values move: got {_name(self.optimizer)} with {_name(self.goal)}. Use a model-based or random "
                "optimizer, or the goal MeanLoss."
            )
        needs_generations = getattr(self.selection, "needs_generations", False)
        if needs_generations and getattr(_unwrapped(self.optimizer), "needs_generations", None) is False:
            raise ChoiceError(
                f"The method {self.name!r} must have an optimizer that works by generations, because "
                f"{_name(self.selection)} chooses among them. Got {_name(self.optimizer)}. Use CMA-ES, or the "
                "selection SelectionSplit."
            )
        if getattr(self.selection, "needs_selection_split", False) and not self.has_selection_split:
            raise ChoiceError(
                f"The method {self.name!r} must set rows aside, because {_name(self.selection)} chooses by them. Got "
                "has_selection_split=False. Set it to True, or use the selection Argmin."
            )

    @property
    def compares_rows(self) -> bool:
        """Whether it compares trials row by row, so that predictions must be kept."""
        return self.goal.compares_rows or self.selection.compares_rows

    def check_resampling(self, resampling: Resampling) -> None:
        """Refuse a resampling under which the method's trials cannot be compared."""
        compares = [choice for choice in (self.goal, self.selection) if choice.compares_rows]
        if compares and resampling.is_reshuffled and not resampling.judges_every_row:
            raise ChoiceError(
                f"The method {self.name!r} must judge all trials on the same rows, because {_name(compares[0])} "
                f"compares them row by row. Got {resampling}, which judges each trial on other rows. Use k-fold "
                "(cv=5), reshuffled or not, or a hold-out that is not reshuffled."
            )

    def check_selection_split(self, fraction: float | None) -> None:
        """Refuse an evaluator that sets no rows aside where the method chooses by them."""
        if self.has_selection_split and fraction is None:
            raise ChoiceError(
                f"The method {self.name!r} must have rows set aside for its final selection. Got an evaluator that "
                "sets none aside. Use TableEvaluator(..., selection_split=0.2), or for a function a method without "
                "'-sel', '-pv', '-bw' or '-gv'."
            )


def kept_by(method: Method, loss: Any) -> Keep:
    """Tell what must be kept of the models' answers for a method to work."""
    if not method.compares_rows:
        return "nothing"
    wants = any(getattr(choice, "wants_probabilities", False) for choice in (method.goal, method.selection))
    return "probabilities" if wants or make_loss(loss).needs_probabilities else "predictions"


def _unwrapped(choice: object) -> object:
    """Return what a partial function is of."""
    while isinstance(choice, partial):
        choice = choice.func
    return choice


def _name(choice: object) -> str:
    choice = _unwrapped(choice)
    return choice.__name__ if isinstance(choice, type) else type(choice).__name__


def gaussian_process(maximiser: Maximiser, **options: Any) -> partial[Bayes]:
    """Return an optimizer with a Gaussian process of these options; see `GaussianProcess`."""
    return partial(Bayes, surrogate=partial(GaussianProcess, **options), maximiser=maximiser)


SLICES = gaussian_process(Gradients())
MATERN_LS = gaussian_process(LocalSearch())
MAP = gaussian_process(Gradients(), n_samples=0)
BAYES = gaussian_process(
    Perturbations(),
    view="branches",
    has_offsets=True,
    n_samples=5,
    n_sweeps=0,
    priors=SHORT,
    outputs=clipped,
    acquisition=augmented_improvement,
)
"""Each choice measured on `benchmarks/studies/synthetic.py`; docs/bayesian-optimisation.md has the numbers."""

EO_SQM, EO_C, EO_SIG = (SlotRules(loss) for loss in (SQUARED_MARGIN, C_BOUND, SIGMOID))
POST = GreedyCommittee(Greedy(n_warm=3))
FEW = Greedy(most_members=8)
TEMPERED, UNTEMPERED = (
    EnsembleLoss(SlotRules(loss, loss, with_replacement=True)) for loss in (TEMPERED_BRIER, LOG_LOSS)
)
CALIBRATED = GreedyCommittee(FEW, loss=TEMPERED_BRIER)
PBIL_BINS = 256
"""P has a component for each value of an integer, 255 at most; reals of `ensembles` say how many they have there."""

CMA = partial(CMAES, population=6)
CMA_R = partial(CMA, asks_again=True)


def evolved(name: str, summary: str, spelling: str, *, is_reshuffled: bool = True, **options: Any) -> Method:
    """Return a row of U: CMA-ES in natural logarithms with a step of 1, which hands over the distribution's mean."""
    optimizer = partial(CMAES, log_step=1.0, restarts=False, asks_again=is_reshuffled, **options)
    selection = DistributionMean(optimizer)
    return Method(
        name, optimizer, summary, selection=selection, is_reshuffled=is_reshuffled, spelling=spelling, paper="U"
    )


def slotted(name: str, rules: SlotRules, summary: str, spelling: str, selection: Selection | None = None) -> Method:
    """Return a row of ensemble optimisation (T Alg. 4.1), which hands over its own committee if no other is named."""
    selection = SlotCommittee(rules) if selection is None else selection
    goal = EnsembleLoss(rules)
    # theta is sampled anew given the values of now, as T asks for; but where chains start is tuned on values of the
    # past: tuning for each suggestion would cost more than all the rest of it
    optimizer = partial(MATERN_LS, remembers=goal)
    return Method(name, optimizer, summary, goal=goal, selection=selection, spelling=spelling, paper="T4")


METHODS: dict[str, Method] = {
    method.name: method
    for method in [
        Method("rs", RandomSearch, "Random search: uniform draws, return the best.", spelling="RS", paper="T3 C L"),
        Method("rs-best", RandomSearch, "The same, as chapter 4 calls it.", spelling="RS-best", paper="T4"),
        Method("grid", Grid, "A grid of 10 values for each number, return the best.", spelling="grid", paper="T3"),
        Method("sobol", Sobol, "Sobol points that cover the space evenly, return the best."),
        Method("gp", SLICES, "Gaussian process, Matern 5/2, slice sampling, EI, L-BFGS.", spelling="gp", paper="T3"),
        Method("gp-r", SLICES, "The same, splits reshuffled every trial.", is_reshuffled=True, paper="T3"),
        Method("gp-pm", SLICES, "`gp`, return the least posterior mean.", selection=PosteriorMean(), paper="T3"),
        Method(
            "gp-pm-r",
            SLICES,
            "`gp-r`, return the least posterior mean.",
            selection=PosteriorMean(),
            is_reshuffled=True,
            paper="T3",
        ),
        Method(
            "gp-sel",
            SLICES,
            "`gp`, return the best on rows set aside for that.",
            selection=SelectionSplit(),
            has_selection_split=True,
            paper="T3",
        ),
        Method(
            "gp-sel-r",
            SLICES,
            "`gp-r`, return the best on rows set aside for that, which stay the same.",
            selection=SelectionSplit(),
            is_reshuffled=True,
            has_selection_split=True,
            paper="T3",
        ),
        Method(
            "spearmint",
            gaussian_process(Gradients(is_relaxed=True), view="relaxed"),
            "The same, every hyperparameter relaxed to a real, conditions ignored.",
            spelling="Spearmint",
            paper="C T5",
        ),
        Method(
            "gp-matern-noimpute",
            gaussian_process(RandomCandidates(), view="sampled"),
            "Gaussian process, inactive hyperparameters as sampled, 1,000 random candidates.",
            spelling="GP-matern-noimpute",
            paper="C T5",
        ),
        Method(
            "gp-matern",
            gaussian_process(RandomCandidates()),
            "Gaussian process, inactive hyperparameters imputed, 1,000 random candidates.",
            spelling="GP-matern",
            paper="C T5",
        ),
        Method("gp-matern-ls", MATERN_LS, "The same with local search.", spelling="GP-matern-ls", paper="C T5"),
        Method(
            "gp-cond",
            gaussian_process(RandomCandidates(), view="branches"),
            "Gaussian process with the conditional kernel, 1,000 random candidates.",
            spelling="GP-cond",
            paper="C T5",
        ),
        Method(
            "gp-cond-ls",
            gaussian_process(LocalSearch(), view="branches"),
            "The same with local search.",
            spelling="GP-cond-ls",
            paper="C T5",
        ),
        Method(
            "gp-laplace",
            gaussian_process(RandomCandidates(), kernel=Laplace),
            "Gaussian process with the Laplace kernel, 1,000 random candidates.",
            spelling="GP-laplace",
            paper="C T5",
        ),
        Method(
            "gp-laplace-ls",
            gaussian_process(LocalSearch(), kernel=Laplace),
            "The same with local search.",
            spelling="GP-laplace-ls",
            paper="C T5",
        ),
        Method(
            "gp-mondrian-ls",
            partial(Bayes, surrogate=MondrianProcess, maximiser=LocalSearch()),
            "Gaussian process with the Mondrian kernel and local search.",
            spelling="GP-mondrian-ls",
            paper="C T5",
        ),
        Method(
            "smac-rf",
            partial(Bayes, surrogate=Forest, maximiser=LocalSearch(n_kept=())),
            "Random forest, EI and local search, as SMAC.",
            spelling="SMAC",
            paper="C T5 P",
        ),
        Method("cma", CMA, "CMA-ES, 3 parents and 6 offspring, return the best.", spelling="cma", paper="T3"),
        Method("cma-r", CMA_R, "The same, splits reshuffled every trial.", is_reshuffled=True, paper="T3"),
        *(
            Method(
                f"cma-{short}{suffix}",
                optimizer,
                f"`cma{suffix}`, {what} on rows set aside.",
                selection=selection,
                is_reshuffled=suffix == "-r",
                has_selection_split=True,
                paper="T3",
            )
            for short, selection, what in (
                ("pv", PartialValidation(), "return the last generation's best"),
                ("bw", Backwarding(), "of each generation's best return the best"),
                ("gv", GlobalValidation(), "return the best of all generations"),
            )
            for suffix, optimizer in (("", CMA), ("-r", CMA_R))
        ),
        Method(
            "cash-cma",
            CMAES,
            "CMA-ES, 4 + 3 ln d offspring, every hyperparameter relaxed, return the best.",
            spelling="CMA",
            paper="C T5",
        ),
        evolved("cma-1x", "CMA-ES on one fresh subset a value, return the distribution's mean.", "CMA-1x"),
        evolved("cma-5x", "The same on five fresh subsets a value.", "CMA-5x", averages=5),
        evolved("cma-cv", "The same on fixed folds.", "CMA-CV", is_reshuffled=False),
        evolved(
            "uh-cma",
            "The same on as many fresh subsets a value as noise demands.",
            "UH-CMA",
            uncertainty=UncertaintyHandling(),
        ),
        Method("bo-best", MATERN_LS, "`gp-matern-ls`, as chapter 4 calls it.", spelling="BO-best", paper="T4"),
        Method("bo-post", MATERN_LS, "`bo-best`, a greedy committee of its trials.", selection=POST, paper="T4"),
        Method("rs-post", RandomSearch, "`rs`, a greedy committee of its trials.", selection=POST, paper="T4"),
        slotted("eo-sqm", EO_SQM, "What each trial would add to a committee of 12; squared margin.", "EO-sqm"),
        slotted("eo-c", EO_C, "The same with the C-bound.", "EO-C"),
        slotted("eo-sig", EO_SIG, "The same with the sigmoid loss.", "EO-sig"),
        slotted("eo-post", EO_SQM, "`eo-sqm`, a greedy committee of its trials.", "EO-post", POST),
        Method("bayes", BAYES, "Gaussian process that knows branches, with an offset for each; comitia's own."),
        Method(
            "bayes-per-second",
            partial(BAYES, clock=partial(GaussianProcess, view="branches", n_samples=0)),
            "The same by expected improvement per second.",
        ),
        Method("bayes-post", BAYES, "`bayes`, a committee as `committee` chooses it.", selection=CALIBRATED),
        Method(
            "committee",
            partial(BAYES, remembers=TEMPERED),
            "Ensemble optimisation on the Brier score of tempered models, at most 8 of them; comitia's own default.",
            goal=TEMPERED,
            selection=CALIBRATED,
        ),
        Method(
            "committee-log",
            partial(BAYES, remembers=UNTEMPERED),
            "`committee` on the log loss of models as they are.",
            goal=UNTEMPERED,
            selection=GreedyCommittee(FEW, loss=LOG_LOSS),
        ),
        Method(
            "smbo",
            MAP,
            "Gaussian process, Matern 5/2, most probable length scales, EI.",
            spelling="SMBO",
            paper="L",
        ),
        Method(
            "esmbo",
            MAP,
            "`smbo` on bootstraps of the validation rows in turn, the best model of each.",
            goal=BootstrapRisk(),
            selection=AgnosticBayes(),
            spelling="ESMBO",
            paper="L",
        ),
        Method(
            "ers",
            RandomSearch,
            "`rs`, the best model of each bootstrap of the validation rows.",
            selection=AgnosticBayes(),
            spelling="ERS",
            paper="L",
        ),
        Method(
            "pbil-v1",
            partial(PBIL, bins=PBIL_BINS, flat=True),
            "Probability vectors by generations; ensembles and single learners compete at one level.",
            spelling="PBIL-Auto-Ens-v1",
            paper="P",
        ),
        Method(
            "pbil-v2",
            partial(PBIL, bins=PBIL_BINS),
            "The same, single learners at a level of their own.",
            spelling="PBIL-Auto-Ens-v2",
            paper="P",
        ),
        Method(
            "pbil-floor",
            partial(PBIL, population=20, most=16, floor=0.1),
            "`pbil-v2` for few trials: generations of 20, coarser cells, a floor on probabilities.",
        ),
    ]
}


def get_method(method: str | Method) -> Method:
    """Look a method up by name, without regard to case; one that is a method already is returned as it is."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str) or method.lower() not in METHODS:
        raise UnknownName("method", method, METHODS)
    return METHODS[method.lower()]
