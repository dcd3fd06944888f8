"""How much a model needs each column: the score that is lost when its values are shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from comitia.arrays import AnyArray, Array, Table
from comitia.errors import TableError, check_int
from comitia.evaluation.scoring import Scoring
from comitia.evaluation.shown import shown_classifier, shown_regressor
from comitia.tables.cleaner import column_names

N_DRAWS = 40
"""Bootstraps of the rows for each shuffle."""
COVERED = (5.0, 95.0)
"""Percentiles of the interval."""


def permutation_importance(
    estimator: Any,
    X: Table | ArrayLike,
    y: AnyArray,
    scoring: Scoring,
    n_repeats: int,
    random_state: int | None,
    sample_weight: Array | None = None,
) -> pd.DataFrame:
    """Return the score that is lost by shuffling each column of the user's table, the most important first.

    Each shuffle is predicted once and scored on bootstraps of the rows, beside the predictions for the rows as they
    are: the interval knows of both the shuffles and the rows.
    """
    check_int("feature_importance", "n_repeats", n_repeats)
    table = _table(X)
    n = len(table)
    if n != len(y):
        raise TableError(f"X and y must have the same number of rows. Got {n} and {len(y)}.")
    rng = np.random.default_rng(random_state)
    draws = [np.arange(n)] + [rng.integers(0, n, n) for _ in range(N_DRAWS)]
    names = column_names(X)
    if names is not None and (known := estimator.cleaner_.names_) is not None:
        table = table[[name for name in table.columns if name in set(known)]]
    ask = _Ask(estimator, y, scoring, names is not None, sample_weight)
    before = ask.scores(table, draws)
    rows = []
    for column in table.columns:
        lost = np.empty((n_repeats, len(draws)))
        for repeat in range(n_repeats):
            shuffled = table.copy()
            shuffled[column] = table[column].iloc[rng.permutation(n)].array
            lost[repeat] = before - ask.scores(shuffled, draws)
        drawn = lost[:, 1:].mean(axis=0)
        low, high = np.nanpercentile(drawn, COVERED) if np.isfinite(drawn).any() else (np.nan, np.nan)
        rows.append({"column": column, "importance": float(lost[:, 0].mean()), "low": float(low), "high": float(high)})
    frame = pd.DataFrame(rows, columns=["column", "importance", "low", "high"])
    return frame.sort_values("importance", ascending=False, kind="stable").reset_index(drop=True)


class _Ask:
    """Scores of a fitted estimator on bootstraps of rows, for which it predicts once."""

    def __init__(
        self, estimator: Any, y: AnyArray, scoring: Scoring, has_names: bool, sample_weight: Array | None
    ) -> None:
        self.estimator, self.y, self.scoring, self.has_names = estimator, y, scoring, has_names
        self.sample_weight = sample_weight

    def scores(self, table: pd.DataFrame, draws: list[AnyArray]) -> Array:
        """Return the score of each draw of rows; NaN where a metric has none."""
        X = table if self.has_names else table.to_numpy()
        answer = self._answered(X)
        return np.array([self._score(answer, X, rows) for rows in draws])

    def _answered(self, X: Any) -> tuple[AnyArray, AnyArray | None]:
        predicted = np.asarray(self.estimator.predict(X))
        wants = self.scoring.scorer.asks_for != ("predict",) and hasattr(self.estimator, "classes_")
        return predicted, self.estimator.predict_proba(X) if wants else None

    def _score(self, answer: tuple[AnyArray, AnyArray | None], X: Any, rows: AnyArray) -> float:
        predicted, p = answer
        if not hasattr(self.estimator, "classes_"):
            model = shown_regressor(predicted[rows])
        else:
            classes = self.estimator.classes_
            codes = np.searchsorted(classes, predicted[rows])
            known = np.zeros((len(rows), len(classes))) if p is None else p[rows]
            model = shown_classifier(classes, known, codes)
        some = X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
        try:
            weights = None if self.sample_weight is None else self.sample_weight[rows]
            return self.scoring.scorer(model, some, self.y[rows], weights)
        except ValueError:
            return np.nan


def _table(X: Any) -> pd.DataFrame:
    """Return the table as a frame, whose columns can be shuffled one by one."""
    if isinstance(X, pd.DataFrame):
        return X.reset_index(drop=True)
    if sparse.issparse(X):
        return pd.DataFrame(X.toarray())
    if hasattr(X, "to_pandas"):
        return pd.DataFrame(X.to_pandas()).reset_index(drop=True)
    return pd.DataFrame(np.asarray(X))
