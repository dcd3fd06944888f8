"""The report of a large study: seconds to make the page, its size, and the short document of a study that runs.

`python benchmarks/timings/bench_report.py`. Times are of the processor. The studies are made up: configurations of the
default space that were told losses, 5,000 for the page and 50,000 for the document of a live page.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from comitia import Study
from comitia.learners.default import default_space
from comitia.report import page_of, summary_of
from comitia.tables.cleaner import Columns

PAGE_TRIALS, LIVE_TRIALS = 5_000, 50_000
PAGE_SECONDS, PAGE_MEGABYTES, LIVE_SECONDS = 20.0, 12.0, 3.0
"""What must hold."""


def made_up(path: Path, n: int) -> Path:
    """Write a study of so many trials."""
    space = default_space(Columns(30), "classification", 1_000).space
    rng = np.random.default_rng(0)
    with Study(space, "rs", seed=0, storage=path) as study:
        for _ in range(0, n, 1_000):
            trials = study.ask(1_000)
            results = [0.1 + 0.2 * abs(trial.x[0] - 0.4) + 0.05 * float(rng.random()) for trial in trials]
            study.tell_all(
                (trial, loss if rng.random() > 0.02 else "it failed")
                for trial, loss in zip(trials, results, strict=True)
            )
    return path


def met(value: float, limit: float) -> str:
    return f"{value / limit:.2f} of the limit of {limit:g}: {'met' if value <= limit else 'MISSED'}"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = made_up(folder / "study.db", PAGE_TRIALS)
        began = time.process_time()
        page = page_of(summary_of(study))
        spent = time.process_time() - began
        print(f"page of {PAGE_TRIALS} trials      {spent:6.2f} s   {met(spent, PAGE_SECONDS)}")
        size = len(page.encode()) / 1e6
        print(f"its size                  {size:6.2f} MB  {met(size, PAGE_MEGABYTES)}")
        live = made_up(folder / "live.db", LIVE_TRIALS)
        began = time.process_time()
        document = json.dumps(summary_of(live, quick=True))
        spent = time.process_time() - began
        print(f"document of {LIVE_TRIALS} trials {spent:6.2f} s   {met(spent, LIVE_SECONDS)}")
        print(f"its size                  {len(document) / 1e6:6.2f} MB")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
