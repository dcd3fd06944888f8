"""Fits of a trial on fewer rows than a split has to train on, for large tables and short limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from comitia.arrays import Indices
from comitia.seeds import Seeds
from comitia.space import Config

MostRows = Callable[[Config], int | None]
"""`most_rows(config)`: on how many rows a configuration is fitted at most, None for all. It must be picklable, and a
function of the configuration alone: then a trial still says everything about what was done."""
OF_EACH_CLASS = 20
"""Rows of a class that are kept in any case, if it has so many: a rare one must not disappear."""


def fewer(rows: Indices, codes: Indices | None, most: int, seeds: Seeds, *keys: int) -> Indices:
    """Return about `most` of the rows in their order, of each class its part: (n,) -> (m,).

    `codes` are the classes of the rows, None for numbers. With the same seed and keys fewer rows are among more ones.
    """
    if most >= len(rows):
        return rows
    order = seeds("fewer-rows", *keys).permutation(len(rows))
    if codes is None:
        kept = order[:most]
    else:
        drawn = codes[order]
        counts = np.bincount(drawn)
        by_class = np.argsort(drawn, kind="stable")
        places = np.empty(len(rows), dtype=np.intp)
        places[by_class] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        quota = np.maximum(counts * most // len(rows), np.minimum(counts, OF_EACH_CLASS))
        kept = order[places < quota[drawn]]
    return rows[np.sort(kept)]
