"""Goals: which number the search minimises at this iteration, for every finished trial."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from comitia.history import History
from comitia.seeds import Seeds

ALL_FAILED = 1.0
"""The value of failed trials while none has succeeded."""


class MeanLoss:
    """The mean loss over a trial's splits; a failed trial is as bad as the worst that succeeded."""

    moves = False
    compares_rows = False

    def values(self, history: History, seeds: Seeds) -> NDArray[np.float64]:
        """See `Goal`.  # (n_finished,)."""
        if not history.n_failed and not history.n_pending:
            return history.losses  # as they are: a generation's ask must not read the whole history
        values = history.losses[history.is_finished]
        has_failed = np.isnan(values)
        if has_failed.any():
            values[has_failed] = ALL_FAILED if has_failed.all() else np.nanmax(values)
        return values
