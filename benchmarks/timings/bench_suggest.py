"""Time per suggestion on `sklearn-cash` (14 hyperparameters, 9 branches) as a study grows, one thread.

Everything is included: values, theta, acquisition, decode. Times are of the processor, which with one thread is what
a clock shows on a machine that does nothing else. Trials before the timed ones are random, and either uniform
or, with `skewed`, three fifths of them in one branch, as in a search that has found a favourite. Printed are the
median and the longest of ten suggestions in a row, the first suggestion of a fresh object (which tunes theta), the
ratio to the forest of `yardstick.py` and to `rs`, and the exponent b of seconds ~ n^b. Arguments: rows, sizes, skewed.
"""

import resource
import statistics
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits
from yardstick import forest_seconds

from comitia import METHODS, Config, History, Observation, Seeds, Trial, get_space
from comitia.goals import MeanLoss

SPACE = get_space("sklearn-cash").space
ROWS = "rs,bayes,gp-cond-ls,gp-matern-ls,gp-laplace-ls,gp,smbo,spearmint,smac-rf,gp-mondrian-ls"
SIZES = "50,100,200,500,1000"
TARGETS = {
    ("gp-cond-ls", 200): 0.060,
    ("gp-cond-ls", 500): 0.200,
    ("bayes", 200): 0.020,
    ("bayes", 500): 0.060,
    ("smbo", 200): 0.040,
}
TIMED = 10
FAVOURITE = (4 + 0.5) / 9  # "rf", which has the most hyperparameters


def loss_of(config: Config, rng: np.random.Generator) -> float:
    x = SPACE.encode([config])[0]
    floor = 0.1 + 0.02 * float(x[0] != FAVOURITE)
    return float(floor + 0.3 * ((x[1:] - 0.3) ** 2).mean() + 0.01 * rng.standard_normal())


def add(history: History, x: np.ndarray, config: Config, rng: np.random.Generator) -> None:
    trial = Trial(len(history), 0, tuple(x.tolist()), config)
    history.append(trial)
    history.finish(Observation(trial, "ok", (loss_of(config, rng),), seconds=0.1))


def random_history(n: int, is_skewed: bool, rng: np.random.Generator) -> History:
    X = SPACE.sample(n, rng)
    if is_skewed:
        X[rng.random(n) < 0.6, 0] = FAVOURITE
    history = History(len(SPACE), space=SPACE)
    for x, config in zip(X, SPACE.decode(X), strict=True):
        add(history, x, config, rng)
    return history


def seconds_at(row: str, n: int, is_skewed: bool) -> list[float]:
    """Return the seconds of the first suggestion of a fresh object and of those that follow."""
    rng, seeds = np.random.default_rng(0), Seeds(0)
    history = random_history(n, is_skewed, rng)
    optimizer = METHODS[row].make_optimizer(SPACE)
    times = []
    for _ in range(TIMED + 1):
        began = time.process_time()
        [ask] = optimizer.ask(history, MeanLoss().values(history, seeds), 1, seeds)
        [config] = SPACE.decode(ask.x[None])
        times.append(time.process_time() - began)
        add(history, ask.x, config, rng)
    return times


def main() -> None:
    rows = (sys.argv[1] if len(sys.argv) > 1 else ROWS).split(",")
    sizes = [int(n) for n in (sys.argv[2] if len(sys.argv) > 2 else SIZES).split(",")]
    is_skewed = "skewed" in sys.argv
    forest = forest_seconds()
    print(f"one default random forest on 1,000 rows: {1000 * forest:.0f} ms; {'skewed' if is_skewed else 'uniform'}")
    print(f"{'row':<18}{'trials':>7}{'ms':>9}{'longest':>9}{'first':>9}{'forests':>10}{'x rs':>8}")
    base: dict[int, float] = {}
    for row in rows:
        medians = []
        for n in sizes:
            first, *rest = seconds_at(row, n, is_skewed)
            median = statistics.median(rest)
            medians.append(median)
            base.setdefault(n, median)
            target = TARGETS.get((row, n))
            aim = "" if target is None else f"  target {1000 * target:g} ms: {'met' if median <= target else 'MISSED'}"
            numbers = f"{1000 * median:9.1f}{1000 * max(rest):9.1f}{1000 * first:9.1f}"
            print(f"{row:<18}{n:>7}{numbers}{median / forest:>10.3f}{median / base[n]:>8.0f}{aim}", flush=True)
        if len(sizes) > 1:
            exponent = np.polyfit(np.log(sizes), np.log(medians), 1)[0]
            print(f"{row:<18} grows like n^{exponent:.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest resident size: {peak:.0f} MiB")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
