"""What a method would have handed over, had the validation rows been others: its selection on resamples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.auto.rule_tuning import quiet_score
from comitia.committees.combine import Answers, combined, kept_answers
from comitia.committees.greedy import Greedy
from comitia.committees.losses import AverageLoss
from comitia.committees.pool import by_row, loss_for, whole_predictions
from comitia.committees.resampled import Resampled, can_choose
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scoring
from comitia.evaluation.shown import shown_classifier, shown_regressor
from comitia.history import History, Predictions, Truth
from comitia.seams import Member
from comitia.selections.committees import GreedyCommittee, towards_first, weighted
from comitia.study.study import Study


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """What the models of all trials said about the same rows."""

    study: Study
    trials: Indices
    """Their numbers, ascending: (n_models,)."""
    rows: Indices
    """(n,)"""
    values: AnyArray
    """Class codes (n_models, n), probabilities (n_models, n, n_classes) or numbers (n_models, n)."""

    @property
    def truth(self) -> Truth:
        assert self.study.history.truth is not None
        return self.study.history.truth

    def said(self, members: Sequence[Member], some: Indices, order: Sequence[int] | None) -> Answers:
        """Return what members say together about some of the rows, given by their places."""
        places = [int(np.flatnonzero(self.trials == member.trial)[0]) for member in members]
        return combined(
            [kept_answers(self.values[place][some], self.truth.n_classes) for place in places],
            [member.weight for member in members],
            n_classes=self.truth.n_classes,
            votes=self.values.ndim == 2,
            order=order,
            temperatures=[member.temperature for member in members],
        )

    def take(self, some: Indices) -> KeptAnswers:
        """Return it for some of the rows."""
        return replace(self, rows=self.rows[some], values=self.values[:, some])


def answers_of_trials(study: Study, rows: Indices) -> KeptAnswers | None:
    """Return what all trials said that judged just these rows, which ascend; None where there is none."""
    history = study.history
    if history.truth is None:
        return None
    found: dict[int, AnyArray] = {}
    for number in history.finished.tolist():
        if history.is_superseded[number] or not np.isfinite(history.losses[number]):
            continue
        kept = whole_predictions(history, number)
        if kept is not None and np.array_equal(np.unique(kept.rows), rows):
            found[number] = by_row(kept.rows, np.asarray(kept.values), history.truth.n_classes)
    if not found:
        return None
    return KeptAnswers(study, np.array(list(found), dtype=np.intp), rows, np.stack(list(found.values())))


@dataclass(frozen=True, eq=False)
class Reselection:
    """Chooses again on resamples of the rows."""

    kept: KeptAnswers
    given: Given
    scoring: Scoring
    sample_weight: Array | None
    """How much each row of the table counts in scores; all alike if None."""

    @property
    def is_quick(self) -> bool:
        """Whether all resamples are chosen for at once."""
        return self._quick is not None

    def __call__(self, counts: Array) -> list[Sequence[Member]]:
        """Return members for each resample, given how often each row is in it: (n_resamples, n)."""
        kept, quick = self.kept, self._quick
        if quick is None:
            return [kept.study.members(self._history(row)) for row in counts]
        weights = kept.truth.weights
        weighed = counts if weights is None else counts * weights[kept.rows]
        selection = kept.study.method.selection
        share = selection.first_share if isinstance(selection, GreedyCommittee) and kept.trials[0] == 0 else 0.0
        found: list[Sequence[Member]] = []
        for row, joined, temperatures in zip(weighed, *quick(weighed), strict=True):
            members = weighted(kept.study.history, kept.trials, joined, temperatures)
            if share and not quick.is_better(joined, temperatures, row, 0):
                members = towards_first(kept.study.history, members, share, float(temperatures[0]))
            found.append(members)
        return found

    @cached_property
    def _quick(self) -> Resampled | None:
        selection, history = self.kept.study.method.selection, self.kept.study.history
        if not isinstance(selection, GreedyCommittee):
            return None
        loss = loss_for(history, selection.loss)
        if not isinstance(loss, AverageLoss) or not can_choose(selection.greedy, loss):
            return None
        values = self.kept.values
        if self.kept.truth.n_classes and values.ndim == 2:
            return None
        greedy: Greedy = selection.greedy
        return Resampled(greedy, loss, values, self.kept.truth.y[self.kept.rows])

    def _history(self, counts: Array) -> History:
        """Return the same trials, judged by the rows of a resample."""
        old, kept = self.kept.study.history, self.kept
        weights = np.zeros(len(kept.truth.y))
        weights[kept.rows] = counts
        if kept.truth.weights is not None:
            weights *= kept.truth.weights
        new = History(
            old.X.shape[1],
            lambda number: _kept(old, number, weights),
            space=old.space,
            truth=replace(kept.truth, weights=weights),
        )
        losses = dict(zip(kept.trials.tolist(), self._losses(counts), strict=True))
        for number in range(len(old)):
            new.append(old.trial(number))
            observation = old.observation(number)
            if observation is not None:
                loss = losses.get(number, np.nan)
                new.finish(replace(observation, losses=(loss,)) if np.isfinite(loss) else observation)
        return new

    def _losses(self, counts: Array) -> list[float]:
        """Return the loss of each trial on a resample, all its rows together."""
        some = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
        rows = self.kept.rows[some]
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return [self.scoring.best - self._score(values[some], rows, weights) for values in self.kept.values]

    def _score(self, values: AnyArray, rows: Indices, weights: Array | None) -> float:
        classes = self.given.classes
        if classes is None:
            return quiet_score(self.scoring, shown_regressor(values), self.given, rows, weights)
        answers = kept_answers(values, len(classes))
        assert answers.probabilities is not None
        model = shown_classifier(classes, answers.probabilities, answers.values)
        return quiet_score(self.scoring, model, self.given, rows, weights)


def _kept(history: History, number: int, weights: Array) -> Predictions | None:
    """Return what was predicted about the rows that count: a resample does not know the others."""
    found = history.predictions(number)
    return None if found is None else found.of(weights[found.rows] > 0)
