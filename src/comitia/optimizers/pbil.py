"""PBIL, population-based incremental learning, over any conditional space (P §4).

A probability vector `p` for each hyperparameter of the space cut into cells. A generation is sampled down the
hierarchy, its best half selected, and every vector moves towards what they used:

    p[i] <- (1 - LR) p[i] + LR RelFreq[i]                                                          (P §2.3, §4.4)

where RelFreq counts the selected individuals *that used the vector*; one that nobody used stays as it is.

The search is a fold: `advance(state, generation, fitness)` gives the next state, and a generation is a function of the
state and of its own random stream. A configuration is fitted once: an individual that is known already has its known
value, so a generation may ask for fewer trials than it has individuals, and for none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import ConfigSpace as CS
import numpy as np
from numpy.typing import NDArray

from comitia.errors import ChoiceError
from comitia.history import History
from comitia.seams import Ask
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Choice, Hyperparameter

Array = NDArray[np.float64]
MIDDLE = 0.5
"""Coordinate of what a component leaves open; `Space.impute` puts inactive hyperparameters there too."""
MOST_STALE = 10
"""Generations in a row without a new individual before the vectors start over: at LR 0.5 they have converged."""
MOST_ROUNDS = 100
"""Rounds of rejection, for forbidden clauses and for what was seen, before giving up."""


@dataclass(frozen=True)
class Vector:
    """What one probability vector chooses from."""

    name: str
    labels: tuple[str, ...]
    """What each component stands for."""
    cells: Array
    """Coordinates that each component sets.  # (n_components, width)"""
    start: Array
    """Probabilities of the first generation.  # (n_components,)"""
    draws: tuple[tuple[int, ...], ...]
    """The columns that each draw sets: one draw a hyperparameter, several where hyperparameters share the vector."""

    def components(self, X: Array) -> NDArray[np.intp]:
        """Return the component nearest to each row of imputed coordinates, for each draw.  # (n, n_draws)."""
        distances = [((X[:, None, columns] - self.cells) ** 2).sum(axis=2) for columns in self.draws]
        return np.stack([d.argmin(axis=1) for d in distances], axis=1)


@dataclass(frozen=True)
class State:
    """Where the search stands before a generation."""

    number: int
    p: tuple[Array, ...]
    """One distribution a vector."""
    seen: frozenset[Config] = frozenset()
    """Every individual so far."""
    n_stale: int = 0
    """How many of the last generations held no new one."""


@dataclass(frozen=True)
class Generation:
    """The individuals of one generation; equal ones are listed as often as they were drawn."""

    X: Array
    """Coordinates.  # (n, d)"""
    configs: tuple[Config, ...]
    is_restart: bool = False
    """Whether they were drawn from the whole space because the vectors had converged."""


class Course(NamedTuple):
    """How one vector went."""

    labels: tuple[str, ...]
    p: Array
    """A row for each generation, the last one is what the next generation is drawn from.  # (n_generations + 1, k)"""


class PBIL:
    """Sample a generation from probability vectors, move them towards its best half.

    Hyperparameters of ConfigSpace whose `meta` names the same `"vector"` share one. A categorical that has weights
    starts from them, everything else from the uniform distribution.

    Parameters
    ----------
    space : Space
    population : int
        Individuals of a generation.
    learning_rate : float in (0, 1]
    selected : float in (0, 1]
        Share of a generation, the best ones, that the vectors move towards. Failed individuals are never among them.
    bins : int
        Components for a real, and for an integer that has more values: cells of equal probability under the space's own
        distribution, each of which stands for its centre. Choices have one for each value.
    floor : float in [0, 1)
        Share of the draws that ignore the vectors: each component keeps at least `floor` times its starting
        probability. 0 is the paper's.
    flat : bool
        P's first version: where a value of a first choice does nothing but open a second choice (no ensemble: which
        single classifier), the values of both compete in one vector. Spaces without such a value are the same in both.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia import History, Seeds, Space
    >>> from comitia.optimizers import PBIL
    >>> space = Space({"kind": ["a", "b"], "n": [1, 2, 3]})
    >>> asks = PBIL(space, population=4).ask(History(2), np.empty(0), 10, Seeds(0))
    >>> 1 <= len(asks) <= 4
    True
    """

    needs_generations = True

    def __init__(
        self,
        space: Space,
        *,
        population: int = 50,
        learning_rate: float = 0.5,
        selected: float = 0.5,
        bins: int = 32,
        floor: float = 0.0,
        flat: bool = False,
    ) -> None:
        _check_int("population", population)
        _check_int("bins", bins)
        _check_share("learning_rate", learning_rate, 0 < learning_rate <= 1, "(0, 1]")
        _check_share("selected", selected, 0 < selected <= 1, "(0, 1]")
        _check_share("floor", floor, 0 <= floor < 1, "[0, 1)")
        self._space = space
        self._population = population
        self._rate = learning_rate
        self._n_selected = max(1, round(selected * population))
        self._floor = floor
        self.vectors = make_vectors(space, bins, flat=flat)
        self._cache: tuple[History, int, State, Generation] | None = None  # the last state of the fold over a history

    def ask(self, history: History, values: NDArray[np.float64], n: int, seeds: Seeds) -> Sequence[Ask]:
        """See `Optimizer`. Returns what is left to ask of the present generation; `[]` while some of it is pending."""
        start = self._cached(history, seeds) or self._first(seeds)
        [(state, generation)] = deque(self._fold(history, values, seeds, *start), maxlen=1)  # the last one counts
        self._cache = (history, seeds.seed, state, generation)
        unasked: dict[Config, Array] = {}
        for x, config in zip(generation.X, generation.configs, strict=True):
            if not history.was_asked(config):
                unasked.setdefault(config, x)
        return [Ask(x) for x in list(unasked.values())[:n]]

    def evolution(self, history: History, values: NDArray[np.float64], seeds: Seeds) -> dict[str, Course]:
        """Return how each vector went, by its name: a function of the arguments alone.

        Parameters
        ----------
        history, values, seeds
            As for `ask`: those of the study, `study.history`, `study.method.goal.values(...)` and `study.seeds`.
        """
        states = [state for state, _ in self._fold(history, values, seeds, *self._first(seeds))]
        return {
            vector.name: Course(vector.labels, np.array([state.p[k] for state in states]))
            for k, vector in enumerate(self.vectors)
        }

    # ---- the fold -------------------------------------------------------------------------------------------------

    def _cached(self, history: History, seeds: Seeds) -> tuple[State, Generation] | None:
        if self._cache is None or self._cache[0] is not history or self._cache[1] != seeds.seed:
            return None
        return self._cache[2:]

    def _first(self, seeds: Seeds) -> tuple[State, Generation]:
        state = State(0, tuple(vector.start for vector in self.vectors))
        return state, self.generation(state, seeds)

    def _fold(
        self,
        history: History,
        values: NDArray[np.float64],
        seeds: Seeds,
        state: State,
        generation: Generation,
    ) -> Iterator[tuple[State, Generation]]:
        """Yield a state with its generation, and all that follow from what the history knows."""
        position = {int(number): k for k, number in enumerate(history.finished)}
        while True:
            yield state, generation
            numbers = [history.number_of(config) for config in generation.configs]
            if not numbers or any(number not in position for number in numbers):
                return
            # a failed individual's value moves when worse ones succeed, so it has none here
            fitness = [np.nan if np.isnan(history.losses[k]) else values[position[k]] for k in numbers if k is not None]
            state = self.advance(state, generation, np.array(fitness))
            generation = self.generation(state, seeds)

    def advance(self, state: State, generation: Generation, fitness: Array) -> State:
        """Return the state after a generation: P §4.4.

        Parameters
        ----------
        fitness : array of shape (n,)
            What is minimised; NaN for an individual that failed. Of equal ones, the earlier drawn is the better.
        """
        best = np.argsort(fitness, kind="stable")[: self._n_selected]  # NaN come last
        best = best[~np.isnan(fitness[best])]
        p = tuple(vector.start for vector in self.vectors) if generation.is_restart else state.p
        is_new = not state.seen.issuperset(generation.configs)
        return State(
            state.number + 1,
            self._moved(p, generation.X[best]),
            state.seen.union(generation.configs),
            0 if is_new else state.n_stale + 1,
        )

    def _moved(self, p: tuple[Array, ...], X: Array) -> tuple[Array, ...]:
        """Move the vectors towards the selected individuals."""
        active = self._space.active(X)
        X = self._space.impute(X)
        found = []
        for vector, old in zip(self.vectors, p, strict=True):
            is_used = active[:, [columns[0] for columns in vector.draws]]
            counts = np.bincount(vector.components(X)[is_used], minlength=len(old))
            total = counts.sum()
            found.append((1 - self._rate) * old + self._rate * counts / total if total else old)
        return tuple(found)

    # ---- individuals ----------------------------------------------------------------------------------------------

    def generation(self, state: State, seeds: Seeds) -> Generation:
        """Return the individuals that follow from a state; none when nothing is left that is new."""
        rng = seeds("pbil", state.number)
        is_restart = state.n_stale >= MOST_STALE
        X = self._unseen(state, rng) if is_restart else self._sampled(state, rng)
        return Generation(X, tuple(self._space.decode(X)), is_restart)

    def _sampled(self, state: State, rng: np.random.Generator) -> Array:
        """Draw a population from the vectors, forbidden ones left out.  # (population, d)."""
        kept = np.empty((0, len(self._space)))
        for _ in range(MOST_ROUNDS):
            X = self._draw(state, rng)
            kept = np.concatenate([kept, X[self._space.is_allowed(X)]])
            if len(kept) >= self._population:
                return kept[: self._population]
        # what the vectors lead to is (nearly) all forbidden: centres of cells may be so where the space is not
        return np.concatenate([kept, self._space.sample(self._population - len(kept), rng)])

    def _draw(self, state: State, rng: np.random.Generator) -> Array:
        """Draw every vector for every individual: those of inactive hyperparameters are not looked at again."""
        X = np.full((self._population, len(self._space)), MIDDLE)
        for vector, p in zip(self.vectors, state.p, strict=True):
            ends = np.cumsum((1 - self._floor) * p + self._floor * vector.start)
            u = rng.random((self._population, len(vector.draws))) * ends[-1]
            drawn = np.minimum(np.searchsorted(ends, u, side="right"), len(ends) - 1)
            for j, columns in enumerate(vector.draws):
                X[:, columns] = vector.cells[drawn[:, j]]
        return X

    def _unseen(self, state: State, rng: np.random.Generator) -> Array:
        """Return up to a population of different points that were no individuals yet.  # (n, d)."""
        found: dict[Config, Array] = {}
        for X in self._candidates(rng):
            for x, config in zip(X, self._space.decode(X), strict=True):
                if config not in state.seen:
                    found.setdefault(config, x)
            if len(found) >= self._population:
                break
        return np.array(list(found.values())[: self._population]).reshape(-1, len(self._space))

    def _candidates(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield all of a space that can be listed, in a random order; else draws from it, until it is hopeless."""
        everything = self._space.all
        if everything is None:
            for _ in range(MOST_ROUNDS):
                yield self._space.sample(self._population, rng)
            return
        order = rng.permutation(len(everything))
        for start in range(0, len(order), max(self._population, 100)):
            yield everything[order[start : start + max(self._population, 100)]]


# ---- vectors ------------------------------------------------------------------------------------------------------


def make_vectors(space: Space, bins: int, *, flat: bool) -> tuple[Vector, ...]:
    """Return the vectors of a space: one for each hyperparameter, shared and joint ones where it says so."""
    bridges = find_bridges(space) if flat else {}
    opened = {child for children in bridges.values() for child in children.values()}
    groups: dict[str, list[int]] = {}
    for index, (name, hyperparameter) in enumerate(space.configspace.items()):
        if index not in opened:
            shared = (hyperparameter.meta or {}).get("vector", name)
            groups.setdefault(shared, []).append(index)
    found = []
    for name, columns in groups.items():
        first = space.columns[columns[0]]
        cells = _cells(first, bins)
        if columns[0] in bridges:
            found.append(_joint(space, columns[0], bridges[columns[0]]))
            continue
        if any(not np.array_equal(_cells(space.columns[c], bins), cells) for c in columns):
            raise ChoiceError(
                f"Hyperparameters that share the vector {name!r} must have the same number of values. Got "
                f"{', '.join(repr(space.names[c]) for c in columns)}. Give one of them another vector."
            )
        labels = tuple(str(value) for value in first.values(cells))
        found.append(Vector(name, labels, cells[:, None], _start(first, len(cells)), tuple((c,) for c in columns)))
    return tuple(found)


def _cells(column: Hyperparameter, bins: int) -> Array:
    """Return the coordinates of a column's components: all values of a choice, centres of cells of a number."""
    if isinstance(column, Choice) or column.size <= bins:
        return column.grid(int(column.size))
    centres = (np.arange(bins) + 0.5) / bins
    return np.unique(column.snap(column.warp(centres)))


def _start(column: Hyperparameter, n: int) -> Array:
    weights = column.weights if isinstance(column, Choice) and column.weights is not None else np.ones(n)
    return np.asarray(weights, dtype=np.float64) / np.sum(weights)


def _joint(space: Space, root: int, opened: dict[int, int]) -> Vector:
    """Return the vector in which the values of a choice and of those that it opens compete."""
    columns = (root, *opened.values())
    cells, labels = [], []
    for index, coordinate in enumerate(space.columns[root].grid(1)):
        child = opened.get(index)
        options = [MIDDLE] if child is None else space.columns[child].grid(1).tolist()
        for option in options:
            row = np.full(len(columns), MIDDLE)
            row[0] = coordinate
            if child is not None:
                row[columns.index(child)] = option
            cells.append(row)
            shown = space.columns[root if child is None else child]
            labels.append(str(shown.values(np.array([coordinate if child is None else option]))[0]))
    return Vector(space.names[root], tuple(labels), np.array(cells), np.full(len(cells), 1 / len(cells)), (columns,))


def find_bridges(space: Space) -> dict[int, dict[int, int]]:
    """Return, for each first choice, which of its values do nothing but open one other choice, and which.

    Columns by number, values by index: `{root: {value: child}}`.
    """
    index = {name: i for i, name in enumerate(space.names)}
    conditions = space.configspace.conditions
    conditional = {condition.child.name for condition in conditions}
    found: dict[int, dict[int, int]] = {}
    for name, root in index.items():
        column = space.columns[root]
        if name in conditional or not isinstance(column, Choice) or column.ordered or column.weights is not None:
            continue
        for value, option in enumerate(column.options):
            children = [c for c in conditions if _may_open(c, name, option)]
            if len(children) == 1 and type(children[0]) is CS.EqualsCondition:
                child = index[children[0].child.name]
                opened = space.columns[child]
                if isinstance(opened, Choice) and not opened.ordered and opened.weights is None:
                    found.setdefault(root, {})[value] = child
    return found


def _may_open(condition: object, parent: str, option: object) -> bool:
    """Tell whether a value of a parent has a part in opening a condition's child."""
    if isinstance(condition, CS.AndConjunction | CS.OrConjunction):
        return any(_may_open(part, parent, option) for part in condition.components)
    if condition.parent.name != parent:  # type: ignore[attr-defined]
        return False
    if isinstance(condition, CS.InCondition):
        return option in condition.values
    return not isinstance(condition, CS.EqualsCondition) or bool(condition.value == option)


def _check_int(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ChoiceError(f"The {name!r} parameter of PBIL must be an int >= 1. Got {value!r} instead.")


def _check_share(name: str, value: float, is_good: bool, expected: str) -> None:
    if not is_good:
        raise ChoiceError(f"The {name!r} parameter of PBIL must be a number in {expected}. Got {value!r} instead.")
