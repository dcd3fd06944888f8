"""The first lines of the page: how good, how sure, how long, and what was returned."""

from __future__ import annotations

from collections import Counter
from math import isfinite

import numpy as np

from comitia.arrays import Json
from comitia.auto.after_fit import Results
from comitia.auto.estimate import Estimate
from comitia.report.plain import Scale, settings
from comitia.report.trials import Trials


def headline_section(trials: Trials, scale: Scale, model: Results | None, *, is_recorded: bool) -> Json:
    """Return what stands at the top; without a model, what is known so far."""
    best = trials.best
    n_pending = int(trials.is_pending.sum())
    n_failed = sum(status not in ("ok", "pending") for status in trials.statuses)
    seconds = float(np.sum(trials.seconds))
    return {
        "metric": scale.name,
        "is_greater_better": scale.is_greater_better,
        "is_of_rows": scale.is_of_rows,
        "state": "finished" if model is not None else "open" if is_recorded or len(trials) else "empty",
        "n_finished": len(trials) - n_pending,
        "n_failed": n_failed,
        "n_pending": n_pending,
        "trial_seconds": seconds,
        "fit_seconds": None if model is None else model.fit_seconds_,
        "best": None
        if best is None
        else {
            "number": int(trials.numbers[best]),
            "score": scale(trials.losses[best : best + 1])[0],
            "settings": settings(trials.configs[best]),
        },
        "estimate": None if model is None or model.estimate_ is None else _estimate(model.estimate_),
        "validation_score": None if model is None else model.validation_score_,
        "validation_scores": None
        if model is None
        else {name: score for name, score in model.validation_scores_.items() if name != "score"},
        "returned": None if model is None else returned(model),
    }


def _estimate(estimate: Estimate) -> Json:
    low, high = estimate.interval
    return {
        "score": estimate.score,
        "low": low if isfinite(low) else None,
        "high": high if isfinite(high) else None,
        "optimistic": estimate.optimistic,
        "beats_default": estimate.beats_default,
        "sentence": str(estimate),
        "against_default": estimate.against_default,
        "rows": estimate.rows,
        "n_rows": estimate.n_rows,
        "manner": estimate.manner,
    }


def returned(model: Results) -> str:
    """Return in words what a fit handed over."""
    members = model.members_
    if not any(member.config for member in members):
        return "a fallback that predicts the same for every row"
    trials = {member.trial: str(member.config.get("learner", "model")) for member in members}
    if len(trials) == 1:
        return f"one model ({next(iter(trials.values()))})"
    counts = Counter(trials.values())
    named = ", ".join(f"{n} {name}" if n > 1 else name for name, n in counts.most_common())
    return f"a committee of {len(trials)} models ({named})"
