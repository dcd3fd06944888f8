"""How good what a fit returns will be on new rows: an estimate that knows what was chosen by the validation rows.

A validation score is optimistic, because models, weights, temperatures and decision rules were chosen by the same rows.
So the whole decision is made again without some of the rows that models were judged on, and is judged by these; in turn
for all rows, in many partitions. Nothing is trained for it. Tsamardinos, Greasidou and Borboudakis (2018) decide on
bootstraps of the rows instead (BBC-CV); those hold 63 % of them, which is too few for a decision like the one that was
made with all: docs/lab/estimates.md compares both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from comitia.arrays import Array, Indices
from comitia.auto.noise import Told, Z, left_out, resamples, spread_of, widening_by_few
from comitia.auto.reselection import KeptAnswers, Reselection, answers_of_trials
from comitia.auto.rule_tuning import Decisions, Line, truth_codes
from comitia.auto.unseen_classes import as_if_seen, shares_of_unseen
from comitia.auto.validation import ValidationPredictions, is_of_labels
from comitia.committees.losses import AverageLoss
from comitia.committees.resampled import can_choose
from comitia.committees.tempering import temperature_of, tempered
from comitia.seams import Member, Selection
from comitia.selections.committees import GreedyCommittee, Together
from comitia.study.study import Study

EstimateKind = Literal["auto", "nested", False]
"""What users may ask for."""
N_DECISIONS = 100
"""How often the decision is made again where that is quick: ten partitions into ten parts."""
N_SLOW_DECISIONS = 10
"""And where it is not: a rule is tuned, or the selection has no short way. One partition."""
N_REPLICATES = 1_000
"""Resamples of the rows for the interval, where they are scored all at once; nothing is decided on them."""
N_SLOW_REPLICATES = 100
"""And where each is scored by itself, or rows are many."""
MOST_DRAWN = 4_000_000
"""Rows in all replicates together, where there are more than these."""
SECONDS_PER_NUMBER = 2e-8
"""What a decision costs for each number that trials told, on one core of 2024: docs/lab/estimates.md."""
MOST_ROWS = 20_000
"""Rows that are enough to see how optimistic a decision is; of more, so many are drawn."""
MOST_SCORED = 20_000
"""Rows that a function of the user's, which may look at the table, is asked about at once."""


@dataclass(frozen=True)
class Estimate:
    """What to expect on new rows; scores are greater where they are better."""

    metric: str
    """Name of what counts."""
    score: float
    """The estimate."""
    interval: tuple[float, float]
    """It holds the true score in 90 of 100 cases."""
    optimistic: float
    """The validation score of what was returned, which was chosen by the same rows."""
    beats_default: bool | None
    """Whether it is better than the default configuration, the first trial, beyond noise; None where that failed."""
    n_rows: int
    """Rows that it is made of."""
    rows: str = "all rows"
    """Which these are."""
    manner: str = "decisions"
    """How it was found: by "decisions" made again, or by "nested" cross-validation."""

    def __str__(self) -> str:
        low, high = self.interval
        made_of = "" if self.rows == "all rows" else f", made of {self.rows}"
        return f"{self.metric} {self.score:.4g} on new rows (90 % interval {low:.4g} to {high:.4g}{made_of})"

    @property
    def against_default(self) -> str:
        """A sentence on whether the search was worth it."""
        if self.beats_default is None:
            return "The default configuration failed, so there is nothing to compare with."
        is_better = "It is better" if self.beats_default else "It is not better beyond noise"
        return f"{is_better} than the default configuration, the first trial."


def decision_seconds(n_trials: int, n_rows: int, n_classes: int) -> float:
    """Return about how long it takes to make a decision again, by the numbers that trials told."""
    return SECONDS_PER_NUMBER * n_trials * min(n_rows, MOST_ROWS) * max(n_classes, 1)


def decides_quickly(selection: Selection) -> bool:
    """Tell whether a selection has a short way to many decisions, where what is kept allows it."""
    if not isinstance(selection, GreedyCommittee) or not isinstance(selection.loss, AverageLoss):
        return False
    return can_choose(selection.greedy, selection.loss)


def affordable_decisions(seconds: float, one: float) -> int:
    """Return how many decisions are within some seconds: whole partitions, one to ten."""
    partitions = N_DECISIONS // N_SLOW_DECISIONS
    return N_SLOW_DECISIONS * int(min(max(seconds / (one * N_SLOW_DECISIONS), 1), partitions))


@dataclass(frozen=True, eq=False)
class Estimating:
    """What an estimate is made of."""

    study: Study
    told: Told
    """What is returned, on the rows that its members were judged on."""
    default: Told | None = None
    """The same of the default configuration."""
    units: Indices | None = None
    """What each row of the table is drawn with: its group, or its stretch of time; by itself if None: (n_rows,)."""
    sample_weight: Array | None = None
    """How much each row of the table counts; all alike if None: (n_rows,)."""
    order: Sequence[int] | None = None
    tunes: bool = False
    """Whether decisions are tuned for the metric."""
    tempers: bool = False
    """Whether the probabilities of all members together are tempered."""
    n_folds: int = 5
    """Folds that share training rows; 1 for a hold-out."""
    n_table_rows: int | None = None
    """Rows of the table, some of which may not have been judged."""
    n_decisions: int = N_DECISIONS
    """How often the decision is made again, at most."""

    def estimate(self) -> Estimate | None:
        """Return it; None where trials did not keep what they said about the same rows, or it is no number."""
        told = self._knowing(self.told, self._unseen)
        return self.around(self.expected(), told, told.score(np.arange(len(told))))

    def expected(self) -> float:
        """Return the score of the estimate alone; NaN where trials did not keep what they said about the same rows."""
        kept = answers_of_trials(self.study, np.unique(self.told.predictions.rows))
        return math.nan if kept is None else self._honest(kept, self.study.seeds("estimate"))

    def nested(self, predictions: ValidationPredictions) -> Estimate | None:
        """Return the estimate by what whole fits without a part of the rows predicted for it."""
        told = replace(self.told, predictions=predictions)
        told = self._knowing(told, shares_of_unseen(predictions))
        optimistic = self._knowing(self.told, self._unseen).score(np.arange(len(self.told)))
        return self.around(told.score(np.arange(len(told))), told, optimistic, "nested")

    def around(self, score: float, told: Told, optimistic: float, manner: str = "decisions") -> Estimate | None:
        """Return an estimate with its interval, by what was predicted for rows; None if it is no number."""
        if not math.isfinite(score) or not math.isfinite(optimistic):
            return None
        units = self._units(told.predictions.rows)
        most = min(N_REPLICATES, MOST_DRAWN // len(told)) if told.is_quick else 0
        counts = resamples(units, max(most, N_SLOW_REPLICATES), self.study.seeds("estimate", 1))
        scores = told.scores(counts)
        n_units = len(np.unique(units))
        few = 1.0 if self.units is None else widening_by_few(n_units)
        spread = spread_of(scores, told.scoring, n_units, self.widening * few)
        beats = None
        if self.default is not None and len(self.default) == len(told):
            optimism = told.score(np.arange(len(told))) - score
            default = self._knowing(self.default.in_order_of(told), self._unseen)
            beats = self._beats(scores - default.scores(counts), optimism)
        n, n_all = len(told), self.n_table_rows or len(told)
        rows = "all rows" if n == n_all else f"{n} of {n_all} rows"
        return Estimate(told.scoring.name, score, spread.around(score), optimistic, beats, n, rows, manner)

    @property
    def widening(self) -> float:
        """By how much intervals are wider than those of as many new rows: folds share rows that they train on.

        Nadeau and Bengio (2003): a variance over k folds is to be multiplied by 1/k + 1/(k - 1) instead of 1/k.
        """
        return math.sqrt(1.0 + self.n_folds / (self.n_folds - 1)) if self.n_folds > 1 else 1.0

    @cached_property
    def _unseen(self) -> Array | None:
        """The shares of classes that models of folds did not know, where all rows were judged."""
        is_complete = len(self.told) == (self.n_table_rows or len(self.told))
        return shares_of_unseen(self.told.predictions) if is_complete else None

    def _knowing(self, told: Told, shares: Array | None) -> Told:
        """Return what would have been told if these classes had been known, where a metric is of probabilities."""
        is_order = told.scoring.scorer.is_of_order
        return told if is_order else replace(told, predictions=as_if_seen(told.predictions, shares))

    def _units(self, rows: Indices) -> Indices:
        return rows if self.units is None else self.units[rows]

    def _weights(self, rows: Indices) -> Array | None:
        return None if self.sample_weight is None else self.sample_weight[rows]

    def _beats(self, gains: Array, optimism: float) -> bool:
        """Tell whether gains over the default, less what is optimistic of them, are beyond noise."""
        known = gains[np.isfinite(gains)]
        return bool(len(known)) and bool(known.mean() - max(optimism, 0.0) > Z * self.widening * known.std())

    # ---- the decision again ---------------------------------------------------------------------------------------

    def _honest(self, kept: KeptAnswers, rng: np.random.Generator) -> float:
        """Return the score of decisions on the rows that they leave out, all together."""
        if len(kept.rows) > MOST_ROWS:
            kept = kept.take(np.sort(rng.permutation(len(kept.rows))[:MOST_ROWS]))
        parts = list(self._decided(kept, rng))
        if not parts:
            return math.nan
        most = np.inf if self.told.scoring.scorer.is_of_answers else MOST_SCORED
        sizes = np.cumsum([len(part.rows) for part in parts])
        together = Told(_joined(parts[: max(1, int(np.searchsorted(sizes, most)))]), self.told.given, self.told.scoring)
        return self._knowing(together, self._unseen).score(np.arange(len(together)))

    def _decided(self, kept: KeptAnswers, rng: np.random.Generator) -> Iterator[ValidationPredictions]:
        """Make the decision again and again; tell what it predicts for the rows that are left out."""
        reselection = Reselection(kept, self.told.given, self.told.scoring, self.sample_weight)
        is_quick = reselection.is_quick and not self._tunes
        n = min(self.n_decisions, N_DECISIONS if is_quick else N_SLOW_DECISIONS)
        y = np.asarray(kept.truth.y[kept.rows], dtype=np.float64)
        counts = left_out(self._units(kept.rows), y, n, rng)
        counts = counts[counts.any(axis=1)]
        known = set(kept.trials.tolist())
        for row, members in zip(counts, reselection(counts), strict=True):
            if all(member.trial in known for member in members):
                yield self._predicted(kept, members, row)

    @property
    def _tunes(self) -> bool:
        """Whether a rule is found for each decision."""
        return self.tunes and (self.told.given.classes is None or is_of_labels(self.told.scoring.scorer))

    @property
    def _tempers(self) -> bool:
        """Whether the temperature of each decision matters: the most probable class is the same with any."""
        return self.tempers and (self._tunes or not is_of_labels(self.told.scoring.scorer))

    def _predicted(self, kept: KeptAnswers, members: Sequence[Member], counts: Array) -> ValidationPredictions:
        """Return what members, with a rule tuned on the rows that count, predict for the others."""
        given, scoring = self.told.given, self.told.scoring
        said = kept.said(members, np.arange(len(kept.rows)), self.order)
        inside, outside = np.repeat(np.arange(len(counts)), counts.astype(np.intp)), np.flatnonzero(counts == 0)
        rows = kept.rows[outside]
        folds = np.zeros(len(kept.rows), dtype=np.intp)
        together, weights = Together(kept.rows, folds, said), self._weights(kept.rows)
        made = ValidationPredictions(
            rows, folds[outside], given.y[rows], said.values[outside], sample_weight=self._weights(rows)
        )
        if given.classes is None or said.probabilities is None:
            if not self._tunes:
                return made
            values, y = np.asarray(said.values, dtype=np.float64), given.y[kept.rows].astype(np.float64)
            line = Line(together, y, given, scoring, weights).line(values, inside)
            return replace(made, predictions=line(values[outside]))
        p = said.probabilities / said.probabilities.sum(axis=1, keepdims=True)
        if self._tempers:
            codes = truth_codes(given, kept.rows)
            counted = counts if weights is None else counts * weights
            p = tempered(p, temperature_of(p, codes, counted.astype(np.float64)))
        decided = said.values[outside]
        if self._tunes:
            decided = Decisions(p, given, scoring, together, weights, self.order).rule(inside)(p[outside], self.order)
        if scoring.scorer.is_of_order and p.shape[1] == 2:
            # decisions differ in scale, and only the order counts: the place among all rows is comparable
            place = rankdata(p[:, 1]) / (len(p) + 1)
            p = np.column_stack([1.0 - place, place])
        return replace(made, predictions=given.classes[decided], probabilities=p[outside], classes=given.classes)


def _joined(parts: Sequence[ValidationPredictions]) -> ValidationPredictions:
    """Return several as one."""

    def one(name: str) -> Any:
        found = [getattr(part, name) for part in parts]
        return None if found[0] is None else np.concatenate(found)

    names = ("rows", "folds", "y", "predictions", "probabilities", "sample_weight")
    return ValidationPredictions(**{name: one(name) for name in names}, classes=parts[0].classes)
