"""Tables that are drawn anew in every repetition: those of Glasmachers and Igel 2008, §5.1, and a few standard ones.

Named `synthetic:NAME` or `synthetic:NAME:ROWS`, where ROWS is the number of training rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from comitia.arrays import AnyArray, Array
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.problems import Draw
from comitia.errors import ExperimentError, UnknownName
from comitia.evaluation.scoring import Task
from comitia.seeds import Seeds

Rows = tuple[Array, AnyArray]


def chess(n: int, rng: np.random.Generator) -> Rows:
    """Draw points of a 4 x 4 chess board (Glasmachers and Igel 2008): y = (-1)^(floor(x1) + floor(x2)), the colour."""
    X = rng.uniform(0, 4, (n, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(np.intp)


def sparse(n: int, rng: np.random.Generator) -> Rows:
    """Draw the sparse coordinate problem (Glasmachers and Igel 2008): the first six of 20 coordinates decide.

    `k` is drawn from 1 to 6; the label is positive for k <= 3. S = {1..20} without k, then four more are removed from
    S at random; x is 0 on S and 1 elsewhere, so five coordinates are 1, of which k is always one.
    """
    X = np.zeros((n, 20))
    k = rng.integers(0, 6, n)
    X[np.arange(n), k] = 1.0
    order = rng.random((n, 20))
    order[np.arange(n), k] = np.inf
    X[np.arange(n)[:, None], np.argpartition(order, 4, axis=1)[:, :4]] = 1.0
    return X, (k < 3).astype(np.intp)


def twonorm(n: int, rng: np.random.Generator) -> Rows:
    """Draw two unit normals in 20 dimensions with means +-2/sqrt(20) (Breiman 1996)."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 20)) + np.where(y[:, None] == 1, 1, -1) * 2 / np.sqrt(20), y


def friedman(n: int, rng: np.random.Generator) -> Rows:
    """Draw Friedman's first regression problem (1991): five of ten inputs matter, noise of one."""
    X = rng.uniform(size=(n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


@dataclass(frozen=True)
class Generator:
    """How rows are drawn, and how many by default."""

    draw: Callable[[int, np.random.Generator], Rows]
    task: Task
    n_train: int
    n_test: int


GENERATORS = {
    "chess": Generator(chess, "classification", 100, 100_000),
    "sparse": Generator(sparse, "classification", 100, 100_000),
    "twonorm": Generator(twonorm, "classification", 300, 10_000),
    "friedman": Generator(friedman, "regression", 300, 10_000),
}


@dataclass(frozen=True)
class Synthetic:
    """A problem whose rows are drawn anew in each repetition; the experiment's `[split]` is not used."""

    name: str
    generator: Generator
    n_train: int

    @property
    def task(self) -> Task:
        return self.generator.task

    def draw(self, test: HoldOutTest, repetition: int) -> Draw:
        rng = Seeds(repetition)(f"draw/{self.name}")
        X, y = self.generator.draw(self.n_train, rng)
        X_test, y_test = self.generator.draw(self.generator.n_test, rng)
        names = [f"x{j}" for j in range(X.shape[1])]
        return Draw(X, y, X_test, y_test, pd.DataFrame(X, columns=names), pd.DataFrame(X_test, columns=names))


def make_synthetic(reference: str) -> Synthetic:
    """Make `synthetic:NAME` or `synthetic:NAME:ROWS`."""
    _, name, *rest = reference.split(":")
    if name not in GENERATORS:
        raise UnknownName("synthetic problem", name, GENERATORS)
    if len(rest) > 1 or (rest and not (rest[0].isdigit() and int(rest[0]) > 1)):
        raise ExperimentError(f"A synthetic problem must be synthetic:NAME or synthetic:NAME:ROWS. Got {reference!r}.")
    generator = GENERATORS[name]
    return Synthetic(reference, generator, int(rest[0]) if rest else generator.n_train)
