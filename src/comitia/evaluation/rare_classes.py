"""Hold-outs of a target with classes that are too small to be on both sides.

scikit-learn refuses to keep proportions where a class has one row, or where there are more classes than rows to judge
on. Here a class that cannot be on both sides is in the training part: what was never learned cannot be judged.
"""

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from comitia.arrays import AnyArray, Indices
from comitia.seams import Split


def hold_outs(splitter: StratifiedShuffleSplit, y: AnyArray) -> list[Split]:
    """Draw hold-outs where `splitter` itself refuses to.

    Rows of classes with one row are trained on; the others are drawn by `splitter`, with the proportions of their
    classes. Where there are more classes than rows in a part, they are drawn without, and a class that only the test
    part has gives one row to the training part.

    Raises
    ------
    ValueError
        By scikit-learn, if no class has two rows, or the parts are too large.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    single, others = np.flatnonzero(counts[codes] == 1), np.flatnonzero(counts[codes] > 1)
    table, codes = np.zeros((len(others), 1)), codes[others]
    try:
        pairs = list(splitter.split(table, codes))
    except ValueError:
        sizes = {"test_size": splitter.test_size, "train_size": splitter.train_size}
        plain = ShuffleSplit(splitter.n_splits, **sizes, random_state=splitter.random_state)
        pairs = [_with_every_class(train, test, codes) for train, test in plain.split(table)]
    return [(np.concatenate([single, others[train]]), others[test]) for train, test in pairs]


def _with_every_class(train: Indices, test: Indices, codes: AnyArray) -> Split:
    """Move one row of each class that is not trained on."""
    absent = np.setdiff1d(codes[test], codes[train])
    moved = [int(np.flatnonzero(codes[test] == code)[0]) for code in absent]  # positions are in a drawn order
    return np.concatenate([train, test[moved]]), np.delete(test, moved)
