"""Selections of one configuration: the best trial, or the one that a model or a distribution points at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from comitia.arrays import Array
from comitia.errors import ChoiceError, NothingFound
from comitia.goals import MeanLoss
from comitia.history import History, Observation
from comitia.optimizers import CMAES
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import Gradients
from comitia.optimizers.bayes.single_thread import one_thread
from comitia.seams import Goal, Maximiser, Member, Needs, Optimizer, SmoothBelief, Values
from comitia.seeds import Seeds
from comitia.space import Space


@dataclass(frozen=True)
class Argmin:
    """The configuration with the smallest mean loss, the earliest of equals; or with the least value of a goal."""

    goal: Goal | None = None
    """What decides, where that is not the mean loss: `CorrectedLoss` where trials were judged on different rows."""

    @property
    def needs(self) -> Needs:
        """What the goal needs."""
        return Needs() if self.goal is None else self.goal.needs

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        best = found_best(history)
        if self.goal is not None:
            is_whole = np.isfinite(history.losses) & ~history.is_superseded
            values = np.full(len(history), np.inf)
            values[history.finished] = self.goal.values(history, seeds).now
            number = int(np.where(is_whole, values, np.inf).argmin())
            return [Member(history.trial(number).config, 1.0, number)]
        return [Member(best.config, 1.0, best.number)]


@dataclass(frozen=True, kw_only=True)
class PosteriorMean:
    """The configuration at which a Gaussian process expects the smallest loss (Lévesque 2018, §3.4).

    An argmin over noisy trials picks the luckiest of them; the model's mean smooths the luck out.
    """

    among_trials: bool = False
    """Only hand over what was tried; else the mean is minimised over the whole space, and what is handed over has
    usually no trial."""
    surrogate: Callable[[Space], GaussianProcess] = GaussianProcess
    maximiser: Maximiser = field(default_factory=Gradients)
    """Searches the space for the least mean."""
    goal: Goal = field(default_factory=MeanLoss)
    """What the process is a model of."""

    @property
    def needs(self) -> Needs:
        """What the goal needs."""
        return self.goal.needs

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        found_best(history)
        with one_thread():
            return [self._chosen(history, _space_of(history, "A posterior mean"), seeds)]

    def _chosen(self, history: History, space: Space, seeds: Seeds) -> Member:
        """Return the trial or the point of the space with the least mean.

        The model sees failed trials, too, as bad as the worst: where they were nothing is expected, and nothing that
        failed is handed over.
        """
        is_kept = ~history.is_superseded[history.finished]
        numbers = history.finished[is_kept]
        found = self.goal.values(history, seeds)
        values = Values(found.now[is_kept], noise=None if found.noise is None else found.noise[is_kept])
        belief = self.surrogate(space).belief(history.X[numbers], values, len(history), seeds)
        good = numbers[np.isfinite(history.losses[numbers])]
        good = good[np.argsort(belief.mean(history.X[good]), kind="stable")]
        best = history.trial(int(good[0]))
        if self.among_trials:
            return Member(best.config, 1.0, best.number)
        rng = seeds("posterior-mean", len(history))
        for x in self.maximiser(Expectation(belief), space, history.X[good], rng):
            [config] = space.decode(x[None])
            number = history.number_of(config)
            if number is None or np.isfinite(history.losses[number]):
                return Member(config, 1.0, number)
        return Member(best.config, 1.0, best.number)


class DistributionMean:
    """The mean of CMA-ES's distribution after the last complete generation (Glasmachers and Igel 2008, §5.1).

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
        best, space = found_best(history), _space_of(history, "A distribution's mean")
        mean = optimizer.evolution(history, MeanLoss().values(history, seeds), seeds).mean[None]
        [config] = space.decode(mean)
        number = history.number_of(config)
        if not space.is_allowed(mean)[0] or (number is not None and not np.isfinite(history.losses[number])):
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


def _space_of(history: History, what: str) -> Space:
    if history.space is None:
        raise ChoiceError(
            f"{what} needs a history that knows its space. Got one without. Use a Study, or "
            "History(len(space), space=space)."
        )
    return history.space


def found_best(history: History) -> Observation:
    """Return the best trial; refuse a history in which none succeeded, and say how the first one failed."""
    if history.best is not None:
        return history.best
    errors = [observation.error for observation in history.observations()]
    what = f"The first failed with: {errors[0]}" if errors else "Run some trials first."
    raise NothingFound(f"At least one trial must succeed. Got {history.n_finished} finished, none of them. {what}")
