"""Random search: uniform over the space, in the logarithm where the space says so (Lévesque 2018, §3.3)."""

from collections.abc import Iterator, Sequence

import numpy as np

from comitia.arrays import Array
from comitia.history import History
from comitia.optimizers.unseen import Unseen
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Space


class RandomSearch:
    """Draw trial `k` from the stream `("random", k)`: one ask for two equals two asks for one."""

    needs = Needs()

    def __init__(self, space: Space) -> None:
        self._space = space

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        numbers = range(len(history), len(history) + n)
        if not self._space.is_finite and not self._space.forbids:  # every draw is good: all at once
            U = np.array([seeds("random", k).random(len(self._space)) for k in numbers])
            return [Ask(x) for x in self._space.from_uniform(U)]
        if not self._space.is_finite:
            return [Ask(self._space.sample(1, seeds("random", k))[0]) for k in numbers]
        unseen = Unseen(self._space, history)
        found = []
        for k in numbers:
            x = unseen.first(self._draws(seeds("random", k)), lambda k=k: seeds("random-rest", k))  # type: ignore[misc]
            if x is None:
                break
            found.append(Ask(x))
        return found

    def _draws(self, rng: np.random.Generator) -> Iterator[Array]:
        while True:
            yield self._space.sample(1, rng)[0]
