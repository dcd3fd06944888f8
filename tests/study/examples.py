"""Spaces, an objective, optimizers and a store that the tests of studies share."""

from typing import Any

import numpy as np
from scipy import stats

from comitia import (
    History,
    Method,
    Seeds,
    Space,
    Study,
)
from comitia.optimizers import RandomSearch
from comitia.seams import Ask, Needs, Values
from comitia.study.store import MemoryStore

SPACE = {"x": stats.uniform(0, 1), "k": ["a", "b"]}
LINE = {"x": stats.uniform(0, 1)}


def square(config: Any) -> float:
    return float((config["x"] - 0.5) ** 2)


def history_of(study: Study) -> Any:
    return [(o.number, o.trial.x, o.config, o.status, o.losses) for o in study.history.observations()]


class Continuing:
    """An optimizer that evaluates one fold of each point and goes on with the other folds if it is good."""

    needs = Needs()

    def __init__(self, space: Space) -> None:
        self.space = space

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        if history.n_pending:
            return []
        if len(history) and history.trial(len(history) - 1).continues is None:
            last = history.trial(len(history) - 1)
            return [Ask(np.array(last.x), folds=(1, 2), continues=last.number)]
        return [Ask(self.space.sample(1, seeds("continuing", len(history)))[0], folds=(0,))]


class Pairs(RandomSearch):
    """Two points at a time, the next two when both are back."""

    needs = Needs(generations=True, fixed_values=True)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        left = 2 - len(history) % 2
        if left == 2 and history.n_pending:
            return []
        return list(super().ask(history, values, min(n, left), seeds))


PAIRS = Method("pairs", Pairs, "two at a time")


class Counting(MemoryStore):
    """Counts records, and keeps how many results were in each."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[int, int]] = []

    def append(self, *, trials: Any = (), observations: Any = (), blobs: Any = None) -> None:
        super().append(trials=trials, observations=observations, blobs=blobs)
        if trials or observations:
            self.records.append((len(trials), len(observations)))
