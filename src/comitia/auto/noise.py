"""How far a score on some rows may be from that on others: resamples of rows, and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.metrics._scorer import _BaseScorer

from comitia.arrays import AnyArray, Array, Indices
from comitia.auto.rule_tuning import quiet_score
from comitia.auto.validation import ValidationPredictions
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scoring
from comitia.evaluation.shown import shown_classifier

LEVEL = 0.9
"""Of intervals."""
Z = float(ndtri(0.5 + LEVEL / 2))
MOST_LOG = 50.0
"""Where losses of resamples are all but 0, and one is not: an interval is still of numbers."""
RARE = 3.0
"""What may have been missed: an event of which n rows show none has a rate of at most 3 / n, at a level of 95 %."""


@dataclass(frozen=True, eq=False)
class Told:
    """What was predicted about some rows, to be scored on resamples of them."""

    predictions: ValidationPredictions
    given: Given
    scoring: Scoring

    def __len__(self) -> int:
        return len(self.predictions.rows)

    def in_order_of(self, other: Told) -> Told:
        """Return the same about the rows in the order of another, which must be the same rows."""
        mine, wanted = np.argsort(self.predictions.rows), np.argsort(np.argsort(other.predictions.rows))
        return replace(self, predictions=self.predictions.take(mine[wanted]))

    def scores(self, counts: Array) -> Array:
        """Return the score of each resample, given how often each row is in it: (m, n) -> (m,); NaN if it has none."""
        if self._row_losses is not None:
            weights = self.predictions.sample_weight
            weighed = counts if weights is None else counts * weights
            totals = weighed.sum(axis=1)
            means = np.divide(weighed @ self._row_losses, totals, out=np.full(len(counts), np.nan), where=totals > 0)
            return np.asarray(self.scoring.best - means)
        if self._kinds is not None:
            return self._scores_of_kinds(counts)
        return np.array([self.score(np.repeat(np.arange(len(self)), row.astype(np.intp))) for row in counts])

    @property
    def is_quick(self) -> bool:
        """Whether resamples are scored all at once."""
        return self._row_losses is not None

    @cached_property
    def _kinds(self) -> Indices | None:
        """What each row is and was taken for, as one code, where a metric knows nothing else of it."""
        told, scorer = self.predictions, self.scoring.scorer
        if told.classes is None or scorer.asks_for != ("predict",) or not scorer.takes_weights:
            return None
        truth, decided = np.searchsorted(told.classes, told.y), np.searchsorted(told.classes, told.predictions)
        return np.asarray(truth * len(told.classes) + decided)

    def _scores_of_kinds(self, counts: Array) -> Array:
        """Return the scores of resamples; rows that are alike count together, which is quicker."""
        told, classes = self.predictions, self.predictions.classes
        assert classes is not None
        assert self._kinds is not None
        kinds, places = np.unique(self._kinds, return_inverse=True)
        weighed = counts if told.sample_weight is None else counts * told.sample_weight
        totals = np.stack([np.bincount(places, row, len(kinds)) for row in weighed])
        truth, decided = np.divmod(kinds, len(classes))
        model = shown_classifier(classes, np.empty((len(kinds), 0)), decided)
        given, rows = Given(classes[truth], classes), np.arange(len(kinds))
        return np.array([quiet_score(self.scoring, model, given, rows, total) for total in totals])

    def score(self, some: Indices) -> float:
        """Return the score on some rows, given by their places, which may be named several times."""
        return self.predictions.take(some).score(self.scoring, self.given)

    @cached_property
    def _row_losses(self) -> Array | None:
        loss, told = self.scoring.row_loss, self.predictions
        if loss is None:
            return None
        if told.classes is None:
            return loss.rows(told.y.astype(np.float64), told.predictions)
        truth = np.searchsorted(told.classes, told.y)
        if not loss.needs_probabilities:
            return loss.rows(truth, np.searchsorted(told.classes, told.predictions))
        return None if told.probabilities is None else loss.rows(truth, told.probabilities)


def resamples(units: Indices, n: int, rng: np.random.Generator) -> Array:
    """Draw units with replacement, n times; return how often each row is there, given its unit: (n_rows,) -> (n, .)."""
    _, places = np.unique(units, return_inverse=True)
    n_units = int(places.max()) + 1
    drawn = rng.multinomial(n_units, np.full(n_units, 1.0 / n_units), size=n)
    return np.asarray(drawn[:, places], dtype=np.float64)


def left_out(units: Indices, y: AnyArray, n: int, rng: np.random.Generator, n_parts: int = 10) -> Array:
    """Leave out a part of the units at a time, again and again in other parts; return which rows are kept, n times.

    Parts are alike in `y`, codes of classes or numbers: a decision without the rows of one class expects fewer of it,
    and just these it would be judged by.
    """
    _, places = np.unique(units, return_inverse=True)
    n_units = int(places.max()) + 1
    n_parts = min(n_parts, n_units)
    means = np.bincount(places, y) / np.bincount(places)
    return np.array(
        [
            part[places] != i
            for part in (_alike(means, n_parts, rng) for _ in range(-(-n // n_parts)))
            for i in range(n_parts)
        ],
        dtype=np.float64,
    )


def _alike(y: Array, n_parts: int, rng: np.random.Generator) -> Indices:
    """Return a part for each unit: neighbours in the order of y go to different ones."""
    order = np.lexsort((rng.random(len(y)), y))
    dealt = np.concatenate([rng.permutation(n_parts) for _ in range(-(-len(y) // n_parts))])[: len(y)]
    parts = np.empty(len(y), dtype=np.intp)
    parts[order] = dealt
    return parts


def stretches(n_rows: int) -> Indices:
    """Return units of rows in the order of time: neighbours are alike, so they are drawn together."""
    length = math.ceil(n_rows ** (1 / 3))
    return np.asarray(np.arange(n_rows) // length, dtype=np.intp)


@dataclass(frozen=True)
class Spread:
    """How scores of resamples lie around their middle, and how wide an interval is made of it."""

    scores: Array
    """(n_resamples,)"""
    n_units: int
    widening: float
    is_share: bool
    """Whether the score is a share of rows, of which 0 and 1 are the ends."""
    best: float
    """The greatest score there is; infinity where that is not known."""
    worst: float = -math.inf
    """And the least."""

    def around(self, score: float) -> tuple[float, float]:
        """Return the interval of an estimate."""
        known = self.scores[np.isfinite(self.scores)]
        if len(known) < 2:
            return self.worst, self.best
        if self.is_share:
            return _wilson(score, self._n_effective(known))
        if math.isfinite(self.best) and math.isinf(self.worst) and score < self.best and np.ptp(known) > 0:
            return self._of_loss(score, known)
        low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - known.mean()
        low, high = score + self.widening * low, score + self.widening * high
        if np.ptp(known) == 0:
            low = score - RARE * self.widening**2 / self.n_units
        return float(max(min(low, score), self.worst)), float(min(max(high, score), self.best))

    def _of_loss(self, score: float, known: Array) -> tuple[float, float]:
        """Return the interval of a score that has a best and no worst.

        The distance from the best is positive and skewed: a few rows may cost much, and those at hand may lack them.
        Its logarithm is nearly symmetric, so the interval reaches further to the side of the worse.
        """
        losses = self.best - known
        spread = float(np.log(losses[losses > 0]).std()) if np.any(losses > 0) else 0.0
        factor = math.exp(min(Z * self.widening * spread, MOST_LOG))
        loss = self.best - score
        return self.best - loss * factor, self.best - loss / factor

    def _n_effective(self, known: Array) -> float:
        """Return how many independent rows would make a share as uncertain."""
        share = float(np.clip(known.mean(), 0.0, 1.0))
        variance = float(known.var())
        n = share * (1 - share) / variance if variance > 0 else self.n_units
        return float(n / self.widening**2)


def widening_by_few(n_units: int) -> float:
    """Return by how much an interval of few units is wider: few groups say little of how groups differ.

    Resampling n units gives (n - 1) / n of their variance, and Student's t has wider tails than a normal.
    """
    if n_units < 2:
        return 1.0
    return float(stdtrit(n_units - 1, 0.5 + LEVEL / 2) / Z * math.sqrt(n_units / (n_units - 1)))


def spread_of(scores: Array, scoring: Scoring, n_units: int, widening: float) -> Spread:
    """Return how scores lie; what is known of the metric's range is used."""
    return Spread(scores, n_units, widening, scoring.name == "accuracy", best_of(scoring), worst_of(scoring))


def best_of(scoring: Scoring) -> float:
    """Return the greatest score there is: 1 for scores of scikit-learn's, 0 for its losses, unknown for a function."""
    score = scoring.scorer.score
    if scoring.name == "accuracy":
        return 1.0
    return (1.0 if score._sign > 0 else 0.0) if isinstance(score, _BaseScorer) else math.inf


SHARES = ("accuracy", "balanced_accuracy", "average_precision", "f1", "jaccard", "precision", "recall", "roc_auc")
"""Beginnings of the names of scikit-learn's scores from 0 to 1."""


def worst_of(scoring: Scoring) -> float:
    """Return the least score there is: 0 for shares, -1 for a correlation, unknown for others."""
    if scoring.name == "matthews_corrcoef":
        return -1.0
    return 0.0 if best_of(scoring) == 1.0 and scoring.name.startswith(SHARES) else -math.inf


def _wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of n rows, which is one also where the share is 0 or 1."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return float(min(middle - half, share)), float(max(middle + half, share))
