"""The inner split of early stopping: which rows of a fit tell how many trees are enough.

They are taken from the rows of the fit alone. The fold that gives a model's out-of-fold prediction has no part in it:
a model that stops where it predicts that fold best would look better there than it is.
"""

import numpy as np

from comitia.arrays import AnyArray, Indices

SHARE = 0.1
"""Of the rows."""
FEWEST = 50
"""Fewer rows say little about when to stop."""
FEWEST_ROWS = 250
"""Tables below have no row to spare: models are as large, or are trained as long, as they are told to."""


def held_out(target: AnyArray, *, is_classes: bool, random_state: int) -> Indices | None:
    """Return the rows to stop by, of each class alike; None where there are too few rows."""
    if len(target) < FEWEST_ROWS:
        return None
    share = max(SHARE, FEWEST / len(target))
    rng = np.random.default_rng(random_state)
    parts = [np.flatnonzero(target == label) for label in np.unique(target)] if is_classes else [np.arange(len(target))]
    # rounded down: a class of a few rows is left to learn from
    chosen = [rng.choice(rows, int(share * len(rows)), replace=False) for rows in parts]
    held: Indices = np.sort(np.concatenate(chosen))
    return held if len(held) else None


def can_be_split(codes: AnyArray, n_held: int) -> bool:
    """Tell whether scikit-learn, which does so by itself in some learners, can set rows of every class aside."""
    counts = np.bincount(codes)
    return bool(counts.min() >= 2 and n_held >= len(counts))
