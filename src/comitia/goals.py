"""Goals: which number the search minimises at this iteration, for every finished trial."""

from __future__ import annotations

import numpy as np

from comitia.arrays import Array, Indices
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.losses import AverageLoss
from comitia.committees.slots import SlotRules, committee_of
from comitia.history import History
from comitia.seeds import Seeds

ALL_FAILED = 1.0
"""The value of failed trials while none has succeeded."""


class MeanLoss:
    """The mean loss over a trial's splits; a failed trial is as bad as the worst that succeeded."""

    moves = False
    compares_rows = False

    def values(self, history: History, seeds: Seeds) -> Array:
        """See `Goal`.  # (n_finished,)."""
        if not history.n_failed and not history.n_pending:
            return history.losses  # as they are: a generation's ask must not read the whole history
        values = history.losses[history.is_finished]
        has_failed = np.isnan(values)
        if has_failed.any():
            values[has_failed] = ALL_FAILED if has_failed.all() else np.nanmax(values)
        return values


class EnsembleLoss:
    """The loss of the committee with this trial's model in the slot whose turn it is (T Alg. 4.1, eq. 4.3).

    While no predictions are kept it is the mean loss; afterwards a trial without any is as bad as the worst.

    Parameters
    ----------
    rules : SlotRules
        The loss, and how slots are filled. A loss of averages needs class probabilities to be kept.
    """

    moves = True
    compares_rows = True

    def __init__(self, rules: SlotRules) -> None:
        self._rules = rules
        self.wants_probabilities = any(isinstance(loss, AverageLoss) for loss in (rules.loss, rules.refill))

    def values(self, history: History, seeds: Seeds) -> Array:
        """See `Goal`.  # (n_finished,)."""
        return _for_all(history, *committee_of(history, self._rules).losses(history), seeds)

    def first_values(self, history: History, n: int, seeds: Seeds) -> Array:
        """Return the values of the first n finished trials as they were before the others.  # (n,)."""
        return _for_all(history, *committee_of(history, self._rules).losses(history, n), seeds)[:n]


class BootstrapRisk:
    """The mean loss on one bootstrap of the validation rows, the next one for each trial (L Alg. 2).

    While no losses by row are kept it is the mean loss; afterwards a trial without any is as bad as the worst.
    """

    moves = True
    compares_rows = True

    def __init__(self, bootstraps: Bootstraps = Bootstraps()) -> None:  # noqa: B008 - frozen
        self._bootstraps = bootstraps

    def values(self, history: History, seeds: Seeds) -> Array:
        """See `Goal`.  # (n_finished,)."""
        pool = self._bootstraps.pool(history)
        risks = np.empty(0)
        if len(pool):
            risks = self._bootstraps.risks(pool, [self._bootstraps.turn(len(history))], seeds)[:, 0]
        return _for_all(history, pool.numbers, risks, seeds)


def _for_all(history: History, numbers: Indices, losses: Array, seeds: Seeds) -> Array:
    """Turn the losses of some trials into values of all that are finished."""
    if not len(numbers):
        return MeanLoss().values(history, seeds)
    values = np.full(len(history), losses.max())
    values[numbers] = losses
    return values[history.is_finished]
