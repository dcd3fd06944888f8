"""CMA-ES: processor time of a generation, beside pycma alone on the same function, at trial 0 and at trial 50,000.

A generation is everything between its last result and the next trials: reading the history, pycma's `tell` and `ask`,
the stream, mirrors, coordinates. The last line is whole studies, by evaluation.
"""

import math
import statistics
import time

import cma
import numpy as np
from scipy import stats

from comitia import Config, FunctionEvaluator, History, Observation, Seeds, Serial, Space, Study, Trial
from comitia.optimizers import CMAES
from comitia.seams import Values

GENERATIONS = 60  # then a bowl is found to nine digits
RUNS = 15


def bowl(x: np.ndarray) -> float:
    return float(((x - 0.3) ** 2).sum())


def space_of(d: int) -> Space:
    return Space({f"x{i}": stats.uniform(0, 1) for i in range(d)})


def seconds_of_pycma(d: int, population: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    options = {"popsize": population, "seed": math.nan, "verbose": -9, "randn": lambda *n: rng.standard_normal(n)}
    strategy = cma.CMAEvolutionStrategy(np.full(d, 0.5), 0.3, options | {"CMA_active": False})
    spent = 0.0
    points = strategy.ask()
    for _ in range(GENERATIONS):
        values = [bowl(x) for x in points]
        began = time.process_time()
        strategy.tell(points, values)
        points = strategy.ask()
        spent += time.process_time() - began
    return spent / GENERATIONS


def seconds_of_ours(d: int, population: int, seed: int, *, n_before: int = 0) -> float:
    space = space_of(d)
    optimizer, seeds = CMAES(space, population=population, asks_again=True), Seeds(seed)
    history, values = History(d, space=space), np.zeros(n_before + (GENERATIONS + 1) * population)
    nothing = Config({})

    def add(x: tuple[float, ...], loss: float) -> None:
        trial = Trial(len(history), 0, x, nothing)
        history.append(trial)
        history.finish(Observation(trial, "ok", (loss,)))
        values[trial.number] = loss

    for _ in range(n_before):
        add((2.0,) * d, 0.0)  # somebody else's
    asks = optimizer.ask(history, Values(values[: len(history)]), 1000, seeds)
    spent = 0.0
    for _ in range(GENERATIONS):
        for ask in asks:
            add(tuple(ask.x.tolist()), bowl(ask.x))
        began = time.process_time()
        asks = optimizer.ask(history, Values(values[: len(history)]), 1000, seeds)
        spent += time.process_time() - began
    return spent / GENERATIONS


def main() -> None:
    for d, population in ((2, 6), (21, 13)):
        plain = statistics.median(seconds_of_pycma(d, population, seed) for seed in range(RUNS))
        ours = statistics.median(seconds_of_ours(d, population, seed) for seed in range(RUNS))
        late = statistics.median(seconds_of_ours(d, population, seed, n_before=50_000) for seed in range(3))
        print(f"d = {d}, {population} offspring, a generation: pycma {1e6 * plain:.0f} us", end=", ")
        print(f"ours {1e6 * ours:.0f} us = {ours / plain:.2f} times that, at trial 50,000 {late / plain:.2f} times")
    study = Study(space_of(2), "cma-1x", seed=0)
    began = time.process_time()
    study.run(FunctionEvaluator(lambda c: abs(hash(c["x0"])) % 100), n_trials=2400, executor=Serial())
    n = study.history.n_finished
    print(f"a whole study of noise, {n} trials: {1e6 * (time.process_time() - began) / n:.0f} us an evaluation")


if __name__ == "__main__":
    main()
