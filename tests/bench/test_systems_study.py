"""The comparison of whole systems, from rows that are made up: who wins, what is noise, what failed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems
from scipy import stats

from comitia.bench.plan.plan import OWN_SPACE, Cell
from comitia.bench.report.figures import svg
from comitia.bench.report.writers import markdown
from comitia.bench.rows.packing import packed
from comitia.bench.rows.row import Row
from comitia.bench.rows.rows import RowsFile

N_TEST = 200
PAIR = ("comitia 60 s", "flaml 60 s")
PROTOCOL: dict[str, Any] = {"name": "systems", "loss": None, "budget": {"time_limit": 60.0}}
Told = dict[tuple[str, str, int], float]
"""Of problem, method and repetition: the error of classes, or the RMSE of problems whose names begin with n."""


def row_of(problem: str, method: str, value: float, *, seconds: float = 55.0, speed: float = 0.2) -> Row:
    """Make a row: losses are spread evenly over the test rows, in an order of the method's own."""
    if np.isnan(value):
        return Row.failed("out of luck")
    limit = float(method.partition("seconds=")[2].rstrip("]") or 60) if not method.startswith("default") else np.nan
    order = np.random.default_rng(len(method)).permutation(N_TEST)
    is_number = problem.startswith("n")
    losses = np.full(N_TEST, value**2) if is_number else (order < round(value * N_TEST)).astype(float)
    common: dict[str, Any] = {
        "n_rows": 30_000 if problem.endswith("large") else 400,
        "limit_seconds": limit,
        "train_seconds": seconds,
        "predict_seconds": 0.1,
        "peak_bytes": 2**28,
        "model_bytes": 2**20,
        "yardstick_seconds": speed,
        "test_losses": packed(losses),
    }
    if is_number:
        return Row(1, loss="squared-error", test_loss=value**2, test_rmse=value, **common)
    return Row(
        1,
        loss="zero-one",
        test_loss=value,
        test_error=value,
        test_balanced_accuracy=1 - value,
        test_log_loss=2 * value,
        test_calibration_error=value / 2,
        **common,
    )


def write(path: Path, told: Told, **options: Any) -> Path:
    with RowsFile(path, PROTOCOL) as file:
        for (problem, method, repetition), value in told.items():
            cell = Cell(problem, OWN_SPACE, "5-fold", method, repetition)
            file.append(cell, [row_of(problem, method, value, **options)])
    return path


def test_sets_are_won_by_their_means_and_a_failure_loses(tmp_path: Path) -> None:
    told: Told = {}
    for name, ours, theirs in [
        ("a", (0.1, 0.2), (0.2, 0.2)),
        ("b", (0.3, 0.3), (0.2, 0.2)),
        ("c", (0.2, 0.1), (0.1, 0.2)),
        ("d", (0.3, 0.3), (0.2, np.nan)),
        ("e", (np.nan, np.nan), (np.nan, np.nan)),
        ("n", (1.0, 2.0), (3.0, 3.0)),
    ]:
        told |= {(name, "comitia", r): value for r, value in enumerate(ours)}
        told |= {(name, "flaml", r): value for r, value in enumerate(theirs)}
    cells = systems.read_cells([write(tmp_path / "systems.parquet", told)])
    error, _, rmse = systems.JUDGED
    found = {duel.problem: duel.winner for duel in systems.duels(cells, *PAIR, error)}
    assert found == {"a": 1, "b": -1, "c": 0, "d": 1}
    assert [duel.winner for duel in systems.duels(cells, *PAIR, rmse)] == [1]
    text = markdown(systems.shares_table(cells))
    assert "2-1-1 (62 %)" in text
    assert "**1-0-0 (100 %)**" in text
    assert "1 of 2 are met" in text
    told_gains = next(measure for measure in systems.MEASURES if measure.name == "balanced accuracy")
    gains = {duel.problem: duel.winner for duel in systems.duels(cells, *PAIR, told_gains)}
    assert gains == found
    resources = markdown(systems.resources_table(cells))
    assert "flaml 60 s failed on d, told error, split 1: out of luck" in resources


def test_noise_is_judged_row_by_row() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=50), rng.normal(size=50) + 0.3
    assert systems.p_of_means(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert systems.p_of_means(a, a) == 1
    assert systems.p_of_means(a, a + 1) < 1e-9


def test_only_differences_beyond_noise_are_marked(tmp_path: Path) -> None:
    told: Told = {("a", "comitia", 0): 0.1, ("a", "flaml", 0): 0.3, ("b", "comitia", 0): 0.2, ("b", "flaml", 0): 0.205}
    cells = systems.read_cells([write(tmp_path / "systems.parquet", told)])
    found = {duel.problem: duel.is_beyond_noise for duel in systems.duels(cells, *PAIR, systems.JUDGED[0])}
    assert found == {"a": True, "b": False}
    assert "0.3 + |" in markdown(systems.sets_table(cells, systems.JUDGED[0]))


def test_the_better_booster_and_the_large_sets_are_held_against_us(tmp_path: Path) -> None:
    told: Told = {
        ("a", "comitia", 0): 0.3,
        ("a", "default-catboost", 0): 0.1,
        ("a", "default-lightgbm", 0): 0.4,
        ("b-large", "comitia", 0): 0.3,
        ("b-large", "flaml", 0): 0.1,
        ("b-large", "default-lightgbm", 0): 0.35,
    }
    cells = systems.read_cells([write(tmp_path / "systems.parquet", told)])
    boosters = markdown(systems.boosters_table(cells))
    assert "on 1 of 2 sets and measures, on 1 of them beyond noise; the target is none: missed" in boosters
    assert "| a | 600 | error | default-catboost |" in boosters
    large = markdown(systems.large_table(cells))
    assert "b-large; the target is at most 1: met" in large
    assert "| b-large | 30,200 | error |" in large


def test_rows_that_came_later_replace_others_and_speeds_are_compared(tmp_path: Path) -> None:
    first = write(tmp_path / "systems.parquet", {("a", "comitia", 0): 0.3, ("a", "flaml", 0): 0.2})
    again = write(tmp_path / "again.parquet", {("a", "comitia", 0): 0.1}, speed=0.25, seconds=63.0)
    cells = systems.read_cells([first, again])
    [duel] = systems.duels(cells, *PAIR, systems.JUDGED[0])
    assert duel.winner == 1
    assert "so their seconds were others: flaml 60 s" in markdown(systems.machine_table(cells))
    assert "All agree" in markdown(systems.machine_table(systems.read_cells([first])))
    row = next(line for line in markdown(systems.resources_table(cells)).splitlines() if "comitia 60 s" in line)
    assert row.split("|")[5:7] == [" 105 % (105 to 105) ", " 1 "]  # 63 s is more than 60 + 1.2 + 1


def test_other_seconds_are_other_systems_and_make_a_curve(tmp_path: Path) -> None:
    told: Told = {}
    for seconds in (10, 30, 60, 120):
        for name in ("comitia", "flaml"):
            told["a", f"{name}[seconds={seconds}]", 0] = 0.3 - seconds / 1000
    cells = systems.read_cells([write(tmp_path / "systems.parquet", told)])
    assert systems.systems_of(cells)[:4] == [f"comitia {seconds} s" for seconds in (10, 30, 60, 120)]
    figure = systems.curve(cells)
    assert figure is not None
    assert "error of the test rows" in svg(figure)
    text = markdown(systems.curve_table(cells))
    assert "| a, error | comitia | 0.29 | 0.27 | 0.24 | 0.18 |" in text
    assert "| a, error | autogluon | - | - | - | - |" in text
    assert systems.curve(cells[cells["limit_seconds"] < 60]) is None


def test_what_was_not_run_is_said_to_be_so(tmp_path: Path) -> None:
    for name in systems.TABLES:
        assert systems.table_of(name, tmp_path).notes == ["Not run yet."]
    write(tmp_path / "systems.parquet", {("a", "flaml", 0): np.nan})
    cells = systems.read_cells([tmp_path / "systems.parquet"])
    for make in systems.TABLES.values():
        assert make(cells).header
