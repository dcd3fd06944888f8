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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeGuard

import ConfigSpace as CS
import numpy as np

from comitia.arrays import Array, Indices
from comitia.errors import ChoiceError
from comitia.history import History
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Choice, Hyperparameter

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

    def components(self, X: Array) -> Indices:
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


@dataclass
class Last:
    """The last state of the fold over a history, and its generation."""

    state: State
    generation: Generation


class Course(NamedTuple):
    """How one vector changed from generation to generation."""

    labels: tuple[str, ...]
    p: Array
    """A row for each generation, the last one is what the next generation is drawn from.  # (n_generations + 1, k)"""


class PBIL:
    """Sample a generation from probability vectors, move them towards its best half.

    The `meta` of a ConfigSpace hyperparameter may have a `"vector"`: those of the same name share one; and, for a
    number, `"components"`: how many values to choose from, at equal distances on its scale from one end to the other.
    A categorical that has weights starts from them, everything else from the uniform distribution.

    Parameters
    ----------
    space : Space
    population : int
        Individuals of a generation.
    learning_rate : float in (0, 1]
    selected : float in (0, 1]
        Share of a generation, the best ones, that the vectors move towards. Failed individuals are never among them.
    bins : int
        Components for a real that does not say how many, and for an integer that has more values: cells of equal
        probability under the space's own distribution, each of which stands for its centre. Choices have one for each
        value.
    most : int or None
        Components of a number at most, whatever it says: for few trials, since what is selected from a generation tells
        little about many cells.
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
    >>> from comitia.seams import Values
    >>> space = Space({"kind": ["a", "b"], "n": [1, 2, 3]})
    >>> asks = PBIL(space, population=4).ask(History(2), Values(np.empty(0)), 10, Seeds(0))
    >>> 1 <= len(asks) <= 4
    True
    """

    needs = Needs(generations=True, fixed_values=True)

    def __init__(
        self,
        space: Space,
        *,
        population: int = 50,
        learning_rate: float = 0.5,
        selected: float = 0.5,
        bins: int = 32,
        most: int | None = None,
        floor: float = 0.0,
        flat: bool = False,
    ) -> None:
        _check_int("population", population)
        _check_int("bins", bins)
        if most is not None:
            _check_int("most", most)
        _check_share("learning_rate", learning_rate, 0 < learning_rate <= 1, "(0, 1]")
        _check_share("selected", selected, 0 < selected <= 1, "(0, 1]")
        _check_share("floor", floor, 0 <= floor < 1, "[0, 1)")
        self._space = space
        self._population = population
        self._rate = learning_rate
        self._n_selected = max(1, round(selected * population))
        self._floor = floor
        self.vectors = make_vectors(space, bins, most, flat=flat)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Return what is left to ask of the present generation; `[]` while some of it is pending."""
        last = history.remember((self, seeds), lambda: Last(*self._first(seeds)))
        for state, generation in self._fold(history, values, seeds, last.state, last.generation):
            last.state, last.generation = state, generation
        unasked: dict[Config, Array] = {}
        for x, config in zip(generation.X, generation.configs, strict=True):
            if not history.was_asked(config):
                unasked.setdefault(config, x)
        return [Ask(x) for x in list(unasked.values())[:n]]

    def courses(self, history: History, values: Values, seeds: Seeds) -> dict[str, Course]:
        """Return the course of each vector, by its name: a function of the arguments alone.

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

    def _first(self, seeds: Seeds) -> tuple[State, Generation]:
        state = State(0, tuple(vector.start for vector in self.vectors))
        return state, self.generation(state, seeds)

    def _fold(
        self,
        history: History,
        values: Values,
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
            fitness = [
                np.nan if np.isnan(history.losses[k]) else values.now[position[k]] for k in numbers if k is not None
            ]
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


def make_vectors(space: Space, bins: int, most: int | None, *, flat: bool) -> tuple[Vector, ...]:
    """Return the vectors of a space: one for each hyperparameter, shared and joint ones where it says so."""
    only_open = values_that_only_open_a_choice(space) if flat else {}
    second_choices = {child for children in only_open.values() for child in children.values()}
    groups: dict[str, list[int]] = {}
    cells_of: dict[int, Array] = {}
    for index, (name, hyperparameter) in enumerate(space.configspace.items()):
        if index in second_choices:  # part of the first choice's vector
            continue
        meta = hyperparameter.meta or {}
        groups.setdefault(meta.get("vector", name), []).append(index)
        own = meta.get("components")
        if own is not None:
            _check_int("components", own, f"in the meta of {name!r}")
        cells_of[index] = _cells(space.columns[index], own, bins, most)
    found = []
    for name, columns in groups.items():
        first, cells = space.columns[columns[0]], cells_of[columns[0]]
        if columns[0] in only_open:
            found.append(_joint(space, columns[0], only_open[columns[0]]))
            continue
        if any(not np.array_equal(cells_of[c], cells) for c in columns):
            raise ChoiceError(
                f"Hyperparameters that share the vector {name!r} must have the same number of values. Got "
                f"{', '.join(repr(space.names[c]) for c in columns)}. Give one of them another vector."
            )
        labels = tuple(str(value) for value in first.values(cells))
        found.append(Vector(name, labels, cells[:, None], _start(first, len(cells)), tuple((c,) for c in columns)))
    return tuple(found)


def _cells(column: Hyperparameter, own: int | None, bins: int, most: int | None) -> Array:
    """Return the coordinates of a column's components: all values of a choice, cells of a number.

    Parameters
    ----------
    own : int or None
        How many components the hyperparameter itself asks for.
    """
    if isinstance(column, Choice):
        return column.grid(int(column.size))
    wanted = own or bins
    n = min(wanted, most or wanted)
    if column.size <= n or n == own:
        return column.grid(n)  # every value of an integer, or from one end to the other
    centres = (np.arange(n) + 0.5) / n
    return np.unique(column.snap(column.warp(centres)))


def _start(column: Hyperparameter, n: int) -> Array:
    weights = column.weights if isinstance(column, Choice) and column.weights is not None else np.ones(n)
    return np.asarray(weights, dtype=np.float64) / np.sum(weights)


def _joint(space: Space, first: int, second_of: dict[int, int]) -> Vector:
    """Return the vector in which the values of a first choice and of its second choices compete.

    Parameters
    ----------
    first : int
        Column of the first choice.
    second_of : dict
        Columns of the second choices, by the index of the value that opens each. The second one's values stand in the
        vector instead of it.
    """
    columns = (first, *second_of.values())
    cells, labels = [], []
    for index, coordinate in enumerate(space.columns[first].grid(1)):
        second = second_of.get(index)
        options = [MIDDLE] if second is None else space.columns[second].grid(1).tolist()
        for option in options:
            row = np.full(len(columns), MIDDLE)
            row[0] = coordinate
            if second is not None:
                row[columns.index(second)] = option
            cells.append(row)
            shown = space.columns[first if second is None else second]
            labels.append(str(shown.values(np.array([coordinate if second is None else option]))[0]))
    return Vector(space.names[first], tuple(labels), np.array(cells), np.full(len(cells), 1 / len(cells)), (columns,))


def values_that_only_open_a_choice(space: Space) -> dict[int, dict[int, int]]:
    """Return, for each first choice, which of its values do nothing but open a second choice, and which one.

    A first choice depends on nothing. "No ensemble" only opens the choice of a classifier; "bagging" opens its own
    tuning too. Columns by number, values by index: `{first: {value: second}}`.
    """
    index = {name: i for i, name in enumerate(space.names)}
    conditions = space.configspace.conditions
    conditional = {condition.child.name for condition in conditions}
    found: dict[int, dict[int, int]] = {}
    for name, first in index.items():
        column = space.columns[first]
        if name in conditional or not _is_plain_choice(column):
            continue
        for value, option in enumerate(column.options):
            opened_by_value = [c for c in conditions if _is_opened_by(c, name, option)]
            if len(opened_by_value) == 1 and type(opened_by_value[0]) is CS.EqualsCondition:
                second = index[opened_by_value[0].child.name]
                if _is_plain_choice(space.columns[second]):
                    found.setdefault(first, {})[value] = second
    return found


def _is_plain_choice(column: Hyperparameter) -> TypeGuard[Choice]:
    """Tell whether values have neither order nor weights, so that those of two choices can stand side by side."""
    return isinstance(column, Choice) and not column.ordered and column.weights is None


def _is_opened_by(condition: object, parent: str, option: object) -> bool:
    """Tell whether a condition, or a part of it, holds where a parent has this value."""
    if isinstance(condition, CS.AndConjunction | CS.OrConjunction):
        return any(_is_opened_by(part, parent, option) for part in condition.components)
    if condition.parent.name != parent:  # type: ignore[attr-defined]
        return False
    if isinstance(condition, CS.InCondition):
        return option in condition.values
    return not isinstance(condition, CS.EqualsCondition) or bool(condition.value == option)


def _check_int(name: str, value: object, where: str = "parameter of PBIL") -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ChoiceError(f"The {name!r} {where} must be an int >= 1. Got {value!r} instead.")


def _check_share(name: str, value: float, is_good: bool, expected: str) -> None:
    if not is_good:
        raise ChoiceError(f"The {name!r} parameter of PBIL must be a number in {expected}. Got {value!r} instead.")
