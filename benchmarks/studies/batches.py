"""How batches of eight spread, and what they cost: Branin and a quadratic on a square, by method.

Arguments: methods, number of seeds. "apart": how many of eight suggestions are .01 from each other after 10, 20 and 40
trials in batches of four (median and least over seeds); "ms": a suggestion of such a batch beside a sequential one, in
processor time; then the regret of the best trial with one and with eight workers, whose trials end in a random order:
geometric means over seeds of Branin after 64 trials and the quadratic after 100.
"""

import random
import sys
import time
from collections.abc import Callable

import numpy as np

from comitia import Study
from comitia.history import Trial
from comitia.space import Config

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
LEAST = 1e-14
"""Configurations have ten digits: no regret is smaller."""
Function = Callable[[Config], float]


def branin(config: Config) -> float:
    x, y = 15 * float(config["x"]) - 5, 15 * float(config["y"])
    valley = (y - 5.1 / (4 * np.pi**2) * x * x + 5 / np.pi * x - 6) ** 2
    return float(valley + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10 - 0.39788735772973816)


def quadratic(config: Config) -> float:
    return (float(config["x"]) - 0.3) ** 2 + (float(config["y"]) - 0.6) ** 2


def n_apart(X: np.ndarray, distance: float = 0.01) -> int:
    """Return how many rows are left when those too near to an earlier one are dropped."""
    kept: list[np.ndarray] = []
    for row in X:
        if all(np.linalg.norm(row - other) > distance for other in kept):
            kept.append(row)
    return len(kept)


def spread(method: str, n: int, seed: int) -> tuple[int, float, float]:
    """Return how many of eight are apart after `n` trials, and the seconds of one suggestion: of eight, and alone."""
    study = Study(SPACE, method, seed=seed)
    while study.history.n_finished < n:
        for trial in study.ask(4):
            study.tell(trial, branin(trial.config))
    began = time.process_time()
    study.in_memory().ask(1)
    alone = time.process_time() - began
    began = time.process_time()
    batch = study.ask(8)
    return n_apart(np.array([trial.x for trial in batch])), (time.process_time() - began) / 8, alone


def regret(method: str, function: Function, n_workers: int, n: int, seed: int) -> float:
    study, rng = Study(SPACE, method, seed=seed), random.Random(seed)
    busy: list[Trial] = []
    while study.history.n_finished < n:
        room = min(n_workers - len(busy), n - study.history.n_finished - len(busy))
        busy += study.ask(room) if room else []
        trial = busy.pop(rng.randrange(len(busy)))
        study.tell(trial, function(trial.config))
    return study.best_value


def main() -> None:
    methods = sys.argv[1].split(",") if len(sys.argv) > 1 else ["bayes", "gp", "smbo", "gp-matern-ls"]
    seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    for method in methods:
        for n in (10, 20, 40):
            found = [spread(method, n, seed) for seed in seeds]
            counts, together, alone = (np.array(column) for column in zip(*found, strict=True))
            ms = f"{1e3 * np.median(together):.1f} ms of eight, {1e3 * np.median(alone):.1f} alone"
            print(f"{method:<14} after {n}: {np.median(counts):g} of 8 apart (least {counts.min()}), {ms}", flush=True)
        for name, function, n in (("Branin", branin, 64), ("quadratic", quadratic, 100)):
            means = {
                n_workers: np.exp(
                    np.mean([np.log(regret(method, function, n_workers, n, seed) + LEAST) for seed in seeds])
                )
                for n_workers in (1, 8)
            }
            ratio = means[8] / means[1]
            print(
                f"{method:<14} {name} {n}: {means[1]:.1e} alone, {means[8]:.1e} with 8, {ratio:.2f} times", flush=True
            )


if __name__ == "__main__":
    main()
