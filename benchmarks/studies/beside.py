"""Tables of the papers beside ours: the numbers that a paper prints for each method, and the same of our rows.

`experiments/papers.toml` holds the printed numbers and names the rows. A run is compared on the methods of the table
alone, so that ranks are on the scale of the paper where all of them were run; what was not run is said to be so.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from comitia.arrays import Array, Json
from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.measures import named_measures
from comitia.bench.report.layouts.typesetting import Table, Text, comparable, size_note
from comitia.bench.report.results import KEY, Paired, Results
from comitia.bench.rows.rows import read_rows
from comitia.errors import ExperimentError


@dataclass(frozen=True)
class Run:
    """Rows of ours that lie beside a printed table; `rows` is the name of a file in `experiments/rows`."""

    rows: str
    columns: tuple[str, ...] = ()
    """What is shown of them; what the paper shows, if not given."""
    space: str | None = None
    validation: str | None = None
    called: str = ""
    """Tells two runs of the same rows apart."""


@dataclass(frozen=True)
class Printed:
    """A table of a paper; without columns one of our own."""

    name: str
    title: str
    methods: Mapping[str, list[float]]
    """The printed numbers of each method, under our name for it."""
    runs: list[Run]
    columns: tuple[str, ...] = ()
    size: str = ""
    """What the paper ran."""
    note: str = ""


@dataclass(frozen=True)
class Papers:
    """What is known of the papers' numbers."""

    tables: dict[str, Printed]
    found: dict[str, str]
    """What the paper says of each finding, by the finding's id."""
    earlier: dict[str, str]
    """An earlier and smaller run of the same comparison, by the name of the larger one."""


def read_papers(path: Path) -> Papers:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = {}
    for section in content["table"]:
        columns = tuple(section.pop("columns", ()))
        runs = [Run(**{"columns": columns, **run}) for run in section.pop("run")]
        tables[section["name"]] = Printed(runs=runs, columns=columns, **section)
    return Papers(tables, content["found"], content["earlier"])


# ---- columns --------------------------------------------------------------------------------------------------------


def _ranks(measure: str) -> Callable[[Results, Paired], list[str]]:
    def column(_: Results, paired: Paired) -> list[str]:
        values = paired.means(measure)
        return _numbers(np.full(len(paired.methods), np.nan) if np.isnan(values).any() else st.mean_ranks(values))

    return column


def _measure_ranks(name: str) -> Callable[[Results, Paired], list[str]]:
    def column(results: Results, paired: Paired) -> list[str]:
        found = [sign * values for other, values, sign in named_measures(results, paired) if other == name]
        return _numbers(st.mean_ranks(found[0])) if found else ["-"] * len(paired.methods)

    return column


def _quantile(q: float) -> Callable[[Results, Paired], list[str]]:
    def column(_: Results, paired: Paired) -> list[str]:
        [values] = paired.values["test_loss"]  # of one problem
        return _numbers(np.quantile(values, q, axis=0), digits=3)

    return column


def _over_repetitions(measure: str, *, is_sd: bool = False) -> Callable[[Results, Paired], list[str]]:
    """Return the mean of error rates of one problem in per cent, or their standard deviation."""

    def column(_: Results, paired: Paired) -> list[str]:
        [values] = paired.values[measure]
        return _numbers(100 * (values.std(axis=0, ddof=1) if is_sd else values.mean(axis=0)))

    return column


def _numbers(values: Array, digits: int = 2) -> list[str]:
    return ["-" if np.isnan(value) else f"{value:.{digits}f}" for value in values]


COLUMNS: dict[str, Callable[[Results, Paired], list[str]]] = {
    "win rate": lambda _, paired: _numbers(100 * st.win_rates(paired.errors)),
    "rank": _ranks("test_loss"),
    "rank, validation": _ranks("validation_loss"),
    "rank, log loss": _ranks("test_log_loss"),
    "rank, precision": _measure_ranks("Average precision"),
    "rank, recall": _measure_ranks("Average recall"),
    "rank, F-measure": _measure_ranks("Average F-measure"),
    "validation": _over_repetitions("returned_loss"),
    "validation sd": _over_repetitions("returned_loss", is_sd=True),
    "test": _over_repetitions("test_loss"),
    "test sd": _over_repetitions("test_loss", is_sd=True),
    "q25": _quantile(0.25),
    "q50": _quantile(0.5),
    "q75": _quantile(0.75),
}
DIGITS = {"q25": 3, "q50": 3, "q75": 3}
"""Digits of printed numbers, if not two."""
UNITS = {"n_trials": "trials", "n_evaluations": "evaluations", "time_limit": "seconds"}


def column_of(name: str, results: Results, paired: Paired) -> list[str]:
    """Return an entry per method; `against M` and `log loss against M` are wins, losses and p over datasets.

    `repetitions against M` are those over the repetitions of the only dataset.
    """
    measure, _, reference = name.rpartition("against ")
    if not reference or name in COLUMNS:
        return COLUMNS[name](results, paired)
    if reference not in paired.methods:
        return ["-"] * len(paired.methods)
    if measure == "repetitions ":
        [values] = paired.values["test_loss"]
    else:
        values = paired.means("test_log_loss" if measure else "test_loss")
    k = paired.methods.index(reference)
    return [_won_and_lost(values[:, j], values[:, k]) if j != k else "" for j in range(len(paired.methods))]


def _won_and_lost(a: Array, b: Array) -> str:
    if np.isnan(a).any() or np.isnan(b).any():
        return "-"
    return f"{(a < b).sum()}-{(a > b).sum()}, p = {st.wilcoxon(a, b):.2g}"


# ---- tables ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """What a run says of each method, and what is to be known about it; nothing where it was not run."""

    header: list[str]
    entries: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ranks: dict[str, float] = field(default_factory=dict)


def beside(printed: Printed, folder: Path) -> Table:
    """Return a printed table with our numbers at its right; `folder` has the rows."""
    ours = [_ours(run, printed, folder) for run in printed.runs]
    header = ["method", *(f"paper: {_titled(name, len(printed.methods))}" for name in printed.columns)]
    order = list(printed.methods)
    ranks = next((part.ranks for part in ours if part.ranks), {})
    if not printed.columns:
        order.sort(key=lambda method: ranks.get(method, np.inf))
    rows = []
    for method in order if printed.columns or ranks else ():
        digits = [DIGITS.get(name, 2) for name in printed.columns]
        numbers = [f"{value:.{n}f}" for value, n in zip(printed.methods[method], digits, strict=True)]
        entries = [entry for part in ours for entry in part.entries.get(method, ["-"] * len(part.header))]
        rows.append([Text(f"`{method}`"), *map(Text, [*numbers, *entries])])
    notes = [f"The paper: {printed.size}."] if printed.size else []
    notes += [note for part in ours for note in part.notes] + ([printed.note] if printed.note else [])
    return Table(printed.title, [*header, *(name for part in ours for name in part.header)], rows, notes)


def _titled(column: str, n_methods: int) -> str:
    """Return the name of a column; ranks say of how many."""
    return column.replace("rank", f"rank of {n_methods}") if column.startswith("rank") else column


@cache
def rows_of(path: Path) -> tuple[pd.DataFrame, Json] | None:
    """Return the rows of a run and what its cells have in common; None where it was not run."""
    return read_rows(path) if path.is_file() else None


def _ours(run: Run, printed: Printed, folder: Path) -> Ours:
    shown = f"`{run.rows}`" + (f", {run.called}" if run.called else "")
    found = rows_of(folder / f"{run.rows}.parquet")
    if found is None:
        return Ours([], notes=[f"{shown}: not run yet."])
    results = _restricted(*found, run, printed)
    if results is None:
        return Ours([], notes=[f"{shown}: not run yet, or there is no dataset that two of these methods have."])
    [setting] = results.settings
    paired = results.paired(setting)
    prefix = f"{shown}: " if printed.columns or len(printed.runs) > 1 else ""
    header = [f"{prefix}{_titled(name, len(paired.methods))}" for name in run.columns]
    columns = [column_of(name, results, paired) for name in run.columns]
    entries = {method: [column[j] for column in columns] for j, method in enumerate(paired.methods)}
    ranks = dict(zip(paired.methods, st.mean_ranks(paired.errors).tolist(), strict=True))
    facts = [*_facts(results, paired), *_unfinished(*found)]
    return Ours(header, entries, [f"{shown}: {' '.join(facts)}"], ranks)


def _restricted(frame: pd.DataFrame, protocol: Json, run: Run, printed: Printed) -> Results | None:
    """Return the results of one setting and the methods of a table; None where there is nothing to compare."""
    kept = frame["method"].isin(printed.methods)
    for column, value in (("space", run.space), ("validation", run.validation)):
        if value is not None:
            kept &= frame[column] == value
    try:
        results = Results(frame[kept], protocol)
    except ExperimentError:  # no cell has finished
        return None
    return results if any(comparable(results)) else None


def _facts(results: Results, paired: Paired) -> list[str]:
    """Say how much was run, what failed, and whether the methods differ at all."""
    [(unit, amount)] = [(key, value) for key, value in results.protocol["budget"].items() if value]
    facts = [f"{size_note(paired, [paired.setting])} {amount:,g} {UNITS[unit]} each."]
    n_failed = int((results.rows["status"] != "ok").sum())
    n_trials = len(results.rows)
    facts.append(f"Failed: {n_failed:,} of {n_trials:,} trials that have a row, {len(results.failures)} cells.")
    if len(paired.methods) > 2 and len(paired.problems) > 1:
        p, cd = st.friedman(paired.errors).p, st.critical_distance(len(paired.methods), len(paired.problems))
        facts.append(
            f"Friedman p = {p:.2g}; ranks that differ by less than {cd:.2f} may differ by chance (Nemenyi, 5 %)."
        )
    return facts


def _unfinished(frame: pd.DataFrame, protocol: Json) -> list[str]:
    """Say how much of the whole run is there, if not all."""
    n_there, n_planned = len(frame[KEY].drop_duplicates()), protocol.get("n_cells", 0)
    return [f"{n_there:,} of {n_planned:,} cells of the run are there."] if n_there < n_planned else []
