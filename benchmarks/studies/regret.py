"""Mean regret on the synthetic conditional function; arguments: rows, number of seeds, noise, trials, first seed."""

import sys
import time

import numpy as np
from synthetic import Function

from comitia import METHODS, FunctionEvaluator, Serial, Study

AT = (25, 50, 100, 200)


def curve(name: str, seed: int, n: int, noise: float) -> np.ndarray:
    """Return the regret, without noise, of the trial with the least loss, after each trial."""
    function = Function(seed, noise)
    study = Study(function.space, METHODS[name], seed=seed).run(
        FunctionEvaluator(function), n_trials=n, executor=Serial()
    )
    losses = study.history.losses[:n]  # the rest of the last generation was asked and not begun
    regrets = np.array([function.regret(study.history.trial(k).config) for k in range(len(losses))])
    best = [int(np.nanargmin(losses[: k + 1])) for k in range(len(losses))]
    return np.asarray(regrets[best])


def main() -> None:
    names = sys.argv[1].split(",") if len(sys.argv) > 1 else ["rs", "smac-rf", "gp-cond-ls", "bayes"]
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1000  # `bayes` was chosen on seeds below 16
    seeds = range(first, first + (int(sys.argv[2]) if len(sys.argv) > 2 else 10))
    noise = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    n = int(sys.argv[4]) if len(sys.argv) > 4 else max(AT)
    at = [k for k in AT if k <= n]
    print(f"{'row':<22}" + "".join(f"{f'@{k}':>10}" for k in at) + f"{'median':>10}{'s':>8}")
    for name in names:
        began = time.perf_counter()
        curves = np.array([curve(name, seed, n, noise) for seed in seeds])
        seconds = time.perf_counter() - began
        means = "".join(f"{curves[:, k - 1].mean():>10.4f}" for k in at)
        print(f"{name:<22}{means}{np.median(curves[:, -1]):>10.4f}{seconds:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
