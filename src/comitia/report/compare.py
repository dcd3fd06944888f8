"""Two fits side by side; and on the rows that both were judged on, whether they differ beyond noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from comitia.arrays import Array, Json
from comitia.auto.after_fit import Results
from comitia.auto.estimate import MOST_DRAWN, N_REPLICATES, N_SLOW_REPLICATES
from comitia.auto.folder import load
from comitia.auto.noise import LEVEL, Told, resamples
from comitia.auto.validation import ValidationPredictions
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scoring
from comitia.report.headline import returned
from comitia.report.shared_rows import Fit, SharedRows, shared_rows
from comitia.seeds import Seeds

WORTH_SAYING = 1e-9
"""Scores that differ by less are the same."""


@dataclass(frozen=True)
class Difference:
    """By how much two fits differ on the same rows; scores are greater where they are better."""

    metric: str
    scores: tuple[float, float]
    """Validation scores of both on these rows, less what is optimistic of them where that is known."""
    difference: float
    """The second less the first."""
    interval: tuple[float, float]
    """It holds the true difference in 90 of 100 cases."""
    p_value: float
    """Probability of a difference at least so large, one way or the other, if there were none."""
    is_honest: bool
    """Whether what is optimistic of both was taken off; else the fit that tried more has an advantage."""

    @property
    def is_beyond_noise(self) -> bool:
        """Whether 0 is outside the interval."""
        return self.interval[0] > 0 or self.interval[1] < 0


@dataclass(frozen=True)
class Comparison:
    """Two fits, what is known of each, and the test of their difference; `print` shows it as a table."""

    names: tuple[str, str]
    facts: Sequence[tuple[str, str, str]]
    """What, of the first, of the second."""
    rows: str
    """Which rows both were judged on and how that is known, or why there are none."""
    n_rows: int
    """How many these are; 0 where there is no test."""
    differences: Sequence[Difference]
    """One for each metric that either was fitted for; none where no test can be made."""
    notes: Sequence[str] = ()
    """What weakens the test, or prevents it."""

    def verdict(self, difference: Difference) -> str:
        """Return in words which is better by a metric."""
        low, high = difference.interval
        if abs(difference.difference) < WORTH_SAYING and high - low < WORTH_SAYING:
            return f"{difference.metric}: both are the same"
        if not difference.is_beyond_noise:
            return f"{difference.metric}: no difference beyond noise"
        return f"{difference.metric}: {self.names[difference.difference > 0]} is better"

    def numbers(self, difference: Difference) -> str:
        """Return the difference by a metric with its interval."""
        (low, high), (a, b) = difference.interval, self.names
        return (
            f"{b} less {a} is {difference.difference:+.2g} (90 % interval {low:+.2g} to {high:+.2g}, "
            f"p = {difference.p_value:.2g})."
        )

    def __str__(self) -> str:
        lines = [("", *self.names), *self.facts]
        widths = [max(len(line[place]) for line in lines) for place in range(2)]
        table = [f"{what:<{widths[0]}}  {a:<{widths[1]}}  {b}".rstrip() for what, a, b in lines]
        verdicts = (f"{self.verdict(one)}. {self.numbers(one)}" for one in self.differences)
        said = [self.rows, *verdicts, *self.notes]
        return "\n".join([*table, "", *said])

    def document(self) -> Json:
        """Return it as what JSON can hold, for the page."""
        return {
            "names": list(self.names),
            "facts": [list(fact) for fact in self.facts],
            "rows": self.rows,
            "n_rows": self.n_rows,
            "differences": [
                {**vars(one), "verdict": self.verdict(one), "is_beyond_noise": one.is_beyond_noise}
                for one in self.differences
            ],
            "notes": list(self.notes),
        }


def compare(
    first: str | Path | Results,
    second: str | Path | Results,
    *,
    names: tuple[str, str] | None = None,
    trusted: Sequence[str] = (),
) -> Comparison:
    """Compare two fits, which are model folders or fitted estimators.

    What both predicted for the same rows, which neither had been trained on, is drawn again with replacement, the same
    rows for both (a paired bootstrap). Intervals are wider than those of new rows, because the folds share rows that
    models train on (Nadeau and Bengio 2003), and what is optimistic of each validation score, as its own estimate has
    it, is taken off.

    Parameters
    ----------
    first, second : path of a model folder, or a fitted AutoClassifier or AutoRegressor
    names : two texts, optional
        What they are called; the names of their folders, or "first" and "second", if not given.
    trusted : sequence of str
        As for `comitia.load`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from comitia import AutoClassifier
    >>> from comitia.report.compare import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fits = [AutoClassifier(n_trials=1, include=[name], n_jobs=1, random_state=0) for name in ("linear", "knn")]
    >>> comparison = compare(*(fit.fit(X[:150], y[:150]) for fit in fits))
    >>> comparison.n_rows
    150
    """
    a, b = (_fit_of(source, trusted) for source in (first, second))
    names = _names_of(first, second) if names is None else names
    shared = shared_rows(a, b)
    facts = _facts(a.model, b.model)
    if isinstance(shared, str):
        return Comparison(names, facts, shared, 0, ())
    differences, notes = _differences(a.model, b.model, shared)
    return Comparison(names, facts, shared.sentence, len(shared.rows), differences, [*shared.notes, *notes])


def _fit_of(source: str | Path | Results, trusted: Sequence[str]) -> Fit:
    if isinstance(source, Results):
        return Fit(source)
    return Fit(load(source, trusted=trusted), Path(source))


def _names_of(first: str | Path | Results, second: str | Path | Results) -> tuple[str, str]:
    """Return what they are called: the last parts of their paths, from where these differ."""
    if isinstance(first, Results) or isinstance(second, Results):
        return ("first" if isinstance(first, Results) else str(first)), (
            "second" if isinstance(second, Results) else str(second)
        )
    parts = [Path(path).absolute().parts for path in (first, second)]
    n = next((n for n in range(1, min(map(len, parts)) + 1) if parts[0][-n:] != parts[1][-n:]), 1)
    return str(Path(*parts[0][-n:])), str(Path(*parts[1][-n:]))


# ---- what is known of each ------------------------------------------------------------------------------------------


def _facts(*models: Results) -> list[tuple[str, str, str]]:
    found = [_facts_of(model) for model in models]
    names = dict.fromkeys(name for facts in found for name in facts)
    a, b = ([facts.get(name, "") for name in names] for facts in found)
    return [fact for fact in zip(names, a, b, strict=True) if fact[1] or fact[2]]


def _facts_of(model: Results) -> dict[str, str]:
    """Return what stands in one column, by what stands in front of it."""
    estimate, history = model.estimate_, model.study_.history
    facts = {"metric": _metric_of(model)}
    if estimate is not None:
        low, high = estimate.interval
        facts["expected on new rows"] = f"{estimate.score:.4g}"
        facts["90 % interval"] = f"{low:.4g} to {high:.4g}"
    facts["validation, optimistic"] = _number(model.validation_score_)
    for name, score in model.validation_scores_.items():
        if name != "score":
            facts[f"validation {name}"] = _number(score)
    failed = f", {history.n_failed} failed" if history.n_failed else ""
    facts["trials"] = f"{history.n_finished}{failed}"
    facts["seconds in trials"] = _number(sum(o.seconds for o in history.observations()))
    facts["seconds to predict 1,000 rows"] = _number(_predict_seconds(model))
    facts["method"] = model.study_.method.name
    facts["returned"] = returned(model)
    return facts


def _metric_of(model: Results) -> str:
    """Return the metric that a model was fitted for: a function of the user's is not kept in a model folder."""
    return model.metric if model.estimate_ is None else model.estimate_.metric


def _predict_seconds(model: Results) -> float:
    """Return the seconds that all members together take; NaN where they are not known."""
    board = model.leaderboard()
    members = board[(board["weight"] > 0) & board["number"].notna()]
    return float(members["predict_seconds"].sum(skipna=False)) if len(members) else math.nan


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


# ---- the test -------------------------------------------------------------------------------------------------------


def _differences(a: Results, b: Results, shared: SharedRows) -> tuple[list[Difference], list[str]]:
    """Return a difference for each metric that one of them was fitted for, and what is to be said of others."""
    found: list[Difference] = []
    notes: list[str] = []
    metrics = {scoring.name: scoring for scoring in (b.bound_scoring, a.bound_scoring)}
    for name in dict.fromkeys((_metric_of(a), _metric_of(b))):
        scoring = metrics.get(name)
        if scoring is None or not scoring.scorer.is_of_answers:
            notes.append("A metric that is a function of your own is not kept with a model: there is no test of it.")
            continue
        difference = _difference(a, b, shared, scoring)
        if difference is None:
            notes.append(f"{name} is no number for these rows: there is no test of it.")
        else:
            found.append(difference)
    if len(found) > 1:
        notes.append("They were fitted for different metrics: each has an advantage in its own.")
    if any(not difference.is_honest for difference in found):
        notes.append("Validation scores are compared as they are: the fit that tried more has an advantage.")
    return found, notes


def _difference(a: Results, b: Results, shared: SharedRows, scoring: Scoring) -> Difference | None:
    told = [_told(one, scoring) for one in shared.predictions]
    everything = np.ones((1, len(shared.rows)))
    scores = [float(one.scores(everything)[0]) for one in told]
    if not all(map(math.isfinite, scores)):
        return None
    most = min(N_REPLICATES, MOST_DRAWN // len(shared.rows)) if all(one.is_quick for one in told) else 0
    counts = resamples(shared.units, max(most, N_SLOW_REPLICATES), Seeds(0)("compare"))
    gains = told[1].scores(counts) - told[0].scores(counts)
    around = _Around(gains[np.isfinite(gains)], shared.widening)
    optimism = [_optimism(model, scoring) for model in (a, b)]
    seen = scores[1] - scores[0]
    if optimism[0] is None or optimism[1] is None:
        return Difference(
            scoring.name, (scores[0], scores[1]), seen, around.interval(seen), around.p_value(seen), is_honest=False
        )
    honest = scores[0] - optimism[0], scores[1] - optimism[1]
    difference = honest[1] - honest[0]
    # how optimistic a score is, is an estimate itself: a difference counts if it is there with and without it
    lows, highs = zip(around.interval(seen), around.interval(difference), strict=True)
    p_value = max(around.p_value(seen), around.p_value(difference)) if seen * difference > 0 else 1.0
    return Difference(scoring.name, honest, difference, (min(lows), max(highs)), p_value, is_honest=True)


def _told(predictions: ValidationPredictions, scoring: Scoring) -> Told:
    return Told(predictions, Given(predictions.y, predictions.classes), scoring)


def _optimism(model: Results, scoring: Scoring) -> float | None:
    """Return by how much the validation score of a model is too good; None where nobody knows."""
    estimate = model.estimate_
    if estimate is None or estimate.metric != scoring.name:
        return None
    return estimate.optimistic - estimate.score


@dataclass(frozen=True, eq=False)
class _Around:
    """How differences of resamples lie around their mean."""

    gains: Array
    widening: float

    def interval(self, difference: float) -> tuple[float, float]:
        if len(self.gains) < 2:
            return -math.inf, math.inf
        low, high = self.widening * (np.quantile(self.gains, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - self.gains.mean())
        return float(difference + min(low, 0.0)), float(difference + max(high, 0.0))

    def p_value(self, difference: float) -> float:
        """Return the probability of a difference at least so large if there were none, by the normal distribution."""
        spread = self.widening * float(self.gains.std()) if len(self.gains) > 1 else math.inf
        return 2.0 * float(ndtr(-abs(difference) / spread)) if spread > 0 else float(difference == 0)
