"""Findings of the papers are confirmed, contradicted, left open or not run, by small rows whose answer is known."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from comitia.arrays import Json
from comitia.bench.plan.plan import Cell
from comitia.bench.report.findings import Finding, read_findings
from comitia.bench.report.results import Results
from comitia.bench.report.statistics import Interval
from comitia.bench.report.verdicts import Evidence, NotRun, judge, judge_all, verdict_table
from comitia.bench.rows.row import Row
from comitia.bench.rows.rows import RowsFile, read_rows
from comitia.cli.app import app
from comitia.errors import ExperimentError, UnknownName
from comitia.methods import is_method

PROTOCOL: Json = {"name": "e", "title": "t", "budget": {"n_trials": 2}, "average_last": 1}
FINDINGS = Path(__file__).parents[2] / "experiments" / "findings.toml"
# error rates of two methods on eight datasets: gp-r is better on seven, by at least a tenth, and worse on one
GP = [0.40, 0.30, 0.20, 0.50, 0.40, 0.30, 0.20, 0.10]
GP_R = [0.36, 0.24, 0.10, 0.25, 0.30, 0.15, 0.10, 0.11]


def write_rows(
    path: Path,
    losses: dict[str, list[float]],
    *,
    repetitions: int = 2,
    loss: str = "zero-one",
    measure: str = "test_loss",
    spaces: tuple[str, ...] = ("svm",),
    validation: str = "hold-out",
    protocol: Json = PROTOCOL,
) -> Path:
    """Write cells of two trials, of which the first failed; repetitions are as far above as below the mean."""
    with RowsFile(path, protocol) as file:
        for method, values in losses.items():
            for i, value in enumerate(values):
                for r in range(repetitions):
                    moved = value * (1 + 0.1 * (r - (repetitions - 1) / 2))
                    tested = replace(Row(iteration=2, loss=loss, test_loss=0.5), **{measure: moved})  # type: ignore[arg-type]
                    rows = [Row(iteration=1, status="failed", loss=loss), tested]
                    for space in spaces:
                        file.append(Cell(f"set{i}", space, validation, method, r), rows)
    return path


def finding(path: Path, **changes: object) -> Finding:
    made = {"id": "f", "sentence": "It helps", "paper": "P", "rows": path, "better": "gp-r", "worse": "gp", **changes}
    return Finding(**made)  # type: ignore[arg-type]


def judged(finding: Finding) -> Evidence:
    [(_, evidence)] = judge_all([finding])
    assert isinstance(evidence, Evidence), evidence
    return evidence


def test_a_finding_is_confirmed_with_numbers_known_by_hand(tmp_path: Path) -> None:
    found = judged(finding(write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R})))
    assert (found.wins, found.losses, found.ties) == (7, 1, 0)
    # relative differences are -.1, -.2, -.5, -.5, -.25, -.5, -.5, +.0909: their median lies between -.5 and -.25
    assert found.difference.median == pytest.approx(-0.375)
    # Wilcoxon on eight differences, of which the smallest has the other sign: 2 (1 + 1) / 2^8
    assert found.p == pytest.approx(4 / 256)
    assert found.statistic == "W = -34"  # 1 + 2 + ... + 8 is 36, and rank 1 has the other sign
    assert found.sign_p == pytest.approx(2 * (1 + 8) / 256)
    assert found.verdict == "confirmed"
    assert found.size == "8 x 2"
    assert found.failures == "16/32 trials, 0/16 cells; 16/32 trials, 0/16 cells"
    relative = [-0.1, -0.2, -0.5, -0.5, -0.25, -0.5, -0.5, 1 / 11]
    by_hand = (2.3646 + 0.8960) * np.std(relative, ddof=1) / np.sqrt(8)  # Student's with 7 degrees of freedom
    assert found.smallest == pytest.approx(by_hand, rel=1e-3)


def test_the_other_direction_is_a_contradiction_and_few_differences_are_undecided(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R, "rs": [0.41, 0.29, 0.2, 0.5, 0.4, 0.3, 0.2, 0.1]}
    )
    assert judged(finding(path, better="gp", worse="gp-r")).verdict == "contradicted"
    equal = judged(finding(path, better="rs", worse="gp"))
    assert (equal.wins, equal.losses, equal.ties) == (1, 1, 6)
    assert (equal.verdict, equal.p) == ("undecided", 1.0)
    assert equal.difference.median == 0


def test_methods_are_on_a_par_within_a_margin(tmp_path: Path) -> None:
    near = [value * (1.01 if i % 2 else 0.99) for i, value in enumerate(GP)]
    path = write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R, "near": near})
    par = {"kind": "equivalence", "worse": "gp"}
    assert judged(finding(path, better="near", margin=0.02, **par)).verdict == "confirmed"
    assert judged(finding(path, better="near", margin=0.005, **par)).verdict == "undecided"
    assert judged(finding(path, better="gp-r", margin=0.01, **par)).verdict == "contradicted"


def test_losses_of_any_size_are_compared_relative_to_the_larger(tmp_path: Path) -> None:
    scale = [1e6, 1.0, 1e-6, 1.0, 1.0, 1.0, 1.0, 1e9]
    moved = {"gp": np.multiply(GP, scale).tolist(), "gp-r": np.multiply(GP_R, scale).tolist()}
    found = judged(finding(write_rows(tmp_path / "rows.parquet", moved, loss="squared-error")))
    assert found.p == pytest.approx(4 / 256)  # the one loss, of 9 % on the largest, is the smallest again
    assert found.verdict == "confirmed"


def test_more_precision_is_better(tmp_path: Path) -> None:
    precisions = {name: (1 - np.array(values)).tolist() for name, values in (("gp", GP), ("gp-r", GP_R))}
    path = write_rows(tmp_path / "rows.parquet", precisions, repetitions=1, measure="test_precision")
    found = judged(finding(path, measure="test_precision"))
    assert (found.wins, found.losses, found.verdict) == (7, 1, "confirmed")


def test_five_datasets_cannot_show_anything(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.parquet", {"gp": GP[:5], "gp-r": GP_R[:5]})
    found = judged(finding(path))
    assert (found.p, found.smallest, found.verdict) == (2 / 32, np.inf, "undecided")
    [row] = verdict_table([(finding(path), found)]).rows
    assert row[-2].text == "none"


def test_one_problem_is_tested_over_repetitions_as_in_glasmachers_2008(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.parquet", {"cma-1x": [0.40], "uh-cma": [0.20]}, repetitions=5)
    found = judged(finding(path, better="uh-cma", worse="cma-1x", over="repetitions"))
    assert found.p == pytest.approx(1 / 252)  # all ten in order, of 10 over 5 orders
    assert (found.wins, found.losses, found.ties, found.size) == (5, 0, 0, "1 x 5")
    assert (found.statistic, found.verdict) == ("U = 25 of 25", "confirmed")
    assert judged(finding(path, better="cma-1x", worse="uh-cma", over="repetitions")).verdict == "contradicted"
    several = write_rows(tmp_path / "several.parquet", {"gp": GP, "gp-r": GP_R})
    with pytest.raises(ExperimentError, match="of one problem"):
        judge_all([finding(several, over="repetitions")])
    [(_, few)] = judge_all([finding(several, over="repetitions", problem="set1")])
    assert few == NotRun("2 repetitions in common, at least 5 are needed")


def test_what_has_no_rows_or_too_few_datasets_is_not_run(tmp_path: Path) -> None:
    few = write_rows(tmp_path / "few.parquet", {"gp": GP[:4], "gp-r": GP_R})
    found = judge_all([finding(tmp_path / "none.parquet"), finding(few), finding(few, better="cma-r")])
    assert [evidence for _, evidence in found] == [
        NotRun("there is no none.parquet"),
        NotRun("4 datasets in common, at least 5 are needed"),
        NotRun("0 datasets in common, at least 5 are needed"),
    ]
    assert [row[-1].text for row in verdict_table(found).rows] == [
        "not run: there is no none.parquet",
        "not run: 4 datasets in common, at least 5 are needed",
        "not run: 0 datasets in common, at least 5 are needed",
    ]


def test_a_run_that_is_not_finished_has_a_verdict_so_far(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R}, protocol={**PROTOCOL, "n_cells": 1800})
    found = judged(finding(path))
    assert (found.verdict, found.verdict_text) == ("confirmed", "confirmed, so far (32 of 1,800 cells)")
    [row] = verdict_table([(finding(path), found)]).rows
    assert row[-1].text == found.verdict_text


def test_failed_cells_are_left_out_and_counted(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R})
    with RowsFile(path, PROTOCOL) as file:
        file.append(Cell("set0", "svm", "hold-out", "gp", 0), [Row.failed("no")])
        file.append(Cell("set8", "svm", "hold-out", "gp", 0), [Row(iteration=1)])  # nothing to test
    found = judged(finding(path))
    assert found.size == "8 x 1 to 2"
    assert found.failures.endswith("; 15/31 trials, 2/17 cells")


def test_several_spaces_must_be_told_apart_and_validations_may_differ(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R}, spaces=("svm", "forest"))
    with pytest.raises(ExperimentError, match="about one space"):
        judge_all([finding(path)])
    assert judged(finding(path, space="forest")).wins == 7
    write_rows(path, {"gp": GP_R}, validation="5-fold")
    other = finding(path, space="svm", validation="hold-out", worse_validation="5-fold")
    assert judged(other).difference == Interval(0.0, 0.0, 0.0)


def test_the_command_prints_and_writes_the_table(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.parquet", {"gp": GP, "gp-r": GP_R})
    text = asdict(finding(Path("rows.parquet"))) | {"rows": "rows.parquet"}
    lines = [f'{key} = "{value}"' for key, value in text.items() if value is not None]
    (tmp_path / "findings.toml").write_text("[[finding]]\n" + "\n".join(lines))
    done = CliRunner().invoke(app, ["bench", "verdicts", str(tmp_path / "findings.toml"), "-o", str(tmp_path / "v.md")])
    assert done.exit_code == 0, done.output
    [line] = [line for line in done.output.splitlines() if line.startswith("| f: It helps (P)")]
    assert "| 7-1-0 | -37.5 % [" in line
    assert line.endswith("| **confirmed** |")
    assert line in (tmp_path / "v.md").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beter": "gp"}, "better"),
        ({"measure": "test_los"}, "test_loss"),
        ({"kind": "equality"}, "equivalence"),
        ({"kind": "equivalence"}, "margin"),
        ({"margin": 0.1}, "margin"),
        ({"margin": "a tenth"}, "margin"),
        ({"over": "problems"}, "repetitions"),
        ({"better": None}, "must have 'better'"),
        ({"worse": 3}, "worse"),
    ],
)
def test_a_wrong_finding_is_a_clear_error(tmp_path: Path, change: dict[str, object], message: str) -> None:
    good = {"id": "f", "sentence": "s", "paper": "p", "rows": "r.parquet", "better": "gp-r", "worse": "gp"}
    lines = [f"{key} = {value!r}" for key, value in {**good, **change}.items() if value is not None]
    (tmp_path / "f.toml").write_text("[[finding]]\n" + "\n".join(lines))
    with pytest.raises((ExperimentError, UnknownName), match=message):
        read_findings(tmp_path / "f.toml")


def test_a_file_of_findings_must_be_one(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    with pytest.raises(ExperimentError, match="There is no"):
        read_findings(path)
    for text, message in (("problems = []", "alone"), ("[[finding", "TOML"), ("finding = [3]", "section")):
        path.write_text(text)
        with pytest.raises(ExperimentError, match=message):
            read_findings(path)
    one = '[[finding]]\nid = "f"\nsentence = "s"\npaper = "p"\nrows = "r"\nbetter = "a"\nworse = "b"\n'
    path.write_text(one + one)
    with pytest.raises(ExperimentError, match="different ids"):
        read_findings(path)


def test_the_findings_of_the_papers_name_methods_that_exist() -> None:
    findings = read_findings(FINDINGS)
    others = {"default-forest", "optuna-tpe", "smac"}
    assert all(is_method(name) for f in findings for name in (f.better, f.worse) if name not in others)
    assert {f.rows.parent.name for f in findings} == {"rows"}
    results = Results(*read_rows(FINDINGS.parent / "rows" / "uncertainty-chess.parquet"))
    [chess] = [f for f in findings if f.id == "U1-chess-1x"]
    assert isinstance(judge(chess, results), Evidence)
