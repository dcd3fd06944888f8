"""What `portfolio.py run` left, read for many greedy choices: committees by products of models with models.

The committee is that of the Auto classes, at most 8 members by the Brier score of tempered probabilities, or by the
squared error. Both are sums of squares, so the loss of weights w is w'Gw, with G the products of what models are wrong
by: a choice of 50 steps takes less than a millisecond.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from comitia.arrays import AnyArray, Array, Mask
from comitia.committees.losses import BRIER, SQUARED_ERROR
from comitia.committees.tempering import LEAST_PROBABILITY, temperature_of, tempered

MOST_MEMBERS, N_STEPS = 8, 50
FLOOR = 0.01
"""Losses below this part of the prior's count as it: .002 is not half of .004."""
FARTHEST = 0.5
"""Logarithms of ratios end here: no set decides alone."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What came of all entries on one set; those that failed are left out of the arrays."""

    name: str
    task: str
    facts: pd.Series
    """Rows, columns, codes and classes of the set."""
    places: dict[str, int]
    """Of entries in the arrays."""
    seconds: dict[str, float]
    """Of the folds of each entry, failed ones too."""
    predict_seconds: Array
    """Per 1,000 rows, (n_entries,)."""
    y: AnyArray
    y_test: AnyArray
    n_classes: int
    out_of_fold: AnyArray
    """As they are: (n_entries, n), or (n_entries, n, n_classes)."""
    test: AnyArray
    temperatures: Array
    products: Array
    """G of the rows out of fold, (n_entries, n_entries)."""
    right: Array
    """Tempered probabilities of the true class of test rows, or residuals in standard deviations: (n_entries, n)."""
    prior: float
    """Test loss of the prior, or of the mean."""

    def losses(self, weights: Array) -> Array:
        """Return the test losses of committees, (n, n_entries) -> (n,): log loss, or squared error in variances."""
        mixed = weights @ self.right
        found = -np.log(np.maximum(mixed, 1e-7)).mean(axis=1) if self.n_classes else (mixed**2).mean(axis=1)
        return np.asarray(np.where(weights.any(axis=1), np.maximum(found, FLOOR * self.prior), self.prior))

    def committees(self, allowed: Mask) -> Array:
        """Return the weights of the committees that may be chosen from parts of the entries, (n, n_entries) -> same."""
        return greedy(self.products, allowed)

    def allowed(self, names: list[str]) -> Mask:
        """Return which entries have one of the names, (n_entries,)."""
        found = np.zeros(len(self.places), dtype=bool)
        found[[self.places[name] for name in names if name in self.places]] = True
        return found

    def loss_of(self, names: list[str]) -> float:
        """Return the test loss of the committee of some entries."""
        return float(self.losses(self.committees(self.allowed(names)[None]))[0])


def greedy(products: Array, allowed: Mask, most_members: int = MOST_MEMBERS) -> Array:
    """Choose as `comitia.committees.greedy.Greedy` does: who leaves the least loss joins; the best on the way."""
    n, diagonal = len(allowed), np.diag(products)
    counts, best = np.zeros(allowed.shape), np.zeros(allowed.shape)
    inside, sums, own = np.zeros_like(allowed), np.zeros(allowed.shape), np.zeros(n)  # S = G counts, own = counts' S
    least, everyone = np.full(n, np.inf), np.arange(n)
    for size in range(1, N_STEPS + 1):
        may = np.where((inside.sum(axis=1) >= most_members)[:, None], inside, allowed)
        totals = np.where(may, (own[:, None] + 2 * sums + diagonal) / size**2, np.inf)
        chosen = totals.argmin(axis=1)
        loss = totals[everyone, chosen]
        is_any = np.isfinite(loss)
        counts[everyone, chosen] += is_any
        inside[everyone, chosen] |= is_any
        own = loss * size**2
        sums = sums + products[chosen]
        is_less = is_any & (loss < least - 1e-6 * np.maximum(least, 0.1, where=np.isfinite(least), out=np.zeros(n)))
        best[is_less], least = counts[is_less], np.where(is_less, loss, least)
    total = best.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(best, total, out=np.zeros_like(best), where=total > 0))


def read_pools(rows: Path, folder: Path) -> list[Pool]:
    """Return the pools of all sets that are finished."""
    frame = pd.read_csv(rows)
    return [_pool(str(name), part, folder / str(name)) for name, part in frame.groupby("set", sort=True)]


def _pool(name: str, rows: pd.DataFrame, folder: Path) -> Pool:
    truth = np.load(folder / "truth.npz")
    y, y_test, n_classes = truth["y"], truth["y_test"], int(truth["n_classes"])
    kept = rows[rows["status"] == "ok"]
    found = [np.load(folder / f"{entry.replace('/', '~')}.npz") for entry in kept["entry"]]
    out_of_fold, test = (np.stack([one[key] for one in found]).astype(np.float64) for key in ("out_of_fold", "test"))
    temperatures = np.ones(len(found))
    if n_classes:
        weights = np.full(len(y), 1 / len(y))
        temperatures = np.array([temperature_of(p, y, weights) for p in out_of_fold])
        wrong = _flat(
            [BRIER.keep(tempered(p, t), y, n_classes) for p, t in zip(out_of_fold, temperatures, strict=True)]
        )
        right = np.stack(
            [tempered(p, t)[np.arange(len(y_test)), y_test] for p, t in zip(test, temperatures, strict=True)]
        )
        shares = np.maximum(np.bincount(y, minlength=n_classes) / len(y), LEAST_PROBABILITY)
        prior = float(-np.log(shares[y_test]).mean())
    else:
        wrong = _flat([SQUARED_ERROR.keep(one, y, 0) for one in out_of_fold])
        right = (test - y_test) / y.std()
        prior = float(np.mean((y.mean() - y_test) ** 2) / y.var())
    return Pool(
        name=name,
        task=str(rows["task"].iloc[0]),
        facts=rows.iloc[0][["n_rows", "n_columns", "n_codes", "n_classes"]],
        places={entry: i for i, entry in enumerate(kept["entry"])},
        seconds=dict(zip(rows["entry"], rows["seconds"].fillna(0.0), strict=True)),
        predict_seconds=kept["predict_seconds"].to_numpy(float),
        y=y,
        y_test=y_test,
        n_classes=n_classes,
        out_of_fold=out_of_fold,
        test=test,
        temperatures=temperatures,
        products=wrong @ wrong.T / len(y),
        right=right,
        prior=prior,
    )


def _flat(wrong: list[AnyArray]) -> Array:
    return np.stack([one.ravel() for one in wrong]).astype(np.float64)


def ratios(these: Array | float, those: Array | float) -> Array:
    """Return logarithms of ratios of losses, not beyond `FARTHEST`."""
    return np.asarray(np.clip(np.log(np.asarray(these) / np.asarray(those)), -FARTHEST, FARTHEST))


def regrets(losses: Array | float, reference: float, prior: float) -> Array:
    """Return which part of what can be learned was not: 0 for the reference, 1 for the prior.

    Where next to nothing can be learned it is a part of a tenth of the prior's loss.
    """
    return np.asarray((np.asarray(losses) - reference) / max(prior - reference, 0.1 * prior))


def interval(values: Array, n: int = 10_000) -> tuple[float, float, float]:
    """Return the mean over sets, and its 95 % bootstrap interval."""
    drawn = np.random.default_rng(0).choice(values, (n, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)


def shown(values: Array) -> str:
    """Return how much less is lost in per cent, its interval, and sets won and lost."""
    mean, low, high = (100 * np.expm1(one) for one in interval(values))
    return f"{mean:+.1f} % ({low:+.1f} to {high:+.1f}) | {np.sum(values < -1e-9)}-{np.sum(values > 1e-9)}"


def points(values: Array) -> str:
    """Return a mean difference of parts in per cent, and its interval."""
    mean, low, high = (100 * one for one in interval(values))
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"
