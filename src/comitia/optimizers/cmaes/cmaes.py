"""CMA-ES on the encoded space as a fold over the history (Glasmachers and Igel 2008, §2; Lévesque 2018, §3.2).

How the distribution is drawn from and moved is `distribution.py`'s, which trial is whose `matching.py`'s, the number of
evaluations that one fitness value is worth `uncertainty.py`'s. What is here is generation after generation, and:

- *Conditions*: the distribution lives in all coordinates, and inactive ones do not matter to the value, so they drift
  (Lévesque et al. 2017: "no imputation"; they are imputed where configurations are compared: a `Config` has none).
- *Forbidden clauses*: drawn again, and as bad as the worst if they stay forbidden.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array
from comitia.errors import ChoiceError, check_int
from comitia.history import History
from comitia.optimizers.cmaes.distribution import CONVERGED, STEP, WIDEST, Distribution, margins, mirrored
from comitia.optimizers.cmaes.matching import AskedAgain, AskedOnce, Offspring
from comitia.optimizers.cmaes.uncertainty import UncertaintyHandling
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Hyperparameter, Integer, Real

MOST_REDRAWS = 10
"""How often forbidden offspring are drawn again."""
NEAR = 1e-6
"""Distance in the encoded range within which a trial may be an offspring that was drawn on another machine."""
NEAR_SHARE = 1e-3
"""The same as a share of the reals' largest standard deviation, and of the narrowest bin."""
MOST_STALLED = 10
"""Generations in a row that bring nothing new before the search starts again elsewhere."""
MOST_DRAWS = 1000
"""Draws from a space that is too large to list before it counts as exhausted."""


@dataclass(frozen=True)
class Options:
    """What a search is, beside its space and seeds; see `CMAES`."""

    population: int
    steps: Array
    margins: Array
    asks_again: bool
    restarts: bool
    averages: int
    uncertainty: UncertaintyHandling | None


class CMAES:
    """Offspring from a normal distribution that is moved and shaped by the better half of them.

    The distribution is a fold over the history: generation `g` draws its offspring from the stream `("cma", start, g)`,
    and once all of them have values the next distribution follows. A trial that the user enqueued counts as offspring
    if it happens to be one, and is nothing to the distribution otherwise. A failed trial is as bad as the worst of its
    generation.

    Parameters
    ----------
    space : Space
    population : int, optional
        Offspring per generation, lambda >= 3; the better half are parents. By default `4 + floor(3 ln d)`.
    step : float
        Initial standard deviation in the encoded range.
    log_step : float, optional
        The same for logarithmic hyperparameters, in natural logarithms: Glasmachers and Igel 2008 search `ln C` with a
        step of 1.
    asks_again : bool
        Evaluate a configuration again when it is drawn again: information where every trial has its own splits. Else
        its known value is taken, so no configuration is asked twice.
    restarts : bool
        Start again from a random point when the distribution has shrunk to a point; else nothing is left to ask.
    averages : int
        Fresh resamplings that one fitness value is the mean of.
    uncertainty : UncertaintyHandling, optional
        Adapts that number instead: UH-CMA-ES.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from comitia import History, Seeds, Space
    >>> from comitia.seams import Values
    >>> import numpy as np
    >>> space = Space({"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 1e3)})
    >>> len(CMAES(space).ask(History(2), Values(np.empty(0)), 100, Seeds(0)))
    6
    """

    needs = Needs(generations=True, fixed_values=True)

    def __init__(
        self,
        space: Space,
        *,
        population: int | None = None,
        step: float = STEP,
        log_step: float | None = None,
        asks_again: bool = False,
        restarts: bool = True,
        averages: int = 1,
        uncertainty: UncertaintyHandling | None = None,
    ) -> None:
        if population is None:
            population = 4 + math.floor(3 * math.log(len(space)))
        check_int("CMAES", "population", population, 3)
        check_int("CMAES", "averages", averages)
        for name, size in (("step", step), ("log_step", log_step)):
            if size is not None and not 0 < size < math.inf:
                raise ChoiceError(f"The {name!r} parameter of CMAES must be a number > 0. Got {size!r} instead.")
        self._space = space
        self.asks_again = asks_again or uncertainty is not None
        """Whether a configuration may be asked more than once; a finite space is never exhausted then."""
        self._options = Options(
            population=int(population),
            steps=np.minimum([_step(column, step, log_step) for column in space.columns], WIDEST),
            margins=margins(space, int(population)),
            asks_again=self.asks_again,
            restarts=restarts,
            averages=int(averages),
            uncertainty=uncertainty,
        )

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        return self.evolution(history, values, seeds).asks(history, n)

    def evolution(self, history: History, values: Values, seeds: Seeds) -> Evolution:
        """Return the search after the last generation of which all trials have results."""
        evolution = history.remember((self, seeds), lambda: Evolution(self._space, self._options, seeds))
        while evolution.is_complete(history):
            evolution.advance(history, values.now)
        return evolution


class Evolution:
    """The fold: a distribution, its present generation, and how far the history has been read.

    It is changed in place: one that was advanced is not the old one any more.
    """

    make_distribution = Distribution

    def __init__(self, space: Space, options: Options, seeds: Seeds) -> None:
        self._space = space
        self._options = options
        self._seeds = seeds
        self._used: set[Config] = set()  # configurations of all generations, where they are asked only once
        self._n_read = 0  # trials up to the last one of the generations before
        self._n_stalled = 0
        self._start = 0
        self._settled: Array | None = None  # the first distribution's mean, when there is another
        self.averages: float = options.averages
        """Evaluations that a fitness value is the mean of, before rounding."""
        self.is_over = False
        """Whether nothing is left to ask."""
        self._reals = np.flatnonzero([math.isinf(column.size) for column in space.columns])
        self._all_real = len(self._reals) == len(space)
        finest = max((column.size for column in space.columns if not math.isinf(column.size)), default=1.0)
        self._near = min(NEAR, NEAR_SHARE / finest)
        self._restart(np.full(len(space), 0.5))
        self._draw()

    def asks(self, history: History, n: int) -> list[Ask]:
        """Return up to `n` trials that the present generation still lacks."""
        if self.is_over:
            return []
        generation = self._generation
        return [Ask(generation.rows[i], generation.repeats) for i in self._matching.missing(history)[:n]]

    def is_complete(self, history: History) -> bool:
        """Tell whether every trial of the present generation has a result."""
        if self.is_over:
            return False
        numbers = self._matching.numbers(history)
        return all(number is not None and history.observation(number) is not None for number in numbers)

    @property
    def mean(self) -> Array:
        """The mean as coordinates of the space, (d,), of the first distribution once it has settled."""
        mean = self._distribution.mean if self._settled is None else self._settled
        return np.asarray(self._rows_of(mean[None])[0])

    @property
    def is_converged(self) -> bool:
        """Whether the distribution is narrower in every real than configurations are written."""
        return bool(len(self._reals)) and float(self._distribution.stds[self._reals].max()) < CONVERGED

    # ---- generations ------------------------------------------------------------------------------------------------

    def advance(self, history: History, values: Array) -> None:
        """Turn to the next generation; the present one must be complete."""
        generation = self._generation
        numbers = [number for number in self._matching.numbers(history) if number is not None]
        last = max(numbers, default=-1)
        self._n_stalled = 0 if last >= generation.first else self._n_stalled + 1
        self._n_read = max(self._n_read, last + 1)
        if len(generation.points):
            fitness = self._fitness([_value(history, values, number) for number in numbers])
            self._distribution.tell(generation.evaluated(history, numbers, self._reals), fitness)
            self._number += 1
        if self.is_converged or self._n_stalled >= MOST_STALLED:
            self._start_again()
        else:
            self._draw()

    def _fitness(self, evaluations: Sequence[float]) -> list[float]:
        """Return the value of each individual: the median of its evaluations, infinite if it has none."""
        generation = self._generation
        of_each: list[list[float]] = [[] for _ in generation.points]
        for individual, value in zip(generation.requests, evaluations, strict=True):
            of_each[individual].append(value)
        if self._options.uncertainty is not None:
            self.averages = self._options.uncertainty.next_averages(of_each, self.averages)
        return [
            math.inf if not found else found[0] if len(found) == 1 else float(np.median(found)) for found in of_each
        ]

    def _draw(self) -> None:
        """Draw the offspring of the next generation from its own stream."""
        options, rng = self._options, self._seeds("cma", self._start, self._number)
        points = self._distribution.draw(rng)
        rows = self._rows_of(points)
        requests = list(range(options.population))
        if self._space.forbids:
            is_allowed = self._space.is_allowed(rows)
            for _ in range(MOST_REDRAWS):
                if is_allowed.all():
                    break
                points[~is_allowed] = self._distribution.draw(rng, int((~is_allowed).sum()))
                rows = self._rows_of(points)
                is_allowed = self._space.is_allowed(rows)
            requests = np.flatnonzero(is_allowed).tolist()
        if options.uncertainty is not None:
            # offspring are exchangeable, so the first ones are as good as any, and need not wait for values
            requests += requests[: options.uncertainty.n_reevaluated(options.population, rng)]
        self._begin(points, rows, requests)

    def _begin(self, points: Array, rows: Array, requests: list[int]) -> None:
        near = self._near
        if len(self._reals):
            # when it narrows, offspring and what the user enqueues are ever closer to each other
            near = min(near, NEAR_SHARE * float(self._distribution.stds[self._reals].max()))
        self._generation = Offspring(
            points=points,
            rows=rows,
            requests=requests,
            repeats=max(1, round(self.averages)),
            first=self._n_read,
            near=near,
        )
        self._matching: AskedOnce | AskedAgain
        if self._options.asks_again:
            self._matching = AskedAgain(self._generation)
        else:
            configs = self._space.decode(rows[requests])
            self._used.update(configs)
            self._matching = AskedOnce(self._generation, configs)

    def _rows_of(self, points: Array) -> Array:
        rows = mirrored(points[:, : len(self._space)])
        return rows if self._all_real else self._space.snap(rows)

    # ---- starting again ---------------------------------------------------------------------------------------------

    def _start_again(self) -> None:
        """Begin a new distribution at a random point, which is evaluated first; or end."""
        wants_to = self._options.restarts or not self.is_converged
        self._start += 1
        if self._settled is None:
            self._settled = self._distribution.mean
        x = self._unused(self._seeds("cma-start", self._start)) if wants_to else None
        self.is_over = x is None
        if x is not None:
            self._restart(x)
            self._begin(np.empty((0, len(x))), x[None], [0])

    def _restart(self, x: Array) -> None:
        self._number = 0
        self._n_stalled = 0
        options = self._options
        self._distribution = self.make_distribution(x, options.steps, options.margins, options.population)

    def _unused(self, rng: np.random.Generator) -> Array | None:
        """Return a random configuration that was in no generation, if they are asked only once."""
        if self._options.asks_again:
            return np.asarray(self._space.sample(1, rng)[0])
        for x in self._candidates(rng):
            [config] = self._space.decode(x[None])
            if config not in self._used:
                return x
        return None

    def _candidates(self, rng: np.random.Generator) -> Iterator[Array]:
        everything = self._space.all
        if everything is None:
            for _ in range(MOST_DRAWS):
                yield self._space.sample(1, rng)[0]
        else:
            for index in rng.permutation(len(everything)):
                yield everything[index]


def _value(history: History, values: Array, number: int) -> float:
    """Return a trial's value; infinite for one that failed: the goal's stand-in for it may change as trials come."""
    observation = history.observation(number)
    assert observation is not None
    if not observation.is_ok:
        return math.inf
    # its place among the finished, without a look at all of them
    return float(values[number - sum(trial.number < number for trial in history.pending)])


def _step(column: Hyperparameter, step: float, log_step: float | None) -> float:
    if log_step is None or not isinstance(column, Real | Integer) or not column.log:
        return step
    return log_step / math.log(column.upper / column.lower)
