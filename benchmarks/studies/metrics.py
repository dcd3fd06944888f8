"""How a committee is chosen and decides for each metric, on pools of models that are there.

`python benchmarks/studies/metrics.py pools/*.parquet`, with pools of `comitia bench pool SET --space default --method
auto --n-trials 30 --partitions 2 --most-train-rows 1000` (`default-regression` for numbers). For every metric three
things are chosen from the same models by the same validation rows, and scored on the test rows:

- `committee`: what the Auto classes hand over, with its decision rule;
- `single`: the best model by the metric itself;
- `plain`: the committee as for accuracy or R squared, which predicts the most probable class or the mean.

Printed are sets won and lost by `committee`, and the mean part of the loss that it saves (1 minus the score for scores
up to 1), with a 90 % bootstrap interval over sets. `--thinned FOLDER` instead fits four tables of a folder, thinned to
2 % positives in training and test, for balanced accuracy.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics

from comitia import AutoClassifier
from comitia.arrays import AnyArray, Array
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.tabulated import Partition, Tabulated, read_pool
from comitia.committees.decisions import tuned_line, tuned_rule
from comitia.committees.greedy import Greedy
from comitia.committees.losses import ABSOLUTE_ERROR, BRIER, SQUARED_ERROR, AverageLoss
from comitia.committees.pool import by_row
from comitia.committees.tempering import temperature_of, tempered
from comitia.committees.votes import empty, make_rows

Loss = Callable[[AnyArray, AnyArray], float]
"""`loss(y, answers)`: smaller is better."""
EIGHT = Greedy(most_members=8)
N_BOOTSTRAPS = 10_000


def _auc(y: AnyArray, p: Array) -> float:
    if p.shape[1] == 2:
        return 1.0 - float(metrics.roc_auc_score(y, p[:, 1]))
    known = np.unique(y)
    return 1.0 - float(np.mean([metrics.roc_auc_score(y == k, p[:, k]) for k in known]))


def _log_loss(y: AnyArray, p: Array) -> float:
    return float(metrics.log_loss(y, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1])))


def _rarer(y: AnyArray) -> int:
    return int(np.argmin(np.bincount(y)))


OF_PROBABILITIES: dict[str, Loss] = {"ROC AUC": _auc, "log loss": _log_loss}
OF_LABELS: dict[str, Callable[[AnyArray], Loss]] = {
    "balanced accuracy": lambda y: lambda t, d: 1.0 - float(metrics.balanced_accuracy_score(t, d)),
    "F1 of the rarer class": lambda y: (
        lambda t, d: 1.0 - float(metrics.f1_score(t, d, pos_label=_rarer(y), zero_division=0))
    ),
    "MCC": lambda y: lambda t, d: 1.0 - float(metrics.matthews_corrcoef(t, d)),
    "macro F1": lambda y: lambda t, d: 1.0 - float(metrics.f1_score(t, d, average="macro", zero_division=0)),
}
OF_NUMBERS: dict[str, Loss] = {
    "MAE": lambda y, p: float(np.abs(y - p).mean()),
    "median absolute error": lambda y, p: float(np.median(np.abs(y - p))),
    "pinball .9": lambda y, p: float(metrics.mean_pinball_loss(y, p, alpha=0.9)),
    "RMSE": lambda y, p: float(np.sqrt(((y - p) ** 2).mean())),
}


def _chosen(loss: AverageLoss, models: Array, y: AnyArray, n_classes: int) -> Array:
    """Return the weights that the default committee gives the models."""
    kept = np.array([loss.keep(one, y, n_classes) for one in models])
    counts = EIGHT(empty(loss, make_rows(y, n_classes)), kept, np.random.default_rng(0))
    return np.asarray(counts / counts.sum())


def _gain(loss: Loss, y: AnyArray) -> Callable[[AnyArray], float]:
    return lambda answers: -loss(y, answers)


def of_classes(part: Partition) -> dict[str, tuple[float, float, float]]:
    """Return the test losses of committee, single and plain for each metric."""
    entries = [entry for entry in part.entries if entry.status == "ok"]
    classes = np.unique(part.y_train)
    known = np.isin(part.y_test, classes)
    y, y_test, k = np.searchsorted(classes, part.y_train), np.searchsorted(classes, part.y_test[known]), len(classes)
    raw = np.array([by_row(e.predictions.rows, np.asarray(e.probabilities), k) for e in entries if e.predictions])
    raw_test = np.array([np.asarray(e.test.probabilities)[known] for e in entries if e.test])
    raw, raw_test = raw.astype(np.float64), raw_test.astype(np.float64)
    scales = [temperature_of(p, y, make_rows(y, k).weights) for p in raw]
    P = np.array([tempered(p, t) for p, t in zip(raw, scales, strict=True)])
    T = np.array([tempered(p, t) for p, t in zip(raw_test, scales, strict=True)])
    weights = _chosen(BRIER, P, y, k)
    p, p_test = np.tensordot(weights, P, 1), np.tensordot(weights, T, 1)
    found = {}
    for name, loss in OF_PROBABILITIES.items():
        best = int(np.argmin([loss(y, one) for one in raw]))
        found[name] = (loss(y_test, p_test), loss(y_test, raw_test[best]), loss(y_test, p_test))
    for name, make in OF_LABELS.items():
        if name.startswith("F1") and k > 2:
            continue
        loss = make(y)
        best = int(np.argmin([loss(y, one.argmax(axis=1)) for one in raw]))
        rule = tuned_rule(p, np.bincount(y, minlength=k) / len(y), _gain(loss, y))
        plain = loss(y_test, p_test.argmax(axis=1))
        found[name] = (loss(y_test, rule(p_test)), loss(y_test, raw_test[best].argmax(axis=1)), plain)
    return found


def of_numbers(part: Partition) -> dict[str, tuple[float, float, float]]:
    """Return the test losses of committee, single and plain for each metric."""
    entries = [entry for entry in part.entries if entry.status == "ok"]
    y, y_test = part.y_train.astype(np.float64), part.y_test.astype(np.float64)
    P = np.array([by_row(e.predictions.rows, np.asarray(e.predictions.values), 0) for e in entries if e.predictions])
    T = np.array([np.asarray(e.test.values) for e in entries if e.test]).astype(np.float64)
    folds = next(e.predictions for e in entries if e.predictions)
    folds_of = folds.folds[np.argsort(folds.rows)]
    squared = _chosen(SQUARED_ERROR, P, y, 0)
    sizes = _chosen(ABSOLUTE_ERROR, P, y, 0)
    found = {}
    for name, loss in OF_NUMBERS.items():
        weights = sizes if "absolute" in name or name == "MAE" else squared
        best = int(np.argmin([loss(y, one) for one in P]))
        p, p_test = weights @ P, weights @ T
        ours = loss(y_test, p_test)
        if name != "RMSE":
            told = p.copy()
            for fold in np.unique(folds_of):
                others = folds_of != fold
                told[~others] = _line(loss, p[others], y[others])(p[~others])
            if loss(y, told) < loss(y, p):
                ours = loss(y_test, _line(loss, p, y)(p_test))
        found[name] = (ours, loss(y_test, T[best]), loss(y_test, squared @ T))
    return found


def _line(loss: Loss, p: Array, y: Array) -> Callable[[Array], Array]:
    return tuned_line(p, y, _gain(loss, y))


def compared(pools: list[Tabulated]) -> pd.DataFrame:
    """Return the comparison of all metrics over sets; partitions of a set count as one."""
    rows = []
    for pool in pools:
        ask = of_classes if pool.task == "classification" else of_numbers
        for number, part in enumerate(pool.partitions):
            for metric, losses in ask(part).items():
                rows.append((pool.dataset, number, metric, *losses))
    frame = pd.DataFrame(rows, columns=["set", "partition", "metric", "committee", "single", "plain"])
    rng = np.random.default_rng(0)
    out = []
    for measure in frame["metric"].unique().tolist():
        some = frame[frame["metric"] == measure]
        row: dict[str, Any] = {"metric": measure, "sets": some["set"].nunique()}
        for rival in ("single", "plain"):
            means = some.groupby("set")[["committee", rival]].mean()
            saved = ((means[rival] - means["committee"]) / means[rival].clip(lower=1e-12)).clip(lower=-1).to_numpy()
            drawn = saved[rng.integers(0, len(saved), (N_BOOTSTRAPS, len(saved)))].mean(axis=1)
            low, high = np.percentile(drawn, [5, 95])
            row[f"won-lost against {rival}"] = f"{(saved > 1e-9).sum()}-{(saved < -1e-9).sum()}"
            row[f"saved of {rival}, %"] = f"{100 * saved.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})"
        out.append(row)
    return pd.DataFrame(out)


def thinned(folder: Path, names: list[str]) -> pd.DataFrame:
    """Return the balanced accuracy of the committee with and without its rule, of tables with 2 % positives."""
    rows = []
    for name in names:
        draw = find_table(name, folder, "This study").draw(HoldOutTest(0.5, None, 100_000), 0)
        rng = np.random.default_rng(0)
        parts = []
        for X, y in ((draw.X_train, draw.y_train), (draw.X_test, draw.y_test)):
            classes, counts = np.unique(y, return_counts=True)
            rare = classes[np.argmin(counts)]
            others = rng.permutation(np.flatnonzero(y != rare))[:3000]
            few = rng.permutation(np.flatnonzero(y == rare))[: round(len(others) * 0.02 / 0.98)]
            some = rng.permutation(np.concatenate([others, few]))
            parts.append((X[some], y[some]))
        (X, y), (X_test, y_test) = parts
        model = AutoClassifier(scoring="balanced_accuracy", n_trials=20, random_state=0).fit(X, y)
        plain = model.classes_[model.predict_proba(X_test).argmax(axis=1)]
        rows.append(
            {
                "set": name,
                "positives, training and test": f"{(y == pd.Series(y).value_counts().index[-1]).sum()}, "
                f"{(y_test == pd.Series(y_test).value_counts().index[-1]).sum()}",
                "default threshold": metrics.balanced_accuracy_score(y_test, plain),
                "with its rule": model.score(X_test, y_test),
                "validation": model.validation_score_,
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="*", type=Path)
    parser.add_argument("--thinned", type=Path, help="folder of tables")
    parser.add_argument("--sets", nargs="*", default=["adult", "bank_marketing", "magic", "spambase"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.thinned:
        print(thinned(options.thinned, options.sets).round(3).to_string(index=False))
    else:
        print(compared([read_pool(path) for path in options.pools]).to_string(index=False))
