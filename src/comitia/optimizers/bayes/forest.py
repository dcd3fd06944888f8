"""A random forest over a space: mean and variance over trees.

Hutter et al. 2011; SMAC in Lévesque et al. 2017, Table I.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array
from comitia.gp.acquisition import log_ei
from comitia.gp.outputs import standardise
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

Rows = NDArray[np.float32]
Orders = dict[int, Rows]
"""For a categorical column: the place of each category."""
SMALLEST_VARIANCE = 1e-6
"""A forest is certain where all its leaves agree; nothing is that certain."""


@dataclass(frozen=True, eq=False)
class ForestBelief:
    """What a forest believes; see `Belief`."""

    forest: Forest
    trees: tuple[tuple[Any, Orders], ...]
    best: float

    def mean_var(self, X: Array) -> tuple[Array, Array]:
        """Return mean and variance: of the trees' means, and within leaves, (n,) both."""
        rows = self.forest.rows(X)
        leaves = [(tree, tree.apply(reordered(rows, orders))) for tree, orders in self.trees]
        means = np.array([tree.value[leaf, 0, 0] for tree, leaf in leaves])
        inside = np.array([tree.impurity[leaf] for tree, leaf in leaves])
        return means.mean(axis=0), np.maximum(means.var(axis=0) + inside.mean(axis=0), SMALLEST_VARIANCE)

    def score(self, X: Array) -> Array:
        return log_ei(*self.mean_var(X), self.best)

    def mean(self, X: Array) -> Array:
        return self.mean_var(X)[0]

    def believe(self, X: Array) -> ForestBelief:
        """Return itself: a forest cannot be updated, and its incumbent is an observed value; see `Apart`."""
        return self


class Forest:
    """A random forest of regression trees; see `Surrogate`. Inactive hyperparameters are imputed.

    As in SMAC: ten trees on bootstraps, five sixths of the features at each split, nodes of at least three are split,
    the incumbent is the least observed value. Its leaves of at least three did worse here; and thresholds are drawn at
    random, as extra trees do, so that a step of the mean is not always at the same place.

    Categories have no order: each tree has them in a random one of its own, so that its thresholds split them into any
    two sets.

    Parameters
    ----------
    space : Space
    n_trees : int
    """

    def __init__(self, space: Space, n_trees: int = 10) -> None:
        self._space = space
        self._n_trees = n_trees
        self._sizes = {int(j): int(space.columns[j].size) for j in np.flatnonzero(space.is_categorical)}

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> ForestBelief:
        from sklearn.tree import ExtraTreeRegressor

        rng = seeds("forest", number)
        rows, z = self.rows(X), standardise(values.now)
        trees = []
        for _ in range(self._n_trees):
            tree = ExtraTreeRegressor(max_features=5 / 6, min_samples_split=3, random_state=int(rng.integers(2**31)))
            orders = {j: rng.permutation(size).astype(np.float32) for j, size in self._sizes.items()}
            some = rng.integers(len(z), size=len(z))
            trees.append((tree.fit(reordered(rows[some], orders), z[some]).tree_, orders))
        return ForestBelief(self, tuple(trees), float(z.min()))

    def rows(self, X: Array) -> Rows:
        """Return imputed rows with the number of each category in place of its coordinate, (n, d)."""
        rows = np.ascontiguousarray(self._space.impute(X), dtype=np.float32)
        for j, size in self._sizes.items():
            rows[:, j] = np.minimum(rows[:, j] * size, size - 1).astype(np.intp)
        return rows


def reordered(rows: Rows, orders: Orders) -> Rows:
    """Return rows with the categories of some columns in another order."""
    rows = rows.copy()
    for j, order in orders.items():
        rows[:, j] = order[rows[:, j].astype(np.intp)]
    return rows
