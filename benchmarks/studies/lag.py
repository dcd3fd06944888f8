"""What `lag` costs with two workers: seconds of a study of trials that sleep, beside one without it.

Arguments: method, number of trials, seconds of a trial, repetitions. "equal" trials all take as long, "random" ones
between half and one and a half of it, the same lengths with and without the lag.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np

from comitia import FunctionEvaluator, Study, Workers
from comitia.space import Config

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


@dataclass(frozen=True)
class Sleeper:
    """A quadratic that takes its time, which depends on the configuration where it is random."""

    seconds: float
    spread: float

    def __call__(self, config: Config) -> float:
        share = np.modf(1e6 * (float(config["x"]) + float(config["y"])))[0]
        time.sleep(self.seconds * (1.0 + self.spread * (2.0 * share - 1.0)))
        return (float(config["x"]) - 0.3) ** 2 + (float(config["y"]) - 0.6) ** 2


def seconds_of(method: str, n_trials: int, sleeper: Sleeper, lag: int | None, seed: int, workers: Workers) -> float:
    study = Study(SPACE, method, seed=seed, lag=lag)
    began = time.perf_counter()
    study.run(FunctionEvaluator(sleeper), n_trials=n_trials, executor=workers)
    return time.perf_counter() - began


def main() -> None:
    method = sys.argv[1] if len(sys.argv) > 1 else "bayes"
    n_trials = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.2
    n = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    print(f"{method}, {n_trials} trials of about {seconds:g} s, 2 workers; medians of {n}")
    with Workers(2) as workers:
        seconds_of("rs", 4, Sleeper(0.01, 0.0), None, 0, workers)  # imports
        for kind, spread in (("equal", 0.0), ("random", 0.5)):
            sleeper = Sleeper(seconds, spread)
            found = {
                lag: np.median([seconds_of(method, n_trials, sleeper, lag, seed, workers) for seed in range(n)])
                for lag in (None, 2, 4)
            }
            plain = found[None]
            costs = ", ".join(f"lag={lag} {100 * (found[lag] / plain - 1):+.1f} %" for lag in (2, 4))
            print(f"{kind:<8}{plain:8.2f} s without a lag; {costs}", flush=True)


if __name__ == "__main__":
    main()
