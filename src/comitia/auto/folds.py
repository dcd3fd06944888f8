"""On how many folds trials are judged: as many as the rows allow, and as the time limit allows.

Where the defaults of all learners would take most of the time limit on five folds, nothing would be left to search
with: on a table of 13,760 rows of 8 columns six trials ended in a minute, on one of eighteen classes no booster did. So
there are three folds then, or, from some thousand rows on, a hold-out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import AnyArray
from comitia.auto.large import FIT_SHARE, LARGE_FROM
from comitia.errors import TableError
from comitia.evaluation.scoring import Task
from comitia.evaluation.table import SELECTION_SPLIT
from comitia.learners.default.costs import typical_seconds
from comitia.seams import Store
from comitia.study.store import looked_into
from comitia.study.study import Study

FOLDS_BELOW = {300: 10, 1_000: 8, 20_000: 5}
"""Folds for fewer rows than that. Models of folds are fitted on fewer rows than what is returned, which matters most
where there are few; and there it costs least."""
FEWEST_FOLDS = 3
"""Folds for all others: the estimate is good enough, the time is not."""
HOLD_OUT_FROM = 50_000
"""Rows from which one part is judged instead of all parts in turn: one fit of a trial instead of three."""
SHORT_HOLD_OUT_FROM = 5_000
"""The same where time is short: fewer rows would judge too little."""
JUDGED_ROWS = 10_000
"""Rows of that part, which are a fifth of the rows at most, and a tenth at least."""
FIRST_SHARE = 0.5
"""Of the time limit, on all workers, that the defaults of all learners may take together."""
KEY = "folds"
"""What the number of folds is called in a study's record."""


def default_folds(
    target: AnyArray,
    task: Task,
    groups: ArrayLike | None,
    *,
    has_selection_split: bool,
    wanted: int | None = None,
    affordable: float = math.inf,
) -> int | float:
    """Return as many folds as the rows allow, up to those wanted; if None, ten for few rows to three for many.

    That may be the share of a hold-out instead, for very many rows or where fewer than three fits of a trial are
    `affordable`; not if more folds than the fewest are wanted, or if rows are in groups: these may be few.
    """
    n = len(target) if groups is None else len(np.unique(np.asarray(groups)))
    if task == "classification":
        n = min(n, int(np.bincount(target).max()))
    if has_selection_split:
        n -= math.ceil(SELECTION_SPLIT * n)
    if n < 2:
        raise TableError(
            f"Folds need at least 2 samples of a class, or groups. Got n_samples={len(target)}: too few rows. "
            "Give more rows, or X_val and y_val."
        )
    is_short = wanted is None and affordable < FEWEST_FOLDS
    hold_out_from = SHORT_HOLD_OUT_FROM if is_short else HOLD_OUT_FROM
    if len(target) >= hold_out_from and groups is None and (wanted or FEWEST_FOLDS) <= FEWEST_FOLDS:
        return min(max(JUDGED_ROWS / len(target), 0.1), 0.2)
    if wanted is None:
        suits = next((folds for below, folds in FOLDS_BELOW.items() if len(target) < below), FEWEST_FOLDS)
        wanted = max((folds for folds in FOLDS_BELOW.values() if folds <= min(suits, affordable)), default=FEWEST_FOLDS)
    return min(wanted, n)


def affordable_fits(
    learners: Iterable[str], shape: tuple[int, int], n_classes: int, time_limit: float | None, n_workers: int
) -> float:
    """Return how many times the defaults of all learners can be fitted in the part of the limit that is theirs.

    The shape is that of the table; there are 0 classes for numbers. By what fits usually take, not by what they take
    here, so that it does not depend on how busy the machine is.
    """
    if time_limit is None:
        return math.inf
    most = FIT_SHARE * time_limit if shape[0] >= LARGE_FROM else math.inf  # costly learners have fewer rows there
    seconds = sum(min(typical_seconds(name, *shape, n_classes), most) for name in learners)
    return FIRST_SHARE * time_limit * n_workers / max(seconds, 1e-9)


def recorded_folds(storage: str | Path | Store | None) -> int | float | None:
    """Return the folds that a stored study was begun with, so that its losses can be compared; None for a new one."""
    with looked_into(storage) as store:
        data = None if store is None else store.get(KEY)
    return None if data is None else json.loads(data)


def record_folds(study: Study, folds: int | float) -> None:
    """Write into a study's record how many folds it has, unless that is there."""
    if study.store.get(KEY) is None:
        study.store.put(KEY, json.dumps(folds).encode())
