"""Many very short trials through a Dask cluster in this process: seconds and the driver's memory as a study grows.

Arguments: number of trials, trials between lines.
"""

import sys
import time

import psutil
from distributed import Client, LocalCluster

from comitia import FunctionEvaluator, Study
from comitia.history import Observation
from comitia.space import Config


def nothing(config: Config) -> float:
    return float(config["x"])


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    began = time.perf_counter()

    def say(study: Study, observation: Observation) -> None:
        if study.history.n_finished % step == 0:
            memory = psutil.Process().memory_info().rss / 2**20
            seconds = time.perf_counter() - began
            print(f"{study.history.n_finished:>6} trials, {seconds:7.1f} s, {memory:6.0f} MiB", flush=True)

    local = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0")
    with local, Client(local) as client:
        Study({"x": (0.0, 1.0)}, "rs", seed=0).run(
            FunctionEvaluator(nothing), n_trials=n, n_jobs=8, executor=client, callbacks=[say]
        )


if __name__ == "__main__":
    main()
