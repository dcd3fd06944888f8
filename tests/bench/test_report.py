"""Tables in the papers' layouts, figures, and a page, from rows alone."""

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from comitia.bench.plan.plan import Cell
from comitia.bench.report.layouts.errors_with_sd import errors_sd
from comitia.bench.report.layouts.mean_errors import errors
from comitia.bench.report.layouts.measures import measures
from comitia.bench.report.layouts.number_of_classes import classes
from comitia.bench.report.layouts.pairwise_tests import wilcoxon
from comitia.bench.report.layouts.registry import LAYOUTS, make_tables
from comitia.bench.report.layouts.summary import summary
from comitia.bench.report.layouts.typesetting import Table, Text
from comitia.bench.report.layouts.win_counts import wins
from comitia.bench.report.page import remarks_of, write_report
from comitia.bench.report.results import Results
from comitia.bench.report.writers import latex, markdown
from comitia.bench.rows.row import COLUMNS, KEY, Row
from comitia.bench.rows.rows import RowsFile, read_rows
from tests import warm
from tests.bench.printed_tables import (
    LEVESQUE_2017_TABLE_I,
    XAVIER_2020_TABLE_5_CLASSES,
    XAVIER_2020_TABLE_7,
    XAVIER_2020_TABLE_8,
    XAVIER_2020_TABLE_9,
    XAVIER_2020_TABLE_11,
)

PROTOCOL: dict[str, Any] = {
    "name": "e",
    "title": "A <title> & more",
    "paper": "A paper",
    "budget": {"n_trials": 20},
    "tables": list(LAYOUTS),
    "scale": 0.5,
    "average_last": 1,
}
METHODS = ["rs", "grid", "sobol", "gp-r"]
LEARNERS = ["svm", "rf", "knn"]


def some_rows(n_problems: int = 9, n_repetitions: int = 3, n_iterations: int = 20) -> pd.DataFrame:
    """Make rows in which later methods are better."""
    rng = np.random.default_rng(0)
    rows = []
    for validation in ("hold-out", "5-fold"):
        for p in range(n_problems):
            for j, method in enumerate(METHODS):
                for repetition in range(n_repetitions):
                    losses = np.minimum.accumulate(0.1 + 0.02 * p - 0.01 * j + 0.1 * rng.random(n_iterations))
                    for i, loss in enumerate(losses):
                        rows.append(
                            {
                                "problem": f"set{p}",
                                "space": "sklearn-cash",
                                "validation": validation,
                                "method": method,
                                "repetition": repetition,
                                "iteration": i + 1,
                                "n_evaluations": i + 1,
                                "status": "ok",
                                "loss": "zero-one",
                                "trial_loss": loss,
                                "validation_loss": loss,
                                "returned_loss": loss,
                                "test_loss": loss,
                                "test_precision": 1 - loss,
                                "test_recall": 0.9 - loss,
                                "test_log_loss": 2 * loss,
                                "train_seconds": 0.1 * (i + 1),
                                "optimizer_seconds": 0.01 * (i + 1),
                                "learner": LEARNERS[(p + repetition) % 3],
                                "n_members": 1,
                                "n_rows": 100 * (p + 1),
                                "error": None,
                                "dataset": f"set{p}",
                                "versions": "v",
                                "machine": "m",
                                "finished_at": "t",
                            }
                        )
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(some_rows(), PROTOCOL)


def printed() -> Results:
    """Return Table I of Lévesque et al. 2017 as rows of one repetition."""
    frame = some_rows(1, 1, 1).head(1)
    rows = [
        {
            **frame.iloc[0].to_dict(),
            "problem": str(problem),
            "dataset": None,  # as in older files
            "method": method,
            "validation": "5-fold",
            "test_loss": error / 100,
        }
        for method, (printed_errors, _) in LEVESQUE_2017_TABLE_I.items()
        for problem, error in enumerate(printed_errors)
    ]
    return Results(pd.DataFrame(rows), PROTOCOL)


def test_table_1_of_levesque_2017_comes_out_with_its_ranks_and_best_entries() -> None:
    [table] = errors(printed())
    by_name = {row[0].text: row for row in table.rows}
    assert abs(float(by_name["GP-cond-ls"][-1].text) - 2.56) <= 0.07
    assert table.rows[-1][0].text == "GP-cond-ls"
    assert table.rows[0][0].text.startswith("Spearmi")
    assert by_name["GP-cond-ls"][1].bold  # 0.06 on the first set


def test_win_rates_and_ranks_of_the_summary_are_those_of_the_formulas(results: Results) -> None:
    [table] = summary(results)
    last = table.rows[-1]
    assert last[0].text == "gp-r"
    rank, rate = float(last[6].text), float(last[5].text)
    assert rate == pytest.approx(100 * (len(METHODS) + 0.5 - rank) / len(METHODS), abs=0.02)
    assert len(table.header) == 7


def test_wins_are_antisymmetric_and_significance_is_marked(results: Results) -> None:
    table = next(wins(results))
    counts = np.array([[int(entry.text) for entry in row[1:]] for row in table.rows])
    assert (counts == -counts.T).all()
    assert table.rows[-1][1].bold
    assert not table.rows[0][1].bold  # itself


def test_measures_count_wins_and_rank_precision_upwards(results: Results) -> None:
    error, precision, *_ = measures(results)
    assert error.title.startswith("Error rate")
    assert [row[0].text for row in error.rows[-2:]] == ["Number of wins", "Average rank"]
    assert [e.text for e in error.rows[-1][1:]] == [e.text for e in precision.rows[-1][1:]]


def test_means_have_standard_deviations_in_parentheses() -> None:
    """Repetitions with 10, 12 and 14 % have a mean of 12 and a standard deviation of 2."""
    frame = some_rows(2, 3, 1)
    by_hand = frame["repetition"].map({0: 0.10, 1: 0.12, 2: 0.14}) + 0.1 * (frame["method"] != "grid")
    frame = frame.assign(test_loss=by_hand, returned_loss=0.25)
    test, validation, *_ = errors_sd(Results(frame, PROTOCOL))
    assert test.header == ["Dataset", "gp-r", "grid", "RS", "sobol"]
    assert [entry.text for entry in test.rows[0]] == ["set0", "22.00 (2.00)", "12.00 (2.00)", *["22.00 (2.00)"] * 2]
    assert [entry.bold for entry in test.rows[0][1:]] == [False, True, False, False]
    assert validation.rows[0][1].text == "25.00 (0.00)"
    assert any("would be returned" in note for note in validation.notes)
    older = next(t for t in errors_sd(Results(frame.assign(returned_loss=np.nan), PROTOCOL)) if "validation" in t.title)
    assert any("smallest validation loss" in note for note in older.notes)


def test_correlations_with_the_number_of_classes_are_those_of_table_11_of_xavier_2020() -> None:
    """From its printed error, precision and recall; their F-measure is not printed exactly."""
    frame = some_rows(1, 1, 1).head(1)
    rows = [
        {
            **frame.iloc[0].to_dict(),
            "problem": f"d{i + 1}",
            "dataset": f"d{i + 1}",
            "method": method,
            "n_classes": n,
            "test_loss": XAVIER_2020_TABLE_7[method][0][i],
            "test_precision": XAVIER_2020_TABLE_8[method][0][i],
            "test_recall": XAVIER_2020_TABLE_9[method][0][i],
        }
        for method in XAVIER_2020_TABLE_11
        for i, n in enumerate(XAVIER_2020_TABLE_5_CLASSES)
    ]
    [table] = classes(Results(pd.DataFrame(rows), PROTOCOL))
    assert table.header[:5] == ["Pearson", "Error rate", "Average precision", "Average recall", "Average F-measure"]
    by_name = [XAVIER_2020_TABLE_11[method] for method in sorted(XAVIER_2020_TABLE_11)]
    for row, wanted in zip(table.rows, by_name, strict=True):
        np.testing.assert_allclose([float(entry.text) for entry in row[1:5]], wanted, rtol=0, atol=0.006)
    assert [row[1].text for row in table.rows] == ["0.7250", "0.7319", "0.7374", "0.7321"]
    unknown = pd.DataFrame(rows).assign(n_classes=np.nan)
    assert not list(classes(Results(unknown, PROTOCOL)))


def test_only_what_every_method_has_is_compared(results: Results) -> None:
    frame = some_rows()
    lost = frame[~((frame["method"] == "grid") & (frame["problem"] == "set0"))]
    lost = lost[~((lost["method"] == "rs") & (lost["problem"] == "set1") & (lost["repetition"] == 2))]
    part = Results(lost, PROTOCOL)
    paired = part.paired(part.settings[0])
    assert paired.problems == [f"set{i}" for i in range(1, 9)]
    assert paired.n_left_out == 1
    assert paired.n_repetitions == (2, 3)


def test_the_last_iterations_are_averaged_where_the_protocol_says_so() -> None:
    frame = some_rows(2, 1)
    averaged = Results(frame, {**PROTOCOL, "average_last": 15}).final
    cell = frame[(frame["problem"] == "set0") & (frame["method"] == "rs") & (frame["validation"] == "5-fold")]
    row = averaged[(averaged["problem"] == "set0") & (averaged["method"] == "rs")]
    expected = cell["test_loss"].tail(15).mean()
    assert row[row["validation"] == "5-fold"]["test_loss"].item() == pytest.approx(expected)


def test_the_last_iterations_are_iterations_not_tests() -> None:
    frame = some_rows(2, 1)
    frame.loc[frame["iteration"] % 5 != 0, "test_loss"] = np.nan
    frame["test_loss"] = frame["test_loss"].where(frame["iteration"] != 5, 99.0)
    final = Results(frame, {**PROTOCOL, "average_last": 15}).final
    assert final["test_loss"].max() < 1


def test_curves_are_of_the_repetitions_that_the_tables_compare() -> None:
    frame = some_rows(3, 2)
    is_extra = (frame["method"] == "rs") & (frame["repetition"] == 1)
    frame.loc[is_extra, "test_loss"] = 0.9
    frame = frame[~((frame["method"] == "grid") & (frame["repetition"] == 1))]
    results = Results(frame, PROTOCOL)
    paired = results.paired(results.settings[0])
    np.testing.assert_allclose(results.curves(paired, "iteration", np.array([20.0]))[:, :, 0], paired.errors)


def test_a_method_with_few_problems_is_left_out_and_named(results: Results) -> None:
    frame = some_rows()
    few = frame[(frame["method"] != "grid") | (frame["problem"] == "set0")]
    part = Results(few, PROTOCOL)
    paired = part.paired(part.settings[0])
    assert len(paired.problems) == 9
    assert paired.methods_left_out == ["grid"]
    assert any("grid" in remark for remark in remarks_of(part))


def test_losses_of_any_size_are_compared_relative_to_their_dataset() -> None:
    frame = some_rows(8, 1, 1).assign(loss="squared-error")
    large = frame.assign(test_loss=np.where(frame["problem"] == "set0", frame["test_loss"] * 1e6, frame["test_loss"]))
    small_table, large_table = (next(wilcoxon(Results(f, PROTOCOL))) for f in (frame, large))
    assert small_table.rows == large_table.rows


def test_curves_carry_values_forward(results: Results) -> None:
    paired = results.paired(results.settings[0])
    values = results.curves(paired, "seconds", np.array([0.0, 0.115, 1e9]))
    final = paired.means("test_loss")
    np.testing.assert_allclose(values[:, :, 2], final)
    first = results.curves(paired, "iteration", np.array([1.0]))
    np.testing.assert_allclose(values[:, :, 0], first[:, :, 0])
    np.testing.assert_allclose(values[:, :, 1], first[:, :, 0])


def test_a_report_is_a_page_with_its_figures_inside(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    by_cell: dict[Cell, list[Row]] = {}
    for row in some_rows(n_repetitions=2, n_iterations=8).to_dict("records"):
        key = Cell(*(row[name] for name in KEY))
        by_cell.setdefault(key, []).append(Row(**{name: row[name] for name in vars(Row(0))}))
    with RowsFile(rows, PROTOCOL) as file:
        for cell, part in by_cell.items():
            file.append(cell, part)
        file.append(Cell("set0", "sklearn-cash", "5-fold", "rs", 99), [Row.failed("no <luck>")])
    made = write_report(rows, tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    assert "A &lt;title&gt; &amp; more" in page
    assert "SCALED to 0.5" in page
    assert "1 cells of rs failed" in page
    assert "no &lt;luck&gt;" in page
    assert "src=" not in page
    assert "http" not in re.sub(r'(xmlns(:\w+)?|href)="[^"]*"|<metadata>.*?</metadata>', "", page, flags=re.DOTALL)
    figures = sorted(path.stem for path in (tmp_path / "report" / "figures").glob("*.svg"))
    names = ["critical-difference", "by-iteration", "by-seconds", "better-by-iteration", "rank-by-size", "learners"]
    for name in [*names, "solutions"]:
        assert any(figure.startswith(name) for figure in figures)
    for path in (tmp_path / "report" / "figures").glob("*.svg"):
        ET.fromstring(path.read_text())
    text = (tmp_path / "report" / "report.md").read_text()
    for target in re.findall(r"\]\((figures/.*?)\)", text):
        assert (tmp_path / "report" / target).is_file()
    assert (tmp_path / "report" / "tables.tex").read_text().count(r"\begin{tabular}") == len(made)


def test_a_pool_and_mixed_versions_are_pointed_out() -> None:
    frame = some_rows(2, 1, 2)
    frame["problem"] = "pool:" + frame["problem"]
    frame.loc[0, "versions"] = "other"
    remarks = " ".join(remarks_of(Results(frame, PROTOCOL)))
    assert "From a pool" in remarks
    assert "different versions" in remarks


@pytest.mark.parametrize("name", ["pbil-small", "peers-systems@0.34", "uncertainty-chess"])
def test_rows_from_before_there_was_a_dataset_column_still_make_tables(name: str) -> None:
    frame, protocol = read_rows(Path(__file__).parents[2] / "experiments" / "rows" / f"{name}.parquet")
    assert frame["dataset"].isna().all()
    results = Results(frame, protocol)
    assert make_tables(results, protocol["tables"])
    assert set(results.paired(results.settings[0]).problems) == set(frame["problem"])


def test_entries_are_escaped() -> None:
    table = Table("a_b & c", ["x_y", "p < 0.05"], [[Text("100 %"), Text("<<", bold=True, underlined=True)]])
    assert r"a\_b \& c" in latex(table)
    assert r"100 \%" in latex(table)
    assert r"\textbf{\underline{$<$$<$}}" in latex(table)
    assert "**<u>&lt;&lt;</u>**" in markdown(table)


def test_one_method_alone_still_makes_a_report(tmp_path: Path) -> None:
    frame = some_rows(2, 1, 2)
    made = make_tables(Results(frame[frame["method"] == "rs"], PROTOCOL), list(LAYOUTS))
    assert [table.title.split(" on ")[0] for table in made] == ["Quartiles of the test error"] * 4


@pytest.mark.processes
def test_the_command_line_runs_pools_and_reports(tmp_path: Path) -> None:
    def comitia(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COMITIA_PEERS": str(tmp_path)}  # where no other tool is installed
        return warm.run("-m", "comitia.cli", "bench", *arguments, cwd=tmp_path, env=environment, timeout=120)

    done = comitia("pool", "sklearn:iris", "--space", "svm-rbf", "--n-trials", "12", "-o", "iris.parquet", "-q")
    assert done.returncode == 0, done.stderr
    assert "refine look worse" in done.stdout
    (tmp_path / "e.toml").write_text(
        'problems = ["pool:iris.parquet"]\nmethods = ["rs", "sobol", "optuna-tpe"]\n'
        "repetitions = 20\n[budget]\nn_trials = 10\n"
    )
    done = comitia("run", "e.toml", "--scale", "0.5")
    assert done.returncode == 0, done.stderr
    assert "SCALED to 0.5" in done.stderr
    assert "10 of 20 repetitions" in done.stderr
    assert "left out: optuna-tpe" in done.stderr
    assert "20 of 20 cells run" in done.stdout
    done = comitia("report", "rows/e@0.5.parquet")
    assert done.returncode == 0, done.stderr
    assert "| Method |" in done.stdout
    done = comitia("run", "e.toml", "--method", "rss")
    assert done.returncode == 2
    assert "'rs'" in done.stderr
    assert done.stderr.count("\n") == 1
    done = comitia("peers")
    assert "make peer NAME=smac" in done.stdout or "ready" in done.stdout
