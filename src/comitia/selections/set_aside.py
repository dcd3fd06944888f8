"""Selections by rows set aside for them: the best of all trials, or by generations (Lévesque 2018, §3.2.2)."""

from collections.abc import Sequence

import numpy as np

from comitia.arrays import Array, Indices
from comitia.errors import ChoiceError
from comitia.history import History
from comitia.seams import Member, Needs, Optimizer
from comitia.seeds import Seeds
from comitia.selections.single import found_best


class SelectionSplit:
    """The configuration with the smallest mean loss on the selection split, the earliest of equals.

    The search never sees that loss, so it is not the luck of having been searched for.
    """

    needs = Needs(selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return _alone(history, _least(history.selection_losses, _judged_aside(history)))


class PartialValidation:
    """The best of the last generation on the selection split: b_S of Lévesque 2018, eq. 3.6."""

    needs = Needs(generations=True, selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        """Return it; a configuration that the user enqueued, a batch by itself, is not the last generation."""
        return _alone(history, _least(history.selection_losses, populations(history, at_least=2)[-1]))


class Backwarding:
    """Of each generation's best on the validation split, the best on the selection split.

    Lévesque 2018, eq. 3.5 and 3.7: ``a_t = b_V if L(b_V, D_S) < L(a_{t-1}, D_S) else a_{t-1}``, from ``a_1 = b_V`` on.
    """

    needs = Needs(generations=True, selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return _alone(history, _archived(history, history.losses))


class GlobalValidation:
    """Of each generation's best on the selection split, the best on the selection split.

    Lévesque 2018, eq. 3.6 and 3.8: ``a_t = b_S if L(b_S, D_S) < L(a_{t-1}, D_S) else a_{t-1}``, from ``a_1 = b_S`` on.
    That is `SelectionSplit` among the trials of complete generations.
    """

    needs = Needs(generations=True, selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return _alone(history, _archived(history, history.selection_losses))


def populations(history: History, *, at_least: int = 1) -> list[Indices]:
    """Return the trials to choose from in each complete generation, oldest first; never an empty list.

    A generation is a batch of trials of at least that size. One in whose middle the budget ended is not a population
    yet: it is left out, unless none is complete, and then everything that is finished counts as one. Trials that failed
    or that a later one continues are not chosen from, nor are generations without any other.
    """
    numbers = _judged_aside(history)
    batches = np.array([history.trial(number).batch for number in range(len(history))])  # ascending
    is_population = np.bincount(batches) >= at_least
    is_population[[trial.batch for trial in history.pending]] = False
    kept = numbers[is_population[batches[numbers]]]
    if not len(kept):
        return [numbers]
    return np.split(kept, np.flatnonzero(np.diff(batches[kept])) + 1)


def _archived(history: History, losses: Array) -> int:
    """Return the trial in the archive after the last generation, each represented by its best by `losses`."""
    archived, *rest = [_least(losses, population) for population in populations(history)]
    for best in rest:
        if history.selection_losses[best] < history.selection_losses[archived]:
            archived = best
    return archived


def _judged_aside(history: History) -> Indices:
    """Return the trials that succeeded and that none continues; all must have been judged on the selection split."""
    found_best(history)
    numbers = np.flatnonzero(np.isfinite(history.losses) & ~history.is_superseded)
    missing = numbers[np.isnan(history.selection_losses[numbers])]
    if len(missing):
        raise ChoiceError(
            f"Every trial must have been judged on the selection split to choose by it. Got {len(missing)} of "
            f"{len(numbers)} that were not, such as trial {missing[0]}. Run the study with "
            "TableEvaluator(..., selection_split=0.2), or choose another method."
        )
    return numbers


def _least(losses: Array, numbers: Indices) -> int:
    """Return the trial with the smallest loss, the earliest of equals."""
    return int(numbers[np.argmin(losses[numbers])])


def _alone(history: History, number: int) -> list[Member]:
    return [Member(history.trial(number).config, 1.0, number)]
