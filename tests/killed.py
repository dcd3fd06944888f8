"""The program that the kill tests kill: a study on disk that says what it has finished."""

import sys
import time
from typing import Any

from scipy import stats

from comitia import FunctionEvaluator, Space, SqliteStore, Study

SPACE = Space({"x": stats.uniform(0, 1), "k": ["a", "b", "c"]})
N_TRIALS = 40


def objective(config: Any) -> float:
    time.sleep(0.005)
    if config["k"] == "c" and config["x"] > 0.8:
        raise ValueError("a part of the space that fails")
    return float((config["x"] - 0.3) ** 2 + len(config["k"]))


def run(path: str, n_jobs: int | None, callbacks: Any = ()) -> Study:
    study = Study(SPACE, "rs", seed=11, storage=SqliteStore(path))
    return study.run(FunctionEvaluator(objective), n_trials=N_TRIALS, n_jobs=n_jobs, callbacks=callbacks)


if __name__ == "__main__":
    print("begun", flush=True)
    n_jobs = int(sys.argv[2])
    run(sys.argv[1], n_jobs, [lambda study, observation: print(observation.number, flush=True)]).close()
    print("ended", flush=True)
