"""Overhead of the loop: random search, a free objective, a SQLite store; at trial 100 and at trial 50,000 alike."""

import gc
import tempfile
import time
from pathlib import Path

from yardstick import forest_seconds, report

from comitia import FunctionEvaluator, Serial, Study, get_space


def free(config: object) -> float:
    return 0.5


def overhead(study: Study, n: int, batch: int) -> float:
    """Return the seconds a trial of the next `n` trials, through `Study.run`."""
    began = time.perf_counter()
    study.run(FunctionEvaluator(free), n_trials=len(study.history) + n, executor=Serial(batch))
    return (time.perf_counter() - began) / n


def ask_and_tell(study: Study, n: int, batch: int) -> float:
    began = time.perf_counter()
    for _ in range(n // batch):
        study.tell_all([(trial, 0.5) for trial in study.ask(batch)])
    return (time.perf_counter() - began) / n


def main() -> None:
    forest = forest_seconds()
    print(f"one default random forest on 1,000 rows: {1000 * forest:.0f} ms")
    for name in ("svm-rbf", "sklearn-cash"):
        with tempfile.TemporaryDirectory() as folder:
            study = Study(get_space(name).space, "rs", seed=0, storage=Path(folder) / "study.db")
            overhead(study, 100, 1)
            report(f"{name}: a trial at 100, one at a time", overhead(study, 300, 1), forest, 2e-3)
            report(f"{name}: a trial at 400, batches of 100, run", overhead(study, 1000, 100), forest, 2e-4)
            report(f"{name}: a trial at 1,400, batches of 100, ask/tell", ask_and_tell(study, 1000, 100), forest, 2e-4)
            overhead(study, 50_000 - len(study.history), 100)
            report(f"{name}: a trial at 50,000, one at a time", overhead(study, 300, 1), forest, 2e-3)
            report(f"{name}: a trial at 50,300, batches of 100, run", overhead(study, 1000, 100), forest, 2e-4)
            report(f"{name}: a trial at 51,300, batches of 100, ask/tell", ask_and_tell(study, 1000, 100), forest, 2e-4)
            study.close()
            del study
            gc.collect()  # the dead study must not count against what follows
            began = time.perf_counter()
            Study.open(Path(folder) / "study.db").close()
            report(f"{name}: opening a study of 52,300 trials again", time.perf_counter() - began, forest)


if __name__ == "__main__":
    main()
