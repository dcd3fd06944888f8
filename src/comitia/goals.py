"""Goals: the number that the search minimises, for every finished trial."""

from __future__ import annotations

import numpy as np

from comitia.arrays import Array, Indices
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.losses import AverageLoss
from comitia.committees.slots import SlotRules, committee_of
from comitia.history import History
from comitia.seams import Needs, Values
from comitia.seeds import Seeds

ALL_FAILED = 1.0
"""The value of failed trials while none has succeeded."""


class MeanLoss:
    """The mean loss over a trial's splits; a failed trial is as bad as the worst that succeeded."""

    needs = Needs()
    moves = False

    def values(self, history: History, seeds: Seeds) -> Values:
        return Values(mean_losses(history))


class EnsembleLoss:
    """The loss of the committee with this trial's model in the slot whose turn it is.

    Lévesque 2018, Alg. 4.1, eq. 4.3.

    While no predictions are kept it is the mean loss; afterwards a trial without any is as bad as the worst.

    Parameters
    ----------
    rules : SlotRules
        The loss, and how slots are filled. A loss of averages needs class probabilities to be kept.
    """

    moves = True

    def __init__(self, rules: SlotRules) -> None:
        self._rules = rules
        averages = any(isinstance(loss, AverageLoss) for loss in (rules.loss, rules.refill))
        self.needs = Needs(rows=True, probabilities=averages)

    def values(self, history: History, seeds: Seeds) -> Values:
        committee = committee_of(history, self._rules)

        def earlier(n: int) -> Array:
            return _of_all(history, *committee.losses(history, n))[:n]

        return Values(_of_all(history, *committee.losses(history)), earlier)


class BootstrapRisk:
    """The mean loss on one bootstrap of the validation rows, the next one for each trial (Lacoste et al. 2014, Alg. 2).

    While no losses by row are kept it is the mean loss; afterwards a trial without any is as bad as the worst.
    """

    needs = Needs(rows=True)
    moves = True

    def __init__(self, bootstraps: Bootstraps = Bootstraps()) -> None:  # noqa: B008 - frozen
        self._bootstraps = bootstraps

    def values(self, history: History, seeds: Seeds) -> Values:
        pool = self._bootstraps.pool(history)
        risks = np.empty(0)
        if len(pool):
            risks = self._bootstraps.risks(pool, [self._bootstraps.turn(len(history))], seeds)[:, 0]
        return Values(_of_all(history, pool.numbers, risks))


def mean_losses(history: History) -> Array:
    """Return the mean loss of each finished trial, (n_finished,); a failed one is as bad as the worst."""
    if not history.n_failed and not history.n_pending:
        return history.losses  # as they are: a generation's ask must not read the whole history
    losses = history.losses[history.is_finished]
    has_failed = np.isnan(losses)
    if has_failed.any():
        losses[has_failed] = ALL_FAILED if has_failed.all() else np.nanmax(losses)
    return losses


def _of_all(history: History, numbers: Indices, losses: Array) -> Array:
    """Turn the losses of some trials into values of all that are finished."""
    if not len(numbers):
        return mean_losses(history)
    values = np.full(len(history), losses.max())
    values[numbers] = losses
    return values[history.is_finished]
