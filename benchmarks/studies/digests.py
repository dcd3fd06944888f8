"""A digest of what every method suggests and hands over: run it before and after a change that must change nothing.

    OMP_NUM_THREADS=1 python benchmarks/studies/digests.py > before.txt        (about 8 minutes on two cores)
    OMP_NUM_THREADS=1 python benchmarks/studies/digests.py > after.txt; diff before.txt after.txt

One line per method and problem: the number of trials, of failures, and a hash of configurations, losses and members.
The numbers depend on the processor and on the versions of libraries, so they are compared on one machine and not
recorded. Arguments choose: `digests.py bayes committee auto-classifier experiment`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from comitia import METHODS, AutoClassifier, AutoRegressor, Observation, Study, TableEvaluator, get_space
from comitia.seams import Judging

N_TRIALS, N_TRIALS_PBIL = 40, 120
PROBLEMS = ("function", "svm", "cash", "numbers")
"""A conditional function; radial SVMs by hold-out; choosing among nine learners by folds; a regression."""
AUTO = ("auto-classifier", "auto-regressor")
EXPERIMENT = """
title = "Digest"
problems = ["sklearn:iris", "sklearn:wine", "function:conditional"]
spaces = ["sklearn-cash"]
methods = ["rs", "bo-post", "eo-sqm", "committee", "esmbo", "gp-pm-r", "cma-gv", "grid", "default-forest"]
repetitions = 2
test_every = 5
[budget]
n_trials = 20
[split]
test = 0.3
[[validation]]
name = "3-fold"
cv = 3
"""
BY_THE_CLOCK = ("-per-second", "-cooled")
"""Ends of the names of methods that learn from seconds."""
LEFT_OUT = ("train_seconds", "optimizer_seconds", "versions", "machine", "finished_at", "dataset", "error")
"""Columns of an experiment's rows that a clock or a machine writes, and texts."""


class Priced:
    """A function of a conditional space whose seconds are given, not measured, so that they can be repeated."""

    judging = Judging()

    def __call__(self, trial, seeds):  # type: ignore[no-untyped-def]
        """Evaluate a trial."""
        numbers = [value for value in trial.config.values() if isinstance(value, int | float)]
        names = [value for value in trial.config.values() if isinstance(value, str)]
        loss = sum((np.log10(abs(v) + 1e-6) + 2) ** 2 for v in numbers) / (1 + len(numbers)) + sum(map(len, names)) / 9
        seconds = 0.1 + len(names)
        return Observation(trial=trial, status="ok", losses=(float(loss),), seconds=seconds), None

    def n_fits(self, trial) -> int:  # type: ignore[no-untyped-def]
        """Return how many fits the trial will take."""
        return int(trial.repeats)


def digest(parts: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:16]


def described(study: Study) -> list[object]:
    parts: list[object] = []
    for observation in study.history.observations():
        parts.append((sorted(observation.config.items()), [round(loss, 9) for loss in observation.losses]))
    for member in study.members():
        parts.append((sorted(member.config.items()), member.weight, member.trial, round(member.temperature, 9)))
    return parts


def evaluator_of(problem: str, name: str) -> tuple[Any, Any]:
    """Return a space and its evaluator; whatever the method needs is kept or set aside."""
    method = METHODS[name]
    keep: Any
    if problem == "function":
        return get_space("sklearn-cash").space, Priced()
    if problem == "svm":
        X, y = load_breast_cancer(return_X_y=True)
        ready, cv, keep = get_space("svm-rbf"), 0.3, "predictions" if method.compares_rows else "nothing"
    elif problem == "cash":
        X, y = load_wine(return_X_y=True)
        ready, cv, keep = get_space("sklearn-cash"), 3, "probabilities"
    else:
        X, y = load_diabetes(return_X_y=True)
        ready, cv, keep = get_space("forest-regression"), 3, "predictions"
    aside = 0.2 if method.has_selection_split else None
    rows = slice(0, 240)
    reshuffled = method.is_reshuffled
    return ready.space, TableEvaluator(
        ready.build,
        X[rows],
        y[rows],
        cv=cv,
        keep=keep,
        reshuffled=reshuffled,
        selection_split=aside,
    )


def study_digest(job: tuple[str, str]) -> str:
    name, problem = job
    method = METHODS[name]
    if problem == "function" and (method.compares_rows or method.has_selection_split):
        return ""
    n_trials = N_TRIALS_PBIL if name.startswith("pbil") and problem == "cash" else N_TRIALS
    if name.endswith(BY_THE_CLOCK) and problem != "function":
        return ""
    warnings.simplefilter("ignore")
    space, evaluator = evaluator_of(problem, name)
    study = Study(space, name, seed=7)
    study.run(evaluator, n_trials=n_trials)
    return f"{name:20} {problem:16} {study.history.n_finished:4} {study.history.n_failed:3}  {digest(described(study))}"


def auto_digest(name: str) -> str:
    warnings.simplefilter("ignore")
    kind, load = (AutoClassifier, load_iris) if name == "auto-classifier" else (AutoRegressor, load_diabetes)
    X, y = load(return_X_y=True)
    parts: list[object] = []
    for refit in ("full", "folds", False):
        model = kind(n_trials=8, exclude=["mlp"], refit=refit, n_jobs=1, random_state=5).fit(X[::2], y[::2])
        parts += [*described(model.study_), np.round(model.predict(X[1::2]), 9).tolist()]
        parts += [(member.weight, member.trial, round(member.temperature, 9)) for member in model.members_]
    return f"{name:20} {'table':16} {8:4} {0:3}  {digest(parts)}"


def experiment_digest() -> str:
    """Return the digest of an experiment's rows, without what a clock says."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        plan, rows = Path(folder) / "digest.toml", Path(folder) / "rows.parquet"
        plan.write_text(EXPERIMENT)
        program = [sys.executable, "-c", "from comitia.cli import main; main()"]
        command = [*program, "bench", "run", str(plan), "--output", str(rows)]
        subprocess.run(command, check=True, capture_output=True)
        found = pq.read_table(rows).to_pylist()
    lines = sorted(
        str(sorted((k, round(v, 9) if isinstance(v, float) else v) for k, v in row.items() if k not in LEFT_OUT))
        for row in found
    )
    return f"{'experiment':20} {'rows':16} {len(lines):4} {0:3}  {digest(lines)}"


def main() -> None:
    chosen = sys.argv[1:] or [*METHODS, *AUTO, "experiment"]
    studies = [(name, problem) for name in chosen if name in METHODS for problem in PROBLEMS]
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(study_digest, studies):
            if line:
                print(line, flush=True)
        for line in pool.map(auto_digest, [name for name in chosen if name in AUTO]):
            print(line, flush=True)
    if "experiment" in chosen:
        print(experiment_digest())


if __name__ == "__main__":
    main()
