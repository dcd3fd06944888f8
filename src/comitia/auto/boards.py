"""The leaderboard: every trial, and the committee among them, in the user's metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from comitia.errors import StoreError
from comitia.evaluation.scoring import Scoring
from comitia.history import History, Observation
from comitia.seams import Member
from comitia.study.study import Study

COMMITTEE = "committee"
"""What stands in the place of a learner for all members together."""
FIRST = ("rank", "number", "learner", "score")
LAST = ("fit_seconds", "predict_seconds", "weight", "status", "error")


def leaderboard_of(
    study: Study,
    scoring: Scoring,
    metrics: Sequence[str] = (),
    members: Sequence[Member] = (),
    together: Mapping[str, float] | None = None,
    test_scores: Mapping[int | None, Mapping[str, float]] | None = None,
    expected: float | None = None,
) -> pd.DataFrame:
    """Return one row per finished trial, the best first and those that failed last.

    `together` are the score (named "score") and further metrics of all members; where there are several they have a
    row of their own, without a number. `test_scores` are the same of some trials, and of all members as None, on other
    rows; `expected` is the estimate for what was returned, in the column "estimate" of its row. Seconds are those of
    one fit, and of predicting 1,000 rows.
    """
    history = study.history
    weights: dict[int, float] = {}
    for member in members:
        if member.trial is not None:
            weights[member.trial] = weights.get(member.trial, 0.0) + member.weight
    rows: list[dict[str, Any]] = [
        _row(history, observation, scoring, metrics, weights)
        for observation in history.observations()
        if not history.is_superseded[observation.number]
    ]
    if together is not None and len(weights) > 1:
        rows.append({"learner": COMMITTEE, **together, **_sums(rows, weights), "status": "ok", "error": ""})
    first: list[str] = [*FIRST, *metrics]
    if expected is not None:
        returned = None if len(weights) != 1 else next(iter(weights))
        first.insert(FIRST.index("score") + 1, "estimate")
        rows = [{**row, "estimate": expected if row.get("number") == returned else math.nan} for row in rows]
    if test_scores is not None:
        names = ["score", *metrics]
        place = FIRST.index("score") + 1
        first[place:place] = [f"test_{name}" for name in names]
        rows = [row | _tested(test_scores.get(row.get("number"), {}), names) for row in rows]
    frame = pd.DataFrame(rows, columns=None if rows else [*first[1:], *LAST])
    frame = frame.sort_values("score", ascending=False, kind="stable", na_position="last").reset_index(drop=True)
    frame["number"] = frame["number"].astype("Int64")
    frame.insert(0, "rank", range(1, len(frame) + 1))
    settings = [column for column in frame.columns if column.startswith("config.")]
    return frame[[*first, *LAST, *settings]]


def _sums(rows: Sequence[Mapping[str, Any]], members: Mapping[int, float]) -> dict[str, float]:
    """Return the seconds of all members together, and their weight."""
    seconds = ("fit_seconds", "predict_seconds")
    return {name: math.fsum(row[name] for row in rows if row["number"] in members) for name in seconds} | {
        "weight": 1.0
    }


def _tested(scores: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Return the scores of other rows under the names of their columns; NaN where there are none."""
    return {f"test_{name}": scores.get(name, math.nan) for name in names}


def _row(
    history: History,
    observation: Observation,
    scoring: Scoring,
    metrics: Sequence[str],
    weights: Mapping[int, float],
) -> dict[str, Any]:
    number, config = observation.number, dict(observation.config)
    fit_seconds, predict_seconds = _seconds(history, observation)
    means = observation.mean_metrics
    return {
        "number": number,
        "learner": str(config.pop("learner", "")),
        "score": scoring.score(float(history.losses[number])),
        **{name: means.get(name, math.nan) for name in metrics},
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        "weight": weights.get(number, 0.0) if weights else math.nan,
        "status": observation.status,
        "error": observation.error,
        **{f"config.{name}": value for name, value in config.items()},
    }


def _seconds(history: History, observation: Observation) -> tuple[float, float]:
    """Return the seconds of one fit and of predicting 1,000 rows; NaN where they are not known."""
    if not observation.is_ok:
        return math.nan, math.nan
    try:
        found = history.predictions(observation.number)
    except StoreError:  # the study was closed
        found = None
    n_fits = max(observation.n_evaluations, 1)
    if found is None or found.seconds is None or not len(found.rows) or not np.isfinite(found.seconds).all():
        return observation.seconds / n_fits, math.nan
    predicting = float(found.seconds.sum())
    return max(observation.seconds - predicting, 0.0) / n_fits, 1e3 * predicting / len(found.rows)
