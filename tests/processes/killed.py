"""The program that the kill tests kill: a study on disk that says what it has finished."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from scipy import stats

from comitia import METHODS, FunctionEvaluator, History, Method, Seeds, Space, SqliteStore, Study
from comitia.optimizers import RandomSearch
from comitia.seams import Ask, Needs, Values

SPACE = Space({"x": stats.uniform(0, 1), "k": ["a", "b", "c"]})
N_TRIALS = 40


def objective(config: Any) -> float:
    time.sleep(0.005)
    if config["k"] == "c" and config["x"] > 0.8:
        raise ValueError("a part of the space that fails")
    return float((config["x"] - 0.3) ** 2 + len(config["k"]))


class Eights(RandomSearch):
    """Generations of eight, the next when all are back."""

    needs = Needs(generations=True, fixed_values=True)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        return [] if history.n_pending else super().ask(history, values, 8, seeds)


BY_NAME = {
    "eights": Method("eights", Eights, "eight at a time"),
    **{name: METHODS[name] for name in ("rs", "cma-r", "pbil-floor")},
}


def run(path: str, n_jobs: int | None, callbacks: Any = (), method: str = "rs") -> Study:
    study = Study(SPACE, BY_NAME[method], seed=11, storage=SqliteStore(path))
    return study.run(FunctionEvaluator(objective), n_trials=N_TRIALS, n_jobs=n_jobs, callbacks=callbacks)


if __name__ == "__main__":
    print("begun", flush=True)
    n_jobs = int(sys.argv[2])
    run(sys.argv[1], n_jobs, [lambda study, observation: print(observation.number, flush=True)], sys.argv[3]).close()
    print("ended", flush=True)
