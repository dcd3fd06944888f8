"""Processor time of row-difficulty correction, once per suggestion: 200 trials, 1,000 and 5,000 rows, one thread.

With folds that all trials share, half of the trials rejected after one of five (lazy folds); and with a hold-out of a
fifth of the rows for each trial (reshuffling). Printed are milliseconds and the ratio to the forest of `yardstick.py`.
"""

import time

import numpy as np
from threadpoolctl import threadpool_limits
from yardstick import forest_seconds

from comitia import Config, History, Observation, Predictions, Seeds, Trial
from comitia.goals import CorrectedLoss

N_TRIALS = 200
N_TIMED = 7


def history_of(n_rows: int, is_reshuffled: bool) -> History:
    """Return a history of trials that were judged on different rows."""
    rng = np.random.default_rng(0)
    hard = rng.exponential(size=n_rows)
    kept: dict[int, Predictions] = {}
    history = History(1, kept.get)
    for number in range(N_TRIALS):
        trial = Trial(number, 0, (number / N_TRIALS,), Config({"a": number}))
        history.append(trial)
        rows = np.arange(n_rows)
        if is_reshuffled:
            rows = rng.permutation(n_rows)[: n_rows // 5]
        elif number % 2:
            rows = rows[rows % 5 == number % 5]
        losses = rng.random() + hard[rows] * rng.random(len(rows))
        kept[number] = Predictions(rows, np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows)), losses)
        history.finish(Observation(trial, "ok", (float(losses.mean()),)))
    return history


def milliseconds(n_rows: int, is_reshuffled: bool) -> float:
    """Return the median processor time of all values, once the row losses are read."""
    history, found = history_of(n_rows, is_reshuffled), []
    CorrectedLoss().values(history, Seeds(0))
    for _ in range(N_TIMED):
        began = time.process_time()
        CorrectedLoss().values(history, Seeds(0))
        found.append(1e3 * (time.process_time() - began))
    return float(np.median(found))


def main() -> None:
    with threadpool_limits(1):
        unit = 1e3 * forest_seconds()
        for n_rows in (1_000, 5_000):
            for is_reshuffled in (False, True):
                found = milliseconds(n_rows, is_reshuffled)
                what = "a hold-out for each" if is_reshuffled else "shared folds"
                print(f"{N_TRIALS} trials, {n_rows:5} rows, {what:20} {found:7.1f} ms  {found / unit:6.3f} forests")


if __name__ == "__main__":
    main()
