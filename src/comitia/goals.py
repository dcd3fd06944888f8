"""Goals: the number that the search minimises, for every finished trial."""

from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class EnsembleLoss:
    """The loss of the committee with this trial's model in the slot whose turn it is.

    Lévesque 2018, Alg. 4.1, eq. 4.3. While no predictions are kept it is the mean loss; afterwards a trial without any
    is as bad as the worst.
    """

    rules: SlotRules
    moves = True

    @property
    def needs(self) -> Needs:
        """Losses of averages need class probabilities to be kept."""
        losses = self.rules.loss, self.rules.refill
        return Needs(rows=True, probabilities=any(isinstance(loss, AverageLoss) for loss in losses))

    def values(self, history: History, seeds: Seeds) -> Values:
        committee = committee_of(history, self.rules)

        def earlier(n: int) -> Array:
            return _of_all(history, *committee.losses(history, n))[:n]

        # who is left out changes with the slot: values of another time are of other trials
        return Values(_of_all(history, *committee.losses(history)), None if self.rules.inside == "out" else earlier)


@dataclass(frozen=True)
class BootstrapRisk:
    """The mean loss on one bootstrap of the validation rows, the next one for each trial (Lacoste et al. 2014, Alg. 2).

    While no losses by row are kept it is the mean loss; afterwards a trial without any is as bad as the worst.
    """

    bootstraps: Bootstraps = field(default_factory=Bootstraps)
    needs = Needs(rows=True)
    moves = True

    def values(self, history: History, seeds: Seeds) -> Values:
        pool = self.bootstraps.pool(history)
        risks = np.empty(0)
        if len(pool):
            risks = self.bootstraps.risks(pool, [self.bootstraps.turn(len(history))], seeds)[:, 0]
        return Values(_of_all(history, pool.numbers, risks), have_moved=True)


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
    values = np.full(len(history), np.nanmax(losses))
    values[numbers] = losses
    return values[history.is_finished]
