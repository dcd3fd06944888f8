"""CMA-ES on the encoded space (U §2; T §3.2), with pycma for the distribution itself.

What is here: how a distribution over all of R^d searches a box with choices and conditions, which trials belong to
which generation, and the fold that finds the distribution again from a history. The number of evaluations that one
fitness value is worth is `uh_cmaes.py`'s.

- *Bounds*: the landscape is mirrored at every bound, `x(y) = 1 - |(y mod 2) - 1|`, so the search itself has none. An
  optimum on a bound is an ordinary one, and nothing piles up there.
- *Integers, ordinals, categories*: the coordinate is a real of which the bin counts. Its standard deviation never
  falls so low that a generation is expected to leave the bin less than once (`margins`).
- *Conditions*: the distribution lives in all coordinates, and inactive ones do not matter to the value, so they drift
  (C: "no imputation"; they are imputed where configurations are compared, because a `Config` has none).
- *Forbidden clauses*: drawn again, and as bad as the worst if they stay forbidden.
- *Other machines*: offspring are drawn again when a history is read, and another processor's linear algebra draws them
  a little otherwise. A trial is an offspring's if it is very near, and where it was evaluated is what counts from then
  on, so differences do not grow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from comitia.arrays import Array
from comitia.errors import ChoiceError
from comitia.history import History
from comitia.optimizers.cmaes.uncertainty import UncertaintyHandling
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Integer, Real

STEP = 0.3
"""Initial standard deviation in the encoded range: pycma's advice is a quarter to a third; T names none."""
WIDEST = 1.0
"""Largest standard deviation: on a landscape mirrored at both ends it is nearly uniform already."""
CONVERGED = 1e-9
"""Standard deviation of reals, in the encoded range, below which configurations hardly differ in their ten digits."""
MOST_SCALE = 1e30
"""pycma's factors of the standard deviations (step size, axes) must be between this and its inverse."""
MOST_AXIS_RATIO = 1e6
"""Of the longest and the shortest axis; its square is what double precision can just invert."""
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
        Offspring a generation, lambda >= 3; the better half are parents. By default `4 + floor(3 ln d)`.
    step : float
        Initial standard deviation in the encoded range.
    log_step : float, optional
        The same for logarithmic hyperparameters, in natural logarithms: U searches `ln C` with a step of 1.
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
        for name, value, least in (("population", population, 3), ("averages", averages, 1)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise ChoiceError(f"The {name!r} parameter of CMAES must be an int >= {least}. Got {value!r} instead.")
        for name, size in (("step", step), ("log_step", log_step)):
            if size is not None and not 0 < size < math.inf:
                raise ChoiceError(f"The {name!r} parameter of CMAES must be a number > 0. Got {size!r} instead.")
        self._space = space
        self.asks_again = asks_again or uncertainty is not None
        """Whether a configuration may be asked more than once; a finite space is never exhausted then."""
        self._options = Options(
            int(population),
            np.minimum([_step(column, step, log_step) for column in space.columns], WIDEST),
            margins(space, int(population)),
            self.asks_again,
            restarts,
            int(averages),
            uncertainty,
        )

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        return self.evolution(history, values, seeds).asks(history, n)

    def evolution(self, history: History, values: Values, seeds: Seeds) -> Evolution:
        """Return the search after the last generation of which all trials have results."""
        evolution = history.remember((self, seeds), lambda: Evolution(self._space, self._options, seeds))
        while evolution.is_complete(history):
            evolution.advance(history, values.now)
        return evolution


@dataclass(eq=False)
class Generation:
    """Offspring, and the trials that answer for them."""

    points: Array
    """As the distribution drew them, outside the bounds too; none for the point that a search starts again from."""
    rows: Array
    """The same as coordinates of the space.  # (population, d)"""
    requests: list[int]
    """The individual that each trial evaluates: allowed ones, then those that are re-evaluated."""
    repeats: int
    first: int
    """Trials from this number on may be its own: earlier ones precede it."""
    near: float
    """Distance from a row within which a trial is its own."""
    configs: list[Config] = field(default_factory=list)
    """Of each request, where configurations are asked only once."""
    numbers: list[int] = field(default_factory=list)
    """Trials that evaluate the first requests, where configurations are asked again."""

    def __post_init__(self) -> None:
        self.keys = [tuple(row) for row in self.rows.tolist()]


class Evolution:
    """The fold: a distribution, its present generation, and how far the history has been read.

    pycma's object is changed in place, so an evolution that was advanced is not the old one any more.
    """

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
        # a single coordinate gets an idle one beside it: pycma needs two
        self._dimension = max(len(space), 2)
        self._reals = np.flatnonzero([math.isinf(column.size) for column in space.columns])
        self._all_real = len(self._reals) == len(space)
        finest = max((column.size for column in space.columns if not math.isinf(column.size)), default=1.0)
        self._near = min(NEAR, NEAR_SHARE / finest)
        self._restart(np.full(len(space), 0.5))
        self._draw()

    # ---- trials -----------------------------------------------------------------------------------------------------

    def asks(self, history: History, n: int) -> list[Ask]:
        """Return up to `n` trials that the present generation still lacks."""
        if self.is_over:
            return []
        generation = self._generation
        missing = self._missing(history)
        return [Ask(generation.rows[i], generation.repeats) for i in missing[:n]]

    def _missing(self, history: History) -> list[int]:
        """Return the individuals that were not asked for yet."""
        generation = self._generation
        if self._options.asks_again:
            self._read(history)
            return generation.requests[len(generation.numbers) :]
        new: dict[Config, int] = {}
        numbers = self._numbers(history)
        for individual, config, number in zip(generation.requests, generation.configs, numbers, strict=True):
            if number is None:
                new.setdefault(config, individual)
        return list(new.values())

    def _read(self, history: History) -> None:
        """Find the generation's own trials: the next one that is at the next request is it."""
        generation = self._generation
        requests, numbers, keys = generation.requests, generation.numbers, generation.keys
        while self._n_read < len(history) and len(numbers) < len(requests):
            trial, key = history.trial(self._n_read), keys[requests[len(numbers)]]
            if trial.repeats == generation.repeats and (trial.x == key or is_near(trial.x, key, generation.near)):
                numbers.append(self._n_read)
            self._n_read += 1

    def _numbers(self, history: History) -> Sequence[int | None]:
        """Return the trials of the requests; None in place of those that were not asked yet."""
        generation = self._generation
        if self._options.asks_again:
            self._read(history)
            is_asked = len(generation.numbers) == len(generation.requests)
            return generation.numbers if is_asked else [*generation.numbers, None]
        numbers = [history.number_of(config) for config in generation.configs]
        if None in numbers and generation.first < len(history):
            self._find_near(history, numbers)
        return numbers

    def _find_near(self, history: History, numbers: list[int | None]) -> None:
        """Put in trials after the generations before that are at a request, but for the last digits."""
        generation = self._generation
        soon = generation.first + 4 * self._options.population  # nearly always there, and there may be many more
        found: dict[Config, int | None] = {}
        taken = set(numbers)
        for k, config in enumerate(generation.configs):
            if numbers[k] is None and config not in found:
                x = generation.rows[generation.requests[k]]
                for start, stop in ((generation.first, soon), (soon, len(history))):
                    distances = np.abs(history.X[start:stop] - x).max(axis=1)
                    near = start + np.flatnonzero(distances <= generation.near)
                    found[config] = next((number for number in near.tolist() if number not in taken), None)
                    if found[config] is not None:
                        break
                taken.add(found[config])
            if numbers[k] is None:
                numbers[k] = found[config]

    def is_complete(self, history: History) -> bool:
        """Tell whether every trial of the present generation has a result."""
        if self.is_over:
            return False
        return all(number is not None and history.observation(number) is not None for number in self._numbers(history))

    # ---- generations ------------------------------------------------------------------------------------------------

    def advance(self, history: History, values: Array) -> None:
        """Go on to the next generation; the present one must be complete."""
        generation = self._generation
        numbers = [number for number in self._numbers(history) if number is not None]
        last = max(numbers, default=-1)
        self._n_stalled = 0 if last >= generation.first else self._n_stalled + 1
        self._n_read = max(self._n_read, last + 1)
        if len(generation.points):
            points = self._evaluated(history, numbers)
            fitness = self._fitness([_value(history, values, number) for number in numbers])
            self._strategy.tell(list(points), places(fitness), check_points=False)
            self._keep_sound()
            self._number += 1
        if self.is_converged or self._n_stalled >= MOST_STALLED:
            self._start_again()
        else:
            self._draw()

    def _evaluated(self, history: History, numbers: Sequence[int]) -> Array:
        """Return the offspring where they were evaluated.  # (population, d).

        The record has the mirror image of a real; of a bin, only which one, and there what is drawn now stands.
        """
        generation, reals = self._generation, self._reals
        points = generation.points.copy()
        for individual, number in zip(generation.requests, numbers, strict=True):
            x, key = history.trial(number).x, generation.keys[individual]
            if x != key and is_near(x, key, generation.near):
                drawn = generation.points[individual, reals]
                shift = (np.array(x) - generation.rows[individual])[reals]
                points[individual, reals] = drawn + np.where(np.mod(drawn, 2.0) < 1, shift, -shift)
        return points

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
        options = self._options
        self._rng = self._seeds("cma", self._start, self._number)
        points = np.asarray(self._strategy.ask())
        rows = self._rows_of(points)
        requests = list(range(options.population))
        if self._space.forbids:
            is_allowed = self._space.is_allowed(rows)
            for _ in range(MOST_REDRAWS):
                if is_allowed.all():
                    break
                points[~is_allowed] = self._strategy.ask(int((~is_allowed).sum()))
                rows = self._rows_of(points)
                is_allowed = self._space.is_allowed(rows)
            requests = np.flatnonzero(is_allowed).tolist()
        if options.uncertainty is not None:
            # offspring are exchangeable, so the first ones are as good as any, and need not wait for values
            requests += requests[: options.uncertainty.n_reevaluated(options.population, self._rng)]
        self._begin(points, rows, requests)

    def _begin(self, points: Array, rows: Array, requests: list[int]) -> None:
        near = self._near
        if len(self._reals):
            # when it narrows, offspring and what the user enqueues are ever closer to each other
            near = min(near, NEAR_SHARE * float(self._stds[self._reals].max()))
        self._generation = Generation(points, rows, requests, max(1, round(self.averages)), self._n_read, near)
        if not self._options.asks_again:
            self._generation.configs = self._space.decode(rows[requests])
            self._used.update(self._generation.configs)

    def _rows_of(self, points: Array) -> Array:
        rows = mirrored(points[:, : len(self._space)])
        return rows if self._all_real else self._space.snap(rows)

    # ---- the distribution -------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Array:
        """The mean as coordinates of the space, of the first distribution once it has settled.  # (d,)."""
        mean = self._strategy.mean if self._settled is None else self._settled
        return np.asarray(self._rows_of(mean[None])[0])

    @property
    def is_converged(self) -> bool:
        """Whether the distribution is narrower in every real than configurations are written."""
        return bool(len(self._reals)) and float(self._stds[self._reals].max()) < CONVERGED

    def _start_again(self) -> None:
        """Begin a new distribution at a random point, which is evaluated first; or end."""
        wants_to = self._options.restarts or not self.is_converged
        self._start += 1
        if self._settled is None:
            self._settled = self._strategy.mean
        x = self._unused(self._seeds("cma-start", self._start)) if wants_to else None
        self.is_over = x is None
        if x is not None:
            self._restart(x)
            self._begin(np.empty((0, len(x))), x[None], [0])

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

    def _restart(self, x: Array) -> None:
        self._number = 0
        self._n_stalled = 0
        self._strategy = self._make_strategy(x, self._options.steps)
        self._stds: Array = self._options.steps

    def _make_strategy(self, mean: Array, stds: Array) -> Any:
        """Return pycma's object, silent, without files, without a look at numpy's global generator."""
        import cma  # here: it takes as long to import as everything else together

        idle = self._dimension - len(stds)
        return cma.CMAEvolutionStrategy(
            np.concatenate([mean, np.full(idle, 0.5)]),
            1.0,
            {
                "popsize": self._options.population,
                "CMA_stds": np.concatenate([stds, np.full(idle, STEP)]),
                "CMA_active": False,  # neither U nor T learns from the worse half
                # else pycma goes over to coordinates of its own, in which its mean is not ours
                "conditioncov_alleviate": False,
                "minstd": np.concatenate([self._options.margins, np.zeros(idle)]),
                "randn": self._normals,
                "seed": math.nan,  # a number would be written to numpy's global state
                "verbose": -9,
            },
        )

    def _normals(self, n: int, d: int) -> Array:
        """Return what pycma turns into offspring by `B D`: `B' z`, so that they are `C^(1/2) z = B D B' z`.  # (n, d).

        With `z` itself they would be other ones where linear algebra gives eigenvectors another sign, or others of
        equal eigenvalues.
        """
        return np.asarray(self._rng.standard_normal((n, d)) @ self._strategy.sm.B)

    def _keep_sound(self) -> None:
        """Keep the distribution within the mirrored landscape's period, and its numbers far from overflow.

        Without information (noise, plateaus) step size, axes and mean are random walks in the logarithm.
        """
        strategy = self._strategy
        self._stds = strategy.stds  # worked out at every look
        widest = float(self._stds.max())
        if widest > WIDEST:
            strategy.sigma *= WIDEST / widest
        if abs(strategy.mean - 0.5).max() > 1.5:
            strategy.mean = np.mod(strategy.mean, 2.0)  # the same landscape: its period is 2
        narrow, wide = float(strategy.D.min()), float(strategy.D.max())
        is_sound = (
            1 / MOST_SCALE < strategy.sigma < MOST_SCALE
            and narrow > 1 / MOST_SCALE
            and wide < min(MOST_SCALE, MOST_AXIS_RATIO * narrow)
        )
        if not is_sound:
            n = len(self._space)
            stds = np.clip(np.nan_to_num(strategy.stds[:n]), np.maximum(self._options.margins, CONVERGED / 2), WIDEST)
            self._strategy = self._make_strategy(mirrored(np.nan_to_num(strategy.mean[:n])), stds)


def mirrored(Y: Array) -> Array:
    """Fold R^d onto [0, 1]^d as if there were mirrors at the bounds."""
    return np.asarray(1 - np.abs(np.mod(Y, 2.0) - 1))


def margins(space: Space, population: int) -> Array:
    """Return the least standard deviation of each coordinate; tiny for reals, 0 for constants.  # (d,).

    A coordinate in the middle of a bin of width `w` leaves it with probability `2 (1 - Phi(w / 2 s))`. That is at least
    `1 / (lambda d)`, so that a generation is expected to leave some bin of one that has nothing but bins (the margin of
    Hamano et al., 2022).
    """
    from scipy.special import ndtri

    furthest = ndtri(1 - 1 / (2 * population * len(space)))
    widths = [0.0 if column.size == 1 or math.isinf(column.size) else 1 / column.size for column in space.columns]
    return np.asarray(np.minimum(np.array(widths) / (2 * furthest), WIDEST))


def places(values: Sequence[float]) -> list[int]:
    """Return each value's place in their order: what CMA-ES sees of values, whatever their size; infinite are last.

    Of equal values the one drawn first comes first. pycma's own sort is not stable, and leaves ties to the processor.
    """
    found = [0] * len(values)
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        found[index] = place
    return found


def is_near(x: Sequence[float], y: Sequence[float], tolerance: float) -> bool:
    """Tell whether no coordinate differs by more."""
    return all(abs(a - b) <= tolerance for a, b in zip(x, y, strict=True))


def _value(history: History, values: Array, number: int | None) -> float:
    """Return a trial's value; infinite for one that failed: the goal's stand-in for it may change as trials come."""
    assert number is not None
    observation = history.observation(number)
    assert observation is not None
    if not observation.is_ok:
        return math.inf
    # its place among the finished, without a look at all of them
    return float(values[number - sum(trial.number < number for trial in history.pending)])


def _step(column: Any, step: float, log_step: float | None) -> float:
    if log_step is None or not isinstance(column, Real | Integer) or not column.log:
        return step
    return log_step / math.log(column.upper / column.lower)
