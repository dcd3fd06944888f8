"""What a table is like, and what is suspicious about it: columns that give the target away, duplicates, drift.

It is made once, at the end of a fit, of at most 20,000 rows, and kept with the model, which does not keep the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, stats

from comitia.arrays import AnyArray, Array, Indices, Json, Table
from comitia.tables.cleaner import as_frame

MOST_ROWS, FEWEST_ROWS = 20_000, 1_000
"""Rows that are looked at, of few columns and of many; of more, so many are drawn."""
MOST_VALUES = 400_000
"""Rows times columns: half a second."""
MOST_COLUMNS = 200
"""Columns that are looked at."""
N_BINS = 32
"""Bins of a column of numbers, when it alone has to predict the target."""
MOST_LEVELS = 50
"""Different values up to which a column counts as categories here; the rest are one."""
LEAK = 0.98
"""A column that alone removes this part of the error of a guess is suspicious."""
TINY_CLASS = 10
"""Rows of a class below which nothing can be learned or judged well."""
SMALLEST_SHIFT = 0.1
"""Of mean ranks from one half, or Cramér's V: less is no drift that matters, however certain it is."""
LEVEL = 1e-3
"""Of all tests for drift together."""
MANY_DISTINCT = 0.95
"""Part of the rows that have a value of their own in a column of names or numbers of rows."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Which rows were judged by which split."""

    rows: Indices
    folds: Indices


def survey(
    X: Table, target: AnyArray, classes: AnyArray | None, judged: Judged | None, names: list[str] | None
) -> Json:
    """Return a description of a table and its target (codes of classes, or numbers), with warnings in words."""
    n_rows, n_columns = int(X.shape[0]), int(X.shape[1])
    rng = np.random.default_rng(0)
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_VALUES // max(1, min(n_columns, MOST_COLUMNS))))
    some = np.sort(rng.permutation(n_rows)[:most])
    frame = _frame(X, some, names)
    y = np.asarray(target)[some]
    alone = {name: _alone(_codes(frame[name]), y, classes is not None) for name in frame.columns}
    columns = [_column(frame[name], str(name), alone[name]) for name in frame.columns]
    duplicates, conflicting = _duplicates(frame, y) if n_columns <= MOST_COLUMNS else (0, 0)
    found: Json = {
        "n_rows": n_rows,
        "n_columns": n_columns,
        "n_looked_at": len(some),
        "columns": columns,
        "target": _target(np.asarray(target), classes),
        "duplicates": duplicates,
        "conflicting": conflicting,
        "missing": float(np.mean([column["missing"] for column in columns])) if columns else 0.0,
    }
    drift = [] if judged is None else _drift(frame, some, y, judged, classes is not None)
    return {**found, "drift": drift, "warnings": _warnings(found, drift)}


def _frame(X: Table, some: Indices, names: list[str] | None) -> pd.DataFrame:
    """Return some rows of the first columns as a frame."""
    if sparse.issparse(X):
        return pd.DataFrame(sparse.csr_matrix(X)[some][:, :MOST_COLUMNS].toarray())
    frame = as_frame(X)
    if frame is None:
        return pd.DataFrame(np.asarray(X)[some, :MOST_COLUMNS])
    frame = frame.iloc[some, :MOST_COLUMNS].reset_index(drop=True)
    if names is not None:
        frame = frame.set_axis(names[: frame.shape[1]], axis=1)
    for i, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_datetime64_any_dtype(dtype):
            texts = frame.iloc[:, i].astype(object)
            frame = frame.assign(**{str(frame.columns[i]): texts.where(texts.isna(), texts.astype(str))})
    return frame


def _column(column: pd.Series, name: str, alone: float) -> Json:
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    known = column.dropna()
    made: Json = {
        "name": name,
        "kind": "number" if is_number else "date" if column.dtype.kind == "M" else "category",
        "missing": float(column.isna().mean()),
        "distinct": int(known.nunique()),
        "alone": alone,
    }
    if not len(known):
        return {**made, "kind": "nothing", "values": "all missing"}
    if is_number:
        numbers = known.astype(np.float64)
        low, middle, high = numbers.min(), numbers.median(), numbers.max()
        return {**made, "values": f"{low:.4g} to {high:.4g}, median {middle:.4g}"}
    counts = known.astype(str).value_counts()
    most = ", ".join(f"{str(value)[:40]} ({100 * n / len(known):.0f} %)" for value, n in counts.head(3).items())
    return {**made, "values": most + (", …" if len(counts) > 3 else "")}


def _codes(column: pd.Series) -> Indices:
    """Return a column as codes: bins of numbers, the most frequent values of others, 0 for what is missing."""
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind == "M":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan) if column.dtype.kind != "M" else _days(column)
        known = np.isfinite(values)
        if not known.any():
            return np.zeros(len(values), dtype=np.intp)
        edges = np.unique(np.quantile(values[known], np.linspace(0, 1, N_BINS + 1)[1:-1]))
        return np.where(known, 1 + np.searchsorted(edges, np.where(known, values, 0.0)), 0).astype(np.intp)
    levels = column.value_counts().index[:MOST_LEVELS]
    return np.asarray(1 + levels.get_indexer(pd.Index(column)), dtype=np.intp)


def _days(column: pd.Series) -> Array:
    days = (column - column.min()) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(dtype=np.float64, na_value=np.nan))


def _alone(codes: Indices, y: AnyArray, is_classes: bool) -> float:
    """Return the part of the error of a guess that a column alone removes, learned on even rows, judged on odd ones."""
    n = int(codes.max(initial=0)) + 1
    learn, judge = slice(0, None, 2), slice(1, None, 2)
    if len(y) < 4:
        return 0.0
    if is_classes:
        table = np.zeros((n, int(y.max()) + 1))
        np.add.at(table, (codes[learn], y[learn].astype(np.intp)), 1)
        guess = table.sum(axis=0).argmax()
        decided = np.where(table.any(axis=1), table.argmax(axis=1), guess)[codes[judge]]
        before, after = float(np.mean(y[judge] != guess)), float(np.mean(y[judge] != decided))
    else:
        numbers = y.astype(np.float64)
        sums, counts = np.bincount(codes[learn], numbers[learn], n), np.bincount(codes[learn], minlength=n)
        mean = float(numbers[learn].mean())
        means = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
        before = float(np.mean((numbers[judge] - mean) ** 2))
        after = float(np.mean((numbers[judge] - means[codes[judge]]) ** 2))
    return max(0.0, 1.0 - after / before) if before > 0 else 0.0


def _duplicates(frame: pd.DataFrame, y: AnyArray) -> tuple[int, int]:
    """Return how many rows are like an earlier one, and how many of all rows have a twin with another target."""
    keys = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    first = np.zeros(len(sizes), dtype=y.dtype)
    first[group[::-1]] = y[::-1]  # the target of the first of each
    differs = np.bincount(group, y != first[group], len(sizes)) > 0
    return int(len(y) - len(sizes)), int(sizes[differs].sum())


def _target(target: AnyArray, classes: AnyArray | None) -> Json:
    if classes is None:
        numbers = target.astype(np.float64)
        low, q1, middle, q3, high = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1]).tolist()
        counts, edges = np.histogram(numbers, bins=min(30, max(5, len(np.unique(numbers)))))
        quantiles = {"low": low, "q1": q1, "median": middle, "q3": q3, "high": high}
        return {"kind": "number", **quantiles, "counts": counts.tolist(), "edges": edges.tolist()}
    counts = np.bincount(target.astype(np.intp), minlength=len(classes))
    return {"kind": "classes", "labels": [str(label) for label in classes.tolist()], "counts": counts.tolist()}


def _drift(frame: pd.DataFrame, some: Indices, y: AnyArray, judged: Judged, is_classes: bool) -> list[Json]:
    """Return the columns, and the target, whose values differ between folds beyond chance."""
    fold = np.full(int(max(judged.rows.max(initial=0), some.max(initial=0))) + 1, -1)
    fold[judged.rows] = judged.folds
    folds = fold[some]
    kept = folds >= 0
    if len(np.unique(folds[kept])) < 2:
        return []
    tested: list[tuple[str, Any]] = [(str(name), frame[name].to_numpy()) for name in frame.columns]
    tested.append(("the target", y.astype(str) if is_classes else y))
    is_number = [*(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes), not is_classes]
    found = []
    for (name, values), ordered in zip(tested, is_number, strict=True):
        size, p = (_shift if ordered else _association)(pd.Series(values)[kept], folds[kept])
        if p * len(tested) < LEVEL and size >= SMALLEST_SHIFT:
            found.append({"column": name, "size": size, "p": p})
    return sorted(found, key=lambda one: -one["size"])


def _shift(column: pd.Series, folds: Indices) -> tuple[float, float]:
    """Return how far the mean rank of a fold is from one half, and how likely that is by chance."""
    known = column.notna().to_numpy()
    if known.sum() < 2:
        return 0.0, 1.0
    ranks = (stats.rankdata(column[known].to_numpy(dtype=np.float64)) - 0.5) / known.sum()
    counts = np.bincount(folds[known])
    places = np.flatnonzero(counts > 0)
    means = np.bincount(folds[known], ranks)[places] / counts[places]
    far = np.abs(means - 0.5)
    spread = float(ranks.std())
    if spread == 0:
        return 0.0, 1.0
    p = 2 * stats.norm.sf(far / (spread / np.sqrt(counts[places])))
    worst = int(np.argmin(p))
    return float(far[worst]), float(min(1.0, p[worst] * len(places)))


def _association(column: pd.Series, folds: Indices) -> tuple[float, float]:
    """Return Cramér's V of values and folds, and how likely that is by chance."""
    table = np.asarray(pd.crosstab(_codes(column.reset_index(drop=True)), folds))
    if min(table.shape) < 2:
        return 0.0, 1.0
    found = stats.chi2_contingency(table)
    return float(np.sqrt(found.statistic / (table.sum() * (min(table.shape) - 1)))), float(found.pvalue)


def _warnings(found: Json, drift: list[Json]) -> list[Json]:
    """Return what a careful reader should look at, in words."""
    made = []
    for column in found["columns"]:
        name, rows = repr(column["name"]), found["n_looked_at"]
        if column["alone"] >= LEAK:
            text = f"The column {name} alone predicts the target almost perfectly. Is it known before the target is?"
            made.append({"kind": "leak", "text": text})
        if column["distinct"] <= 1:
            made.append({"kind": "constant", "text": f"The column {name} has a single value: it cannot help."})
        elif column["kind"] == "category" and rows >= 50 and column["distinct"] >= MANY_DISTINCT * rows:
            text = f"The column {name} has a value of its own in nearly every row, as names and identifiers have."
            made.append({"kind": "identifier", "text": text})
    if found["duplicates"]:
        text = f"{found['duplicates']} of {found['n_looked_at']} rows are copies of others; folds that share them "
        made.append({"kind": "duplicates", "text": text + "make scores look better. Use groups to keep them together."})
    if found["conflicting"]:
        text = f"{found['conflicting']} rows have a twin with the same values and another target."
        made.append({"kind": "conflicting", "text": text})
    target = found["target"]
    if target["kind"] == "classes":
        for label, n in zip(target["labels"], target["counts"], strict=True):
            if n < TINY_CLASS:
                text = f"The class {label!r} has {n} rows: too few to learn or to judge it."
                made.append({"kind": "tiny class", "text": text})
    for one in drift[:10]:
        name = one["column"] if one["column"] == "the target" else f"the column {one['column']!r}"
        text = f"Between folds {name} differs beyond chance: they are not draws from the same table."
        made.append({"kind": "drift", "text": text})
    return made
