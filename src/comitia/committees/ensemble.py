"""`Ensemble`: weighted fitted members that predict as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import softmax

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.tempering import tempered

EQUAL = 1e-9
"""Sums of weights that differ by less are equal: thirds do not add up."""


class Ensemble(BaseEstimator):  # type: ignore[misc]
    """Average the answers of fitted models.

    Parameters
    ----------
    models : sequence of fitted estimators
    weights : sequence of float
        They sum to 1.
    n_classes : int, optional
        Classes are codes 0 to n_classes - 1; None for numbers.
    votes : bool
        Predict the class with the most votes instead of the most probable one.
    order : sequence of int, optional
        The classes; of equals the first here wins. 0, 1, ... if not given.
    temperatures : sequence of float, optional
        What each one's probabilities are tempered by before they are averaged; see `calibration`.
    """

    def __init__(
        self,
        models: Sequence[Any],
        weights: Sequence[float],
        n_classes: int | None = None,
        votes: bool = False,
        order: Sequence[int] | None = None,
        temperatures: Sequence[float] | None = None,
    ) -> None:
        self.models = models
        self.weights = weights
        self.n_classes = n_classes
        self.votes = votes
        self.order = order
        self.temperatures = temperatures

    def predict(self, X: Any) -> AnyArray:
        """Return numbers, or the codes of the most probable classes.  # (n,)."""
        if self.n_classes is None:
            return np.asarray(
                sum(
                    w * np.asarray(m.predict(X), dtype=np.float64)
                    for m, w in zip(self.models, self.weights, strict=True)
                )
            )
        if len(self.models) == 1:  # one model's own answer, which need not be where its probability is largest
            return np.asarray(self.models[0].predict(X)).astype(np.intp)
        if self.votes:
            counts = np.zeros((X.shape[0], self.n_classes))
            for model, weight in zip(self.models, self.weights, strict=True):
                counts[np.arange(len(counts)), np.asarray(model.predict(X)).astype(np.intp)] += weight
            return of_most(counts, self.order)
        return of_most(self.predict_proba(X), self.order)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities; a member without any gives margins or votes.  # (n, n_classes)."""
        assert self.n_classes is not None
        total = np.zeros((X.shape[0], self.n_classes))
        temperatures = self.temperatures or [1.0] * len(self.models)
        for model, weight, temperature in zip(self.models, self.weights, temperatures, strict=True):
            p = np.zeros_like(total)
            if hasattr(model, "classes_"):
                p[:, np.asarray(model.classes_, dtype=np.intp)] = probabilities_of(model, X)
            else:
                p[np.arange(len(p)), np.asarray(model.predict(X)).astype(np.intp)] = 1.0
            total += weight * tempered(p, temperature)
        return total


def of_most(scores: Array, order: Sequence[int] | None = None) -> Indices:
    """Return the class with the greatest score, of equals the first in an order.  # (n, n_classes) -> (n,)."""
    classes = np.arange(scores.shape[1]) if order is None else np.asarray(order, dtype=np.intp)
    is_most = scores[:, classes] >= scores.max(axis=1, keepdims=True) - EQUAL
    return np.asarray(classes[is_most.argmax(axis=1)])


def probabilities_of(model: Any, X: Any) -> Array:
    """Return the probabilities of a model's own classes; margins or votes where it has none.  # (n, n_classes)."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    if hasattr(model, "decision_function"):  # a margin, squashed: in the order of confidence, not calibrated
        margin = np.asarray(model.decision_function(X), dtype=np.float64)
        if margin.ndim == 1:
            margin = np.column_stack([np.zeros(len(margin)), 2 * margin])
        return np.asarray(softmax(margin))
    votes = np.searchsorted(model.classes_, model.predict(X))
    return np.asarray(np.eye(len(model.classes_))[votes])
