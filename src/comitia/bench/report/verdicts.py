"""Say of each finding of the papers whether rows confirm it, contradict it, or leave it open.

Losses are compared dataset by dataset, each the mean over the repetitions that both methods have. A finding is
*confirmed* if the difference is significant (p < .05) in its direction, *contradicted* if it is in the other,
*undecided* otherwise. That two methods are on a par is confirmed if the 95 % interval of the median relative difference
lies within the margin, contradicted if it lies outside of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.findings import Finding
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text
from comitia.bench.report.results import GAINS, Results
from comitia.bench.rows.rows import read_rows
from comitia.errors import ExperimentError

LEAST = 5
"""Datasets, or repetitions, with fewer of which nothing is said."""
CONFIRMED, CONTRADICTED, UNDECIDED = "confirmed", "contradicted", "undecided"
HEADER = ["finding", "compared", "better-worse-equal", "median relative difference", "statistic", "p", "sign test"]
HEADER += ["datasets x repetitions", "failures", "smallest effect", "verdict"]


@dataclass(frozen=True)
class Evidence:
    """What rows say of a finding."""

    wins: int
    losses: int
    ties: int
    """Datasets, or repetitions, on which the method that should be better is; is not; is equal."""
    difference: st.Interval
    """Median relative difference, negative where the method that should be better is."""
    statistic: str
    """That of the test: W, the sum of signed ranks, or U, the pairs of repetitions that are won."""
    p: float
    """Wilcoxon, two-sided; over repetitions Mann-Whitney, one-sided in the direction that is found."""
    sign_p: float
    size: str
    failures: str
    smallest: float
    """Relative difference that could have been seen, see `statistics.smallest_effect`; infinite if none could."""
    verdict: str
    progress: tuple[int, int] = (0, 0)
    """Cells of the whole run that there are, and that were planned."""

    @property
    def verdict_text(self) -> str:
        """The verdict; of a run that is not finished, so far."""
        n_cells, n_planned = self.progress
        return self.verdict + (f", so far ({n_cells:,} of {n_planned:,} cells)" if n_cells < n_planned else "")


@dataclass(frozen=True)
class NotRun:
    """Why rows say nothing of a finding."""

    reason: str


def judge_all(findings: Iterable[Finding]) -> list[tuple[Finding, Evidence | NotRun]]:
    """Judge findings; each file of rows is read once."""
    known: dict[Path, Results | NotRun] = {}
    judged = []
    for finding in findings:
        if finding.rows not in known:
            known[finding.rows] = _results(finding.rows)
        results = known[finding.rows]
        judged.append((finding, results if isinstance(results, NotRun) else judge(finding, results)))
    return judged


def _results(path: Path) -> Results | NotRun:
    if not path.is_file():
        return NotRun(f"there is no {path.name}")
    try:
        return Results(*read_rows(path))
    except ExperimentError as error:  # nothing has finished yet
        return NotRun(str(error))


def judge(finding: Finding, results: Results) -> Evidence | NotRun:
    """Compare the two methods of a finding.

    Raises
    ------
    ExperimentError
        If the rows have several spaces or validations and the finding does not say which.
    """
    sides = [
        _side(results, finding, finding.better, finding.validation),
        _side(results, finding, finding.worse, finding.worse_validation or finding.validation),
    ]
    pairs = _pairs(sides, finding.measure)
    n_datasets = pairs["dataset"].nunique()
    if finding.over == "repetitions" and n_datasets > 1:
        raise ExperimentError(
            f"A finding over repetitions must be of one problem. {finding.id} has {n_datasets}. Add 'problem'."
        )
    units = pairs if finding.over == "repetitions" else pairs.groupby("dataset", sort=False).mean()
    if len(units) < LEAST:
        return NotRun(f"{len(units)} {finding.over} in common, at least {LEAST} are needed")
    a, b = (units[name].to_numpy(float).round(12) for name in ("better", "worse"))
    difference = st.bootstrap_median_difference(a, b, rng=np.random.default_rng(0))
    is_rate = finding.measure != "test_log_loss" and all((side.rows["loss"] == "zero-one").all() for side in sides)
    test = _by_repetition(a, b) if finding.over == "repetitions" else _by_dataset(a, b, is_rate=is_rate)
    counts = pairs.groupby("dataset").size()
    least, most = counts.min(), counts.max()
    return Evidence(
        wins=int((a < b).sum()),
        losses=int((a > b).sum()),
        ties=int((a == b).sum()),
        difference=difference,
        statistic=test.statistic,
        p=test.p,
        sign_p=st.sign_test(a, b),
        size=f"{n_datasets} x {least if least == most else f'{least} to {most}'}",
        failures="; ".join(side.failures(finding.measure) for side in sides),
        smallest=test.smallest,
        verdict=_verdict(finding, test, difference),
        progress=results.progress,
    )


@dataclass(frozen=True, eq=False)
class Side:
    """The cells of one of the two methods."""

    cells: pd.DataFrame
    """Their ends."""
    rows: pd.DataFrame
    n_failed: int
    """Cells that failed as a whole."""

    def failures(self, measure: str) -> str:
        """Say how many trials and cells failed; a cell without the measure failed, too."""
        n_trials = int((self.rows["status"] != "ok").sum())
        n_cells = self.n_failed + int(self.cells[measure].isna().sum())
        return f"{n_trials}/{len(self.rows)} trials, {n_cells}/{self.n_failed + len(self.cells)} cells"


def _side(results: Results, finding: Finding, method: str, validation: str | None) -> Side:
    wanted = {"method": method, "problem": finding.problem, "space": finding.space, "validation": validation}
    cells, rows, failed = (_where(frame, wanted) for frame in (results.final, results.rows, results.failures))
    for column in ("space", "validation"):
        if cells[column].nunique() > 1:
            raise ExperimentError(
                f"A finding must be about one {column}. The rows of {finding.id} have "
                f"{', '.join(cells[column].unique())}. Add {column!r}."
            )
    return Side(cells, rows, len(failed))


def _where(frame: pd.DataFrame, wanted: Mapping[str, str | None]) -> pd.DataFrame:
    for column, value in wanted.items():
        if value is not None:
            frame = frame[frame[column] == value]
    return frame


def _pairs(sides: Sequence[Side], measure: str) -> pd.DataFrame:
    """Return the repetitions that both methods have: dataset, better, worse; as losses, so less is better."""
    key = ["dataset", "problem", "repetition"]
    better, worse = (side.cells[[*key, measure]].dropna(subset=[measure]) for side in sides)
    both = better.merge(worse, on=key, suffixes=("_better", "_worse"))
    names = {f"{measure}_better": "better", f"{measure}_worse": "worse"}
    pairs = both.rename(columns=names)[["dataset", "better", "worse"]]
    return pairs.assign(better=1 - pairs["better"], worse=1 - pairs["worse"]) if measure in GAINS else pairs


class Outcome(NamedTuple):
    """The test of a comparison, whether the first is ahead, and the smallest effect that could have been seen."""

    statistic: str
    p: float
    is_ahead: bool
    smallest: float


def _by_dataset(a: Array, b: Array, *, is_rate: bool) -> Outcome:
    """Test over datasets; losses that are no rates are compared relative to the larger of the two."""
    relative = st.relative_differences(a, b)
    differences = a - b if is_rate else relative
    p = st.wilcoxon(differences, np.zeros_like(differences))
    total = st.signed_rank_sum(differences)
    least_p = 2.0 ** (1 - np.count_nonzero(differences))  # all differences have one sign
    smallest = st.smallest_effect(relative) if least_p < ALPHA else np.inf
    return Outcome(f"W = {total:+g}", p, total < 0, smallest)


def _by_repetition(a: Array, b: Array) -> Outcome:
    better, worse = st.mann_whitney(a, b), st.mann_whitney(b, a)
    won = np.sum(a[:, None] < b) + np.sum(a[:, None] == b) / 2
    return Outcome(f"U = {won:g} of {len(a) * len(b)}", min(better, worse), better < worse, st.smallest_shift(a, b))


def _verdict(finding: Finding, test: Outcome, difference: st.Interval) -> str:
    if finding.margin is not None:
        if -finding.margin <= difference.low and difference.high <= finding.margin:
            return CONFIRMED
        is_outside = difference.low > finding.margin or difference.high < -finding.margin
        return CONTRADICTED if is_outside else UNDECIDED
    if test.p >= ALPHA:
        return UNDECIDED
    return CONFIRMED if test.is_ahead else CONTRADICTED


# ---- the table ------------------------------------------------------------------------------------------------------


def verdict_table(judged: Iterable[tuple[Finding, Evidence | NotRun]]) -> Table:
    """Return one line per finding."""
    return Table(
        "Findings of the papers",
        HEADER,
        [_line(finding, evidence) for finding, evidence in judged],
        [
            "Median relative difference over datasets with a 95 % bootstrap interval, negative where the method that "
            "should be better is. W: sum of the signed ranks of the differences, negative where the method that should "
            "be better is, and p of a two-sided Wilcoxon signed-rank test over datasets. U: pairs of repetitions that "
            "it wins, and p of a one-sided Mann-Whitney test over repetitions of one problem, as in Glasmachers and "
            "Igel 2008. Failures, first of the method that should be better: among the trials that have a row, and "
            "among cells.",
            "Smallest effect: the relative difference that a run of this size and spread sees with a probability of "
            f"80 %; none: even if all differences had one sign, p would not be below {ALPHA}. Verdict: confirmed or "
            f"contradicted if p < {ALPHA}; for two methods on a par, if the interval lies within the margin, or "
            "outside of it.",
        ],
    )


def _line(finding: Finding, evidence: Evidence | NotRun) -> list[Text]:
    what = Text(f"{finding.id}: {finding.sentence} ({finding.paper})")
    sign = "<" if finding.kind == "superiority" else "="
    where = [value for value in (finding.problem, finding.space, finding.validation) if value is not None]
    where += [] if finding.worse_validation is None else [f"against {finding.worse_validation}"]
    where += [] if finding.measure == "test_loss" else [finding.measure]
    where += [] if finding.margin is None else [f"margin {100 * finding.margin:g} %"]
    compared = Text(f"{finding.better} {sign} {finding.worse}" + (f" ({', '.join(where)})" if where else ""))
    if isinstance(evidence, NotRun):
        empty = [Text("-")] * (len(HEADER) - 3)
        return [what, compared, *empty, Text(f"not run: {evidence.reason}")]
    median, low, high = (100 * value for value in evidence.difference)
    return [
        what,
        compared,
        Text(f"{evidence.wins}-{evidence.losses}-{evidence.ties}"),
        Text(f"{median:+.1f} % [{low:+.1f}, {high:+.1f}]"),
        Text(evidence.statistic),
        Text(f"{evidence.p:.3g}"),
        Text(f"{evidence.sign_p:.3g}"),
        Text(evidence.size),
        Text(evidence.failures),
        Text(f"{100 * evidence.smallest:.1f} %" if np.isfinite(evidence.smallest) else "none"),
        Text(evidence.verdict_text, bold=evidence.verdict != UNDECIDED),
    ]
