"""What a committee said about rows that its members were not trained on: its decision rule, and its validation score.

Each fold's decisions are made by a rule that was tuned on the other folds, so that the score is of decisions about new
rows; the rule that is handed over is tuned on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from comitia.arrays import AnyArray, Array, Indices
from comitia.auto.rule_tuning import Decisions, Line, quiet_score, truth_codes
from comitia.auto.temperature import tempered_by_parts
from comitia.committees.decisions import Rule, argmax_rule
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scorer, Scoring
from comitia.evaluation.shown import shown_classifier, shown_regressor
from comitia.history import History
from comitia.seams import Member
from comitia.selections.committees import together


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

    def take(self, some: Indices) -> ValidationPredictions:
        """Return it for some rows, given by their places."""
        p, weights = self.probabilities, self.sample_weight
        return replace(
            self,
            rows=self.rows[some],
            folds=self.folds[some],
            y=self.y[some],
            predictions=self.predictions[some],
            probabilities=None if p is None else p[some],
            sample_weight=None if weights is None else weights[some],
        )

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
            return quiet_score(scoring, shown_regressor(self.predictions), given, self.rows, self.sample_weight)
        decided = np.searchsorted(self.classes, self.predictions)
        model = shown_classifier(self.classes, self.probabilities, decided)
        return quiet_score(scoring, model, given, self.rows, self.sample_weight)


@dataclass(frozen=True, eq=False)
class Validated:
    """A committee on the rows that its members were judged on."""

    predictions: ValidationPredictions
    rule: Rule | None
    """Tuned on all rows; None for numbers that are predicted as they are."""
    temperature: float = 1.0
    """Of the committee's probabilities, found on all rows; each fold's were tempered by that of the others."""


def validated(
    history: History,
    members: Sequence[Member],
    given: Given,
    scoring: Scoring,
    sample_weight: Array | None = None,
    *,
    order: Sequence[int] | None,
    tunes: bool,
    tempers: bool = False,
) -> Validated | None:
    """Return what members said together, with decisions by a rule that is tuned for a metric if so wanted.

    With `tempers` their probabilities are tempered together, before any rule sees them.

    None where predictions were not kept, or members are no trials.
    """
    found = together(history, merged(history, members), order, once=True)
    if found is None or history.truth is None:
        return None
    weights = None if sample_weight is None else sample_weight[found.rows]
    predictions = ValidationPredictions(
        found.rows, found.folds, given.y[found.rows], found.answers.values, sample_weight=weights
    )
    if given.classes is None or found.answers.probabilities is None:
        if not tunes:
            return Validated(predictions, None)
        line, values = Line(found, given.y[found.rows].astype(np.float64), given, scoring, weights).tuned()
        return Validated(replace(predictions, predictions=values), line)
    p = np.asarray(found.answers.probabilities, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)  # what is kept is in single precision
    temperature = 1.0
    if tempers:
        temperature, p = tempered_by_parts(p, truth_codes(given, found.rows), found.folds, weights)
    tuner = Decisions(p, given, scoring, found, weights, order)
    rule, codes = tuner.tuned() if tunes and is_of_labels(scoring.scorer) else (argmax_rule(p.shape[1]), None)
    decided = found.answers.values if codes is None else codes
    return Validated(
        replace(predictions, predictions=given.classes[decided], probabilities=p, classes=given.classes),
        rule,
        temperature,
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
