"""Which trial is whose: the offspring of one generation, and the trials of a history that evaluate them.

Offspring are drawn again when a history is read, and another processor's linear algebra draws them a little otherwise.
A trial is an offspring's if it is very near, and where it was evaluated is what counts from then on (`evaluated`), so
differences do not grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices
from comitia.history import History
from comitia.space import Config

SOON = 100
"""Trials after a generation's beginning that are looked through first: nearly always it is among them."""


@dataclass(eq=False)
class Offspring:
    """The offspring of one generation, and which of them are to be evaluated."""

    points: Array
    """As the distribution drew them, outside the bounds too; none for the point that a search starts again from."""
    rows: Array
    """The same as coordinates of the space, (population, d)."""
    requests: list[int]
    """The individual that each trial evaluates: allowed ones, then those that are re-evaluated."""
    repeats: int
    """Resamplings that each trial averages."""
    first: int
    """Trials from this number on may be its own: earlier ones precede it."""
    near: float
    """Distance from a row within which a trial is its own."""

    def __post_init__(self) -> None:
        self.keys = [tuple(row) for row in self.rows.tolist()]

    def evaluated(self, history: History, numbers: Sequence[int], reals: Indices) -> Array:
        """Return the offspring where their trials evaluated them, (population, d).

        The record has the mirror image of a real; of a bin, only which one, and there what is drawn now stands.
        """
        points = self.points.copy()
        for individual, number in zip(self.requests, numbers, strict=True):
            x, key = history.trial(number).x, self.keys[individual]
            if x != key and is_near(x, key, self.near):
                drawn = self.points[individual, reals]
                shift = (np.array(x) - self.rows[individual])[reals]
                points[individual, reals] = drawn + np.where(np.mod(drawn, 2.0) < 1, shift, -shift)
        return points


class AskedOnce:
    """On a fixed objective an offspring's trial is the first one with its configuration, whoever asked for it."""

    def __init__(self, generation: Offspring, configs: Sequence[Config]) -> None:
        self._generation = generation
        self._configs = configs

    def numbers(self, history: History) -> Sequence[int | None]:
        """Return the trial of each request; None in place of one that was not asked yet."""
        numbers = [history.number_of(config) for config in self._configs]
        if None in numbers and self._generation.first < len(history):
            self._find_near(history, numbers)
        return numbers

    def missing(self, history: History) -> list[int]:
        """Return the individuals that were not asked yet, each configuration once."""
        new: dict[Config, int] = {}
        for individual, config, number in zip(
            self._generation.requests, self._configs, self.numbers(history), strict=True
        ):
            if number is None:
                new.setdefault(config, individual)
        return list(new.values())

    def _find_near(self, history: History, numbers: list[int | None]) -> None:
        """Put in trials since the generation's beginning that are at a request but for the last digits."""
        generation = self._generation
        soon = generation.first + SOON
        found: dict[Config, int | None] = {}
        taken = set(numbers)
        for k, config in enumerate(self._configs):
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


class AskedAgain:
    """Where configurations are asked again it is the next trial in the history that is at the next offspring."""

    def __init__(self, generation: Offspring) -> None:
        self._generation = generation
        self._n_read = generation.first
        self._found: list[int] = []

    def numbers(self, history: History) -> Sequence[int | None]:
        """Return the trials of the first requests, and one None if there are more requests."""
        self._read(history)
        is_asked = len(self._found) == len(self._generation.requests)
        return self._found if is_asked else [*self._found, None]

    def missing(self, history: History) -> list[int]:
        """Return the individuals that were not asked yet."""
        self._read(history)
        return self._generation.requests[len(self._found) :]

    def _read(self, history: History) -> None:
        generation, found = self._generation, self._found
        while self._n_read < len(history) and len(found) < len(generation.requests):
            trial, key = history.trial(self._n_read), generation.keys[generation.requests[len(found)]]
            if trial.repeats == generation.repeats and (trial.x == key or is_near(trial.x, key, generation.near)):
                found.append(self._n_read)
            self._n_read += 1


def is_near(x: Sequence[float], y: Sequence[float], tolerance: float) -> bool:
    """Tell whether no coordinate differs by more."""
    return all(abs(a - b) <= tolerance for a, b in zip(x, y, strict=True))
