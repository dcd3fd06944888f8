"""What scorers are shown in place of a model: something that has answered already, with the user's labels.

Learners get a cleaned table and codes of classes. A scorer must not notice: it sees the labels and the table as the
user gave them. It asks `predict`, `predict_proba` or `decision_function` about the very rows that it was handed, whose
answers are known; a function of the user's that asks about other rows is answered by the model itself.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from comitia.arrays import AnyArray, Array, Table


class Answering(Protocol):
    """Answers questions about rows."""

    def __call__(self, X: Table, wants_probabilities: bool, /) -> AnyArray:
        """Return class probabilities, or else class codes or numbers."""


class _Shown(BaseEstimator):  # type: ignore[misc]
    """What both tasks share. It is fitted by what it was made of."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ShownClassifier(ClassifierMixin, _Shown):  # type: ignore[misc]
    """A classifier as the user sees it."""

    def __init__(self, answer: Answering, classes: AnyArray) -> None:
        super().__init__(answer)
        self.classes_ = classes

    def predict(self, X: Table) -> AnyArray:
        return np.asarray(self.classes_[self.answer(X, False)])

    def predict_proba(self, X: Table) -> Array:
        return np.asarray(self.answer(X, True), dtype=np.float64)


class ShownRegressor(RegressorMixin, _Shown):  # type: ignore[misc]
    """A regressor as the user sees it."""

    def predict(self, X: Table) -> AnyArray:
        return self.answer(X, False)


def shown(answer: Answering, classes: AnyArray | None) -> ShownClassifier | ShownRegressor:
    """Return what a scorer is shown; without classes it is a regressor."""
    return ShownRegressor(answer) if classes is None else ShownClassifier(answer, classes)


def shown_classifier(classes: AnyArray, probabilities: AnyArray, codes: AnyArray | None = None) -> ShownClassifier:
    """Return what has answered with probabilities, and with codes of classes: the most probable if none are given."""
    decided = probabilities.argmax(axis=1) if codes is None else codes

    def answer(X: Table, wants_probabilities: bool) -> AnyArray:
        _check_rows(X, len(decided))
        return probabilities if wants_probabilities else decided

    return ShownClassifier(answer, classes)


def shown_regressor(numbers: Array) -> ShownRegressor:
    """Return what has answered with numbers."""

    def answer(X: Table, wants_probabilities: bool) -> AnyArray:
        _check_rows(X, len(numbers))
        return numbers

    return ShownRegressor(answer)


def _check_rows(X: Table, n_rows: int) -> None:
    """Refuse a question about other rows, which nobody is there to answer."""
    if X.shape[0] != n_rows:
        raise ValueError(f"a scorer must ask a committee about the {n_rows} rows that it was handed, not {X.shape[0]}")
