"""Lazy folds: a trial goes on to its next fold only while it may still be worth it.

After each fold a trial is compared, row by row, with what is there: a paired test on the rows that both have judged. If
it is worse beyond noise it is *rejected*, and its other folds are never fitted. A trial that was rejected is never a
member of anything; the search learns from the folds that it has. What a trial is compared with follows from the history
alone, when it begins, so a study that is resumed rejects the same trials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices
from comitia.committees.greedy import is_beyond_noise
from comitia.committees.losses import AverageLoss
from comitia.committees.partial import part_of
from comitia.committees.pool import by_row, loss_for, no_members, pool_of, whole_predictions
from comitia.committees.slots import SlotRules, committee_of
from comitia.committees.votes import Averages, Rows
from comitia.history import History, Predictions, Trial
from comitia.seams import Bar

BEYOND = 2.0
"""Standard errors that are more than noise."""


@dataclass(frozen=True)
class LazyFolds:
    """Leave out the folds of trials that are worse than what is there.

    Parameters
    ----------
    rules : SlotRules, optional
        Those of a search for a committee: a trial then is rejected if it is worse than the best by itself and the
        committee is worse with it than as it is, too. Without them it is compared with the best trial alone, by the
        loss of each row; where the loss is no mean over rows, nothing is left out.
    beyond : float
        How many standard errors are more than noise.
    """

    rules: SlotRules | None = None
    beyond: float = BEYOND

    def bar(self, history: History, trial: Trial) -> Bar | None:
        """Return what a trial is compared with; None while there is nothing, or it asks for certain folds."""
        if history.best is None or trial.repeats > 1 or trial.folds is not None or trial.continues is not None:
            return None
        return self._best(history) if self.rules is None else self._committee(history, trial, self.rules)

    def _best(self, history: History) -> Bar | None:
        assert history.best is not None
        found = whole_predictions(history, history.best.number)
        if found is None or found.losses is None:
            return None
        rows = np.unique(found.rows)
        weights = None if history.truth is None or history.truth.weights is None else history.truth.weights[rows]
        return BestBar(rows, by_row(found.rows, found.losses, 0), weights, self.beyond)

    def _committee(self, history: History, trial: Trial, rules: SlotRules) -> Bar | None:
        loss = loss_for(history, rules.loss)
        if not isinstance(loss, AverageLoss):
            return None
        pool = pool_of(history, loss)
        others = committee_of(history, rules).beside(history, trial.number)
        if pool.rows is None or not len(pool) or others is None or others.rest.total is None:
            return None
        nobody = no_members(pool, loss)
        assert isinstance(nobody, Averages)
        best = pool.answers[int(nobody.losses_with(pool.answers).argmin())]
        return CommitteeBar(
            loss,
            pool.rows,
            pool.row_numbers,
            alone=nobody.plus([best]).row_losses().astype(np.float32),
            rest=others.rest.total.astype(np.float32),
            n_rest=others.rest.size,
            together=others.now.row_losses().astype(np.float32),
            beyond=self.beyond,
        )


@dataclass(frozen=True, eq=False)
class BestBar:
    """The best trial so far, by the loss of each row; see `Bar`."""

    rows: Indices
    """Ascending."""
    losses: Array
    weights: Array | None
    beyond: float = BEYOND

    def rejects(self, so_far: Predictions) -> bool:
        """Tell whether a trial loses more on the rows that it has judged."""
        if so_far.losses is None:
            return False
        own, losses = np.unique(so_far.rows), by_row(so_far.rows, so_far.losses, 0)
        both, here, there = np.intersect1d(own, self.rows, assume_unique=True, return_indices=True)
        if not len(both):
            return False
        weights = np.ones(len(both)) if self.weights is None else self.weights[there]
        return is_beyond_noise(losses[here] - self.losses[there], weights, self.beyond)


@dataclass(frozen=True, eq=False)
class CommitteeBar:
    """A committee and its best model; see `Bar`."""

    loss: AverageLoss
    rows: Rows
    row_numbers: Indices
    alone: Array
    """Row losses of the best model by itself."""
    rest: Array
    """Sum of what is kept of the members beside the slot whose turn it is, (..., n)."""
    n_rest: int
    together: Array
    """Row losses of the committee as it is."""
    beyond: float = BEYOND

    def rejects(self, so_far: Predictions) -> bool:
        """Tell whether a trial is worse than the best, and a committee with it worse than the one that is there."""
        part = part_of(so_far, self.loss, self.rows, self.row_numbers)
        if part is None:
            return False
        places, weights = part.places, self.rows.weights[part.places]
        alone = self.loss.rows(part.kept.astype(np.float64))
        if not is_beyond_noise(alone - self.alone[places], weights, self.beyond):
            return False
        together = self.loss.rows((part.kept + self.rest[..., places]).astype(np.float64) / (self.n_rest + 1))
        return is_beyond_noise(together - self.together[places], weights, self.beyond)
