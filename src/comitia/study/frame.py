"""A history as a table for people."""

import math

import pandas as pd

from comitia.history import History


def frame_of(history: History, name: str) -> pd.DataFrame:
    """Return one row per trial; the column of the result is called `name`."""
    rows = []
    for number in range(len(history)):
        trial = history.trial(number)
        observation = history.observation(number)
        row: dict[str, object] = {"number": number, "status": "pending", name: math.nan}
        if observation is not None:
            row |= {"status": observation.status, name: observation.value}
            row |= {_column_of(metric): mean for metric, mean in observation.mean_metrics.items()}
            row |= {"seconds": observation.seconds, "error": observation.error}
        rows.append(row | {f"config.{name}": value for name, value in trial.config.items()})
    return pd.DataFrame(rows)


def _column_of(metric: str) -> str:
    return f"metrics.{metric}" if metric in ("number", "status", "loss", "value", "seconds", "error") else metric
