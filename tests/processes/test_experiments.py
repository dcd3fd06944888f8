"""Cells run through the ordinary loop, alike for every method, and fill gaps."""

import math
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import pandas as pd
import pytest

from comitia import METHODS, Config, Space, TableEvaluator, get_space
from comitia.bench.cells.arenas import learner_of
from comitia.bench.cells.run import run_cell, run_experiment
from comitia.bench.cells.study_cells import make_arena
from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Cell, Job
from comitia.bench.rows.packing import unpacked
from comitia.bench.rows.row import Row
from comitia.bench.rows.rows import read_rows
from comitia.errors import ExperimentError
from comitia.learners.ensembles import BASES, ENSEMBLES
from tests import warm
from tests.bench.tables_folder import make_folder

BASE: dict[str, Any] = {
    "problems": ["plain"],
    "spaces": ["svm-rbf"],
    "methods": ["rs", "grid"],
    "repetitions": 2,
    "budget": {"n_trials": 5},
    "validation": [{"name": "hold-out", "cv": 0.3}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("tables"))


def one(folder: Path, method: str = "rs", problem: str = "plain", **changes: Any) -> list[Row]:
    experiment = make_experiment({**BASE, "problems": [problem], "methods": [method], **changes}, "e")
    return run_cell(Job(experiment, experiment.cells()[0], folder))


def test_a_cell_has_one_row_for_each_iteration(folder: Path) -> None:
    rows = one(folder)
    assert [row.iteration for row in rows] == [1, 2, 3, 4, 5]
    best = [row.validation_loss for row in rows]
    assert best == sorted(best, reverse=True)
    assert best[-1] == min(row.trial_loss for row in rows)
    assert all(0 <= row.test_loss <= 1 for row in rows)
    assert all(np.diff([row.train_seconds for row in rows]) > 0)
    assert rows[-1].loss == "zero-one"
    assert rows[-1].n_rows == 80
    assert rows[-1].n_classes == 2


def test_a_cell_gives_the_same_again_but_for_seconds(folder: Path) -> None:
    def timeless(rows: list[Row]) -> list[Row]:
        return [replace(row, train_seconds=0.0, optimizer_seconds=0.0) for row in rows]

    assert repr(timeless(one(folder))) == repr(timeless(one(folder)))  # NaN equals NaN here


def test_all_methods_of_a_repetition_are_judged_on_the_same_rows(folder: Path) -> None:
    """Two methods that propose the same points get the same losses."""
    rs, rs_best = one(folder, "rs"), one(folder, "rs-best")
    assert [row.trial_loss for row in rs] == [row.trial_loss for row in rs_best]
    assert [row.test_loss for row in rs] == [row.test_loss for row in rs_best]


def test_messy_tables_regression_and_folds_work(folder: Path) -> None:
    assert one(folder, problem="messy", spaces=["sklearn-cash"])[-1].learner
    rows = one(folder, problem="numbers", spaces=["svr"], validation=[{"cv": 3}])
    assert rows[-1].loss == "squared-error"
    assert rows[-1].n_evaluations == 15
    rows = one(folder, problem="plain", loss="log-loss", spaces=["forest"])
    assert rows[-1].test_loss > 0


@pytest.mark.parametrize(
    ("method", "without"), [("gp-sel", "gp"), ("gp-sel-r", "gp-r"), ("cma-bw", "cma"), ("cma-pv-r", "cma-r")]
)
def test_a_selection_split_is_set_aside_for_methods_that_need_one(folder: Path, method: str, without: str) -> None:
    rows = one(folder, method)
    assert [row.status for row in rows] == ["ok"] * 5
    assert all(0 <= row.test_loss <= 1 for row in rows)
    assert all(row.error is None for row in rows)
    # the rows that are left for the search are others, hence the losses
    assert [row.trial_loss for row in rows] != [row.trial_loss for row in one(folder, without)]


def test_a_class_of_which_nearly_all_rows_are_set_aside_is_no_obstacle(tmp_path: Path) -> None:
    """With proportions kept, a hold-out of the rest needs two rows of each class."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.array(["a"] * 40 + ["b"] * 15 + ["c"] * 3 + ["d"] * 2)
    pd.DataFrame(X, columns=["u", "v"]).assign(target=labels).to_parquet(tmp_path / "rare.parquet")
    (tmp_path / "index.csv").write_text("name,task\nrare,multiclass\n")
    budget = {"n_trials": 2}
    for fraction in (0.2, 0.4):
        made = {**BASE, "problems": ["rare"], "methods": ["gp-sel-r"], "repetitions": 4, "budget": budget}
        experiment = make_experiment({**made, "selection_split": fraction}, "e")
        for cell in experiment.cells():
            rows = run_cell(Job(experiment, cell, tmp_path))
            assert [row.status for row in rows] == ["ok"] * 2, rows


def test_without_refit_the_model_of_the_training_part_is_tested(folder: Path) -> None:
    kept, refitted = one(folder, refit=False, spaces=["forest"]), one(folder, spaces=["forest"])
    assert [row.trial_loss for row in kept] == [row.trial_loss for row in refitted]
    assert [row.test_loss for row in kept] != [row.test_loss for row in refitted]


def test_tests_can_be_rare_and_the_last_is_always_there(folder: Path) -> None:
    rows = one(folder, test_every=2)
    assert [math.isfinite(row.test_loss) for row in rows] == [False, True, False, True, True]


@pytest.mark.parametrize("method", ["eo-sqm", "eo-post", "rs-post", "committee", "auto", "esmbo", "ers"])
def test_committees_run_in_cells_and_have_a_log_loss_beside_the_error(folder: Path, method: str) -> None:
    few = {"n_trials": 3}
    last = one(folder, method, spaces=["forest"], validation=[{"cv": 3}], test_every=9, budget=few)[-1]
    assert last.error is None
    assert 0 <= last.test_loss <= 1
    assert 0 < last.test_log_loss < 40
    assert last.n_members
    assert 0 <= last.returned_loss <= 1


def test_committees_of_numbers_and_of_models_that_are_not_refitted_run_in_cells(folder: Path) -> None:
    last = one(folder, "esmbo", problem="numbers", spaces=["svr"], refit=False, test_every=9)[-1]
    assert math.isfinite(last.test_loss)
    assert math.isfinite(last.returned_loss)
    assert math.isnan(last.test_log_loss)


def test_numbers_and_black_boxes_have_no_classes(folder: Path) -> None:
    assert one(folder, problem="numbers", spaces=["svr"], test_every=9)[-1].n_classes == 0
    assert one(folder, problem="function:conditional", spaces=["own"])[-1].n_classes == 0
    assert one(folder, "default-forest")[-1].n_classes == 2


def test_one_model_is_returned_with_its_own_validation_loss(folder: Path) -> None:
    last = one(folder)[-1]
    assert last.returned_loss == last.validation_loss


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("rs", {}),
        ("esmbo", {"problem": "numbers", "spaces": ["svr"], "refit": False}),
        ("rs", {"loss": "log-loss", "spaces": ["forest"]}),
    ],
)
def test_losses_of_test_rows_are_kept_at_the_end_and_at_every_tenth_iteration(
    folder: Path, method: str, change: dict[str, Any]
) -> None:
    rows = one(folder, method, keep_test_losses=True, average_last=2, budget={"n_trials": 13}, **change)
    assert [row.iteration for row in rows if row.test_losses] == [10, 12, 13]
    for row in rows:
        if row.test_losses:
            losses = unpacked(row.test_losses)
            assert len(losses) == 40
            assert losses.mean() == pytest.approx(row.test_loss, rel=1e-6)


def test_margins_stand_in_where_a_learner_has_no_probabilities(folder: Path) -> None:
    assert 0 < one(folder, "rs", spaces=["svm-rbf"])[-1].test_log_loss < 5


def test_rows_can_be_rare_and_the_last_is_always_there(folder: Path) -> None:
    rows = one(folder, rows_every=2, test_every=1000)
    assert [row.iteration for row in rows] == [2, 4, 5]
    assert [math.isfinite(row.test_loss) for row in rows] == [False, False, True]


def test_a_method_may_be_judged_in_another_way(folder: Path) -> None:
    assert one(folder, method_cv={"rs": 4})[-1].n_evaluations == 20


def test_validation_rows_may_be_drawn_without_regard_to_classes(folder: Path) -> None:
    made = {**BASE, "methods": ["rs"], "validation": [{"cv": 0.2, "stratified": False}]}
    experiment = make_experiment(made, "e")
    arena = make_arena(Job(experiment, experiment.cells()[0], folder), METHODS["rs"])
    assert isinstance(arena.evaluator, TableEvaluator)
    assert "Stratified" not in repr(arena.evaluator.resampling)
    with pytest.raises(ExperimentError, match="true or false"):
        make_experiment({**made, "validation": [{"cv": 0.2, "stratified": "no"}]}, "e")


def test_systems_see_no_more_rows_than_the_limit(folder: Path) -> None:
    [row] = one(folder, "default-forest", split={"test": 0.3, "most_train_rows": 30})
    assert row.n_rows == 30


def test_a_number_missing_only_among_the_test_rows_is_filled_in(folder: Path, tmp_path: Path) -> None:
    table = pd.read_parquet(folder / "plain.parquet")
    table.loc[0, "a"] = np.nan
    table.to_parquet(tmp_path / "plain.parquet")
    (tmp_path / "index.csv").write_text("name,task\nplain,binary\n")
    experiment = make_experiment({**BASE, "methods": ["rs"], "repetitions": 6, "budget": {"n_trials": 2}}, "e")
    for cell in experiment.cells():
        assert math.isfinite(run_cell(Job(experiment, cell, tmp_path))[-1].test_loss)


def test_a_selection_that_fails_costs_a_test_not_the_cell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from comitia.selections.single import Argmin

    def members(self: Any, history: Any, optimizer: Any, seeds: Any) -> Any:
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(Argmin, "members", members)
    rows = one(folder)
    assert len(rows) == 5
    assert "selection: LinAlgError" in str(rows[-1].error)


def test_a_cell_that_fails_is_one_row_with_its_error(folder: Path) -> None:
    [row] = one(folder, problem="tiny", split={"folds": 5})
    assert row.iteration == 0
    assert "enough rows" in str(row.error)
    [row] = one(folder, problem="numbers")
    assert "regression" in str(row.error)  # `run_experiment` leaves such cells out
    [row] = one(folder, "default-forest", problem="function:conditional")
    assert "table" in str(row.error)


@pytest.mark.filterwarnings("ignore::comitia.errors.ComitiaWarning")  # of a busy machine
def test_systems_give_one_row(folder: Path) -> None:
    [row] = one(folder, "default-forest")
    assert 0 <= row.test_loss < 0.4
    [row] = one(folder, "default-forest", problem="numbers", spaces=["svr"])
    assert row.loss == "squared-error"
    [row] = one(folder, "comitia", budget={"time_limit": 4.0})
    assert math.isfinite(row.test_loss)  # how good it is depends on how busy the machine is
    assert row.train_seconds < 8


def test_a_time_limit_is_kept_and_tested_at_the_end(folder: Path) -> None:
    started = time.monotonic()
    rows = one(folder, "rs", budget={"time_limit": 3.0})
    assert time.monotonic() - started < 12
    assert [math.isfinite(row.test_loss) for row in rows[-2:]] == [False, True]


def test_black_boxes_are_tested_by_their_value_without_noise(folder: Path) -> None:
    rows = one(folder, problem="function:conditional", budget={"n_trials": 30})
    assert [row.test_loss for row in rows] == pytest.approx([row.validation_loss for row in rows])
    assert str(rows[-1].learner).startswith("b")
    noisy = one(folder, problem="hpo:hpobench/car")
    assert {row.loss for row in noisy} == {"value"}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"kind": "bag", "size": 3, "base": "tree"}, "bag"),
        ({"kind": "none", "depth": 2, "single": "line"}, "line"),
        ({"kind": "none", "depth": 2, "single": "none", "leaf": "all"}, "none"),
        ({"kind": "off"}, "off"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_names_the_ensemble_or_else_the_single_learner(config: dict[str, Any], expected: str) -> None:
    definition = CS.ConfigurationSpace(
        {
            "kind": ["bag", "none", "off"],
            "size": (1, 9),
            "base": ["tree", "line"],
            "depth": (1, 5),
            "single": ["tree", "line", "none"],
            "leaf": ["all", "one"],
        }
    )
    opens = {"size": ("kind", "bag"), "base": ("kind", "bag"), "depth": ("kind", "none"), "single": ("kind", "none")}
    for child, (parent, value) in {**opens, "leaf": ("single", "none")}.items():
        definition.add(CS.EqualsCondition(definition[child], definition[parent], value))
    assert learner_of(Space(definition), Config(config)) == expected


def test_a_row_of_the_space_of_ensembles_names_single_classifiers_as_in_figure_4() -> None:
    space = get_space("ensembles").space
    names = {learner_of(space, config) for config in space.decode(space.sample(300, np.random.default_rng(0)))}
    assert names == {*ENSEMBLES, *BASES} - {"none"}


def test_an_experiment_fills_its_gaps(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMITIA_PEERS", str(tmp_path))  # no other tool is installed there
    output = tmp_path / "rows.parquet"
    experiment = make_experiment(BASE, "e")
    done = run_experiment(experiment, output, data=folder)
    assert (done.n_cells, done.n_run, done.n_failed) == (4, 4, 0)
    more = make_experiment({**BASE, "methods": ["rs", "grid", "sobol", "optuna-tpe"], "repetitions": 3}, "e")
    seen: list[Cell] = []
    done = run_experiment(more, output, data=folder, jobs=2, on_cell=lambda cell, _: seen.append(cell))
    assert (done.n_cells, done.n_done_before, done.n_run, done.missing) == (9, 4, 5, ["optuna-tpe"])
    frame, _ = read_rows(output)
    assert len(frame) == 9 * 5
    assert not frame.duplicated(["problem", "method", "repetition", "iteration"]).any()


def test_failed_cells_are_run_again_only_when_asked(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "rows.parquet"
    experiment = make_experiment({**BASE, "problems": ["tiny"], "split": {"folds": 5}, "repetitions": 1}, "e")
    assert run_experiment(experiment, output, data=folder).n_failed == 2
    assert run_experiment(experiment, output, data=folder).n_run == 0
    assert run_experiment(experiment, output, data=folder, retry=True).n_run == 2
    assert len(read_rows(output)[0]) == 2


def test_unknown_names_are_refused_before_anything_runs(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "rows.parquet"
    with pytest.raises(ValueError, match="plain"):
        run_experiment(make_experiment({**BASE, "problems": ["plian"]}, "e"), output, data=folder)
    with pytest.raises(ValueError, match="grid"):
        run_experiment(make_experiment({**BASE, "methods": ["gird"]}, "e"), output, data=folder)
    assert not output.exists()


# ---- kills ----------------------------------------------------------------------------------------------------------

TOML = """
problems = ["plain", "messy", "numbers"]
spaces = ["svm-rbf"]
methods = ["rs", "sobol"]
repetitions = 12
[budget]
n_trials = 4
[[validation]]
name = "hold-out"
cv = 0.3
"""


def begin(folder: Path, place: Path, jobs: int, content: str = TOML) -> warm.Program:
    (place / "e.toml").write_text(content)
    command = ["-m", "comitia.cli", "bench", "run", "e.toml", "--jobs", jobs, "-q"]
    env = {**os.environ, "COMITIA_DATA": str(folder)}
    with open(place / "errors.txt", "w") as errors:
        return warm.begin(*command, cwd=place, env=env, stderr=errors)


def finished_cells(output: Path) -> set[Any]:
    if not output.exists():
        return set()
    frame, _ = read_rows(output)
    return set(zip(frame["problem"], frame["method"], frame["repetition"], strict=True))


def check_kills(folder: Path, place: Path, n_kills: int, jobs: int) -> None:
    """Kill the same experiment again and again; what was finished stays, and at the end all is there once."""
    rng = np.random.default_rng(n_kills)
    output = place / "rows" / "e.parquet"
    finished: set[Any] = set()
    for _ in range(n_kills):
        program = begin(folder, place, jobs)
        n_wanted = len(finished) + rng.integers(0, 4)  # 0: among the imports of workers
        while program.poll() is None and len(finished_cells(output)) < n_wanted:
            time.sleep(0.05)
        time.sleep(float(rng.uniform(0, 0.5)))
        program.kill()
        program.wait()
        before, finished = finished, finished_cells(output)
        assert before <= finished
    assert begin(folder, place, jobs).wait(300) == 0, (place / "errors.txt").read_text()
    frame, _ = read_rows(output)
    assert not frame.duplicated(["problem", "method", "repetition", "iteration"]).any()
    counts = frame.groupby(["problem", "method", "repetition"]).size()
    assert len(counts) == 2 * 2 * 12  # numbers is no problem for an SVM of classes
    assert (counts == 4).all()


def test_a_kill_loses_no_finished_cell_and_doubles_none(folder: Path, tmp_path: Path) -> None:
    check_kills(folder, tmp_path, 2, 2)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills_lose_no_finished_cell_and_double_none(folder: Path, tmp_path: Path, jobs: int) -> None:
    check_kills(folder, tmp_path, 20, jobs)


def test_an_interrupt_keeps_what_is_finished(folder: Path, tmp_path: Path) -> None:
    program = begin(folder, tmp_path, 1, TOML.replace("repetitions = 12", "repetitions = 2000"))
    output = tmp_path / "rows" / "e.parquet"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (output.exists() and len(read_rows(output)[0])):
        time.sleep(0.2)
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 130
    errors = (tmp_path / "errors.txt").read_text()
    assert "Run the same command again" in errors
    assert "Traceback" not in errors
    assert len(read_rows(output)[0])


def test_a_report_before_anything_finished_says_so(tmp_path: Path) -> None:
    from comitia.bench.report.page import write_report
    from comitia.bench.rows.rows import RowsFile

    with RowsFile(tmp_path / "rows.parquet", make_experiment(BASE, "e").protocol()):
        pass
    with pytest.raises(ExperimentError, match="Run the experiment first"):
        write_report(tmp_path / "rows.parquet", tmp_path / "report")
