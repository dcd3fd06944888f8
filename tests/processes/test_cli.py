"""The command line as a person uses it: real processes, exit codes, one readable line."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from comitia import SqliteStore, Study, load
from comitia.errors import ComitiaError
from tests import warm

COMITIA = ["-m", "comitia.cli"]
QUICK = ["--n-trials", "2", "--include", "linear", "--seed", "0", "-q"]


def comitia(*arguments: Any, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return warm.run(*COMITIA, *arguments, cwd=folder, env=env, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables and a fitted model."""
    place = tmp_path_factory.mktemp("cli")
    data = load_breast_cancer(as_frame=True).frame
    data["target"] = np.where(data["target"] == 1, "benign", "malignant")
    data["site"] = np.array(["a", "b", None])[data.index % 3]
    data["patient"] = data.index // 4
    data["weight"] = 1.0
    data["when"] = pd.date_range("2024", periods=len(data)).astype(str)
    data[:400].to_csv(place / "train.csv", index=False)
    data[400:].to_csv(place / "test.csv", index=False)
    load_diabetes(as_frame=True).frame.to_parquet(place / "numbers.parquet")
    done = comitia("fit", "train.csv", "--target", "target", "-o", "model", *QUICK, folder=place)
    assert done.returncode == 0, done.stderr
    assert "2 trials, model saved in model" in done.stdout
    return place


def test_fit_writes_a_model_folder_and_nothing_else(folder: Path) -> None:
    assert sorted(os.listdir(folder / "model")) == ["fit.json", "model.zip", "study.db"]


def test_report_writes_a_page_and_says_so_in_it_where_a_study_is_damaged(folder: Path, tmp_path: Path) -> None:
    done = comitia("report", "model", "-o", tmp_path / "report.html", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"Report written to {tmp_path / 'report.html'}\n"
    page = (tmp_path / "report.html").read_text()
    assert "<title>Predicting target</title>" in page
    assert "comitia fit" in page
    (tmp_path / "cut.db").write_bytes((folder / "model" / "study.db").read_bytes()[:3000])
    done = comitia("report", tmp_path / "cut.db", "-o", tmp_path / "cut.html", folder=folder)
    assert done.returncode == 0
    assert "cannot be read" in done.stderr
    assert "cannot be read" in (tmp_path / "cut.html").read_text()
    done = comitia("report", "none", folder=folder)
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_predict(folder: Path) -> None:
    done = comitia("predict", "model", "test.csv", folder=folder)
    lines = done.stdout.splitlines()
    assert lines[0] == "prediction"
    truth = pd.read_csv(folder / "test.csv")["target"]
    assert (truth.to_numpy() == np.array(lines[1:])).mean() > 0.9
    again = comitia("predict", "model", "-", "--proba", folder=folder, given=(folder / "test.csv").read_text())
    assert again.stdout.splitlines()[0] == "benign,malignant"
    assert len(again.stdout.splitlines()) == len(truth) + 1


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_listings(form: str, folder: Path) -> None:
    for command, named in ((["leaderboard", "model"], "linear"), (["methods"], "sobol"), (["spaces"], "sklearn-cash")):
        done = comitia(*command, "-f", form, folder=folder)
        assert done.returncode == 0
        assert named in done.stdout
        if form == "json":
            assert isinstance(json.loads(done.stdout), list)


def test_compare_shows_two_models_and_writes_a_page(folder: Path, tmp_path: Path) -> None:
    done = comitia("compare", folder / "model", folder / "model", "-o", "compare.html", folder=tmp_path)
    assert "On all 400 rows (the tables have the same checksum):\naccuracy: both are the same." in done.stdout
    assert "expected on new rows" in (tmp_path / "compare.html").read_text()


def test_resume_continues(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "model", tmp_path / "m")
    done = comitia("resume", "m", "--n-trials", "5", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5 trials" in done.stdout
    done = comitia("resume", "m", "--time-limit", "30", "--n-trials", "6", "-q", folder=tmp_path)
    assert "6 trials" in done.stdout
    assert load(tmp_path / "m").time_limit == 30  # as it was said, although the start of Python counts


def test_a_killed_fit_is_resumed(folder: Path, tmp_path: Path) -> None:
    fit = ["fit", folder / "train.csv", "--target", "target", "-o", "m", "--time-limit", "300", "--include", "linear"]
    run = warm.begin(*COMITIA, *fit, "--seed", "0", cwd=tmp_path)
    for _ in range(600):
        time.sleep(0.1)
        # it may not have written its header yet
        with contextlib.suppress(ComitiaError), Study.open(tmp_path / "m" / "study.db") as study:
            if study.history.n_finished >= 3:
                break
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert comitia("predict", "m", folder / "test.csv", folder=tmp_path).returncode == 2  # no model yet
    assert comitia("leaderboard", "m", folder=tmp_path).returncode == 0
    with Study.open(tmp_path / "m" / "study.db") as study:
        n_trials = study.history.n_finished + 3
    assert n_trials >= 6
    done = comitia("resume", "m", "--n-trials", n_trials, "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "m").study_.history.n_finished == n_trials


def test_a_fit_that_was_stopped_before_its_first_trial_has_a_leaderboard(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "model", tmp_path / "asked")
    for name, n_asked in (("asked", 1), ("nothing", 0)):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "study.db").unlink(missing_ok=True)
        with Study({"x": [1, 2, 3]}, "grid", storage=tmp_path / name / "study.db") as study:
            if n_asked:
                study.ask(n_asked)
        done = comitia("leaderboard", name, folder=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "No trial has finished yet.\n", "")
        assert json.loads(comitia("leaderboard", name, "-f", "json", folder=tmp_path).stdout) == []
        assert comitia("leaderboard", name, "-f", "csv", folder=tmp_path).stdout.startswith("rank,number,learner,score")
    (tmp_path / "nothing" / "study.db").unlink()
    SqliteStore(tmp_path / "nothing" / "study.db").close()  # stopped before the study was written
    assert comitia("leaderboard", "nothing", folder=tmp_path).stdout == "No trial has finished yet.\n"


def test_a_fit_of_an_earlier_version_is_resumed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "model", tmp_path / "m")
    options = json.loads((tmp_path / "m" / "fit.json").read_text())
    del options["preset"]  # an option that it did not have, and one that is no more
    (tmp_path / "m" / "fit.json").write_text(json.dumps({**options, "gone": 1}))
    done = comitia("resume", "m", "--n-trials", "3", "-q", folder=tmp_path)
    assert "3 trials, model saved in m" in done.stdout
    (tmp_path / "m" / "fit.json").write_text("[]")
    done = comitia("resume", "m", folder=tmp_path)
    assert done.returncode == 2
    assert "must be a fit.json of comitia" in done.stderr


def test_regression_groups_weights_time_metric_and_preset(folder: Path, tmp_path: Path) -> None:
    done = comitia("fit", folder / "numbers.parquet", "--target", "target", "-o", "r", *QUICK, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert type(load(tmp_path / "r")).__name__ == "AutoRegressor"
    for i, options in enumerate(
        [
            ["--groups", "patient", "--weights", "weight", "--metric", "roc_auc"],
            ["--time-column", "when"],
            ["--preset", "thorough"],
        ]
    ):
        done = comitia(
            "fit", folder / "train.csv", "--target", "target", "-o", f"m{i}", *options, *QUICK, folder=tmp_path
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "train.csv", "--target", "targett"], "Did you mean 'target'"),
        (["fit", "train.csv", "--target", "target", "--metric", "acuracy"], "'accuracy'"),
        (["fit", "train.csv", "--target", "target", "--method", "sobl"], "'sobol'"),
        (["fit", "train.csv", "--target", "target", "--include", "linea"], "'linear'"),
        (["fit", "train.csv", "--target", "target", "--task", "clasification"], "'classification'"),
        (["fit", "train.csv", "--target", "target", "--groups", "pateint"], "'patient'"),
        (["fit", "train.csv", "--target", "target", "--time-limit", "0"], "time_limit"),
        (["fit", "train.csv", "--target", "target", "--delimiter", ";"], "delimiter"),
        (["fit", "nothing.csv", "--target", "target"], "There is no"),
        (["fit", "numbers.parquet", "--target", "target", "-o", "model"], "--overwrite"),
        (["fit", "numbers.parquet", "--target", "target", "-o", "no/such/place"], "Create it first"),
        (["fit", "numbers.parquet", "--target", "target", "-o", "train.csv"], "is a file"),
        (["fit", "train.csv", "--target", "target", "--time-column", "site"], "sort by"),
        (["predict", "nowhere", "test.csv"], "model folder"),
        (["predict", "model", "numbers.parquet"], "must have the columns"),
        (["leaderboard", "nowhere"], "model folder"),
        (["resume", "nowhere"], "was begun"),
        (["watch", "no/such/place"], "must exist"),
        (["watch", "model", "--host", "203.0.113.1"], "free port"),
        (["compare", "model", "nowhere"], "model folder"),
        (["compare", "model", "model", "-o", "no/such.html"], "Create it first"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: list[str], message: str, folder: Path) -> None:
    before = sorted(os.listdir(folder))
    done = comitia(*arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(os.listdir(folder)) == before  # nothing is left behind


def test_help_teaches_by_example(folder: Path) -> None:
    for command in ("fit", "predict", "leaderboard", "resume", "watch", "compare"):
        text = comitia(command, "--help", folder=folder).stdout
        assert f"comitia {command}" in text
    assert "comitia fit train.csv" in comitia("--help", folder=folder).stdout


def test_version_in_a_python_of_its_own(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *COMITIA, "--version"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"comitia {version('comitia')}\n"


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path, tmp_path: Path) -> None:
    for command in (["predict", "model", "train.csv"], ["leaderboard", "model"]):
        with (tmp_path / "err.txt").open("w") as stderr:
            run = warm.begin(*COMITIA, *command, cwd=folder, is_read=True, stderr=stderr)
        assert run.stdout is not None
        run.stdout.close()
        assert run.wait() == 1
        assert (tmp_path / "err.txt").read_text() == ""


def test_rows_without_a_target_are_left_out(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "train.csv").assign(target=lambda t: np.where(t.index % 3, t.index % 2, np.nan))
    table.to_csv(tmp_path / "holes.csv", index=False)
    fit = ["fit", "holes.csv", "--target", "target", "-o", "m", *QUICK]
    done = comitia(*fit, "--groups", "patient", "--weights", "weight", folder=tmp_path)
    n_missing = int(table["target"].isna().sum())
    assert f"comitia: warning: {n_missing} of {len(table)} rows have no target" in done.stderr
    assert load(tmp_path / "m").classes_.tolist() == [0, 1]  # whole numbers, as they were written
    done = comitia(*fit, "--overwrite", "--metric", "f1", "--pos-label", "1", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    model = load(tmp_path / "m")
    assert model.classes_.dtype.kind == "i"
    assert model.pos_label_ == 1


def test_a_fit_without_time_leaves_the_model_that_was_there(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "model", tmp_path / "m")
    before = (tmp_path / "m" / "model.zip").read_bytes()
    done = comitia("resume", "m", "--time-limit", "0.001", "-q", folder=tmp_path)
    assert done.returncode == 2
    assert "the model that was in 'm' is still there" in done.stderr
    assert (tmp_path / "m" / "model.zip").read_bytes() == before


def test_weights_of_the_fit_count_in_an_evaluation(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "test.csv").assign(weight=lambda t: np.where(t["target"] == "benign", 9.0, 1.0))
    table.to_csv(tmp_path / "weighed.csv", index=False)
    fit = ["fit", folder / "train.csv", "--target", "target", "--weights", "weight", "-o", "m", *QUICK]
    assert comitia(*fit, folder=tmp_path).returncode == 0
    done = comitia("evaluate", "m", "weighed.csv", "-f", "json", folder=tmp_path)
    expected = load(tmp_path / "m").score(table, table["target"], table["weight"])
    assert json.loads(done.stdout)[0]["score"] == pytest.approx(expected, abs=1e-9)
    done = comitia("importance", "m", "weighed.csv", "--repeats", "1", "-f", "csv", folder=tmp_path)
    assert "weight" not in [line.split(",")[0] for line in done.stdout.splitlines()]


def interrupted(*arguments: Any, folder: Path, n_trials: int) -> subprocess.CompletedProcess[str]:
    """Press Ctrl-C when a fit has so many trials; 0 is as soon as it has begun."""
    out, err = folder / "out.txt", folder / "err.txt"
    with out.open("w") as stdout, err.open("w") as stderr:
        run = warm.begin(*COMITIA, *arguments, cwd=folder, stdout=stdout, stderr=stderr)
    record = folder / "m" / "study.db"
    for _ in range(600):
        time.sleep(0.05)
        if run.poll() is not None:
            break
        with contextlib.suppress(ComitiaError):
            if not n_trials and record.is_file():
                break
            if n_trials and Study.open(record).history.n_finished >= n_trials:
                break
    run.send_signal(signal.SIGINT)
    return subprocess.CompletedProcess([], run.wait(), out.read_text(), err.read_text())


def test_after_a_ctrl_c_the_model_is_saved_and_the_way_on_is_named(folder: Path, tmp_path: Path) -> None:
    fit = ["fit", folder / "train.csv", "--target", "target", "-o", "m", "--n-trials", "500", "--include", "linear"]
    done = interrupted(*fit, "-q", folder=tmp_path, n_trials=2)
    assert done.returncode == 130, done.stderr
    assert "To continue: comitia resume m" in done.stderr
    assert load(tmp_path / "m").score is not None
    before = (tmp_path / "m" / "model.zip").read_bytes()
    (tmp_path / "m" / "study.db").unlink()
    done = interrupted(*fit, "-q", "--overwrite", folder=tmp_path, n_trials=0)
    assert done.returncode == 130
    assert "no model is saved. To continue: comitia resume m" in done.stderr
    assert "warning" not in done.stderr
    assert (tmp_path / "m" / "model.zip").read_bytes() == before
    assert comitia("resume", "m", "--n-trials", "2", "-q", folder=tmp_path).returncode == 0
