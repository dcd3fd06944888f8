"""What users give to `fit`, made ready for it: tables of other libraries, rows without a target, rows to judge on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from comitia.arrays import AnyArray, Mask, Table
from comitia.auto.reserve import Manner
from comitia.errors import ChoiceError, ComitiaWarning, TableError
from comitia.evaluation.checks import checked_column, checked_weights
from comitia.evaluation.fitting import take
from comitia.evaluation.resampling import CV, splits_of_rows
from comitia.tables.cleaner import as_table

Refit = Literal["full", "full+val", "folds", False]
"""What members are fitted again on, as users say it."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows to learn from; entries of `sample_weight` and `groups` are theirs, and `cv` means them."""

    X: Table
    y: ArrayLike | None
    sample_weight: ArrayLike | None = None
    groups: ArrayLike | None = None
    cv: CV | None = None

    def with_target(self, name: str) -> FitRows:
        """Return the rows that have a target, and warn of the others; what does not fit together is left to checks."""
        is_missing = _missing(self.y)
        if is_missing is None or not is_missing.any() or self.X.shape[0] != len(is_missing):
            return self
        n, n_missing = len(is_missing), int(is_missing.sum())
        if n_missing == n:
            raise TableError(f"The target must be known for some rows. Input {name} contains NaN in all {n} rows.")
        message = f"{n_missing} of {n} rows have no target ({name} is missing there) and are left out."
        warnings.warn(message, ComitiaWarning, stacklevel=4)
        kept = np.flatnonzero(~is_missing)
        weights = checked_column("sample_weight", self.sample_weight, n)
        groups = checked_column("groups", self.groups, n)
        return FitRows(
            take(self.X, kept),
            np.asarray(self.y).reshape(n)[kept],
            None if weights is None else weights[kept],
            None if groups is None else groups[kept],
            None if self.cv is None else splits_of_rows(self.cv, ~is_missing),
        )


def fit_rows(
    X: Table | ArrayLike,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    cv: CV | None = None,
    name: str = "y",
) -> FitRows:
    """Return what `fit` was given, without the rows that have no target; `name` is that of the target."""
    return FitRows(as_table(X), y, sample_weight, groups, cv).with_target(name)


def known_target(y: ArrayLike) -> AnyArray:
    """Return what rows truly are; refuse rows of which that is not known."""
    is_missing = _missing(y)
    if is_missing is not None and is_missing.any():
        raise TableError(
            f"Rows must have a target to be scored. It is missing in {int(is_missing.sum())} of {len(is_missing)}. "
            "Drop them."
        )
    return np.asarray(y)


def kept_splits(cv: CV | None) -> CV | None:
    """Return `cv`; a generator of splits as a list, because it can be read once."""
    return list(cv) if isinstance(cv, Iterator) else cv


def _missing(y: ArrayLike | None) -> Mask | None:
    """Tell which entries of a target are missing: NaN, None, NA or NaT; None where it is no column."""
    values = np.asarray(y)
    if y is None or values.ndim not in (1, 2) or values.size != len(values):
        return None
    return np.asarray(pd.isna(values.reshape(len(values))), dtype=bool)


# ---- rows to judge on -----------------------------------------------------------------------------------------------


def manner_of(refit: Refit, *, has_val: bool = False) -> Manner:
    """Return how members are fitted again: "full" means the rows of X, and not those that were given to judge on."""
    if refit not in get_args(Refit):
        raise ChoiceError(f"The 'refit' parameter must be 'full', 'full+val', 'folds' or False. Got {refit!r} instead.")
    if refit == "full+val":
        return "full"
    return False if has_val else refit  # the one split trains on the rows of X


def weights_of_both(sample_weight: ArrayLike | None, n_rows: int, n_more: int) -> AnyArray | None:
    """Return the weights of rows to learn from, and for each row to judge on their mean."""
    weights = checked_weights(sample_weight, n_rows)
    return None if weights is None else np.concatenate([weights, np.full(n_more, weights.mean())])
