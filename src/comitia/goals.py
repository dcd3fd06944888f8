"""Goals: the number that the search minimises, for every finished trial."""

from dataclasses import dataclass, field

import numpy as np

from comitia.arrays import Array, Indices
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.difficulty import row_losses_of
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

        def known(n: int | None = None) -> tuple[Indices, Array, Array]:
            numbers, losses = committee.losses(history, n)
            rejected, partial, noise = committee.partial_losses(history, n)
            both = np.concatenate([numbers, rejected]), np.concatenate([losses, partial])
            return *both, np.concatenate([np.zeros(len(numbers)), noise])

        def earlier(n: int) -> Array:
            numbers, losses, _ = known(n)
            return _of_all(history, numbers, losses)[:n]

        def earlier_noise(n: int) -> Array:
            numbers, _, noise = known(n)
            return _noise_of_all(history, numbers, noise)[:n]

        numbers, losses, noise = known()
        # who is left out changes with the slot: values of another time are of other trials
        is_remembered = self.rules.inside != "out"
        has_noise = bool(history.n_rejected)
        return Values(
            _of_all(history, numbers, losses),
            earlier if is_remembered else None,
            noise=_noise_of_all(history, numbers, noise) if has_noise else None,
            earlier_noise=earlier_noise if is_remembered and has_noise else None,
        )


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


@dataclass(frozen=True)
class CorrectedLoss:
    """The mean loss, corrected for how difficult the rows are that a trial was judged on.

    With it trials that were judged on different rows, or on some folds only, can be compared, and their values come
    with their uncertainty; see `committees.difficulty`. Where all trials were judged on all rows it is the mean over
    rows. While no losses by row are kept it is the mean loss; afterwards a trial without any is as bad as the worst.
    """

    needs = Needs(row_losses=True)
    moves = True

    def values(self, history: History, seeds: Seeds) -> Values:
        rows = row_losses_of(history)

        def earlier(n: int) -> Array:
            found = rows.corrected_first(history, n)
            return _of_all(history, found.numbers, found.values)[:n]

        def earlier_noise(n: int) -> Array:
            found = rows.corrected_first(history, n)
            return _noise_of_all(history, found.numbers, found.noise)[:n]

        found = rows.corrected(history)
        return Values(
            _of_all(history, found.numbers, found.values),
            earlier,
            noise=_noise_of_all(history, found.numbers, found.noise),
            earlier_noise=earlier_noise,
        )


def mean_losses(history: History) -> Array:
    """Return the mean loss of each finished trial, (n_finished,); a failed one is as bad as the worst."""
    if not history.n_failed and not history.n_rejected and not history.n_pending:
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


def _noise_of_all(history: History, numbers: Indices, noise: Array) -> Array:
    """Turn the variances of some trials into those of all that are finished; 0 for the others."""
    variances = np.zeros(len(history))
    variances[numbers] = noise
    return variances[history.is_finished]
