"""Classes so rare that no model of a fold had seen them when it judged their rows.

Such a model gives them a probability of 0, which costs the log loss as much as a number can say; what is handed over is
fitted on all rows, and knows the class. An estimate for it takes the class to have at least its share of the rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from comitia.arrays import Array
from comitia.auto.validation import ValidationPredictions


def shares_of_unseen(told: ValidationPredictions) -> Array | None:
    """Return the part of the rows of each class that is in one fold only, and 0 for others: (n_classes,); None if none.

    Only where every row was judged: else models may have seen a class in rows that were not.
    """
    if told.classes is None:
        return None
    folds, codes = np.unique(told.folds, return_inverse=True)[1], np.searchsorted(told.classes, told.y)
    if folds.max(initial=0) == 0:
        return None
    counts = np.zeros((len(told.classes), int(folds.max()) + 1))
    np.add.at(counts, (codes, folds), 1.0)
    shares = np.where((counts > 0).sum(axis=1) == 1, counts.sum(axis=1) / len(codes), 0.0)
    return shares if shares.any() else None


def as_if_seen(told: ValidationPredictions, shares: Array | None) -> ValidationPredictions:
    """Return predictions in which rows of such classes have at least that probability of their own."""
    if shares is None or told.classes is None or told.probabilities is None:
        return told
    p, rows = told.probabilities, np.arange(len(told.rows))
    codes = np.searchsorted(told.classes, told.y)
    own = p[rows, codes]
    least = np.maximum(own, shares[codes])
    scale = np.divide(1.0 - least, 1.0 - own, out=np.ones_like(own), where=own < 1.0)
    p = p * scale[:, None]
    p[rows, codes] = least
    return replace(told, probabilities=p)
