"""What the page says of the trials alone, of any study: scores, leaderboard, choices over time, failures.

Everything is thinned out to what a page can show: a study of 50,000 trials takes no more room than one of 3,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from ConfigSpace.conditions import Condition, Conjunction

from comitia.arrays import Array, Indices, Json
from comitia.report.plain import Scale, settings
from comitia.report.trials import PENDING, Trials
from comitia.space import Space

MOST_POINTS = 3_000
"""Trials that are drawn; the best and the newest of them in any case."""
MOST_SURE = 400
"""The best so many, and the newest so many."""
MOST_ROWS = 300
"""Of the leaderboard."""
MOST_FAILURES = 200
MOST_STRETCHES = 40
"""Stretches of trials in which choices are counted."""
FEWEST_IN_A_STRETCH = 5


def branching(space: Space | None) -> str | None:
    """Return the hyperparameter by which configurations differ most: "learner", or the one on which most others depend.

    None where nothing depends on another.
    """
    if space is None or "learner" in space.names:
        return None if space is None else "learner"
    conditions = space.configspace.conditions
    children = {condition.child.name for condition in conditions}
    parents = Counter(name for condition in conditions for name in _parents(condition))
    roots = {name: n for name, n in parents.items() if name not in children}
    return max(roots, key=lambda name: roots[name]) if roots else None


def _parents(condition: Condition | Conjunction) -> list[str]:
    """Return the names of what a condition looks at: one hyperparameter, or those of all its parts."""
    if isinstance(condition, Conjunction):
        return [name for part in condition.components for name in _parents(part)]
    return [condition.parent.name]


def kind_of(config: Mapping[str, object], branch: str | None) -> str:
    """Return what a trial is called in figures: its learner."""
    return "" if branch is None else str(config.get(branch, ""))


def chosen_points(trials: Trials, most: int = MOST_POINTS) -> Indices:
    """Return the places of the trials to draw: all, or the best, the newest and others evenly in time."""
    finished = np.flatnonzero(~trials.is_pending)
    if len(finished) <= most:
        return finished
    sure = min(MOST_SURE, most // 3)
    ranked = finished[np.argsort(np.where(trials.is_ok, trials.losses, np.inf)[finished], kind="stable")]
    even = finished[np.linspace(0, len(finished) - 1, most - 2 * sure).astype(np.intp)]
    return np.unique(np.concatenate([ranked[:sure], finished[-sure:], even]))


def scores_section(trials: Trials, scale: Scale, branch: str | None) -> Json:
    """Return the score of trials by number and by second, and the steps of the best so far."""
    some = chosen_points(trials)
    elapsed, scores = trials.elapsed, scale(trials.losses)
    steps = _steps(trials)
    kinds = [kind_of(trials.configs[i], branch) for i in some]
    names = sorted(set(kinds))
    return {
        "number": trials.numbers[some],
        "score": scores[some],
        "elapsed": elapsed[some],
        "seconds": trials.seconds[some],
        "status": [trials.statuses[i] for i in some],
        "kinds": names,
        "kind": [names.index(kind) for kind in kinds],
        "best_number": trials.numbers[steps],
        "best_score": scores[steps],
        "best_elapsed": elapsed[steps],
        "last_number": int(trials.numbers[-1]) if len(trials) else 0,
        "total_seconds": float(elapsed[-1]) if len(trials) else 0.0,
        "n_drawn": len(some),
        "n_finished": int((~trials.is_pending).sum()),
    }


def _steps(trials: Trials) -> Indices:
    """Return the places of the trials that were better than all before."""
    losses = np.where(trials.is_ok, trials.losses, np.inf)
    before = np.concatenate([[np.inf], np.minimum.accumulate(losses)[:-1]]) if len(losses) else losses
    return np.flatnonzero(losses < before)


def leaderboard_section(
    trials: Trials,
    scale: Scale,
    branch: str | None,
    weights: Mapping[int, float] | None = None,
    predict_seconds: Mapping[int, float] | None = None,
) -> Json:
    """Return the best trials; `weights` and seconds to predict 1,000 rows are those of members, by trial."""
    order = np.argsort(np.where(trials.is_ok, trials.losses, np.inf), kind="stable")
    ranked = order[: min(int(trials.is_ok.sum()), MOST_ROWS)].tolist()
    held = [] if weights is None else [int(i) for i in np.flatnonzero(np.isin(trials.numbers, list(weights)))]
    rank = {int(place): i + 1 for i, place in enumerate(order)}
    shown = sorted({*ranked, *held}, key=lambda place: rank[place])
    names = sorted({name for place in shown for name in trials.metrics[place]})
    scores = scale(trials.losses)
    rows = [
        {
            "rank": rank[place],
            "number": int(trials.numbers[place]),
            "learner": kind_of(trials.configs[place], branch),
            "score": scores[place],
            **{f"metric:{name}": trials.metrics[place].get(name) for name in names},
            "seconds": trials.seconds[place],
            "predict_seconds": (predict_seconds or {}).get(int(trials.numbers[place])),
            "weight": None if weights is None else weights.get(int(trials.numbers[place]), 0.0),
            "settings": settings(trials.configs[place], branch),
        }
        for place in shown
    ]
    return {
        "rows": rows,
        "metrics": names,
        "n_all": int(trials.is_ok.sum()),
        "has_learners": branch is not None,
        "has_weights": weights is not None,
        "has_predict_seconds": bool(predict_seconds),
        "score_name": scale.name,
        "learner_name": branch or "",
    }


def choices_section(trials: Trials, scale: Scale, branch: str | None) -> Json | None:
    """Return how often each learner was tried, by stretch of the search; None where there is nothing to choose."""
    if branch is None or not len(trials):
        return None
    kinds = np.array([kind_of(config, branch) for config in trials.configs])
    names, codes = np.unique(kinds, return_inverse=True)
    n_stretches = max(1, min(MOST_STRETCHES, len(trials) // FEWEST_IN_A_STRETCH))
    edges = np.linspace(0, len(trials), n_stretches + 1).astype(np.intp)
    counts = np.array([np.bincount(codes[a:b], minlength=len(names)) for a, b in pairwise(edges)])
    return {
        "name": branch,
        "kinds": names,
        "first": trials.numbers[edges[:-1]],
        "last": trials.numbers[edges[1:] - 1],
        "counts": counts,
        "total": counts.sum(axis=0),
        "seconds": np.bincount(codes, trials.seconds, len(names)),
        "best": scale(_best_by(trials, codes, len(names))),
    }


def _best_by(trials: Trials, codes: Indices, n: int) -> Array:
    """Return the least loss of each kind; NaN for one that never succeeded."""
    losses = np.full(n, np.inf)
    ok = trials.is_ok
    np.minimum.at(losses, codes[ok], trials.losses[ok])
    return np.where(np.isfinite(losses), losses, np.nan)


def failures_section(trials: Trials, branch: str | None) -> Json | None:
    """Return the trials that failed, the newest first, and how often each reason came; None if none did."""
    failed = [i for i, status in enumerate(trials.statuses) if status not in ("ok", PENDING)]
    if not failed:
        return None
    reasons = Counter((trials.statuses[i], _first_line(trials.errors[i])) for i in failed)
    return {
        "n": len(failed),
        "reasons": [{"status": s, "error": e, "n": n} for (s, e), n in reasons.most_common(20)],
        "rows": [
            {
                "number": int(trials.numbers[i]),
                "learner": kind_of(trials.configs[i], branch),
                "status": trials.statuses[i],
                "seconds": trials.seconds[i],
                "error": trials.errors[i],
                "settings": settings(trials.configs[i], branch),
            }
            for i in failed[::-1][:MOST_FAILURES]
        ],
        "has_learners": branch is not None,
    }


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "(no text)"
