"""Short names for the types that travel through comitia: arrays, tables, and what learners are."""

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
"""Positions of rows, columns or trials."""
Mask: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
"""An array of any type: classes, numbers, groups."""
Table: TypeAlias = Union[AnyArray, "sparse.spmatrix", "pd.DataFrame"]
"""What learners are fitted on, one row per example. Not one string: `Table | ArrayLike` of NumPy 2.5 takes none."""
Json: TypeAlias = dict[str, Any]
"""What a JSON or TOML file holds."""


class Predictor(Protocol):
    """A fitted scikit-learn estimator, or anything that is called in the same way."""

    def predict(self, X: Any) -> Any:
        """Return one class or number per row."""


@runtime_checkable
class Estimator(Predictor, Protocol):
    """A scikit-learn estimator, or anything that is called in the same way."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from a table and its target; return itself."""


class Classifier(Predictor, Protocol):
    """A fitted classifier; some have no probabilities, or no margins: ask the functions below."""

    classes_: AnyArray

    def predict_proba(self, X: Any) -> Any:
        """Return one row of probabilities per row of the table, in the order of `classes_`."""

    def decision_function(self, X: Any) -> Any:
        """Return one margin per row, or one per row and class; greater for classes that are more likely."""


# Not by isinstance: a pipeline's class always has `predict_proba`, whether or not its last step has it.


def has_classes(model: object) -> TypeGuard[Classifier]:
    """Tell whether a model says which classes it knows."""
    return hasattr(model, "classes_")


def has_probabilities(model: object) -> TypeGuard[Classifier]:
    """Tell whether a model has class probabilities."""
    return hasattr(model, "predict_proba")


def has_margins(model: object) -> TypeGuard[Classifier]:
    """Tell whether a model has margins."""
    return hasattr(model, "decision_function")
