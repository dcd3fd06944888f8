"""One-exchange neighbours: what local search looks at around a configuration (Lévesque 2018, eq. 5.7-5.8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.space.hyperparameters import Hyperparameter


def one_exchange(X: Array, active: Mask, columns: Sequence[Hyperparameter], step: float) -> tuple[Array, Indices]:
    """Change one active hyperparameter of each row in every way that its kind allows.

    A real takes a step either way, an integer and an ordinal go to the next value either way, a categorical to
    every other value. A hyperparameter that becomes active keeps the coordinate it has in the row: the middle
    where the row was imputed.

    Returns
    -------
    neighbours : (m, d)
    origin : (m,), the row of `X` that each is a neighbour of
    """
    rows, origins = [np.empty((0, X.shape[1]))], [np.empty(0, dtype=np.intp)]
    for j, column in enumerate(columns):
        origin = np.flatnonzero(active[:, j])
        if not len(origin):
            continue
        for moved in column.neighbours(X[origin, j], step):
            exists = ~np.isnan(moved)
            changed = X[origin[exists]]
            changed[:, j] = moved[exists]
            rows.append(changed)
            origins.append(origin[exists])
    return np.concatenate(rows), np.concatenate(origins)
