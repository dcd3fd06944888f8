"""The space on the page: what was tried of it, which hyperparameters matter, what is expected around the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from comitia.arrays import Array, Indices, Json
from comitia.gp.outputs import clipped
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.report.fanova import Effect, importance
from comitia.report.plain import Scale
from comitia.report.searched import chosen_points, kind_of
from comitia.report.trials import Trials
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

MOST_POINTS = 1_200
"""Trials in slices and parallel coordinates."""
MOST_OF_BRANCH = 300
"""Trials of the best branch that its posterior is conditioned on."""
MOST_SLICES = 8
N_ALONG = 41
"""Points of a curve."""
FEWEST_IN_BRANCH = 5
MOST_BRANCHES = 4
"""Branches, the most tried ones, in which importances are shown beside those of the whole space."""


def space_section(trials: Trials, scale: Scale, space: Space | None, branch: str | None) -> Json | None:
    """Return the values of every hyperparameter, of the trials that succeeded; None where the space is not known."""
    some = [i for i in chosen_points(trials, MOST_POINTS) if trials.is_ok[i]]
    if space is None or not some:
        return None
    kinds = [kind_of(trials.configs[i], branch) for i in some]
    names = sorted(set(kinds))
    return {
        "branch": branch,
        "number": trials.numbers[some],
        "score": scale(trials.losses)[some],
        "kinds": names,
        "kind": [names.index(kind) for kind in kinds],
        "hyperparameters": [made for name in space.names if (made := _tried(trials, some, space, name)) is not None],
    }


def _tried(trials: Trials, some: Sequence[int], space: Space, name: str) -> Json | None:
    """Return the values of one hyperparameter where it was active; None where it never was."""
    places = [place for place, i in enumerate(some) if name in trials.configs[i]]
    if not places:
        return None
    values = [trials.configs[some[place]][name] for place in places]
    column = space.columns[space.names.index(name)]
    is_number = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    numbers = column.numbers(np.array([0.0, 1.0])) if is_number and not column.is_categorical else None
    return {
        "name": name,
        "places": places,
        "values": values if numbers is not None else [str(value) for value in values],
        "is_number": numbers is not None,
        "is_log": bool(numbers is not None and is_log(space, name)),
        "low": None if numbers is None else numbers[0],
        "high": None if numbers is None else numbers[1],
    }


def is_log(space: Space, name: str) -> bool:
    """Tell whether a hyperparameter is searched by its logarithm."""
    return bool(vars(space.configspace[name]).get("log", False))


def importance_section(
    trials: Trials, scale: Scale, space: Space | None, X: Array, seeds: Seeds, branch: str | None
) -> Json | None:
    """Return shares of the variance: of the whole space, and within the branches that were tried most."""
    if space is None:
        return None
    ok = np.flatnonzero(trials.is_ok)
    X, losses = X[ok], trials.losses[ok]
    groups = []
    whole = importance(space, X, losses, seeds)
    if whole is not None:
        groups.append({"kind": "", "n": len(ok), **_shares(whole)})
    if branch is not None:
        kinds = np.array([kind_of(trials.configs[i], branch) for i in ok.tolist()])
        names, counts = np.unique(kinds, return_counts=True)
        column = X[:, space.names.index(branch)]
        for kind in names[np.argsort(-counts, kind="stable")][:MOST_BRANCHES].tolist():
            inside = importance(space, X, losses, seeds, only=(branch, float(column[kinds == kind][0])))
            if inside:
                groups.append({"kind": kind, "n": int((kinds == kind).sum()), **_shares(inside)})
    return {"branch": branch, "groups": groups} if groups else None


def _shares(found: Sequence[Effect]) -> Json:
    return {
        "names": [effect.name for effect in found],
        "shares": [effect.share for effect in found],
        "rest": max(0.0, 1.0 - math.fsum(effect.share for effect in found)),
    }


def posterior_section(trials: Trials, scale: Scale, space: Space | None, X: Array, seeds: Seeds) -> Json | None:
    """Return what a Gaussian process expects around the best trial, along each of its hyperparameters."""
    best = trials.best
    if space is None or best is None:
        return None
    labels = space.branches(X)
    inside = np.flatnonzero(trials.is_ok & (labels == labels[best]))
    if len(inside) < FEWEST_IN_BRANCH or np.ptp(trials.losses[inside]) == 0:
        return None
    inside = _thinned(inside, trials.losses)
    losses = trials.losses[inside]
    process = GaussianProcess(space, view="imputed", n_samples=0, outputs=clipped)
    belief = process.belief(X[inside], Values(losses), len(inside), seeds)
    back = _line(clipped(losses), losses)
    curves: list[Json] = []
    for j in np.flatnonzero(space.active(X[best : best + 1])[0]):
        curve = _curve(space, X[best], int(j))
        if curve is None:
            continue
        rows, values = curve
        mean, var = belief.posterior.mean_var(*belief.view(rows))
        sd = np.sqrt(var[0])
        expected, low, high = (
            scale(back[0] + back[1] * z) for z in (mean[0], mean[0] - 1.645 * sd, mean[0] + 1.645 * sd)
        )
        curves.append(
            {
                "name": space.names[j],
                "values": values,
                "is_log": is_log(space, space.names[j]),
                "mean": expected,
                "low": np.minimum(low, high),
                "high": np.maximum(low, high),
                "at": trials.configs[best].get(space.names[j]),
            }
        )
    if not curves:
        return None
    order = np.argsort([-np.ptp(curve["mean"]) for curve in curves], kind="stable")
    shown = [curves[i] for i in order[:MOST_SLICES]]
    return {"number": int(trials.numbers[best]), "n": len(inside), "score": scale(trials.losses[best : best + 1])[0],
            "curves": shown, "n_curves": len(curves)}  # fmt: skip


def _thinned(places: Indices, losses: Array) -> Indices:
    if len(places) <= MOST_OF_BRANCH:
        return places
    good = places[np.argsort(losses[places], kind="stable")[: MOST_OF_BRANCH // 2]]
    even = places[np.linspace(0, len(places) - 1, MOST_OF_BRANCH // 2).astype(np.intp)]
    return np.unique(np.concatenate([good, even]))


def _line(z: Array, losses: Array) -> tuple[float, float]:
    """Return the line that turns standardised numbers into losses again, by those that were not clipped."""
    kept = z < z.max() if (z < z.max()).sum() >= 2 and np.ptp(losses[z < z.max()]) > 0 else np.ones(len(z), dtype=bool)
    slope = float(np.ptp(losses[kept]) / np.ptp(z[kept])) if np.ptp(z[kept]) > 0 else 1.0
    return float(losses[kept].min() - slope * z[kept].min()), slope


def _curve(space: Space, x: Array, j: int) -> tuple[Array, list[object]] | None:
    """Return rows along one hyperparameter, with their values; None for a choice, whose other values are branches."""
    column = space.columns[j]
    if column.is_categorical or column.size < 3:
        return None
    levels = np.unique(column.snap(np.linspace(0, 1, N_ALONG)))
    rows = np.repeat(x[None], len(levels), axis=0)
    rows[:, j] = levels
    kept = space.is_allowed(rows) & (space.branches(rows) == space.branches(x[None])[0])
    return (rows[kept], column.values(levels[kept])) if kept.sum() >= 3 else None
