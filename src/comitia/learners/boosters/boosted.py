"""`Boosted`: what all boosters share, from a table and its target to a model that is kept as plain data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from comitia.arrays import AnyArray, Array, Indices, Json, Table
from comitia.evaluation.fitting import Examples
from comitia.evaluation.scoring import Task
from comitia.learners.held_out import held_out

PATIENCE = 50
"""Trees without anything better on the rows set aside after which a fit ends."""
STEPS_WITHOUT = 10.0
"""Trees times learning rate where no rows can be set aside; a guess."""


def _is_of_classes(model: Boosted) -> bool:
    return model.task == "classification"


class Boosted(BaseEstimator):  # type: ignore[misc]
    """A booster of some library for one task; trees are added while rows set aside are predicted better.

    What is learned is `model_`, in a form that model files can hold. The library's own object is made of it when it is
    first needed and never travels.
    """

    task: Task
    codes: Sequence[int]
    """Positions of columns that hold codes of categories."""
    learning_rate: float
    random_state: int
    most_trees: int
    n_trees: int | None
    """How many, if that is known; they are found by rows set aside if None."""
    classes_: AnyArray

    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from numbers, codes and missing values as they are."""
        self.__dict__.pop("_live", None)
        self.n_features_in_ = int(X.shape[1])
        target: AnyArray = np.asarray(y)
        if self.task == "classification":
            self.classes_, target = np.unique(target, return_inverse=True)
            if len(self.classes_) < 2:
                raise ValueError(f"A classifier needs at least 2 classes. Got {self.classes_.tolist()}.")
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        held = None
        if self.n_trees is None:
            held = held_out(target, is_classes=self.task == "classification", random_state=self.random_state)
        self.model_, self.n_trees_ = self._trained(Examples(X, target, weights), held)
        self.is_found_ = held is not None
        return self

    @property
    def _n_trees(self) -> int:
        """How many trees there are where no rows were set aside."""
        return min(self.most_trees, self.n_trees or round(STEPS_WITHOUT / self.learning_rate))

    def found_size(self) -> int | None:
        """Return the number of trees that rows set aside have told; None where none were set aside."""
        return self.n_trees_ if self.is_found_ else None

    def of_size(self, size: int) -> Self:
        """Return an unfitted one with so many trees, which learns from all rows."""
        told: Self = clone(self).set_params(n_trees=size)
        return told

    @abstractmethod
    def _trained(self, examples: Examples, held: Indices | None) -> tuple[Any, int]:
        """Return what was learned and its number of trees; the target is codes of classes from 0 on, or numbers."""

    @abstractmethod
    def _opened(self) -> Any:
        """Return the library's object for `model_`."""

    @abstractmethod
    def _answers(self, model: Any, X: Table) -> Array:
        """Return numbers (n,), or the probability of each class (n, n_classes)."""

    def _told(self, X: Table) -> Array:
        if "_live" not in vars(self):
            self._live = self._opened()
        return np.asarray(self._answers(self._live, X), dtype=np.float64)

    def predict(self, X: Table) -> AnyArray:
        """Return the class or the number of each row, (n,)."""
        told = self._told(X)
        return np.asarray(self.classes_[told.argmax(axis=1)]) if self.task == "classification" else told

    @available_if(_is_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Table) -> Array:
        """Return the probability of each class, (n, n_classes)."""
        return self._told(X)

    def __getstate__(self) -> Json:
        return {name: value for name, value in super().__getstate__().items() if name != "_live"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.task == "classification" else "regressor"
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def parts_of(examples: Examples, held: Indices | None) -> tuple[Examples, Examples | None]:
    """Return the rows to learn from, and those to stop by."""
    if held is None:
        return examples, None
    rest = np.setdiff1d(np.arange(len(examples.y)), held)
    return examples.take(rest), examples.take(held)


def both_classes(p: Array) -> Array:
    """Return the probabilities of both classes, of those of the second."""
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p
