"""Bayesian optimisation: believe, then ask where the belief promises most (Lévesque 2018, Alg. 2.1)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from comitia.arrays import Array, Mask
from comitia.history import History
from comitia.optimizers.bayes.apart import SHARE, apart
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.maximise import LocalSearch
from comitia.optimizers.bayes.per_second import PerSecond, log_seconds, share_left
from comitia.optimizers.bayes.single_thread import one_thread
from comitia.optimizers.sobol import Sobol
from comitia.optimizers.unseen import Unseen
from comitia.seams import Ask, Belief, Maximiser, Needs, Surrogate, Values
from comitia.seeds import Seeds
from comitia.space import Space

N_TRIED = 16
"""Best trials that a maximiser may start from."""


class Bayes:
    """Fit a model to the values, and ask for the maximum of its acquisition function.

    Trials that are pending, and those asked before in the same call, count as if they had been found to be as
    expected, and the next keeps a distance from them.

    Parameters
    ----------
    space : Space
    surrogate : callable (space) -> Surrogate
    maximiser : Maximiser
    n_initial : int
        Sobol points before the first model.
    random_every : int
        Every so many-th trial is a random configuration, as SMAC interleaves them; 0 is none.
    clock : callable (space) -> Surrogate, optional
        Learns how long trials take; then what counts is expected improvement per second.
    cooling_seconds : float, optional
        Seconds that all trials together may take: what they take counts less, the less is left; see `per_second`.
    share : float
        How far suggestions keep from pending trials, as a share of the distance between finished ones; see `apart`.
    """

    needs = Needs()

    def __init__(
        self,
        space: Space,
        *,
        surrogate: Callable[[Space], Surrogate] = GaussianProcess,
        maximiser: Maximiser = LocalSearch(),  # noqa: B008 - frozen
        n_initial: int = 5,
        random_every: int = 0,
        clock: Callable[[Space], Surrogate] | None = None,
        cooling_seconds: float | None = None,
        share: float = SHARE,
    ) -> None:
        self._space = space
        self._surrogate = surrogate(space)
        self._maximiser = maximiser
        self._n_initial, self._random_every = n_initial, random_every
        self._clock = None if clock is None else clock(space)
        self._cooling_seconds = cooling_seconds
        self._share = share
        self._initial = Sobol(space)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        if history.n_finished < self._n_initial:
            return self._initial.ask(history, values, n, seeds)
        with one_thread():
            return self._suggest(history, values, n, seeds)

    def _suggest(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        unseen = Unseen(self._space, history)
        if unseen.is_exhausted:
            return []
        says_something = ~np.isnan(values.now)
        X = history.X[history.finished][says_something]
        values = values if says_something.all() else _only(values, says_something)
        values = replace(values, n_pending=history.n_pending)
        belief = self._surrogate.belief(X, values, len(history), seeds)
        if self._clock is not None:
            seconds = log_seconds(history)[says_something]
            clock = self._clock.belief(X, Values(seconds, n_pending=history.n_pending), len(history), seeds)
            exponent = 1.0 if self._cooling_seconds is None else share_left(history, self._cooling_seconds)
            belief = PerSecond(belief, clock, float(seconds.std()), exponent)
        if history.n_pending or n > 1:
            belief = apart(belief, self._space, X, self._share)
        if history.n_pending:
            belief = belief.believe(np.array([trial.x for trial in history.pending]))
        tried = X[np.argsort(values.now, kind="stable")[:N_TRIED]]
        found: list[Ask] = []
        for number in range(len(history), len(history) + n):
            x = self._next(belief, tried, unseen, number, seeds)
            if x is None:
                break
            found.append(Ask(x))
            if len(found) < n:
                belief = belief.believe(x[None])
        return found

    def _next(self, belief: Belief, tried: Array, unseen: Unseen, number: int, seeds: Seeds) -> Array | None:
        """Return the best candidate that was not asked before; None if there is nothing new."""
        rng = seeds("acquisition", number)
        if self._random_every and (number + 1) % self._random_every == 0:
            return unseen.first(self._random(rng), lambda: rng)
        best = unseen.best(self._maximiser(belief, self._space, tried, rng))
        return best if best is not None else unseen.first(self._random(rng), lambda: rng)

    def _random(self, rng: np.random.Generator) -> Iterator[Array]:
        while True:
            yield self._space.sample(1, rng)[0]


def _only(values: Values, some: Mask) -> Values:
    """Return the values of some trials."""
    return Values(values.now[some], noise=None if values.noise is None else values.noise[some])
