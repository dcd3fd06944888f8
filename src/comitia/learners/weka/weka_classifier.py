"""What the learners share: classes as codes, and an answer where there is but one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_X_y

from comitia.arrays import AnyArray, Array, Indices

Codes = Indices


class Learner(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier that works on class codes and answers with probabilities.

    A kind of learner has `_fit(X, codes, weight)` and `_answer(X)`; neither is called when there is one class only, as
    happens in a small bag or fold.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit.  # X: (n_rows, n_columns), y: (n_rows,)."""
        return self._learn(X, y, None)

    def _learn(self, X: Any, y: Any, weight: Array | None) -> Self:
        X, y = check_X_y(X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = X.shape[1]
        if len(self.classes_) > 1:
            self._fit(X, codes, weight)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities.  # (n_rows, n_classes)."""
        X = check_array(X, dtype=np.float64)
        return self._answer(X) if len(self.classes_) > 1 else np.ones((len(X), 1))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class, the first of equals.  # (n_rows,)."""
        found: AnyArray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    @abstractmethod
    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        """Learn at least two classes."""

    @abstractmethod
    def _answer(self, X: Array) -> Array:
        """Return probabilities of those classes.  # (n_rows, n_classes)."""


def one_hot(codes: Codes, n_classes: int) -> Array:
    """Return a row of zeros and a one for each code.  # (n, n_classes)."""
    return np.eye(n_classes)[codes]


def normalised(P: Array) -> Array:
    """Make rows sum to 1; a row of zeros becomes uniform."""
    total = P.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, P / np.where(total > 0, total, 1.0), 1 / P.shape[1]))


def softmax(logs: Array) -> Array:
    """Turn the logarithms of joint probabilities into probabilities."""
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))
