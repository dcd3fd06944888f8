"""What the learners share: classes as codes, and an answer where there is only one class."""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_X_y

from comitia.arrays import AnyArray, Array, Indices, Table

Codes = Indices


class WekaClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier that works on class codes and answers with probabilities.

    A subclass has `_fit(X, codes, weight)` and `_answer(X)`; neither is called when there is one class only, as
    happens in a small bag or fold.
    """

    def fit(self, X: Table, y: AnyArray) -> Self:
        """Fit to a table of numbers and one class per row."""
        return self._learn(X, y, None)

    def _learn(self, X: Table, y: AnyArray, weight: Array | None) -> Self:
        rows, labels = check_X_y(X, y, dtype=np.float64)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.n_features_in_ = rows.shape[1]
        if len(self.classes_) > 1:
            self._fit(rows, codes, weight)
        return self

    def predict_proba(self, X: Table) -> Array:
        """Return class probabilities, an (n_rows, n_classes) array."""
        rows = check_array(X, dtype=np.float64)
        return self._answer(rows) if len(self.classes_) > 1 else np.ones((len(rows), 1))

    def predict(self, X: Table) -> AnyArray:
        """Return the most probable class of each row, the first of equals."""
        found: AnyArray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    @abstractmethod
    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        """Learn at least two classes."""

    @abstractmethod
    def _answer(self, X: Array) -> Array:
        """Return probabilities of those classes, an (n_rows, n_classes) array."""


def one_hot(codes: Codes, n_classes: int) -> Array:
    """Return one row per code: zeros, and a one at the code."""
    return np.eye(n_classes)[codes]


def normalised(P: Array) -> Array:
    """Make rows sum to 1; a row of zeros becomes uniform."""
    total = P.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, P / np.where(total > 0, total, 1.0), 1 / P.shape[1]))


def softmax(logs: Array) -> Array:
    """Turn the logarithms of joint probabilities into probabilities."""
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))
