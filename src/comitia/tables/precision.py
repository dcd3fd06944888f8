"""Whether a table of numbers can be held in single precision, which takes half the memory."""

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import AnyArray, Array

SINGLE_FROM = 4_000_000
"""Cells from which it is asked: 32 MB in double precision. Smaller tables stay as they are, to the last bit."""
MOST_LOOKED_AT = 20_000
"""Rows in which values are compared."""
MOST_CONFUSED = 1e-3
"""Of the different values among them, the part that may become equal to another one."""


def fits_single(table: AnyArray) -> bool:
    """Tell whether a table is large enough, and no column loses what tells its rows apart: (n, p).

    A column of whole numbers must keep each of them (up to 2^24 that is sure). In others, which are rounded at the
    eighth digit or so, different values must stay different, but for one in a thousand: a time in seconds since 1970
    does not, a measurement does.
    """
    if table.size < SINGLE_FROM or table.dtype != np.float64:
        return False
    return all(_column_fits(table[:, j]) for j in range(table.shape[1]))


def single(table: Array) -> NDArray[np.float32]:
    """Return a table in single precision; numbers beyond its range are missing."""
    with np.errstate(over="ignore"):
        rounded = table.astype(np.float32)
    rounded[np.isinf(rounded)] = np.nan
    return rounded


def _column_fits(column: Array) -> bool:
    with np.errstate(over="ignore"):
        rounded = column.astype(np.float32)
    if np.array_equal(rounded, column, equal_nan=True):
        return True
    known = ~np.isnan(column)
    values, kept = column[known], rounded[known]
    if not np.isfinite(kept).all() or (values == np.trunc(values)).all():
        return False
    every = -(-len(values) // MOST_LOOKED_AT)
    values, kept = values[::every], kept[::every]
    n = len(np.unique(values))
    return n - len(np.unique(kept)) <= MOST_CONFUSED * n
