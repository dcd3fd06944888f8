"""PBIL, population-based incremental learning, over any conditional space.

Xavier-Júnior et al. 2020, §4.

A probability vector `p` for each hyperparameter of the space cut into cells. A generation is sampled down the
hierarchy, its best half selected, and every vector moves towards what they used:

    p[i] <- (1 - LR) p[i] + LR RelFreq[i]                                                              (§2.3, §4.4)

where RelFreq counts the selected individuals *that used the vector*; one that none of them used stays as it is.

The search is a fold: `advance(state, generation, fitness)` gives the next state, and a generation is a function of the
state and of its own random stream. A configuration is fitted once: an individual that is known already has its known
value, so a generation may ask for fewer trials than it has individuals, and for none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from comitia.arrays import Array
from comitia.errors import ChoiceError, check_int
from comitia.history import History
from comitia.optimizers.pbil.vectors import MIDDLE, make_vectors
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Config, Space

MOST_STALE = 10
"""Generations in a row without a new individual before the vectors start over: at LR 0.5 they have converged."""
MOST_ROUNDS = 100
"""Rounds of rejection, for forbidden clauses and for what was seen, before giving up."""


@dataclass(frozen=True)
class State:
    """Where the search stands before a generation."""

    number: int
    p: tuple[Array, ...]
    """One distribution per vector."""
    seen: frozenset[Config] = frozenset()
    """Every individual so far."""
    n_stale: int = 0
    """How many of the last generations held no new one."""


@dataclass(frozen=True)
class Generation:
    """The individuals of one generation; equal ones are listed as often as they were drawn."""

    X: Array
    """Coordinates."""
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
    """A row for each generation, the last one is what the next generation is drawn from, (n_generations + 1, k)."""


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
        The paper's first version: where a value of a first choice does nothing but open a second choice (no ensemble:
        which single classifier), the values of both compete in one vector. Spaces without such a value are the same in
        both.

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
        check_int("PBIL", "population", population)
        check_int("PBIL", "bins", bins)
        if most is not None:
            check_int("PBIL", "most", most)
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
        """Return the state after a generation (§4.4).

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
        """Draw a population from the vectors, forbidden ones left out, (population, d)."""
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
        """Return up to a population of different points that were no individuals yet, (n, d)."""
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


def _check_share(name: str, value: float, is_good: bool, expected: str) -> None:
    if not is_good:
        raise ChoiceError(f"The {name!r} parameter of PBIL must be a number in {expected}. Got {value!r} instead.")
