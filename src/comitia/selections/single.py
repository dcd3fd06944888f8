"""Selections: what is handed to the user at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array, Indices
from comitia.errors import ChoiceError, NothingFound
from comitia.goals import MeanLoss, mean_losses
from comitia.history import History
from comitia.optimizers import CMAES
from comitia.optimizers.bayes.maximise import Gradients
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Maximiser, Member, Needs, Optimizer, SmoothBelief, Values
from comitia.seeds import Seeds
from comitia.space import Space
from comitia.optimizers.bayes.single_thread import one_thread



class Argmin:
    """The configuration with the smallest mean loss, the earliest of equals."""

    needs = Needs()

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        best = history.best
        if best is None:
            raise nothing_found(history)
        return [Member(best.config, 1.0, best.number)]


class PosteriorMean:
    """The configuration at which a Gaussian process expects the smallest loss (T §3.4).

    An argmin over noisy trials picks the luckiest of them; the model's mean smooths the luck out.

    Parameters
    ----------
    among_trials : bool
        Only hand over what was tried; else the mean is minimised over the whole space, and what is handed over has
        usually no trial.
    surrogate : callable (space) -> GaussianProcess
    maximiser : Maximiser
        Searches the space for the least mean.
    """

    needs = Needs()

    def __init__(
        self,
        *,
        among_trials: bool = False,
        surrogate: Callable[[Space], GaussianProcess] = GaussianProcess,
        maximiser: Maximiser = Gradients(),  # noqa: B008 - frozen
    ) -> None:
        self._among_trials = among_trials
        self._surrogate = surrogate
        self._maximiser = maximiser

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        if history.best is None:
            raise nothing_found(history)
        if history.space is None:
            raise ChoiceError(
                "A posterior mean needs a history that knows its space. Got one without. Use a Study, or "
                "History(len(space), space=space)."
            )
        with one_thread():
            return [self._chosen(history, history.space, seeds)]

    def _chosen(self, history: History, space: Space, seeds: Seeds) -> Member:
        """Return the trial or the point of the space with the least mean.

        The model sees failed trials, too, as bad as the worst: where they were nothing is expected, and nothing that
        failed is handed over.
        """
        is_kept = ~history.is_superseded[history.finished]
        numbers = history.finished[is_kept]
        values = Values(mean_losses(history)[is_kept])
        belief = self._surrogate(space).belief(history.X[numbers], values, len(history), seeds)
        good = numbers[np.isfinite(history.losses[numbers])]
        good = good[np.argsort(belief.mean(history.X[good]), kind="stable")]
        best = history.trial(int(good[0]))
        if self._among_trials:
            return Member(best.config, 1.0, best.number)
        rng = seeds("posterior-mean", len(history))
        for x in self._maximiser(Expectation(belief), space, history.X[good], rng):
            [config] = space.decode(x[None])
            number = history.number_of(config)
            if number is None or np.isfinite(history.losses[number]):
                return Member(config, 1.0, number)
        return Member(best.config, 1.0, best.number)


class DistributionMean:
    """The mean of CMA-ES's distribution after the last complete generation (U §5.1).

    The mean is an average over many trials, so noise cancels; the best trial is the luckiest of them.
    """

    needs = Needs()

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        """Return the mean; where it is forbidden, or failed as a trial, the best trial stands in for it."""
        if not isinstance(optimizer, CMAES):
            raise ChoiceError(
                "A distribution's mean needs a search by CMA-ES. Got a search by "
                f"{type(optimizer).__name__}, which has none. Use CMAES, or the selection Argmin."
            )
        best = history.best
        if best is None:
            raise nothing_found(history)
        if history.space is None:
            raise ChoiceError(
                "A distribution's mean needs a history that knows its space. Got one without. Use a Study, or "
                "History(len(space), space=space)."
            )
        mean = optimizer.evolution(history, MeanLoss().values(history, seeds), seeds).mean[None]
        [config] = history.space.decode(mean)
        number = history.number_of(config)
        if not history.space.is_allowed(mean)[0] or (number is not None and not np.isfinite(history.losses[number])):
            return [Member(best.config, 1.0, best.number)]
        return [Member(config, 1.0, number)]


@dataclass(frozen=True, eq=False)
class Expectation:
    """A belief that promises what is expected, without regard to what could be learned; see `Belief`."""

    inner: SmoothBelief

    def score(self, X: Array) -> Array:
        return -self.inner.mean(X)

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, gradient = self.inner.mean_gradient(X)
        return -mean, -gradient

    def mean(self, X: Array) -> Array:
        return self.inner.mean(X)

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.inner.mean_gradient(X)

    def believe(self, X: Array) -> Expectation:
        return self


class SelectionSplit:
    """The configuration with the smallest mean loss on the selection split, the earliest of equals (T §3.2.2).

    The search never sees that loss, so it is not the luck of having been searched for.
    """

    needs = Needs(selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return _alone(history, _least(history.selection_losses, _judged_aside(history)))


class PartialValidation:
    """The best of the last generation on the selection split: b_S of T eq. 3.6."""

    needs = Needs(generations=True, selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        """Return it; a configuration that the user enqueued, a batch by itself, is not the last generation."""
        return _alone(history, _least(history.selection_losses, populations(history, at_least=2)[-1]))


class Backwarding:
    """Of each generation's best on the validation split, the best on the selection split.

    T eq. 3.5 and 3.7: ``a_t = b_V if L(b_V, D_S) < L(a_{t-1}, D_S) else a_{t-1}``, from ``a_1 = b_V`` on.
    """

    needs = Needs(generations=True, selection_split=True)

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return _alone(history, _archived(history, history.losses))


class GlobalValidation:
    """Of each generation's best on the selection split, the best on the selection split.

    T eq. 3.6 and 3.8: ``a_t = b_S if L(b_S, D_S) < L(a_{t-1}, D_S) else a_{t-1}``, from ``a_1 = b_S`` on. That is
    `SelectionSplit` among the trials of complete generations.
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
    if history.best is None:
        raise nothing_found(history)
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


def nothing_found(history: History) -> NothingFound:
    """Say that no trial succeeded, and how the first one failed."""
    errors = [observation.error for observation in history.observations()]
    what = f"The first failed with: {errors[0]}" if errors else "Run some trials first."
    return NothingFound(f"At least one trial must succeed. Got {history.n_finished} finished, none of them. {what}")
