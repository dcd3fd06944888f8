"""Selections that hand over a committee: chosen greedily, EO's own, agnostic Bayes.

Where no predictions were kept they hand over the best trial.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np

from comitia.arrays import Array, Indices
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.combine import Answers, combined, kept_answers
from comitia.committees.greedy import Greedy, argmin_with_ties, is_beyond_noise
from comitia.committees.losses import AverageLoss, CommitteeLoss
from comitia.committees.pool import by_row, loss_for, no_members, pool_of, whole_predictions
from comitia.committees.slots import SlotRules, committee_of
from comitia.committees.votes import Averages
from comitia.errors import check_int
from comitia.evaluation.scoring import Loss, Scorer
from comitia.evaluation.shown import shown_regressor
from comitia.history import History
from comitia.seams import Member, Needs, Optimizer
from comitia.seeds import Seeds
from comitia.selections.single import Argmin


@dataclass(frozen=True)
class GreedyCommittee:
    """A committee chosen greedily from all trials (Lévesque 2018, §4.1)."""

    greedy: Greedy = field(default_factory=Greedy)
    _: KW_ONLY
    loss: CommitteeLoss | None = None
    """If not given: squared error for numbers, log loss where probabilities were kept, zero-one loss of a vote where
    classes were."""
    wants_probabilities: bool = False
    """Keep class probabilities instead of classes; a loss of averages does without being told."""
    first_share: float = 0.0
    """What the first trial gets of the weights where the committee is not better than it beyond noise: for searches
    that begin with a default configuration. Only for losses of averages."""

    @property
    def tempers(self) -> bool:
        """Whether members' probabilities are tempered."""
        return isinstance(self.loss, AverageLoss) and self.loss.tempers

    @property
    def needs(self) -> Needs:
        """Predictions of the same rows."""
        return Needs(rows=True, probabilities=self.wants_probabilities or isinstance(self.loss, AverageLoss))

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        loss = loss_for(history, self.loss)
        pool = None if loss is None else pool_of(history, loss)
        if loss is None or pool is None or not len(pool):
            return Argmin().members(history, optimizer, seeds)
        order = np.argsort(pool.numbers)  # the earlier of equals is the earlier trial
        answers = pool.answers if (np.diff(order) > 0).all() else pool.answers[order]
        rng = seeds("greedy", len(history))
        nobody = no_members(pool, loss)
        counts = self.greedy(nobody, answers, rng, pool.seconds[order])
        members = weighted(history, pool.numbers[order], counts, pool.temperatures[order])
        if not self.first_share or pool.numbers[order][0] != 0 or not isinstance(nobody, Averages):
            return members
        first = np.arange(len(counts)) == 0
        alone, together = (nobody.plus(np.repeat(answers, times, axis=0)).row_losses() for times in (first, counts))
        if is_beyond_noise(alone - together, nobody.rows.weights):
            return members
        return towards_first(history, members, self.first_share, float(pool.temperatures[order][0]))


@dataclass(frozen=True)
class SlotCommittee:
    """The committee that ensemble optimisation ends with (Lévesque 2018, Alg. 4.1)."""

    rules: SlotRules
    needs = Needs(rows=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        trials = committee_of(history, self.rules).members
        if not trials:
            return Argmin().members(history, optimizer, seeds)
        return weighted(history, *np.unique(trials, return_counts=True))


@dataclass(frozen=True)
class AgnosticBayes:
    """The best model of each bootstrap (Lacoste et al. 2014, Alg. 2): duplicates become weights."""

    bootstraps: Bootstraps = field(default_factory=Bootstraps)
    _: KW_ONLY
    most_members: int | None = None
    """Keep the models that are the best of most bootstraps."""
    needs = Needs(rows=True)

    def __post_init__(self) -> None:
        if self.most_members is not None:
            check_int("AgnosticBayes", "most_members", self.most_members)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        pool = self.bootstraps.pool(history)
        if not len(pool):
            return Argmin().members(history, optimizer, seeds)
        order = np.argsort(pool.numbers)
        risks = self.bootstraps.risks(pool, list(range(self.bootstraps.count(history))), seeds)[order]
        # the earlier of equals; of whatever scale
        best = [argmin_with_ties(column, least=0.0)[0] for column in risks.T]
        counts = np.bincount(best, minlength=len(pool))
        if self.most_members is not None:
            counts[np.argsort(-counts, kind="stable")[self.most_members :]] = 0
        return weighted(history, pool.numbers[order], counts)


def weighted(
    history: History,
    numbers: Indices,
    counts: Indices,
    temperatures: Array | None = None,
) -> list[Member]:
    """Return the trials that were counted, with weights that sum to 1, the heaviest first."""
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > 0]
    total = int(counts.sum())
    trials = [history.trial(int(numbers[i])) for i in order]
    if temperatures is None:
        temperatures = np.ones(len(counts))
    return [
        Member(trial.config, int(counts[i]) / total, trial.number, float(temperatures[i]))
        for i, trial in zip(order, trials, strict=True)
    ]


def towards_first(history: History, members: Sequence[Member], share: float, temperature: float) -> list[Member]:
    """Return members with a share of the weights given to the first trial."""
    weights = {member.trial: (1.0 - share) * member.weight for member in members}
    weights[0] = weights.get(0, 0.0) + share
    known = {member.trial: member for member in members}
    first = known.get(0) or Member(history.trial(0).config, 0.0, 0, temperature)
    mixed = [replace(known.get(trial, first), weight=weight) for trial, weight in weights.items()]
    return sorted(mixed, key=lambda member: -member.weight)


def validation_loss(
    history: History, members: Sequence[Member], loss: Loss, order: Sequence[int] | None = None
) -> float:
    """Return the loss of members together on the rows that each was judged on; NaN where predictions were not kept.

    As for a trial it is the mean over folds; where members had other folds, over rows. Optimistic where members were
    chosen by the same rows. `order` decides between classes, as in `Ensemble`. A scorer of classes has none here: see
    `comitia.auto.validation`.
    """
    truth = history.truth
    found = together(history, members, order)
    if truth is None or found is None or (isinstance(loss, Scorer) and truth.n_classes):
        return math.nan
    rows, folds, answers = found.rows, found.folds, found.answers
    weights = np.ones(len(rows)) if truth.weights is None else truth.weights[rows]
    if isinstance(loss, Scorer):
        parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        models = [shown_regressor(answers.values[part]) for part in parts]
        scores = [
            loss(model, part[:, None], truth.y[rows[part]], weights[part])
            for model, part in zip(models, parts, strict=True)
        ]
        return -float(np.mean(scores))
    predicted = answers.probabilities if loss.needs_probabilities else answers.values
    losses = loss.rows(truth.y[rows], np.asarray(predicted))
    return float(np.mean(np.bincount(folds, losses * weights) / np.bincount(folds, weights)))


@dataclass(frozen=True, eq=False)
class Together:
    """What members say together about rows that none of them was trained on."""

    rows: Indices
    """Row indices in the user's table."""
    folds: Indices
    """Which split judged each; all 0 where members had different ones."""
    answers: Answers


def together(
    history: History, members: Sequence[Member], order: Sequence[int] | None = None, *, once: bool = False
) -> Together | None:
    """Return what members say together; None where that was not kept, or they speak of different rows.

    `order` decides between classes, as in `Ensemble`. With `once`, a row that was judged several times counts once.
    """
    truth = history.truth
    found = [None if member.trial is None else whole_predictions(history, member.trial) for member in members]
    kept = [predictions for predictions in found if predictions is not None]
    if truth is None or len(kept) < len(found) or not kept:
        return None
    rows, folds = kept[0].rows, kept[0].folds
    values = [np.asarray(one.values) for one in kept]
    is_repeated = once and len(np.unique(rows)) < len(rows)
    if is_repeated or not all(np.array_equal(one.rows, rows) and np.array_equal(one.folds, folds) for one in kept):
        values = [by_row(one.rows, some, truth.n_classes) for one, some in zip(kept, values, strict=True)]
        rows, folds = np.unique(rows), np.zeros(len(values[0]), dtype=np.intp)
        if not all(np.array_equal(np.unique(one.rows), rows) for one in kept):
            return None
    combined_answers = combined(
        [kept_answers(some, truth.n_classes) for some in values],
        [member.weight for member in members],
        n_classes=truth.n_classes,
        votes=values[0].ndim == 1,
        order=order,
        temperatures=[member.temperature for member in members],
    )
    return Together(rows, folds, combined_answers)
