"""One model and rows that it was not trained on: what it answers, its loss and its scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from comitia.arrays import AnyArray, Array, Estimator, Indices, Table
from comitia.evaluation.fitting import Examples, take
from comitia.evaluation.measured import Answered
from comitia.evaluation.scoring import Loss, Scorer
from comitia.evaluation.shown import shown


@dataclass(frozen=True, eq=False)
class Given:
    """What the user gave, where learners get a cleaned table and codes of classes: scorers see this."""

    y: AnyArray
    """Labels or numbers, one per row."""
    classes: AnyArray | None = None
    """The labels in the order of their codes; None for numbers."""
    X: Table | None = None
    """The table; None where no scorer looks at it, or where learners get the same."""
    clean: Callable[[Table], Table] | None = None
    """From rows of it to what learners get."""


class Judge(Protocol):
    """What is needed of an evaluator."""

    @property
    def loss(self) -> Loss: ...
    @property
    def examples(self) -> Examples: ...
    @property
    def codes(self) -> Indices | None: ...
    @property
    def given(self) -> Given: ...
    def answer(self, model: Estimator, X: Table, probabilities: bool) -> AnyArray: ...


class Judged:
    """It predicts the rows once for each kind of answer."""

    def __init__(self, evaluator: Judge, model: Estimator, rows: Indices) -> None:
        self.evaluator, self.model, self.rows = evaluator, model, rows
        self.examples = evaluator.examples.take(rows)
        self.row_losses: Array | None = None
        """Where the loss is a mean over rows."""
        self.answered = Answered(rows, {})
        self.seconds: dict[bool, float] = {}
        """What each kind of answer took, by whether they are probabilities."""

    def answer(self, probabilities: bool) -> AnyArray:
        answers = self.answered.answers
        if probabilities not in answers:
            began = time.perf_counter()
            answers[probabilities] = self.evaluator.answer(self.model, self.examples.X, probabilities)
            self.seconds[probabilities] = time.perf_counter() - began
        return answers[probabilities]

    def loss(self) -> float:
        """Return the weighted loss, and remember that of each row where it has a meaning."""
        loss, codes, e = self.evaluator.loss, self.evaluator.codes, self.examples
        if isinstance(loss, Scorer):
            return -self.score(loss)
        truth = e.y if codes is None else codes[self.rows]
        self.row_losses = loss.rows(truth, self.answer(loss.needs_probabilities))
        return float(np.average(self.row_losses, weights=e.weights))

    def score(self, scorer: Scorer) -> float:
        """Return a score of the user's; NaN where a metric has no number for these rows by themselves."""
        given, e = self.evaluator.given, self.examples
        if not scorer.is_of_answers:
            if given.X is None:
                return scorer(self.model, e.X, e.y, e.weights)
            X = take(given.X, self.rows)
            return scorer(shown(self._answering(X), given.classes), X, given.y[self.rows], e.weights)
        X = self.rows[:, None]
        try:
            return scorer(shown(self._answering(X), given.classes), X, given.y[self.rows], e.weights)
        except ValueError:
            if self.answered.answers:  # the answers are there: it is the metric that cannot work with so few rows
                return np.nan
            raise

    def score_or_nan(self, scorer: Scorer) -> float:
        """Return a score that is only reported: one that fails must not cost a trial."""
        try:
            return self.score(scorer)
        except Exception:
            return np.nan

    def _answering(self, rows: Table) -> Callable[[Table, bool], AnyArray]:
        """Return what answers about the rows by what is known, and about others by the model."""
        clean = self.evaluator.given.clean

        def answer(X: Table, probabilities: bool) -> AnyArray:
            if X is rows:
                return self.answer(probabilities)
            return self.evaluator.answer(self.model, X if clean is None else clean(X), probabilities)

        return answer


def pooled(scorer: Scorer, parts: Sequence[Answered], given: Given, weights: Array | None) -> float:
    """Return the score of what was answered on all splits together."""
    rows = np.concatenate([part.rows for part in parts])

    def answer(X: Table, probabilities: bool) -> AnyArray:
        return np.concatenate([part.answers[probabilities] for part in parts])

    if not scorer.is_of_answers:
        return np.nan
    model = shown(answer, given.classes)
    return scorer(model, rows[:, None], given.y[rows], None if weights is None else weights[rows])
