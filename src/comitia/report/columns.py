"""Which columns of the table matter to a model, and how good it is, on rows that the reader gives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import Json, Table
from comitia.auto.after_fit import Results
from comitia.errors import ChoiceError
from comitia.evaluation.fitting import take

MOST_ROWS = 2_000
"""Rows that columns are shuffled in; of more, so many are drawn."""
MOST_COLUMNS = 40
"""On the page."""
N_REPEATS = 5


def columns_section(model: Results, X: Table | ArrayLike | None, y: ArrayLike | None) -> Json | None:
    """Return the score on labelled rows and the importance of each column; None where no rows are given.

    A model keeps neither its rows nor the models of its folds, and on rows that it was fitted on it would show what it
    has learned by heart.
    """
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise ChoiceError("X and y go together in a report. Got one of them. Give both, or neither.")
    truth = np.asarray(y)
    score = model.score(X, truth)
    n = len(truth)
    if n > MOST_ROWS:
        some = np.sort(np.random.default_rng(0).permutation(n)[:MOST_ROWS])
        X, truth = take(X, some), truth[some]
    frame = model.feature_importance(X, truth, n_repeats=N_REPEATS)
    return {
        "score": score,
        "metric": model.metric,
        "n_rows": n,
        "n_shuffled": len(truth),
        "n_columns": len(frame),
        "rows": [
            {"column": str(row["column"]), "importance": row["importance"], "low": row["low"], "high": row["high"]}
            for _, row in frame.head(MOST_COLUMNS).iterrows()
        ],
    }
