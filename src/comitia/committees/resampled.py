"""Committees chosen again on many resamples of the rows at once, for losses that are squares.

The squared error of an average is a sum over pairs of its members, so a resample of the rows is one matrix of products,
(n_models, n_models), and the greedy choice never sees the rows again. For the same rows the choice is that of `Greedy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.greedy import LEAST, TIE, Greedy, is_beyond_noise
from comitia.committees.losses import AverageLoss
from comitia.committees.tempering import LEAST_PROBABILITY, WIDEST, n_rows, surprise, tempered

N_TEMPERATURES = 33
"""Temperatures that are tried on each resample: a grid is worked out once for all of them."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """What models say about rows, and committees of them that are chosen by some of the rows."""

    greedy: Greedy
    """Without bags and prices: see `can_choose`."""
    loss: AverageLoss
    values: AnyArray
    """What each model says: probabilities (n_models, n, n_classes) or numbers (n_models, n)."""
    y: AnyArray
    """The truth: codes of classes or numbers, (n,)."""

    def __call__(self, weights: Array) -> tuple[Indices, Array]:
        """Return how often each model joins, and its temperature: (n_resamples, n) -> (n_resamples, n_models) twice."""
        places = self._temperature_places(weights)
        products = np.array([self._products(row, at) for row, at in zip(weights, places, strict=True)])
        return chosen(self.greedy, products), self._grid[places]

    def is_better(self, counts: Indices, temperatures: Array, weights: Array, model: int) -> bool:
        """Tell whether a committee of one resample is better than a model beyond noise, on the resample's rows."""
        places = np.searchsorted(self._grid, temperatures)
        members = np.flatnonzero(counts)
        total = sum(counts[i] * self._residuals(int(i), int(places[i])).astype(np.float64) for i in members)
        alone = self._residuals(model, int(places[model])).astype(np.float64)
        return is_beyond_noise(self.loss.rows(alone) - self.loss.rows(total / counts.sum()), weights)

    @property
    def _tempers(self) -> bool:
        return self.loss.tempers and self.values.ndim == 3

    @cached_property
    def _grid(self) -> Array:
        return np.exp(np.linspace(-WIDEST, WIDEST, N_TEMPERATURES)) if self._tempers else np.ones(1)

    def _temperature_places(self, weights: Array) -> Indices:
        """Return which temperature is the most probable for each resample and model."""
        n_models, n = self.values.shape[:2]
        if not self._tempers:
            return np.zeros((len(weights), n_models), dtype=np.intp)
        found = np.empty((len(weights), n_models, N_TEMPERATURES), dtype=np.float32)
        everywhere = np.arange(n)
        turned = (weights / weights.sum(axis=1, keepdims=True)).T.astype(np.float32)
        prior = surprise(np.log(self._grid)) / np.array([[n_rows(row)] for row in weights])
        for i, p in enumerate(self.values):
            z = np.log(np.maximum(p, LEAST_PROBABILITY), dtype=np.float32)
            z -= z.max(axis=1, keepdims=True)
            scaled = z / self._grid.astype(np.float32)[:, None, None]  # (n_temperatures, n, n_classes)
            losses = np.log(np.exp(scaled).sum(axis=2)) - scaled[:, everywhere, self.y]
            found[:, i] = (losses @ turned).T + prior
        return np.asarray(found.argmin(axis=2))

    def _products(self, weights: Array, places: Indices) -> Array:
        """Return the weighted sum over rows of each model's residuals times each other's, (n_models, n_models)."""
        rows = np.flatnonzero(weights)
        share = np.sqrt(weights[rows] / weights.sum()).astype(np.float32)
        kept = np.stack([self._residuals(i, int(at))[..., rows] * share for i, at in enumerate(places)])
        flat = kept.reshape(len(kept), -1)
        return np.asarray(flat @ flat.T, dtype=np.float64)

    def _residuals(self, model: int, place: int) -> AnyArray:
        """Return what the loss keeps of a model at one temperature; few of them are ever asked for."""
        key = (model, place)
        if key not in self._known:
            values = self.values[model]
            n_classes = values.shape[1] if values.ndim == 2 else 0
            if self._tempers:
                values = tempered(values, float(self._grid[place]))
            self._known[key] = self.loss.keep(values, self.y, n_classes)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[int, int], AnyArray]:
        return {}


def can_choose(greedy: Greedy, loss: object) -> bool:
    """Tell whether committees of this kind can be chosen by products alone."""
    is_plain = greedy.n_bags == 0 and greedy.n_warm <= 1 and greedy.per_second == 0
    return is_plain and isinstance(loss, AverageLoss) and loss.is_quadratic


def chosen(greedy: Greedy, products: Array) -> Indices:
    """Return how often each model joins, given products of residuals: (n_resamples, n_models, n_models) -> (.., .)."""
    n, n_models = products.shape[:2]
    every = np.arange(n)
    alone = np.einsum("bii->bi", products).astype(np.float64)
    rank = np.argsort(np.argsort(alone, axis=1, kind="stable"), axis=1, kind="stable")
    first = rank.argmin(axis=1)
    counts = np.zeros((n, n_models), dtype=np.intp)
    counts[every, first] = 1
    with_each = products[every, first]  # products of the sum of members with each model
    total = alone[every, first]
    best, best_loss = counts.copy(), total.copy()
    most = n_models if greedy.most_members is None else greedy.most_members
    for size in range(1, greedy.n_steps):
        is_inside = counts > 0
        losses = (total[:, None] + 2.0 * with_each + alone) / (size + 1) ** 2
        losses[(is_inside.sum(axis=1) >= most)[:, None] & ~is_inside] = np.inf
        least = losses.min(axis=1, keepdims=True)
        # of equals one that is inside, then the better alone
        order = np.where(losses <= least + _tolerance(least), rank - n_models * is_inside, n_models)
        joins = order.argmin(axis=1)
        total = total + 2.0 * with_each[every, joins] + alone[every, joins]
        with_each = with_each + products[every, joins]
        counts[every, joins] += 1
        now = total / (size + 1) ** 2
        is_better = now < best_loss - _tolerance(best_loss)
        best[is_better], best_loss[is_better] = counts[is_better], now[is_better]
    return best


def _tolerance(losses: Array) -> Array:
    return TIE * np.maximum(np.abs(losses), LEAST)
