"""The trials of a study in the order of their losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comitia.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("number", "status", "loss", "seconds", "error")
"""What the leaderboard of a study has before its first trial has finished."""


def leaderboard_of(study: Study) -> pd.DataFrame:
    """Return one row per finished trial, the best first and those that failed last."""
    import pandas as pd

    frame = study.to_frame() if study.history.n_finished else pd.DataFrame(columns=COLUMNS)
    frame = frame[frame["status"] != "pending"]
    frame = frame.sort_values("loss", kind="stable", na_position="last").reset_index(drop=True)
    frame.insert(0, "rank", range(1, len(frame) + 1))
    return frame
