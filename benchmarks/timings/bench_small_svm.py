"""Evaluations a second of an SVM on 80 rows: scikit-learn's public way, libsvm alone, and a whole study with its file.

The problem is `synthetic:chess:100`, a fifth of it held out anew for every evaluation. The three take turns, so that
other programs disturb them alike; the best turn of each counts, in processor time. Arguments: a method of the registry
(otherwise points around a good one, six at a time), and the number of trials at which to begin.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from comitia import METHODS, Config, History, Seeds, Serial, Space, Study, TableEvaluator, get_space
from comitia.bench.problems.synthetic import GENERATORS
from comitia.learners.quick_svm import QuickBuild, libsvm
from comitia.methods import Method
from comitia.seams import Ask, Needs, Values

TURNS, PER_TURN = 8, 300
TARGET = 2500


class Cloud:
    """Six points at a time around one that is good on the chess board: a generation without any thinking."""

    needs = Needs(generations=True)

    def __init__(self, space: Space) -> None:
        good = {"C": 100.0, "gamma": 20.0, "gamma_0": 15.0, "gamma_1": 15.0}
        self._centre = space.encode([{name: good[name] for name in space.names}])[0]

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        if history.n_pending:
            return []
        steps = seeds("cloud", len(history)).normal(size=(6, len(self._centre)))
        return [Ask(x) for x in np.clip(self._centre + 0.05 * steps, 0.0, 1.0)]


def cpu_seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def by_pipeline(evaluator: TableEvaluator, configs: Sequence[Config]) -> Callable[[], None]:
    """Return what a loop over scikit-learn's public API does; splits are made beforehand."""
    splits = [evaluator.splits(k, 0, Seeds(0))[0] for k in range(len(configs))]

    def action() -> None:
        for config, (train, test) in zip(configs, splits, strict=True):
            model = evaluator.build(config, 0).fit(evaluator.X[train], evaluator.y[train])
            np.mean(model.predict(evaluator.X[test]) != evaluator.y[test])

    return action


def by_libsvm(evaluator: TableEvaluator, configs: Sequence[Config]) -> Callable[[], None]:
    """Return what libsvm alone does: arrays are scaled beforehand."""
    splits = [evaluator.splits(k, 0, Seeds(0))[0] for k in range(len(configs))]
    models: list[Pipeline] = [evaluator.build(c, 0) for c in configs]
    X, y = evaluator.X, evaluator.y.astype(float)
    ready = []
    for model, (train, test) in zip(models, splits, strict=True):
        scaler = model[0].fit(X[train])
        ready.append((scaler.transform(X[train]), y[train], scaler.transform(X[test]), model[1].C, model[1].gamma))
    libsvm.set_verbosity_wrap(0)

    def action() -> None:
        for A, codes, B, C, gamma in ready:
            model = libsvm.fit(A, codes, kernel="rbf", C=C, gamma=gamma, cache_size=200.0)
            libsvm.predict(B, *model[:5], kernel="rbf", gamma=gamma, cache_size=200.0)

    return action


def measure(name: str, method: Method, n_before: int, folder: str) -> None:
    X, y = GENERATORS["chess"].draw(100, np.random.default_rng(0))
    ready = get_space(name, n_features=2)
    assert isinstance(ready.build, QuickBuild)
    evaluator = TableEvaluator(ready.build, X, y, cv=0.2, reshuffled=True)
    with Study(ready.space, method, seed=0, storage=Path(folder) / f"{name}.db") as study:

        def run(n: int) -> None:
            study.run(evaluator, n_evaluations=study.history.n_evaluations + n, executor=Serial())

        run(max(n_before, PER_TURN))
        times: dict[str, list[float]] = {"scikit-learn": [], "libsvm alone": [], "a study": []}
        for _ in range(TURNS):
            n = study.history.n_finished
            times["a study"].append(cpu_seconds(lambda: run(PER_TURN)) / PER_TURN)
            configs = [study.history.trial(k).config for k in range(n, n + PER_TURN)]
            times["libsvm alone"].append(cpu_seconds(by_libsvm(evaluator, configs)) / PER_TURN)
            times["scikit-learn"].append(cpu_seconds(by_pipeline(evaluator, configs[:60])) / 60)
        print(f"{name}, {method.name}, from trial {n_before:,} on")
        for what, found in times.items():
            best, middle = 1e6 * min(found), 1e6 * float(np.median(found))
            print(f"  {what:<14}{best:7.0f} us ({middle:.0f} in the median turn) = {1e6 / best:6.0f} a second")
        rate, plain, alone = (1 / min(times[what]) for what in ("a study", "scikit-learn", "libsvm alone"))
        print(
            f"  the study runs at {rate / plain:.1f} times scikit-learn's rate, {rate / alone:.2f} of libsvm's", end=""
        )
        print(f"; target {TARGET:,}: {'met' if rate >= TARGET else 'MISSED'}", flush=True)


def main() -> None:
    method = METHODS[sys.argv[1]] if len(sys.argv) > 1 else Method("cloud", Cloud, "six points around a good one")
    n_before = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("svm-rbf", "svm-ard"):
            measure(name, method, n_before, folder)


if __name__ == "__main__":
    main()
