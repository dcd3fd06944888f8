"""A random forest over a space: mean and variance over trees.

Hutter et al. 2011; SMAC in Lévesque et al. 2017, Table I.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from comitia.arrays import Array
from comitia.gp.acquisition import log_ei
from comitia.gp.outputs import standardise
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

SMALLEST_VARIANCE = 1e-6
"""A forest is certain where all its leaves agree; nothing is that certain."""


@dataclass(frozen=True, eq=False)
class ForestBelief:
    """What a forest believes; see `Belief`."""

    space: Space
    trees: tuple[Any, ...]
    best: float
    pending: Array
    """Imputed rows that count as known, (n, d)."""

    def mean_var(self, X: Array) -> tuple[Array, Array]:
        """Return mean and variance: of the trees' means, and within leaves, (n,) both."""
        rows = np.ascontiguousarray(self.space.impute(X), dtype=np.float32)
        leaves = [tree.apply(rows) for tree in self.trees]
        means = np.array([tree.value[leaf, 0, 0] for tree, leaf in zip(self.trees, leaves, strict=True)])
        inside = np.array([tree.impurity[leaf] for tree, leaf in zip(self.trees, leaves, strict=True)])
        return means.mean(axis=0), np.maximum(means.var(axis=0) + inside.mean(axis=0), SMALLEST_VARIANCE)

    def score(self, X: Array) -> Array:
        """Promise nothing at pending rows, and less in their neighbourhood."""
        mean, var = self.mean_var(X)
        if len(self.pending):
            rows = self.space.impute(X)
            nearest = np.min([((rows - row) ** 2).sum(axis=1) for row in self.pending], axis=0)
            var = np.maximum(var * (1.0 - np.exp(-nearest / 0.02)), SMALLEST_VARIANCE)
        return log_ei(mean, var, self.best)

    def mean(self, X: Array) -> Array:
        return self.mean_var(X)[0]

    def believe(self, X: Array) -> ForestBelief:
        """Shrink the variance around each row: a forest cannot be updated."""
        best = min(self.best, float(self.mean(X).min()))
        return replace(self, best=best, pending=np.concatenate([self.pending, self.space.impute(X)]))


class Forest:
    """A random forest of regression trees; see `Surrogate`. Inactive hyperparameters are imputed.

    Parameters
    ----------
    space : Space
    n_trees : int
        SMAC's ten.
    """

    def __init__(self, space: Space, n_trees: int = 10) -> None:
        self._space = space
        self._n_trees = n_trees

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> ForestBelief:
        from sklearn.tree import ExtraTreeRegressor

        rng = seeds("forest", number)
        rows, z = self._space.impute(X), standardise(values.now)
        trees = []
        for _ in range(self._n_trees):
            # five sixths of the features at each split and nodes of at least 3, as SMAC; its leaves of at least 3 did
            # worse here. Split points are drawn at random, as extra trees do, so that a step of the mean is not always
            # at the same place
            tree = ExtraTreeRegressor(max_features=5 / 6, min_samples_split=3, random_state=int(rng.integers(2**31)))
            some = rng.integers(len(z), size=len(z))
            trees.append(tree.fit(rows[some], z[some]).tree_)
        found = ForestBelief(self._space, tuple(trees), 0.0, np.empty((0, X.shape[1])))
        return replace(found, best=float(found.mean(X).min()))
