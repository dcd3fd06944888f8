"""Experiments on images: studies in lockstep, resumed from their files, rows as of any other cell."""

import csv
from pathlib import Path

import numpy as np
import pytest

from comitia.bench.cells.stacked_cells import SIZES, run_stacked
from comitia.bench.report.page import write_report
from comitia.bench.rows.rows import read_rows
from comitia.errors import ExperimentError
from tests.bench.test_image_sets import experiment, folder

pytestmark = pytest.mark.images
__all__ = ["folder"]


def test_an_experiment_runs_is_resumed_and_reported(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "toys.parquet"
    first = run_stacked(experiment(), output, data=folder, jobs=4, device="cpu", time_limit=1e-3)
    assert (first.n_cells, first.n_run) == (4, 0)
    done = run_stacked(experiment(), output, data=folder, jobs=3, device="cpu")
    assert (done.n_run, done.n_failed) == (4, 0)
    again = run_stacked(experiment(), output, data=folder, jobs=3, device="cpu")
    assert (again.n_done_before, again.n_run) == (4, 0)
    rows, _ = read_rows(output)
    assert len(rows) == 4 * 4
    last = rows[rows["iteration"] == 4]
    assert np.isfinite(last[["test_loss", "returned_loss", "validation_loss"]].to_numpy(float)).all()
    assert (last["n_members"] >= 1).all()
    titles = [table.title for table in write_report(output, tmp_path / "report")]
    assert any("validation" in title for title in titles)


def test_a_stopped_study_ends_as_one_that_was_not(folder: Path, tmp_path: Path) -> None:
    one = experiment(methods=["rs-post[steps=5]"], repetitions=1)
    for name, limits in (("whole", [None]), ("parts", [1e-3, 1e-3, None])):
        for limit in limits:
            run_stacked(one, tmp_path / f"{name}.parquet", data=folder, device="cpu", time_limit=limit)
    losses = [read_rows(tmp_path / f"{name}.parquet")[0]["trial_loss"].tolist() for name in ("whole", "parts")]
    assert losses[0] == losses[1]


def test_errors_are_kept_for_every_number_of_steps(folder: Path, tmp_path: Path) -> None:
    one = experiment(repetitions=1)
    run_stacked(one, tmp_path / "toys.parquet", data=folder, jobs=2, device="cpu")
    with (tmp_path / "toys-sizes.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert set(lines[0]) == set(SIZES)
    assert [line["n_steps"] for line in lines[:5]] == ["1", "2", "3", "4", "5"]
    rows, _ = read_rows(tmp_path / "toys.parquet")
    for method in one.methods:
        [last] = [line for line in lines if line["method"] == method and line["n_steps"] == "5"]
        tested = rows[(rows["method"] == method) & (rows["iteration"] == 4)]
        assert float(last["test_loss"]) == pytest.approx(float(tested["test_loss"].iloc[0]))


def test_a_validation_by_folds_is_refused(folder: Path, tmp_path: Path) -> None:
    folds = experiment(validation=[{"name": "5-fold", "cv": 5}])
    with pytest.raises(ExperimentError, match="hold-out"):
        run_stacked(folds, tmp_path / "toys.parquet", data=folder, device="cpu")
