"""Committees: scoring a pool, greedy selection, and what the goals of committees add to a search.

Times are of the processor. What a goal costs is measured at 200 trials with predictions for 2,000 rows, reading the
last trial's predictions and filling its slot included, beside the mean trial of a short random search of `sklearn-cash`
on as many rows.
"""

import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from comitia import METHODS, Config, History, Observation, Predictions, Seeds, Study, TableEvaluator, Trial, get_space
from comitia.committees.greedy import Greedy
from comitia.committees.losses import BRIER, C_BOUND, LOG_LOSS, SIGMOID, SQUARED_MARGIN, ZERO_ONE
from comitia.committees.votes import Tally, empty, make_rows
from comitia.history import Truth


def cpu_seconds(action: Callable[..., object], *arguments: Any) -> float:
    """Return the least processor time of three calls: others on the machine only add to it."""
    times = []
    for _ in range(3):
        began = time.process_time()
        action(*arguments)
        times.append(time.process_time() - began)
    return min(times)


def report(what: str, seconds: float, target: float) -> None:
    print(
        f"{what:<62} {1000 * seconds:8.1f} ms   target {1000 * target:.3g}: {'met' if seconds <= target else 'MISSED'}"
    )


def score_a_pool() -> None:
    rng = np.random.default_rng(0)
    n_models, n_rows, n_classes = 500, 50_000, 10
    rows = make_rows(rng.integers(n_classes, size=n_rows), n_classes)
    codes = rng.integers(n_classes, size=(n_models, n_rows)).astype(np.int16)
    p = rng.random((n_models, n_classes, n_rows), dtype=np.float32)
    true = p[:, 0].copy()
    print("one more member for a committee of 11: 500 models x 50,000 rows x 10 classes")
    for loss in (ZERO_ONE, SQUARED_MARGIN, SIGMOID, C_BOUND, BRIER, LOG_LOSS):
        answers = codes if loss.kept == "codes" else true if loss.kept == "true" else p
        tally: Tally = empty(loss, rows).plus(answers[:11])
        report(f"  {loss.name}", cpu_seconds(tally.losses_with, answers), 0.5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'  largest resident size':<62} {peak:8.2f} GiB  target 2.5: {'met' if peak < 2.5 else 'MISSED'}")


def choose_greedily() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=10_000)
    codes = np.where(rng.random((200, len(y))) < 0.6, y, rng.integers(5, size=(200, len(y)))).astype(np.int16)
    p = np.clip(rng.normal(0.6, 0.2, size=(200, len(y))), 0.01, 0.99).astype(np.float32)
    for loss, answers in ((ZERO_ONE, codes), (LOG_LOSS, p)):
        seconds = cpu_seconds(Greedy(), empty(loss, make_rows(y, 5)), answers, rng)
        report(f"greedy, 50 steps, 200 models x 10,000 rows, {loss.name}", seconds, 0.5)


def mean_trial_seconds(X: Any, y: Any) -> float:
    ready = get_space("sklearn-cash")
    evaluator = TableEvaluator(ready.build, X, y, keep="predictions")
    study = Study(ready.space, "rs", seed=0)
    began = time.process_time()
    study.run(evaluator, n_trials=20)
    return (time.process_time() - began) / 20


def load(kept: dict[int, bytes], number: int) -> Predictions:
    """Read predictions as a study does."""
    return Predictions.from_bytes(kept[number])


def cost_of_goals() -> float:
    n_trials, n_rows, n_classes = 200, 2000, 3
    X, y = make_classification(n_rows, 12, n_informative=6, n_classes=n_classes, random_state=0)
    trial_seconds = mean_trial_seconds(X, y)
    print(f"a trial of sklearn-cash on {n_rows} rows, 5-fold: {1000 * trial_seconds:.0f} ms")
    rng = np.random.default_rng(0)
    for name in ("eo-sqm", "eo-c", "eo-sig", "committee", "esmbo"):
        goal = METHODS[name].goal
        kept: dict[int, bytes] = {}
        history = History(1, partial(load, kept))
        history.truth = Truth(y.astype(np.int16), n_classes)
        times = []
        for number in range(n_trials):
            trial = Trial(number, 0, (0.5,), Config({"a": number}))
            history.append(trial)
            p = rng.random((n_rows, n_classes), dtype=np.float32)
            p[np.arange(n_rows), y] += 0.3 * rng.random()
            p /= p.sum(axis=1, keepdims=True)
            codes = p.argmax(axis=1).astype(np.int16)
            values = p if goal.needs.probabilities else codes
            kept[number] = Predictions(np.arange(n_rows), y * 0, values, (codes != y).astype(float)).to_bytes()
            history.finish(Observation(trial, "ok", (float((codes != y).mean()),)))
            began = time.process_time()
            goal.values(history, Seeds(0))
            times.append(time.process_time() - began)
        report(f"{name}: values at 200 trials x {n_rows} rows", float(np.mean(times[-20:])), 0.05 * trial_seconds)
    return trial_seconds


def suggestion_seconds(name: str, seed: int) -> list[float]:
    """Return what values and the next point take after 200 trials, the first, which tunes theta, left out."""
    n_trials, n_rows, n_classes, n_timed = 200, 2000, 3, 8
    space, seeds, rng = get_space("sklearn-cash").space, Seeds(0), np.random.default_rng(seed)
    method, y = METHODS[name], rng.integers(n_classes, size=n_rows)
    kept: dict[int, bytes] = {}
    history = History(len(space), partial(load, kept), space=space)
    history.truth = Truth(y.astype(np.int16), n_classes)
    optimizer = method.make_optimizer(space)
    times: list[float] = []
    rows = list(space.sample(n_trials, rng))
    while len(times) < n_timed:
        if not rows:
            began = time.process_time()
            rows = [optimizer.ask(history, method.goal.values(history, seeds), 1, seeds)[0].x]
            times.append(time.process_time() - began)
        x = rows.pop()
        trial = Trial(len(history), 0, tuple(x.tolist()), space.decode(x[None])[0])
        history.append(trial)
        p = rng.random((n_rows, n_classes), dtype=np.float32)
        p[np.arange(n_rows), y] += 1.0 - float(((x - 0.3) ** 2).mean())  # models are better near some corner
        p /= p.sum(axis=1, keepdims=True)
        codes = p.argmax(axis=1).astype(np.int16)
        values = p if name == "committee" else codes
        kept[trial.number] = Predictions(np.arange(n_rows), y * 0, values, (codes != y).astype(float)).to_bytes()
        history.finish(Observation(trial, "ok", (float((codes != y).mean()),)))
    return times[1:]


def cost_of_suggestions(trial_seconds: float, n_histories: int = 6) -> None:
    """Time what an iteration adds to a trial, over several histories: how far a local search goes depends on them.

    The rows take turns, and the median of a history's suggestions counts: others on the machine only add to a time.
    """
    names = ("bayes", "committee", "bo-best", "eo-sqm")
    times = {name: np.empty(n_histories) for name in names}
    for seed in range(n_histories):
        for name in names:
            times[name][seed] = np.median(suggestion_seconds(name, seed))
    seconds = {name: float(each.mean()) for name, each in times.items()}
    for name, each in times.items():
        spread = f"{1000 * each.min():.0f} to {1000 * each.max():.0f}"
        print(f"{f'{name}: values and suggestion at 200 trials':<62} {1000 * seconds[name]:8.1f} ms ({spread})")
    for name, without in (("committee", "bayes"), ("eo-sqm", "bo-best")):
        share = 100 * (seconds[name] - seconds[without]) / (trial_seconds + seconds[without])
        print(f"{name} adds to a search by {without}: {share:.1f} %   target 5: {'met' if share <= 5 else 'MISSED'}")


if __name__ == "__main__":
    with threadpool_limits(1):
        score_a_pool()
        choose_greedily()
        cost_of_suggestions(cost_of_goals())
