"""What a committee said about rows that its members were not trained on: its decision rule, and its validation score.

Each fold's decisions are made by a rule that was tuned on the other folds, so that the score is of decisions about new
rows; the rule that is handed over is tuned on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold

from comitia.arrays import AnyArray, Array, Indices, Predictor, Table, has_probabilities
from comitia.committees.combine import codes_of
from comitia.committees.decisions import DecisionRule, argmax_rule, tuned_rule
from comitia.evaluation.fitting import take
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scorer, Scoring
from comitia.evaluation.shown import shown_classifier, shown_regressor
from comitia.history import History
from comitia.seams import Member
from comitia.selections.committees import Together, together

N_PARTS = 5
"""Parts of the rows that take turns where there was only one split."""


@dataclass(frozen=True, eq=False)
class ValidationPredictions:
    """What was predicted for rows that the predicting models had not seen, one entry for each row that was judged."""

    rows: Indices
    """Positions in the table that was fitted on; rows of `X_val` come after those of `X`: (n,)."""
    folds: Indices
    """Which split judged each: (n,)."""
    y: AnyArray
    """The truth, as it was given: (n,)."""
    predictions: AnyArray
    """What `predict` would have said: labels, decided by a rule from other folds, or numbers: (n,)."""
    probabilities: Array | None = None
    """Of the classes, in the order of `classes_`, (n, n_classes); None for numbers."""
    classes: AnyArray | None = None
    sample_weight: Array | None = None
    """How much each counts; all alike if None: (n,)."""

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a column for each of them, and one for the probability of each class."""
        frame = pd.DataFrame({"row": self.rows, "fold": self.folds, "y": self.y, "prediction": self.predictions})
        if self.probabilities is not None and self.classes is not None:
            for label, column in zip(self.classes.tolist(), self.probabilities.T, strict=True):
                frame[f"probability of {label}"] = column
        if self.sample_weight is not None:
            frame["sample_weight"] = self.sample_weight
        return frame

    def score(self, scoring: Scoring, given: Given) -> float:
        """Return the score of a metric; NaN where it has none for these rows."""
        if self.probabilities is None or self.classes is None:
            model, codes = shown_regressor(self.predictions), None
        else:
            codes = np.searchsorted(self.classes, self.y)
            model = shown_classifier(self.classes, self.probabilities, np.searchsorted(self.classes, self.predictions))
        if scoring.row_loss is not None and scoring.row_loss.needs_probabilities and codes is not None:
            # scikit-learn's needs rows of every class
            losses = scoring.row_loss.rows(codes, np.asarray(self.probabilities))
            return scoring.score(float(np.average(losses, weights=self.sample_weight)))
        try:
            return scoring.scorer(model, shown_rows(scoring.scorer, given, self.rows), self.y, self.sample_weight)
        except ValueError:
            return np.nan


def shown_rows(scorer: Scorer, given: Given, rows: Indices) -> Table:
    """Return the rows that a scorer is handed: as the user gave them, where it looks at them."""
    return rows[:, None] if scorer.is_of_answers or given.X is None else take(given.X, rows)


@dataclass(frozen=True, eq=False)
class Validated:
    """A committee on the rows that its members were judged on."""

    predictions: ValidationPredictions
    rule: DecisionRule | None
    """Tuned on all rows; None for numbers."""


def validated(
    history: History,
    members: Sequence[Member],
    given: Given,
    scoring: Scoring,
    *,
    order: Sequence[int] | None,
    tunes: bool,
) -> Validated | None:
    """Return what members said together, with decisions by a rule that is tuned for a metric if so wanted.

    None where predictions were not kept, or members are no trials.
    """
    found = together(history, merged(history, members), order, once=True)
    if found is None or history.truth is None:
        return None
    weights = None if history.truth.weights is None else history.truth.weights[found.rows]
    predictions = ValidationPredictions(
        found.rows, found.folds, given.y[found.rows], found.answers.values, sample_weight=weights
    )
    if given.classes is None or found.answers.probabilities is None:
        return Validated(predictions, None)
    p = np.asarray(found.answers.probabilities, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)  # what is kept is in single precision
    tuner = _Tuner(p, given, scoring, found, weights, order)
    rule, codes = tuner.tuned() if tunes and is_of_labels(scoring.scorer) else (argmax_rule(p.shape[1]), None)
    decided = found.answers.values if codes is None else codes
    return Validated(
        replace(predictions, predictions=given.classes[decided], probabilities=p, classes=given.classes), rule
    )


def is_of_labels(scorer: Scorer) -> bool:
    """Tell whether a metric may depend on which class is decided for."""
    return scorer.asks_for in (("predict",), ())


def merged(history: History, members: Sequence[Member]) -> list[Member]:
    """Return one member for each trial: the models of its folds share its weight; none where one was never tried."""
    found: dict[int, Member] = {}
    for member in members:
        if member.trial is None:
            return []
        before = found.get(member.trial)
        weight = member.weight + (0.0 if before is None else before.weight)
        found[member.trial] = Member(history.trial(member.trial).config, weight, member.trial, member.temperature)
    return list(found.values())


@dataclass(frozen=True, eq=False)
class _Tuner:
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
        for part in self._parts():
            others = np.ones(n, dtype=bool)
            others[part] = False
            decided[part] = self._rule(np.flatnonzero(others))(self.p[part], self.order)
        return self._rule(np.arange(n)), decided

    def _rule(self, some: Indices) -> DecisionRule:
        codes = self._codes[some]
        weights = None if self.weights is None else self.weights[some]
        priors = np.bincount(codes, weights, minlength=self.p.shape[1])
        return tuned_rule(self.p[some], priors / max(priors.sum(), 1e-300), lambda d: self._score(d, some))

    @cached_property
    def _codes(self) -> Indices:
        assert self.given.classes is not None
        return np.searchsorted(self.given.classes, self.given.y[self.found.rows])

    def _parts(self) -> list[Indices]:
        folds = np.unique(self.found.folds)
        if len(folds) > 1:
            return [np.flatnonzero(self.found.folds == fold) for fold in folds]
        codes = self._codes
        n_parts = min(N_PARTS, int(np.bincount(codes).max()))
        if n_parts < 2:
            return [np.arange(len(codes))]
        splitter = StratifiedKFold(n_parts, shuffle=True, random_state=0)
        return [part for _, part in splitter.split(self.p, codes)]

    def _score(self, decided: Indices, some: Indices) -> float:
        """Return the metric of decisions about some rows; the worst there is where it has none."""
        classes, scorer = self.given.classes, self.scoring.scorer
        assert classes is not None
        weights = None if self.weights is None else self.weights[some]
        try:
            if scorer.is_of_answers and scorer.takes_weights:
                # rows that are alike count together: a metric then takes as long for many rows as for few
                pairs = np.bincount(self._codes[some] * len(classes) + decided, weights, len(classes) ** 2)
                [found] = np.nonzero(pairs)
                truth, codes = np.divmod(found, len(classes))
                model = shown_classifier(classes, np.empty((len(found), 0)), codes)
                score = scorer(model, found[:, None], classes[truth], pairs[found])
            else:
                model = shown_classifier(classes, self.p[some], decided)
                rows = self.found.rows[some]
                score = scorer(model, shown_rows(scorer, self.given, rows), self.given.y[rows], weights)
        except ValueError:
            return -np.inf
        return score if np.isfinite(score) else -np.inf


def score_of(
    scoring: Scoring, model: Predictor, X: Table | ArrayLike, y: AnyArray, sample_weight: ArrayLike | None
) -> float:
    """Return the score of a fitted Auto estimator on rows that the user gave."""
    if scoring.row_loss is not None and scoring.row_loss.needs_probabilities and has_probabilities(model):
        # scikit-learn's needs rows of every class
        losses = scoring.row_loss.rows(codes_of(y, model.classes_), model.predict_proba(X))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return scoring.score(float(np.average(losses, weights=weights)))
    return scoring.scorer(model, X, y, sample_weight)
