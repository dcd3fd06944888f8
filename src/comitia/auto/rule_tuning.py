"""Decisions that are tuned for a metric: by rows that the members were not trained on, each fold by the others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.model_selection import StratifiedKFold

from comitia.arrays import Array, Indices, Predictor
from comitia.committees.decisions import DecisionRule, LinearRule, tuned_line, tuned_rule
from comitia.evaluation.fitting import take
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scoring
from comitia.evaluation.shown import shown_classifier, shown_regressor
from comitia.selections.committees import Together

MOST_ROWS = 4_000
"""Rows that are enough to find a line, or a rule for a function of the user's: each is called some hundred times."""
N_PARTS = 5
"""Parts of the rows that take turns where there was only one split."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """Finds a rule for the decisions of a committee, and the decisions about each fold by the others' rule."""

    p: Array
    given: Given
    scoring: Scoring
    found: Together
    weights: Array | None
    order: Sequence[int] | None

    def tuned(self) -> tuple[DecisionRule, Indices]:
        """Return the rule of all rows, and decisions by rules of other folds."""
        n = len(self.p)
        decided = np.zeros(n, dtype=np.intp)
        for part in parts_of(self.found.folds, self._codes):
            others = np.setdiff1d(np.arange(n), part)
            decided[part] = self.rule(others if len(others) else part)(self.p[part], self.order)
        return self.rule(np.arange(n)), decided

    def rule(self, some: Indices) -> DecisionRule:
        """Return the rule of some rows, which may be named several times."""
        if not self.scoring.scorer.is_of_answers:
            some = fewer(some)
        codes = self._codes[some]
        weights = None if self.weights is None else self.weights[some]
        priors = np.bincount(codes, weights, minlength=self.p.shape[1])
        return tuned_rule(self.p[some], priors / max(priors.sum(), 1e-300), lambda d: self._score(d, some))

    @cached_property
    def _codes(self) -> Indices:
        return truth_codes(self.given, self.found.rows)

    def _score(self, decided: Indices, some: Indices) -> float:
        """Return the metric of decisions about some rows; the worst there is where it has none."""
        classes, scorer = self.given.classes, self.scoring.scorer
        assert classes is not None
        weights = None if self.weights is None else self.weights[some]
        if scorer.is_of_answers and scorer.takes_weights:
            # rows that are alike count together: a metric then takes as long for many rows as for few
            pairs = np.bincount(self._codes[some] * len(classes) + decided, weights, len(classes) ** 2)
            return self._score_of_pairs(np.asarray(pairs, dtype=np.float64))
        model = shown_classifier(classes, self.p[some], decided)
        score = quiet_score(self.scoring, model, self.given, self.found.rows[some], weights)
        return score if np.isfinite(score) else -np.inf

    def _score_of_pairs(self, pairs: Array) -> float:
        """Return the metric, given how much each pair of a true and a decided class counts: (n_classes^2,)."""
        key = pairs.tobytes()
        if key not in self._known:  # most candidates for a rule decide as another did
            classes = self.given.classes
            assert classes is not None
            [kinds] = np.nonzero(pairs)
            truth, decided = np.divmod(kinds, len(classes))
            given, model = Given(classes[truth], classes), shown_classifier(classes, self.p[:0], decided)
            score = quiet_score(self.scoring, model, given, np.arange(len(kinds)), pairs[kinds])
            self._known[key] = score if np.isfinite(score) else -np.inf
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, float]:
        return {}


@dataclass(frozen=True, eq=False)
class Line:
    """Finds a line through the numbers of a committee, and the numbers of each fold by the others' line."""

    found: Together
    y: Array
    given: Given
    scoring: Scoring
    weights: Array | None

    def tuned(self) -> tuple[LinearRule | None, Array]:
        """Return the line of all rows, and numbers by lines of other folds.

        Where those are no better than the numbers as they are, these stay.
        """
        values = np.asarray(self.found.answers.values, dtype=np.float64)
        told = values.copy()
        for part in parts_of(self.found.folds, np.zeros(len(values), dtype=np.intp)):
            others = np.setdiff1d(np.arange(len(values)), part)
            told[part] = self._at_least(self.line(values, others if len(others) else part)(values[part]))
        everything = np.arange(len(values))
        if not self._score(told, everything) > self._score(values, everything):
            return None, values
        return self.line(values, everything), told

    def line(self, values: Array, some: Indices) -> LinearRule:
        """Return the line of some rows, which may be named several times."""
        some = fewer(some)
        return tuned_line(values[some], self.y[some], lambda told: self._score(self._at_least(told), some))

    def _at_least(self, values: Array) -> Array:
        return values if self.scoring.least is None else np.maximum(values, self.scoring.least)

    def _score(self, told: Array, some: Indices) -> float:
        rows = self.found.rows[some]
        weights = None if self.weights is None else self.weights[some]
        score = quiet_score(self.scoring, shown_regressor(told), self.given, rows, weights)
        return score if np.isfinite(score) else -np.inf


def truth_codes(given: Given, rows: Indices) -> Indices:
    """Return the codes of the classes of some rows."""
    assert given.classes is not None
    return np.searchsorted(given.classes, given.y[rows])


def fewer(rows: Indices) -> Indices:
    """Return every second, third, ... of too many rows."""
    return rows[:: -(-len(rows) // MOST_ROWS)] if len(rows) > MOST_ROWS else rows


def parts_of(folds: Indices, codes: Indices) -> list[Indices]:
    """Return the rows of each fold; parts that are drawn where there was only one, and all rows where there are few."""
    known = np.unique(folds)
    if len(known) > 1:
        return [np.flatnonzero(folds == fold) for fold in known]
    n_parts = min(N_PARTS, int(np.bincount(codes).max()))
    if n_parts < 2:
        return [np.arange(len(codes))]
    splitter = StratifiedKFold(n_parts, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than parts
        return [part for _, part in splitter.split(codes[:, None], codes)]


def quiet_score(scoring: Scoring, model: Predictor, given: Given, rows: Indices, weights: Array | None) -> float:
    """Return the score of what was answered about rows of the user's; NaN, without a word, where there is none."""
    X = rows[:, None] if scoring.scorer.is_of_answers or given.X is None else take(given.X, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return scoring.of(model, X, given.y[rows], weights)
        except ValueError:
            return np.nan
