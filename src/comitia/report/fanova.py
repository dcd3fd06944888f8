"""Which hyperparameters matter: shares of the variance of a model of the losses (functional ANOVA).

Hutter, Hoos and Leyton-Brown (2014), "An efficient approach for assessing hyperparameter importance": a random forest
is fitted to all trials, and the variance of its mean over the whole space is split into the part that each
hyperparameter explains alone, Var(E[f | x_j]) / Var(f), and the rest, which takes several of them together.

They sum over the leaves of trees, which are boxes. Where some hyperparameters are active only for some values of
others, f is not constant on boxes, so here the expectation is a mean over drawn configurations, always the same ones
for every value of x_j: their noise is common to all values and does not count as variance. A hyperparameter that is
inactive in a configuration changes nothing there; so its share is that of the whole space, and is larger within the
branch where it is active. What is forbidden is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from comitia.arrays import Array
from comitia.gp.outputs import clipped
from comitia.optimizers.bayes.forest import Forest
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

N_TREES = 48
N_DRAWN = 1_024
"""Configurations that an expectation is the mean of."""
N_LEVELS = 24
"""Values of a real at which it is looked at: middles of equal parts."""
N_FINE = 960
"""Parts that chances of discrete values are counted in."""
MOST_TRIALS = 2_000
"""Of more, the best quarter of so many and others evenly in time."""
FEWEST_TRIALS = 10
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class Effect:
    """What one hyperparameter does by itself."""

    name: str
    share: float
    """Of the variance: from 0 to 1."""
    levels: Array
    """Coordinates at which it was looked at: (n_levels,)."""
    means: Array
    """What is expected at each of them, over all others: (n_levels,)."""


def effects(f: Callable[[Array], Array], space: Space, drawn: Array) -> list[Effect]:
    """Return the effect of each hyperparameter on a function of coordinates, (m, d) -> (m,), the greatest first.

    `drawn` are configurations of the part of the space that is looked at, (n, d); hyperparameters that have the same
    value in all of them, or are active in none, are left out. Shares sum to less than 1 where several act together.
    """
    active, values = space.active(drawn), f(drawn)
    varies = active.any(axis=0) & (np.ptp(drawn, axis=0) > 0)
    total = float(values.var())
    found = []
    for j in np.flatnonzero(varies):
        levels, chances = _levels(space, int(j))
        means, weights = _means(f, space, drawn, values, int(j), levels)
        weights = weights * chances
        middle = float(np.average(means, weights=weights))
        share = float(np.average((means - middle) ** 2, weights=weights)) / total if total > NEGLIGIBLE else 0.0
        found.append(Effect(space.names[j], min(share, 1.0), levels, means))
    return sorted(found, key=lambda effect: -effect.share)


def importance(
    space: Space, X: Array, losses: Array, seeds: Seeds, *, only: tuple[str, float] | None = None
) -> list[Effect] | None:
    """Return the effects of hyperparameters on what a forest expects; None where there are too few trials.

    Losses are standardised, and those that are far worse than most are clipped: what matters is what tells good from
    middling, not which setting fails. `X` are coordinates, (n, d). With `only` a hyperparameter and the coordinate
    of one of its values: within that branch, by the trials in it.
    """
    drawn = evenly_drawn(space, seeds("fanova"))
    if only is not None:
        j, coordinate = space.names.index(only[0]), only[1]
        drawn[:, j] = coordinate
        drawn = drawn[space.is_allowed(drawn)]
        inside = np.isclose(X[:, j], coordinate)
        X, losses = X[inside], losses[inside]
    if len(losses) < FEWEST_TRIALS or not len(drawn) or np.ptp(losses) == 0:
        return None
    if len(losses) > MOST_TRIALS:
        good = np.argsort(losses, kind="stable")[: MOST_TRIALS // 4]
        even = np.linspace(0, len(losses) - 1, MOST_TRIALS - len(good)).astype(np.intp)
        some = np.unique(np.concatenate([good, even]))
        X, losses = X[some], losses[some]
    belief = Forest(space, N_TREES).belief(X, Values(clipped(losses)), len(losses), seeds)
    return effects(belief.mean, space, drawn)


def evenly_drawn(space: Space, rng: np.random.Generator, n: int = N_DRAWN) -> Array:
    """Return configurations that fill the space more evenly than random ones, fewer where some are forbidden."""
    drawn = space.from_uniform(qmc.Sobol(len(space), rng=rng).random(n))
    return drawn[space.is_allowed(drawn)]


def _levels(space: Space, j: int) -> tuple[Array, Array]:
    """Return the values of a hyperparameter that are looked at, and how probable each is."""
    column = space.columns[j]
    if column.size > N_LEVELS:
        middles = (np.arange(N_LEVELS) + 0.5) / N_LEVELS
        return column.snap(column.warp(middles)), np.full(N_LEVELS, 1.0 / N_LEVELS)
    fine = (np.arange(N_FINE) + 0.5) / N_FINE
    levels, counts = np.unique(column.snap(column.warp(fine)), return_counts=True)
    return levels, counts / N_FINE


def _means(
    f: Callable[[Array], Array], space: Space, drawn: Array, values: Array, j: int, levels: Array
) -> tuple[Array, Array]:
    """Return the mean of f at each value of one hyperparameter, and how much each counts: what is allowed there.

    `values` are those of the rows that were drawn; where the hyperparameter is inactive they are what they were.
    """
    on = space.active(drawn)[:, j]
    rows = np.repeat(drawn[None, on], len(levels), axis=0)
    rows[:, :, j] = levels[:, None]
    flat = rows.reshape(-1, drawn.shape[1])
    changed = np.repeat(values[None], len(levels), axis=0)
    changed[:, on] = f(flat).reshape(len(levels), -1)
    if not space.forbids:
        return changed.mean(axis=1), np.ones(len(levels))
    allowed = np.ones(changed.shape, dtype=bool)
    allowed[:, on] = space.is_allowed(flat).reshape(len(levels), -1)
    counts = allowed.sum(axis=1)
    means = np.divide((changed * allowed).sum(axis=1), counts, out=changed.mean(axis=1), where=counts > 0)
    return means, np.maximum(counts / len(drawn), NEGLIGIBLE)
