"""Learners over columns cut into cells: decision tables, Bayesian networks; and naive Bayes with kernel densities."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.stats import rankdata

from comitia.arrays import Array
from comitia.learners.weka.weka_classifier import Codes, WekaClassifier, normalised, one_hot, softmax

Ints = NDArray[np.int64]
N_CELLS = 5
"""Cells of a column: equal numbers of rows in each, or its values where they are fewer."""
PRIOR = 0.5
"""What every cell of a table of probabilities counts beside its rows (WEKA's SimpleEstimator)."""
MOST_COLUMNS = 12
"""Columns of a decision table: beyond, hardly a row shares its cell with another."""


def cut_points(X: Array) -> list[Array]:
    """Return where each column is cut."""
    found = []
    for column in X.T:
        values = np.unique(column)
        if len(values) <= N_CELLS:
            found.append((values[1:] + values[:-1]) / 2)
        else:
            found.append(np.unique(np.quantile(column, np.arange(1, N_CELLS) / N_CELLS)))
    return found


def cells_of(X: Array, cuts: list[Array]) -> Ints:
    """Return the number of the cell of each value, an (n, d) array."""
    return np.column_stack([np.searchsorted(cut, column) for cut, column in zip(cuts, X.T, strict=True)])


@dataclass(eq=False, repr=False)
class DecisionTable(WekaClassifier):
    """WEKA's decision table: class frequencies for each combination of cells of a few columns.

    The columns are searched for, one more at a time, so that `measure` is best when each of `folds` parts of the rows
    (1: each row) is answered by the others. "greedy" ends when no column helps, "best-first" goes back to other sets
    five times. A combination that was never seen gets the class frequencies, with `nearest` those of the combinations
    most like it.
    """

    measure: Literal["acc", "rmse", "mae", "auc"] = "acc"
    nearest: bool = False
    search: Literal["best-first", "greedy"] = "best-first"
    folds: int = 1

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.cuts_ = cut_points(X)
        cells = cells_of(X, self.cuts_)
        truth = one_hot(codes, len(self.classes_))
        self.prior_ = truth.mean(axis=0)
        fold = np.arange(len(X)) % self.folds if self.folds > 1 else np.arange(len(X))

        def badness(keys: Ints) -> float:
            return _badness(self._left_out(keys, fold, truth), codes, truth, self.measure)

        patience = 5 if self.search == "best-first" else 1
        self.columns_ = np.array(best_columns(cells, badness, patience), dtype=np.int64)
        self.keys_, where = np.unique(_keys(cells[:, self.columns_]), return_inverse=True)
        self.counts_ = np.zeros((len(self.keys_), truth.shape[1]))
        np.add.at(self.counts_, where, truth)
        first = np.unique(where, return_index=True)[1]
        self.cells_ = cells[first][:, self.columns_]

    def _left_out(self, keys: Ints, fold: Ints, truth: Array) -> Array:
        """Return what the other folds' rows of the same combination say of each row, an (n, n_classes) array."""
        counts = _sums(keys, truth)
        own = truth if self.folds == 1 else _sums(keys * self.folds + fold, truth)
        return normalised(counts - own + self.prior_)  # the prior counts as one row

    def _answer(self, X: Array) -> Array:
        cells = cells_of(X, self.cuts_)[:, self.columns_]
        keys = _keys(cells)
        found = np.minimum(np.searchsorted(self.keys_, keys), len(self.keys_) - 1)
        counts = self.counts_[found]
        unseen = self.keys_[found] != keys
        if unseen.any():
            counts[unseen] = self._like(cells[unseen]) if self.nearest else self.prior_
        return normalised(counts)

    def _like(self, cells: Ints) -> Array:
        distance = np.abs(cells[:, None] - self.cells_).sum(axis=2)
        return np.asarray((distance == distance.min(axis=1, keepdims=True)) @ self.counts_)


def best_columns(cells: Ints, badness: Callable[[Ints], float], patience: int) -> tuple[int, ...]:
    """Search for the least bad set of columns: expand the best one so far, until `patience` in a row fail."""
    nothing = np.zeros(len(cells), dtype=np.int64)
    best: tuple[float, tuple[int, ...]] = (badness(nothing), ())
    open_sets = [best]
    known: set[tuple[int, ...]] = {()}
    n_failed = 0
    while open_sets and n_failed < patience:
        _, columns = heapq.heappop(open_sets)
        before = best[0]
        start = np.unique(_keys(cells[:, list(columns)]), return_inverse=True)[1] if columns else nothing
        for j in range(cells.shape[1]):
            wider = tuple(sorted((*columns, j)))
            if j in columns or wider in known or len(wider) > MOST_COLUMNS:
                continue
            known.add(wider)
            entry = (badness(start * N_CELLS + cells[:, j]), wider)
            heapq.heappush(open_sets, entry)
            if entry[0] < best[0] - 1e-12:
                best = entry
        n_failed = 0 if best[0] < before else n_failed + 1
    return best[1]


def _keys(cells: Ints) -> Ints:
    """Return a number for each combination of cells."""
    return np.asarray(cells @ (N_CELLS ** np.arange(cells.shape[1], dtype=np.int64)), dtype=np.int64)


def _sums(keys: Ints, truth: Array) -> Array:
    """Return, for each row, the class counts of the rows with its key: an (n, n_classes) array."""
    where = np.unique(keys, return_inverse=True)[1]
    n_classes = truth.shape[1]
    flat = np.bincount(where * n_classes + truth.argmax(axis=1), minlength=(where.max() + 1) * n_classes)
    return np.asarray(flat.reshape(-1, n_classes)[where], dtype=np.float64)


def _badness(P: Array, codes: Codes, truth: Array, measure: str) -> float:
    match measure:
        case "acc":
            return float((P.argmax(axis=1) != codes).mean())
        case "rmse":
            return float(np.sqrt(((P - truth) ** 2).mean()))
        case "mae":
            return float(np.abs(P - truth).mean())
        case _:  # area under the curve of each class against the others, weighted by its rows
            ranks = rankdata(P, axis=0)
            n_in = truth.sum(axis=0)
            n_out = len(P) - n_in
            area = ((ranks * truth).sum(axis=0) - n_in * (n_in + 1) / 2) / np.maximum(n_in * n_out, 1)
            return float(1 - np.average(area, weights=n_in))


@dataclass(eq=False, repr=False)
class BayesNet(WekaClassifier):
    """A Bayesian network over cut columns: naive, or with `tree` each column has another one as a parent too.

    The tree is the one with the most mutual information given the class (TAN; Friedman, Geiger, Goldszmidt 1997).
    """

    tree: bool = False

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.cuts_ = cut_points(X)
        cells = cells_of(X, self.cuts_)
        n_classes = len(self.classes_)
        self.log_prior_ = np.log((np.bincount(codes, minlength=n_classes) + PRIOR) / (len(X) + PRIOR * n_classes))
        flat = np.eye(N_CELLS)[cells].reshape(len(X), -1)
        pairs = np.stack([flat[codes == c].T @ flat[codes == c] for c in range(n_classes)])
        d = X.shape[1]
        pairs = pairs.reshape(n_classes, d, N_CELLS, d, N_CELLS)
        self.parents_ = tree_of(pairs) if self.tree and d > 1 else np.full(d, -1)
        sizes = np.array([len(cut) + 1 for cut in self.cuts_])
        each = np.arange(d)
        own = np.diagonal(np.diagonal(pairs, axis1=1, axis2=3), axis1=1, axis2=2)  # (n_classes, d, cells)
        # joint[c, j, a, b]: rows of class c with cell a of column j and cell b of its parent; without one b is always 0
        joint = pairs[:, each, :, self.parents_, :].transpose(1, 0, 2, 3).copy()
        alone = self.parents_ < 0
        joint[:, alone] = 0
        joint[:, alone, :, :1] = own[:, alone][..., None]
        totals = joint.sum(axis=2, keepdims=True)
        self.log_tables_ = np.log((joint + PRIOR) / (totals + PRIOR * sizes[None, :, None, None]))

    def _answer(self, X: Array) -> Array:
        cells = cells_of(X, self.cuts_)
        above = np.where(self.parents_ < 0, 0, cells[:, np.maximum(self.parents_, 0)])
        logs = self.log_tables_[:, np.arange(X.shape[1]), cells, above].sum(axis=2)  # (n_classes, n)
        return softmax(logs.T + self.log_prior_)


def tree_of(pairs: Array) -> NDArray[np.int64]:
    """Return the parent of each column in the tree with the most mutual information given the class; -1 for the root.

    `pairs` says how many rows of each class share two cells: (n_classes, d, cells, d, cells).
    """
    own = np.diagonal(np.diagonal(pairs, axis1=1, axis2=3), axis1=1, axis2=2)  # (n_classes, d, cells)
    totals = own.sum(axis=2).max(axis=1)  # rows of each class
    information = np.zeros((pairs.shape[1], pairs.shape[1]))
    for joint, single, total in zip(pairs, own, totals, strict=True):
        expected = single[:, :, None, None] * single
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(joint > 0, np.log(joint * total / expected), 0.0)
        information += (joint * logs).sum(axis=(1, 3))
    costs = information.max() + 1 - information  # positive: 0 would be no edge
    edges = minimum_spanning_tree(costs)
    _, parents = breadth_first_order(edges, 0, directed=False)
    return np.where(parents < 0, -1, parents).astype(np.int64)


class KernelBayes(WekaClassifier):
    """Naive Bayes whose densities are sums of Gaussians, one for each row, as wide as range / sqrt(n) (WEKA's -K)."""

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.rows_ = [X[codes == c] for c in range(len(self.classes_))]
        span = np.ptp(X, axis=0)
        smallest = np.where(span > 0, span, 1.0) / len(X) / 6
        self.widths_ = [np.maximum(np.ptp(rows, axis=0) / np.sqrt(len(rows)), smallest) for rows in self.rows_]

    def _answer(self, X: Array) -> Array:
        n = sum(len(rows) for rows in self.rows_)
        logs = np.empty((len(X), len(self.rows_)))
        for c, (rows, widths) in enumerate(zip(self.rows_, self.widths_, strict=True)):
            logs[:, c] = np.log(len(rows) / n)
            for j, width in enumerate(widths):
                z = (X[:, j, None] - rows[:, j]) / width
                density = np.exp(-0.5 * z * z).mean(axis=1) / width
                logs[:, c] += np.log(density + 1e-75)  # far from every row: the same for all classes
        return softmax(logs)
