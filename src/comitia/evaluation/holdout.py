"""Hold-outs drawn as scikit-learn draws them, without looking at the target again for every trial.

The rows are exactly those of `ShuffleSplit` and `StratifiedShuffleSplit` with the same `random_state`; what is left out
is 19 parts of 20 of their time: checks of the input, and finding the classes. It is compared with scikit-learn's splits
when it is made; where a version of scikit-learn draws otherwise, its own splitter is used.
"""

import threading

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from comitia.arrays import AnyArray, Indices
from comitia.seams import Split


class _Legacy(threading.local):
    """scikit-learn's kind of generator, one per thread: making one takes 100 times as long as seeding it anew."""

    def __init__(self) -> None:
        self.rng = np.random.RandomState(0)


_LEGACY = _Legacy()


class HoldOut:
    """The hold-outs of one splitter for one target.

    `rows` are those of each class, ascending; one array of all rows where classes do not count.
    """

    def __init__(self, rows: list[Indices], n_train: int, n_test: int, n_splits: int, is_stratified: bool) -> None:
        self._rows, self._sizes = rows, [len(of_class) for of_class in rows]
        self._n_train, self._n_test, self._n_splits = n_train, n_test, n_splits
        self._draw = self._draw_stratified if is_stratified else self._draw_plain
        self._fixed = self._allocation(None)

    def splits(self, random_state: int) -> list[Split]:
        """Return the splits of one seed."""
        rng = _LEGACY.rng
        rng.seed(random_state)
        return [self._draw(rng) for _ in range(self._n_splits)]

    def _draw_plain(self, rng: np.random.RandomState) -> Split:
        order = self._rows[0].copy()
        rng.shuffle(order)
        return order[self._n_test : self._n_test + self._n_train], order[: self._n_test]

    def _draw_stratified(self, rng: np.random.RandomState) -> Split:
        train, test = [], []
        allocation = self._fixed or self._allocation(rng)
        assert allocation is not None
        for rows, n, m in zip(self._rows, *allocation, strict=True):
            order = rows.copy()
            rng.shuffle(order)
            train.append(order[:n])
            test.append(order[n : n + m])
        split = np.concatenate(train), np.concatenate(test)
        for part in split:
            rng.shuffle(part)
        return split

    def _allocation(self, rng: np.random.RandomState | None) -> tuple[list[int], list[int]] | None:
        """Return how many rows of each class to train and to judge on; None where that needs a generator."""
        n_train = allocated(self._sizes, self._n_train, rng)
        if n_train is None:
            return None
        rest = [size - n for size, n in zip(self._sizes, n_train, strict=True)]
        n_test = allocated(rest, self._n_test, rng)
        return None if n_test is None else (n_train, n_test)


def allocated(sizes: list[int], n: int, rng: np.random.RandomState | None) -> list[int] | None:
    """Share `n` draws among classes in proportion to their sizes; what rounding leaves goes to the largest remainders.

    Ties are broken at random, with scikit-learn's use of its generator (`sklearn.utils.extmath._approximate_mode`);
    None where there are ties and no generator.
    """
    total = sum(sizes)
    shares = [size / total * n for size in sizes]
    counts = [int(share) for share in shares]
    missing = n - sum(counts)
    remainders = [share - count for share, count in zip(shares, counts, strict=True)]
    for value in sorted(set(remainders), reverse=True):
        if not missing:
            break
        equal = [i for i, remainder in enumerate(remainders) if remainder == value]
        now = min(len(equal), missing)
        if len(equal) > 1:  # a permutation of one draws nothing
            if rng is None:
                return None
            equal = [equal[i] for i in rng.permutation(len(equal)).tolist()]
        for i in equal[:now]:
            counts[i] += 1
        missing -= now
    return counts


def make_holdout(splitter: object, y: AnyArray, random_state: int, expected: list[Split]) -> HoldOut | None:
    """Return the hold-outs of a splitter; None where it is another kind, or they are not as `expected`.

    That is what scikit-learn's splitter itself gave for the seed `random_state`.
    """
    if type(splitter) is StratifiedShuffleSplit:
        classes, codes = np.unique(y, return_inverse=True)
        rows = [np.flatnonzero(codes == code) for code in range(len(classes))]
    elif type(splitter) is ShuffleSplit:
        rows = [np.arange(len(y))]
    else:
        return None
    train, test = expected[0]
    made = HoldOut(rows, len(train), len(test), len(expected), type(splitter) is StratifiedShuffleSplit)
    pairs = zip(made.splits(random_state), expected, strict=True)
    is_same = all(np.array_equal(a, c) and np.array_equal(b, d) for (a, b), (c, d) in pairs)
    return made if is_same else None
