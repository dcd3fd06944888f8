"""Time the harness: appending rows, opening the file again, and a report over 200,000 rows."""

import tempfile
import time
from pathlib import Path

import numpy as np

from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Cell
from comitia.bench.report.page import write_report
from comitia.bench.rows.row import Row
from comitia.bench.rows.rows import RowsFile, read_rows

N_PROBLEMS, N_METHODS, N_REPETITIONS, N_ITERATIONS = 50, 8, 5, 100


def main() -> None:
    content = {"problems": ["p"], "methods": ["rs"], "spaces": ["s"], "repetitions": 1, "budget": {"n_trials": 100}}
    protocol = make_experiment(content, "harness").protocol()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        started = time.perf_counter()
        with RowsFile(path, protocol) as rows:
            for repetition in range(N_REPETITIONS):
                for problem in range(N_PROBLEMS):
                    for method in range(N_METHODS):
                        rows.append(Cell(f"p{problem}", "s", "5-fold", f"m{method}", repetition), cell(rng, method))
        appending = time.perf_counter() - started
        n_rows = N_PROBLEMS * N_METHODS * N_REPETITIONS * N_ITERATIONS
        print(f"appending {n_rows} rows in cells of {N_ITERATIONS}: {n_rows / appending:,.0f} rows/s (target 1,000)")
        started = time.perf_counter()
        read_rows(path)
        print(f"reading them: {time.perf_counter() - started:.2f} s; {path.stat().st_size / 2**20:.1f} MB")
        started = time.perf_counter()
        tables = write_report(path, Path(folder) / "report")
        print(f"a report of {len(tables)} tables with figures: {time.perf_counter() - started:.1f} s (target 20 s)")


def cell(rng: np.random.Generator, method: int) -> list[Row]:
    losses = np.minimum.accumulate(0.3 - 0.01 * method + 0.2 * rng.random(N_ITERATIONS))
    return [
        Row(
            iteration=i + 1,
            n_evaluations=i + 1,
            loss="zero-one",
            trial_loss=loss,
            validation_loss=loss,
            test_loss=loss,
            train_seconds=0.1 * i,
            optimizer_seconds=0.01 * i,
            learner=f"l{i % 5}",
            n_members=1,
            n_rows=100,
        )
        for i, loss in enumerate(losses.tolist())
    ]


if __name__ == "__main__":
    main()
