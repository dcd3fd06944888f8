"""The committee on the page: who is in it, what each adds, whose errors are alike; and how the choice went."""

from __future__ import annotations

import math

import numpy as np

from comitia.arrays import Json
from comitia.auto.after_fit import Results
from comitia.auto.hindsight import Hindsight
from comitia.errors import StoreError
from comitia.history import History
from comitia.report.plain import settings
from comitia.report.trials import Trials
from comitia.seams import Member


def weights_of(model: Results) -> dict[int, float]:
    """Return the weight of each trial in what was returned."""
    found: dict[int, float] = {}
    for member in model.members_:
        if member.trial is not None:
            found[member.trial] = found.get(member.trial, 0.0) + member.weight
    return found


def predict_seconds(history: History, numbers: list[int]) -> dict[int, float]:
    """Return the seconds that predicting 1,000 rows took, of trials that measured it."""
    found = {}
    for number in numbers:
        try:
            kept = history.predictions(number)
        except StoreError:  # the study was closed
            return {}
        if kept is not None and kept.seconds is not None and len(kept.rows) and np.isfinite(kept.seconds).all():
            found[number] = 1e3 * float(kept.seconds.sum()) / len(kept.rows)
    return found


def committee_section(model: Results, hindsight: Hindsight | None) -> Json | None:
    """Return the members with what is known of each; None for a fallback that is no model."""
    if not any(member.config for member in model.members_):
        return None
    weights, history = weights_of(model), model.study_.history
    predicting = predict_seconds(history, list(weights))
    known = {} if hindsight is None else {member.trial: member for member in hindsight.trials}
    rows: list[Json] = []
    for member in sorted({m.trial: m for m in model.members_}.values(), key=lambda m: -weights.get(m.trial or 0, 0.0)):
        trial = member.trial
        rows.append(
            {
                "number": trial,
                "learner": str(member.config.get("learner", "model")),
                "weight": member.weight if trial is None else weights[trial],
                "temperature": member.temperature,
                "score": math.nan if hindsight is None or trial not in known else _alone(hindsight, known[trial]),
                "adds": math.nan if hindsight is None or trial is None else _adds(model, hindsight, trial),
                "predict_seconds": None if trial is None else predicting.get(trial),
                "settings": settings(member.config, "learner"),
            }
        )
    return {
        "rows": rows,
        "score": model.validation_score_,
        "metric": model.metric,
        "correlation": _correlation(hindsight, [row["number"] for row in rows]),
        "predict_seconds": sum(predicting.values()) if len(predicting) == len(weights) else None,
        "has_temperatures": any(row["temperature"] != 1.0 for row in rows),
    }


def _alone(hindsight: Hindsight, member: Member) -> float:
    return hindsight.score([Member(member.config, 1.0, member.trial, member.temperature)])


def _adds(model: Results, hindsight: Hindsight, trial: int) -> float:
    """Return by how much the score on validation rows is greater with a member than without it."""
    return model.validation_score_ - hindsight.score_without(trial)


def _correlation(hindsight: Hindsight | None, order: list[int]) -> Json | None:
    """Return the correlations of errors, in the order of the table; None for a single member."""
    errors = None if hindsight is None else hindsight.errors()
    if hindsight is None or errors is None or len(errors) < 2:
        return None
    place = {member.trial: i for i, member in enumerate(hindsight.trials)}
    rows = [place[number] for number in order]
    varies = errors[rows].std(axis=1) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.corrcoef(errors[rows])
    return {"numbers": order, "values": np.where(np.outer(varies, varies), found, np.nan), "n_rows": errors.shape[1]}


def path_section(model: Results, hindsight: Hindsight | None, trials: Trials) -> Json | None:
    """Return the score of what would have been returned earlier, on validation rows and expected on new rows."""
    moments = [] if hindsight is None else hindsight.path()
    if len(moments) < 2:
        return None
    elapsed = trials.elapsed
    numbers = [moment.n_trials for moment in moments]
    optimistic, expected = [m.optimistic for m in moments], [m.estimate for m in moments]
    final = model.estimate_
    if final is not None and final.manner == "decisions":  # the fit's own, which is made of more decisions
        if numbers[-1] == len(trials):
            numbers, optimistic, expected = numbers[:-1], optimistic[:-1], expected[:-1]
        numbers, optimistic = [*numbers, len(trials)], [*optimistic, final.optimistic]
        expected = [*expected, final.score]
    places = np.array(numbers) - 1
    return {
        "number": trials.numbers[places],
        "elapsed": elapsed[places],
        "optimistic": optimistic,
        "estimate": expected,
    }
