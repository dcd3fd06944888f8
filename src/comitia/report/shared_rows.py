"""The rows that two fits were both judged on, and how one can know that they are the same.

A fit numbers the rows of its table and keeps what each row truly is, not the table. So rows are known to be the same
where the tables are: `comitia fit` keeps a checksum of its table, a study on disk a fingerprint of table, splits and
loss. Else they are taken to be the same if what is to be predicted is equal in every one of them; that says nothing if
the table is sorted by it.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from comitia.arrays import AnyArray, Indices, Json
from comitia.auto.after_fit import Results
from comitia.auto.folder import OPTIONS, STUDY
from comitia.auto.noise import stretches
from comitia.auto.validation import ValidationPredictions
from comitia.study.read_only import read_only

SAME_ROWS = ("checksum", "target", "groups", "weights", "time_column")
"""Options of `comitia fit` that say which rows there are, and in which order."""
FEWEST = 10
"""Rows below which nothing is tested."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, and the folder that it is from."""

    model: Results
    folder: Path | None = None

    @property
    def predictions(self) -> ValidationPredictions | None:
        return self.model.validation_predictions_

    @cached_property
    def options(self) -> Json:
        """Options of `comitia fit`; empty for a fit of Python's."""
        try:
            found = json.loads((self.folder / OPTIONS).read_text()) if self.folder is not None else {}
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def fingerprint(self) -> bytes | None:
        """Hash of the table and of how models are judged; None for a study that was in memory."""
        if self.folder is None:
            return None
        query = "SELECT value FROM blobs WHERE key = 'evaluator'"
        try:
            row = read_only(self.folder / STUDY, lambda connection: connection.execute(query).fetchone())
        except sqlite3.Error:
            return None
        return None if row is None else bytes(row[0])


@dataclass(frozen=True, eq=False)
class SharedRows:
    """What both predicted for the same rows, in the same order."""

    rows: Indices
    """Positions in the table: (n,)."""
    predictions: tuple[ValidationPredictions, ValidationPredictions]
    """Their rows are numbered from 0: (n,)."""
    units: Indices
    """What is drawn together: (n,)."""
    sentence: str
    notes: Sequence[str]

    @property
    def widening(self) -> float:
        """By how much intervals are wider than those of as many new rows; as `Estimating.widening`, the wider one."""
        n_folds = [len(np.unique(one.folds)) for one in self.predictions]
        return max(math.sqrt(1.0 + n / (n - 1)) if n > 1 else 1.0 for n in n_folds)


def shared_rows(a: Fit, b: Fit) -> SharedRows | str:
    """Return what both said of the same rows; a sentence where there are none, or nobody can know."""
    first, second = a.predictions, b.predictions
    if first is None or second is None:
        return "No test: what was predicted for validation rows is not known of both."
    if (first.classes is None) != (second.classes is None):
        return "No test: one predicts classes, the other numbers."
    rows = np.intersect1d(first.rows, second.rows)
    if len(rows) < FEWEST:
        return f"No test: both were judged on {len(rows)} rows with the same numbers, which are too few."
    one, other = (_taken(predictions, rows) for predictions in (first, second))
    if not _equal(one.y, other.y) or not _equal(one.classes, other.classes):
        return "No test: they were fitted on other rows. Rows of the same number have different targets."
    if not _equal(one.sample_weight, other.sample_weight):
        return "No test: rows have other weights, so the scores are not of the same thing."
    how = _evidence(a, b, one.y)
    if how is None:
        return (
            "No test: nothing shows that they were fitted on the same rows. The targets are equal, but sorted, so "
            "other tables could have the same. Shuffle the rows before the fits, or use `comitia fit`, which keeps a "
            "checksum of the table."
        )
    n = max(len(first.rows), len(second.rows))
    which = f"all {n:,} rows" if len(rows) == n else f"{len(rows):,} rows that both were judged on"
    is_of_time = any(fit.options.get("time_column") for fit in (a, b))
    units = stretches(int(rows.max()) + 1)[rows] if is_of_time else np.arange(len(rows))
    return SharedRows(rows, (one, other), units, f"On {which} ({how}):", _notes(a, b))


def _taken(predictions: ValidationPredictions, rows: Indices) -> ValidationPredictions:
    """Return what was said of some rows, numbered from 0."""
    order = np.argsort(predictions.rows, kind="stable")
    taken = predictions.take(order[np.searchsorted(predictions.rows, rows, sorter=order)])
    return replace(taken, rows=np.arange(len(rows)))


def _equal(one: AnyArray | None, other: AnyArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(np.asarray(one), np.asarray(other))


def _evidence(a: Fit, b: Fit, y: AnyArray) -> str | None:
    """Return how one knows that rows are the same, if their targets are; None where nobody can know."""
    if a.options.get("checksum") and all(a.options.get(name) == b.options.get(name) for name in SAME_ROWS):
        return "the tables have the same checksum"
    if a.fingerprint is not None and a.fingerprint == b.fingerprint:
        return "the studies have the same fingerprint"
    changes = int(np.count_nonzero(y[1:] != y[:-1]))
    if changes < len(np.unique(y)):
        return None
    return "taken to be the same, because the target of every one is"


def _notes(a: Fit, b: Fit) -> list[str]:
    notes = []
    if any(fit.options.get("groups") for fit in (a, b)):
        notes.append("Rows were drawn one by one, because groups are not kept: if rows of a group are alike, the "
                     "interval is too narrow.")  # fmt: skip
    columns = [set(vars(fit.model).get("feature_names_in_", ())) for fit in (a, b)]
    if all(columns) and columns[0] != columns[1]:
        differ = sorted(map(str, columns[0] ^ columns[1]))
        named = ", ".join(differ[:5]) + (" and others" if len(differ) > 5 else "")
        notes.append(f"They were fitted on other columns: {len(differ)} are in one table alone ({named}).")
    return notes
