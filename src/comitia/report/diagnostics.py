"""Where a model is right and where it is wrong, by what it predicted for rows that it was not fitted on."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from comitia.arrays import AnyArray, Array, Json
from comitia.auto.noise import Z
from comitia.auto.validation import ValidationPredictions

MOST_CLASSES = 20
"""Of a confusion matrix; the most frequent ones, and one row for all others."""
MOST_CURVES = 8
MOST_POINTS = 200
"""Of a curve."""
N_BINS = 10
MOST_DOTS = 1_500
"""Rows that are drawn."""
OTHERS = "all others"


def diagnostics_section(told: ValidationPredictions | None, positive: object = None) -> Json | None:
    """Return what is drawn of out-of-fold predictions; None where there are none."""
    if told is None or not len(told.rows):
        return None
    common: Json = {"n_rows": len(told.rows), "by_fold": _by_fold(told)}
    if told.classes is None:
        return {**common, "kind": "numbers", **_numbers(told)}
    made = {**common, "kind": "classes", "confusion": _confusion(told)}
    if told.probabilities is not None:
        made |= {"roc": _roc(told, positive), "calibration": _calibration(told, positive)}
    return made


def _by_fold(told: ValidationPredictions) -> Json | None:
    """Return how large folds are, and how wrong predictions are in each."""
    folds = np.unique(told.folds)
    if len(folds) < 2:
        return None
    wrong = (
        (told.y != told.predictions).astype(np.float64)
        if told.classes is not None
        else np.abs(told.y.astype(np.float64) - told.predictions.astype(np.float64))
    )
    parts = [wrong[told.folds == fold] for fold in folds]
    n, error = np.array([len(part) for part in parts], dtype=np.float64), np.array([part.mean() for part in parts])
    half = Z * np.array([part.std() for part in parts]) / np.sqrt(n)
    low, high = (np.maximum(error - half, 0.0), error + half) if told.classes is None else _wilson(error, n)
    return {
        "fold": folds,
        "n": n,
        "error": error,
        "low": low,
        "high": high,
        "what": "share of rows that are wrong" if told.classes is not None else "mean size of the error",
    }


def _confusion(told: ValidationPredictions) -> Json:
    assert told.classes is not None
    truth, decided = (np.searchsorted(told.classes, labels) for labels in (told.y, told.predictions))
    n = len(told.classes)
    labels = [str(label) for label in told.classes.tolist()]
    if n > MOST_CLASSES:
        often = np.sort(np.argsort(-np.bincount(truth, minlength=n), kind="stable")[: MOST_CLASSES - 1])
        place = np.full(n, MOST_CLASSES - 1)
        place[often] = np.arange(len(often))
        truth, decided, labels = place[truth], place[decided], [*(labels[i] for i in often), OTHERS]
    counts = confusion_matrix(truth, decided, labels=np.arange(len(labels)))
    return {"labels": labels, "counts": counts}


def _roc(told: ValidationPredictions, positive: object) -> list[Json]:
    """Return one curve of two classes, that of the positive one; else one for each of the most frequent classes."""
    assert told.classes is not None
    assert told.probabilities is not None
    found = []
    for code in _curves(told, positive):
        truth, p = told.y == told.classes[code], told.probabilities[:, code]
        if truth.all() or not truth.any():
            continue
        wrong, right, _ = roc_curve(truth, p, sample_weight=told.sample_weight)
        some = np.unique(np.linspace(0, len(wrong) - 1, min(len(wrong), MOST_POINTS)).astype(np.intp))
        area = float(roc_auc_score(truth, p, sample_weight=told.sample_weight))
        found.append({"label": str(told.classes[code]), "x": wrong[some], "y": right[some], "area": area})
    return found


def _curves(told: ValidationPredictions, positive: object) -> list[int]:
    """Return the codes of the classes that have a curve."""
    assert told.classes is not None
    if len(told.classes) == 2:
        named = [i for i, label in enumerate(told.classes.tolist()) if label == positive]
        return named or [1]
    counts = np.bincount(np.searchsorted(told.classes, told.y), minlength=len(told.classes))
    return [int(code) for code in np.sort(np.argsort(-counts, kind="stable")[:MOST_CURVES])]


def _calibration(told: ValidationPredictions, positive: object) -> list[Json]:
    """Return, for each class with a curve, how often it is true where its probability is about so much."""
    assert told.classes is not None
    assert told.probabilities is not None
    return [
        {
            "label": str(told.classes[code]),
            **_binned(told.probabilities[:, code], (told.y == told.classes[code]).astype(np.float64)),
        }
        for code in _curves(told, positive)
    ]


def _binned(p: Array, is_true: Array) -> Json:
    """Return means in bins of equally many rows, with Wilson's interval of each share."""
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, N_BINS) if len(part)]
    n = np.array([len(part) for part in parts], dtype=np.float64)
    share = np.array([is_true[part].mean() for part in parts])
    low, high = _wilson(share, n)
    return {"said": [float(p[part].mean()) for part in parts], "true": share, "low": low, "high": high, "n": n}


def _wilson(share: Array, n: Array) -> tuple[Array, Array]:
    """Return Wilson's 90 % interval of shares of n rows."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _numbers(told: ValidationPredictions) -> Json:
    y, predicted = told.y.astype(np.float64), told.predictions.astype(np.float64)
    some = _some(len(y))
    residuals = y - predicted
    counts, edges = np.histogram(residuals, bins=min(40, max(8, int(np.sqrt(len(y))))))
    low, middle, high = np.quantile(residuals, [0.05, 0.5, 0.95])
    return {
        "y": y[some],
        "predicted": predicted[some],
        "counts": counts,
        "edges": edges,
        "low": low,
        "median": middle,
        "high": high,
        "n_drawn": len(some),
    }


def _some(n: int) -> AnyArray:
    """Return the places of rows to draw, evenly."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_DOTS)).astype(np.intp))
