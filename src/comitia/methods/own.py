"""comitia's own methods."""

from dataclasses import replace
from functools import partial

from comitia.committees.greedy import Greedy
from comitia.committees.lazy_folds import LazyFolds
from comitia.committees.losses import ABSOLUTE_ERROR, LOG_LOSS, TEMPERED_BRIER
from comitia.committees.slots import SlotRules
from comitia.goals import CorrectedLoss, EnsembleLoss
from comitia.gp.acquisition import augmented_improvement
from comitia.gp.outputs import clipped
from comitia.gp.priors import SHORT
from comitia.learners.default import first_trials
from comitia.methods.method import Method
from comitia.optimizers import PBIL, Bayes, Sobol
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Perturbations
from comitia.optimizers.known_first import KnownFirst
from comitia.selections.committees import GreedyCommittee
from comitia.selections.single import Argmin, PosteriorMean

BAYES = partial(
    Bayes,
    surrogate=partial(
        GaussianProcess,
        view="branches",
        has_offsets=True,
        n_samples=5,
        n_sweeps=0,
        priors=SHORT,
        outputs=clipped,
        acquisition=augmented_improvement,
    ),
    maximiser=Perturbations(),
    share=0.05,  # the augmented improvement spreads suggestions by itself
)
"""Each choice measured on `benchmarks/studies/synthetic.py`; docs/lab/searches.md has the numbers."""

PER_SECOND = partial(BAYES, clock=partial(GaussianProcess, view="branches", n_samples=0))
COOLED = partial(PER_SECOND, cooling_seconds=60.0)
"""Within a minute, unless the option `seconds` says otherwise; the Auto classes set it."""

EXPECTED = PosteriorMean(
    among_trials=True,
    surrogate=partial(GaussianProcess, view="branches", has_offsets=True, n_samples=0, priors=SHORT, outputs=clipped),
)
"""The trial of which a model of all trials expects most."""

AT_MOST_EIGHT = Greedy(most_members=8)
TEMPERED_COMMITTEE = GreedyCommittee(AT_MOST_EIGHT, loss=TEMPERED_BRIER)

COMMITTEE = Method(
    "committee",
    BAYES,
    "Ensemble optimisation on the Brier score of tempered models, at most 8 of them; the default for tables.",
    goal=EnsembleLoss(SlotRules(TEMPERED_BRIER, TEMPERED_BRIER, with_replacement=True)),
    selection=TEMPERED_COMMITTEE,
)
"""For numbers it is the squared error; for metrics of absolute errors the Auto classes use `AUTO_ABSOLUTE`."""
FIRST_SHARE = 1 / 3
"""Of the default configuration where a committee is not better than it beyond noise: a search ends worse than it
began about half as often, for a little less gain in the mean (docs/lab/estimates.md)."""
AUTO_COMMITTEE = replace(COMMITTEE, selection=replace(TEMPERED_COMMITTEE, first_share=FIRST_SHARE))
"""`committee` under its own name, for searches whose first trial is a default."""
AUTO_ABSOLUTE = replace(
    COMMITTEE,
    goal=EnsembleLoss(SlotRules(ABSOLUTE_ERROR, ABSOLUTE_ERROR, with_replacement=True)),
    selection=GreedyCommittee(AT_MOST_EIGHT, loss=ABSOLUTE_ERROR, first_share=FIRST_SHARE),
)
"""The same by the absolute error of numbers."""
AUTO = replace(
    AUTO_COMMITTEE,
    name="auto",
    optimizer=partial(KnownFirst, known=first_trials, then=BAYES),
    summary="`committee` that begins with the defaults of the default space's learners, as the Auto classes do.",
)
"""The Auto classes enqueue the same `first_trials`. They use `bayes` where no committee can be chosen, which depends on
the scoring and the splits: a method knows neither."""


def with_lazy_folds(committee: Method) -> Method:
    """Return a search for a committee that leaves out folds of trials which are no use to it."""
    assert isinstance(committee.goal, EnsembleLoss)
    return replace(
        committee,
        name=f"{committee.name}-lazy",
        summary=f"`{committee.name}`, trials that are no use to the committee are left after some folds.",
        lazy=LazyFolds(committee.goal.rules),
    )


METHODS = [
    COMMITTEE,
    AUTO,
    with_lazy_folds(COMMITTEE),
    replace(
        COMMITTEE,
        name="committee-per-second",
        optimizer=PER_SECOND,
        summary="`committee` by expected improvement per second.",
    ),
    replace(
        COMMITTEE,
        name="committee-cooled",
        optimizer=COOLED,
        summary="`committee-per-second`, where seconds count less, the less is left of the budget.",
    ),
    with_lazy_folds(AUTO),
    Method(
        "committee-log",
        BAYES,
        "`committee` on the log loss of models as they are.",
        goal=EnsembleLoss(SlotRules(LOG_LOSS, LOG_LOSS, with_replacement=True)),
        selection=GreedyCommittee(AT_MOST_EIGHT, loss=LOG_LOSS),
    ),
    Method("bayes", BAYES, "Gaussian process that knows branches, with an offset for each."),
    Method(
        "bayes-pm",
        BAYES,
        "`bayes`, return the trial of which the model of all trials expects most.",
        selection=EXPECTED,
    ),
    Method("bayes-r", BAYES, "`bayes`, splits reshuffled every trial.", is_reshuffled=True),
    Method("bayes-pm-r", BAYES, "`bayes-pm`, splits reshuffled every trial.", selection=EXPECTED, is_reshuffled=True),
    Method(
        "bayes-rc",
        BAYES,
        "`bayes-r`, losses corrected for how difficult a trial's rows are.",
        goal=CorrectedLoss(),
        selection=Argmin(CorrectedLoss()),
        is_reshuffled=True,
    ),
    Method(
        "bayes-pm-rc",
        BAYES,
        "`bayes-pm-r`, losses corrected for how difficult a trial's rows are.",
        goal=CorrectedLoss(),
        selection=replace(EXPECTED, goal=CorrectedLoss()),
        is_reshuffled=True,
    ),
    Method(
        "bayes-lazy",
        BAYES,
        "`bayes`, trials that are worse than the best are left after some folds.",
        goal=CorrectedLoss(),
        lazy=LazyFolds(),
    ),
    Method(
        "bayes-pm-lazy",
        BAYES,
        "`bayes-pm`, trials that are worse than the best are left after some folds.",
        goal=CorrectedLoss(),
        selection=replace(EXPECTED, goal=CorrectedLoss()),
        lazy=LazyFolds(),
    ),
    Method("bayes-per-second", PER_SECOND, "`bayes` by expected improvement per second."),
    Method("bayes-cooled", COOLED, "`bayes-per-second`, where seconds count less, the less is left of the budget."),
    Method("bayes-post", BAYES, "`bayes`, a committee as `committee` chooses it.", selection=TEMPERED_COMMITTEE),
    Method("sobol", Sobol, "Sobol points that cover the space evenly, return the best."),
    Method(
        "pbil-floor",
        partial(PBIL, population=20, most=16, floor=0.1),
        "`pbil-v2` for few trials: generations of 20, coarser cells, a floor on probabilities.",
    ),
]
