"""Whole systems side by side: what the rows of `experiments/systems*.toml` say, all text and figures from rows alone.

    python benchmarks/studies/systems.py [ROWS.parquet ...] [--figure curve.svg]

reads `experiments/rows/systems*.parquet` if no files are named, prints all tables, and draws what more seconds bring.
`make pages` writes the same tables to docs/lab/systems.md. Where several files have the same cell, the one that ended
last counts: so comitia can be run again into a file of its own, beside rows of other tools that are kept. Seconds of
different days can be compared only while the speed of the machine agrees, which the last table says.

A set is won by who has the smaller mean over the splits that both have run. Who failed on a split where the other did
not has lost the set. *Beyond noise* is a paired test over all test rows, p < .05: McNemar's exact test for errors, the
paired t test for log losses and squared errors. It knows the noise of the test rows alone, not that of the training.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from comitia.arrays import Array
from comitia.bench.peers.registry import PEERS, get_peer, is_peer
from comitia.bench.report import statistics as st
from comitia.bench.report.drawing import draw_line, new_figure, styled
from comitia.bench.report.figures import svg
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text
from comitia.bench.report.writers import markdown
from comitia.bench.rows.packing import unpacked
from comitia.bench.rows.rows import read_rows

OURS = "comitia 60 s"
LARGE = 20_000
"""Rows above which a set is reported by itself."""
AGREED = 0.05
"""Speeds of the machine that differ by no more are the same."""
MOST_LOST_LARGE = 1
LATE_SHARE, LATE_SECONDS = 0.02, 1.0
"""A fit may take its limit, this share of it and so many seconds."""
KEY = ["system", "told", "problem", "repetition"]


@dataclass(frozen=True)
class Measure:
    """A column of the rows, of systems that were told the same."""

    name: str
    told: str
    column: str
    sign: int = 1
    """-1 where more is better."""

    @property
    def is_judged(self) -> bool:
        """Whether systems were told just this."""
        return self.name == self.told


MEASURES = (
    Measure("error", "error", "test_error"),
    Measure("log loss", "log loss", "test_log_loss"),
    Measure("RMSE", "RMSE", "test_rmse"),
    Measure("balanced accuracy", "error", "test_balanced_accuracy", -1),
    Measure("log loss, told accuracy", "error", "test_log_loss"),
    Measure("error, told log loss", "log loss", "test_error"),
    Measure("calibration error", "log loss", "test_calibration_error"),
)
JUDGED = tuple(measure for measure in MEASURES if measure.is_judged)


@dataclass(frozen=True)
class Rivalry:
    """Two systems, and the share of sets that ours should win of each measure they are judged by."""

    ours: str
    theirs: str
    target: float | None = None


RIVALRIES = (
    Rivalry(OURS, "flaml 60 s", 0.7),
    Rivalry(OURS, "autogluon 60 s", 0.6),
    Rivalry(OURS, "autogluon 300 s", 0.5),
    Rivalry("comitia 10 s", "flaml 10 s", 0.7),
    Rivalry(OURS, "default-catboost"),
    Rivalry(OURS, "default-lightgbm"),
)
BOOSTERS = ("default-catboost", "default-lightgbm")


# ---- rows -----------------------------------------------------------------------------------------------------------


def read_cells(paths: Iterable[Path]) -> pd.DataFrame:
    """Return one row per cell of the files: `system` with its seconds, `told`, whether it `failed`, and its columns."""
    parts = []
    for path in paths:
        frame, protocol = read_rows(path)
        frame = frame[[is_peer(name) for name in frame["method"]]]
        limit = protocol["budget"]["time_limit"]
        parts.append(
            frame.assign(
                system=[system_of(name, limit) for name in frame["method"]],
                loss=frame["loss"].fillna(protocol["loss"] or ""),
                failed=frame["iteration"] == 0,
            )
        )
    cells = pd.concat(parts, ignore_index=True)
    numbers = set(cells.loc[cells["test_rmse"].notna(), "problem"])
    told = {"log-loss": "log loss", "squared-error": "RMSE"}
    cells["told"] = [
        "RMSE" if problem in numbers else told.get(loss, "error")
        for problem, loss in zip(cells["problem"], cells["loss"], strict=True)
    ]
    return cells.sort_values("finished_at", kind="stable").drop_duplicates(KEY, keep="last").reset_index(drop=True)


def system_of(method: str, limit: float) -> str:
    """Return a system's name with the seconds that it is told."""
    peer = get_peer(method)
    if not peer.searches:
        return method
    return f"{method.partition('[')[0]} {limit if peer.seconds is None else peer.seconds:g} s"


@dataclass(frozen=True)
class Duel:
    """Two systems on one set: the means over the splits of both, and whether they differ beyond noise."""

    problem: str
    n_rows: int
    ours: float
    """NaN where a split failed that the other did not."""
    theirs: float
    p: float
    """Of the paired test over test rows; NaN where there is none."""

    @property
    def winner(self) -> int:
        """1 for ours, -1 for theirs, 0 for a tie."""
        if np.isnan(self.ours) or np.isnan(self.theirs):
            return int(np.isnan(self.theirs)) - int(np.isnan(self.ours))
        return int(np.sign(self.theirs - self.ours))

    @property
    def is_beyond_noise(self) -> bool:
        return bool(self.p < ALPHA) and self.winner != 0


def duels(cells: pd.DataFrame, ours: str, theirs: str, measure: Measure) -> list[Duel]:
    """Return two systems on every set that both have run, in the order of rows."""
    part = cells[cells["told"] == measure.told]
    a, b = (part[part["system"] == name].set_index(["problem", "repetition"]) for name in (ours, theirs))
    both = a.index.intersection(b.index)
    found = [_duel(a.loc[index], b.loc[index], measure) for _, index in _by_problem(both)]
    return sorted((duel for duel in found if duel is not None), key=lambda duel: duel.n_rows)


def _by_problem(index: pd.Index) -> Iterator[tuple[str, pd.Index]]:
    names = index.get_level_values("problem")
    for name in dict.fromkeys(names):
        yield name, index[names == name]


def _duel(a: pd.DataFrame, b: pd.DataFrame, measure: Measure) -> Duel | None:
    """Compare two systems on one set, split by split in the same order; None where both failed throughout."""
    values = [measure.sign * part[measure.column].to_numpy(float) for part in (a, b)]
    has = [np.isfinite(value) for value in values]
    if not (has[0] | has[1]).any():
        return None
    n_rows = rows_of(pd.concat([a, b]))
    problem, p = str(a.index[0][0]), np.nan
    # rounded, so that the same numbers are a tie
    ours, theirs = (
        round(float(v[own].mean()), 12) if own.any() else np.nan for v, own in zip(values, has, strict=True)
    )
    if has[0].sum() != has[1].sum():  # who has fewer splits has failed on one
        ours, theirs = (ours, np.nan) if has[0].sum() > has[1].sum() else (np.nan, theirs)
    elif measure.is_judged and (has[0] == has[1]).all():
        p = p_of_rows(a[has[0]], b[has[1]])
    return Duel(problem, n_rows, ours, theirs, p)


def rows_of(cells: pd.DataFrame) -> int:
    """Return the rows of a set, those of its test included where they are known."""
    texts = cells["test_losses"].dropna()
    n_train = cells["n_rows"].dropna()
    return (int(n_train.iloc[0]) if len(n_train) else 0) + (len(unpacked(texts.iloc[0])) if len(texts) else 0)


def p_of_rows(a: pd.DataFrame, b: pd.DataFrame) -> float:
    """Return the p value of the paired test over all test rows of the splits; NaN where their losses were not kept."""
    if a["test_losses"].isna().any() or b["test_losses"].isna().any():
        return np.nan
    first, second = (np.concatenate([unpacked(text) for text in part["test_losses"]]) for part in (a, b))
    if np.isin([*first, *second], (0.0, 1.0)).all():
        return st.sign_test(first, second)  # McNemar's exact test
    return p_of_means(first, second)


def p_of_means(first: Array, second: Array) -> float:
    """Return the p value of the paired t test; 1 where all differences are 0."""
    d = first - second
    if not d.any():
        return 1.0
    spread = d.std(ddof=1)
    return float(2 * stats.t.sf(abs(d.mean()) / (spread / np.sqrt(len(d))), len(d) - 1)) if spread > 0 else 0.0


# ---- tables ---------------------------------------------------------------------------------------------------------


def shares_table(cells: pd.DataFrame) -> Table:
    """Return sets won, lost and equal, and the share with ties as half."""
    rows, met = [], []
    for rivalry in RIVALRIES:
        entries = []
        for measure in MEASURES:
            found = [duel.winner for duel in duels(cells, rivalry.ours, rivalry.theirs, measure)]
            wins, losses = found.count(1), found.count(-1)
            share = (wins + found.count(0) / 2) / len(found) if found else np.nan
            is_aim = rivalry.target is not None and measure.is_judged
            text = f"{wins}-{losses}-{found.count(0)} ({100 * share:.0f} %)" if found else "-"
            entries.append(Text(text, bold=bool(is_aim and found and share >= (rivalry.target or 0))))
            if is_aim and found:
                met.append(share >= (rivalry.target or 0))
        target = "" if rivalry.target is None else f"{100 * rivalry.target:.0f} %"
        rows.append([Text(f"{rivalry.ours} against {rivalry.theirs}"), Text(target), *entries])
    notes = [
        "Sets won-lost-equal, in brackets the share won with ties as half. Targets are for what systems were told to "
        f"minimise, the first three columns: {sum(met)} of {len(met)} are met (bold)."
    ]
    return Table("Sets won, lost and equal", ["", "target", *(m.name for m in MEASURES)], rows, notes)


def sets_table(cells: pd.DataFrame, measure: Measure) -> Table:
    """Return the values of every set, marked where comitia is better or worse beyond noise."""
    part = cells[cells["told"] == measure.told]
    order = dict.fromkeys(name for rivalry in RIVALRIES for name in (rivalry.ours, rivalry.theirs))
    systems = [name for name in order if (part["system"] == name).any()]
    by_system = {name: {d.problem: d for d in duels(cells, OURS, name, measure)} for name in systems if name != OURS}
    n_rows = {problem: duel.n_rows for found in by_system.values() for problem, duel in found.items()}
    rows, has_fewer = [], False
    for problem in sorted(n_rows, key=lambda name: n_rows[name]):
        groups = part[(part["problem"] == problem) & ~part["failed"]].groupby("system")[measure.column]
        means, n_splits = groups.mean(), groups.size()
        best = means[n_splits == n_splits.max()].min()
        entries = []
        for name in systems:
            duel = by_system.get(name, {}).get(problem)
            mark = "" if duel is None or not duel.is_beyond_noise else (" +" if duel.winner > 0 else " -")
            if name not in means:
                entries.append(Text("-"))
                continue
            is_short = bool(n_splits[name] < n_splits.max())
            has_fewer |= is_short
            is_best = means[name] == best and not is_short
            entries.append(Text(f"{means[name]:.4g}{'*' * is_short}{mark}", bold=bool(is_best)))
        rows.append([Text(problem), Text(f"{n_rows[problem]:,}"), *entries])
    notes = [
        f"Means over splits, the smallest in bold; + where {OURS} is better than that system beyond noise, - where it "
        "is worse."
    ]
    notes += ["* has fewer splits than the others; it is compared with the same splits of the others."] * has_fewer
    return Table(f"{measure.name}, set by set", ["set", "rows", *systems], rows, notes)


def large_table(cells: pd.DataFrame) -> Table:
    """Return the sets of more than 20,000 rows against FLAML."""
    found = [
        (measure, duel)
        for measure in JUDGED
        for duel in duels(cells, OURS, "flaml 60 s", measure)
        if duel.n_rows > LARGE
    ]
    rows = [[Text(d.problem), Text(f"{d.n_rows:,}"), Text(m.name), *_sides(d)] for m, d in found]
    lost = sorted({d.problem for _, d in found if d.winner < 0 and d.is_beyond_noise})
    names = ", ".join(lost) or "none"
    verdict = "met" if len(lost) <= MOST_LOST_LARGE else "missed"
    notes = [
        f"Sets lost to FLAML beyond noise in any measure: {names}; the target is at most {MOST_LOST_LARGE}: {verdict}."
    ] * bool(found)
    header = ["set", "rows", "measure", *_header("flaml 60 s")]
    return Table(f"Sets above {LARGE:,} rows, against FLAML", header, rows, notes)


def boosters_table(cells: pd.DataFrame) -> Table:
    """Return where comitia is worse than the better default booster."""
    n, rows, beyond = 0, [], 0
    for measure in JUDGED:
        against = {name: {d.problem: d for d in duels(cells, OURS, name, measure)} for name in BOOSTERS}
        for problem in dict.fromkeys(problem for found in against.values() for problem in found):
            pairs = [(name, found[problem]) for name, found in against.items() if problem in found]
            name, duel = min(pairs, key=lambda pair: np.nan_to_num(pair[1].theirs, nan=np.inf))
            n += 1
            if duel.winner < 0:
                beyond += duel.is_beyond_noise or bool(np.isnan(duel.ours))
                rows.append([Text(problem), Text(f"{duel.n_rows:,}"), Text(measure.name), Text(name), *_sides(duel)])
    notes = [
        f"{OURS} is worse than the better of the two on {len(rows)} of {n} sets and measures, on {beyond} of them "
        f"beyond noise; the target is none: {'missed' if beyond else 'met'}."
    ] * bool(n)
    header = ["set", "rows", "measure", "booster", *_header("the booster")]
    return Table("Worse than the better default booster", header, rows, notes)


def _header(theirs: str) -> list[str]:
    return [OURS, theirs, "difference", "p"]


def _sides(duel: Duel) -> list[Text]:
    relative = 100 * float(st.relative_differences([duel.ours], [duel.theirs])[0]) if not np.isnan(duel.p) else np.nan
    texts = [f"{duel.ours:.4g}", f"{duel.theirs:.4g}", f"{relative:+.1f} %", f"{duel.p:.2g}"]
    return [Text(text.replace("nan %", "-").replace("+-", "-"), bold=duel.is_beyond_noise) for text in texts]


def resources_table(cells: pd.DataFrame) -> Table:
    """Return seconds, memory and sizes of each system, and how many cells failed."""
    rows = []
    for system in systems_of(cells):
        part = cells[cells["system"] == system]
        ok = part[~part["failed"]]
        limit = ok["limit_seconds"]
        used = 100 * ok["train_seconds"] / limit
        late = int((ok["train_seconds"] > limit * (1 + LATE_SHARE) + LATE_SECONDS).sum())
        has_limit = bool(limit.notna().any())
        texts = [
            f"{len(part)}",
            f"{int(part['failed'].sum())}",
            f"{ok['train_seconds'].median():.1f}",
            f"{used.median():.0f} % ({used.min():.0f} to {used.max():.0f})" if has_limit else "-",
            f"{late}" if has_limit else "-",
            f"{ok['predict_seconds'].median():.3f} ({ok['predict_seconds'].max():.2f})",
            f"{ok['peak_bytes'].median() / 2**20:,.0f} ({ok['peak_bytes'].max() / 2**20:,.0f})",
            f"{ok['model_bytes'].median() / 2**20:,.2f} ({ok['model_bytes'].max() / 2**20:,.1f})",
        ]
        rows.append([Text(system), *map(Text, texts)])
    header = [
        "",
        "cells",
        "failed",
        "s to fit",
        "of the limit",
        "late",
        "s to predict",
        "MiB of memory",
        "MiB of model",
    ]
    notes = [
        "Medians over cells, in brackets the most (of the limit: least and most). Late: more than the limit + "
        f"{100 * LATE_SHARE:.0f} % + {LATE_SECONDS:g} s. Predicting is that of the test rows."
    ]
    failed = cells.loc[cells["failed"], [*KEY, "error"]].to_dict("records")
    notes += [
        f"{row['system']} failed on {row['problem']}, told {row['told']}, split {row['repetition']}: "
        f"{str(row['error'])[:160]}"
        for row in failed
    ]
    return Table("Seconds, memory, size, failures", header, rows, notes)


def machine_table(cells: pd.DataFrame) -> Table:
    """Return how fast the machine was for each system."""
    ok = cells[~cells["failed"]]
    medians = {name: float(ok.loc[ok["system"] == name, "yardstick_seconds"].median()) for name in systems_of(ok)}
    beside = OURS if OURS in medians else "all cells"
    reference = medians.get(OURS, float(ok["yardstick_seconds"].median()))
    rows = []
    for name, median in medians.items():
        part = ok[ok["system"] == name]
        low, high = part["yardstick_seconds"].quantile([0.1, 0.9])
        days = sorted({str(moment)[:10] for moment in part["finished_at"]})
        texts = [f"{median:.3f}", f"{low:.3f} to {high:.3f}", f"{100 * (median / reference - 1):+.1f} %"]
        rows.append([Text(name), *map(Text, texts), Text(" to ".join(dict.fromkeys([days[0], days[-1]])))])
    apart = [name for name, median in medians.items() if abs(median / reference - 1) > AGREED]
    verdict = f"All agree with that of {beside} within {100 * AGREED:.0f} %."
    if apart:
        verdict = (
            f"More than {100 * AGREED:.0f} % from that of {beside}, so their seconds were others: {', '.join(apart)}."
        )
    notes = [
        f"Seconds of the yardstick, a fixed fit before and after each cell: median, and 10 to 90 % of cells. {verdict}",
        f"Machine: {'; '.join(sorted(set(ok['machine'])))}.",
    ]
    return Table("Speed of the machine", ["", "median", "10 to 90 %", f"beside {beside}", "days"], rows, notes)


def systems_of(cells: pd.DataFrame) -> list[str]:
    """Return the systems in the order of the registry, and of seconds."""
    order = list(PEERS)

    def place(system: str) -> tuple[int, float]:
        name, _, seconds = system.removesuffix(" s").partition(" ")
        return order.index(name), float(seconds or 0)

    return sorted(set(cells["system"]), key=place)


TABLES: dict[str, Callable[[pd.DataFrame], Table]] = {
    "shares": shares_table,
    **{f"sets {measure.name}": partial(sets_table, measure=measure) for measure in JUDGED},
    "large": large_table,
    "boosters": boosters_table,
    "resources": resources_table,
    "machine": machine_table,
}


def paths_of(folder: Path) -> list[Path]:
    """Return the files of a folder; scaled runs have fewer seconds."""
    return sorted(path for path in folder.glob("systems*.parquet") if "@" not in path.name)


@cache
def recorded(folder: Path) -> pd.DataFrame | None:
    """Return the cells of `systems*.parquet` in a folder of rows; None where nothing was run."""
    paths = paths_of(folder)
    return read_cells(paths) if paths else None


def table_of(name: str, folder: Path) -> Table:
    """Return a table by its name, of the rows in a folder."""
    cells = recorded(folder)
    return Table("", [], [], ["Not run yet."]) if cells is None or not len(cells) else TABLES[name](cells)


# ---- what more seconds bring ----------------------------------------------------------------------------------------


SEARCHING = ("comitia", "flaml", "autogluon")
FEWEST_LIMITS = 4
"""A set is part of the curve where comitia had at least so many limits."""


def curve_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the first split of the sets of the curve: `name`, `limit_seconds`, and the `value` they are judged by."""
    names = cells["system"].str.partition(" ")[0]
    part = cells[~cells["failed"] & (cells["repetition"] == 0) & names.isin(SEARCHING) & (cells["told"] != "log loss")]
    part = part.assign(name=names, value=part["test_error"].fillna(part["test_rmse"]))
    n_limits = part[part["name"] == "comitia"].groupby("problem")["limit_seconds"].nunique()
    return part[part["problem"].map(n_limits).fillna(0) >= FEWEST_LIMITS]


def curve_table(cells: pd.DataFrame) -> Table:
    """Return the loss by seconds."""
    part = curve_cells(cells)
    limits = sorted(set(part["limit_seconds"]))
    values = part.set_index(["problem", "name", "limit_seconds"])["value"]
    rows = []
    for problem in dict.fromkeys(part["problem"]):
        told = part.loc[part["problem"] == problem, "told"].iloc[0]
        for name in SEARCHING:
            found = [float(values.get((problem, name, limit), np.nan)) for limit in limits]
            texts = ["-" if np.isnan(value) else f"{value:.4g}" for value in found]
            rows.append([Text(f"{problem}, {told}"), Text(name), *map(Text, texts)])
    notes = ["One split. - did not finish or was not run."]
    return Table("What more seconds bring", ["set", "", *(f"{limit:g} s" for limit in limits)], rows, notes)


def curve(cells: pd.DataFrame) -> Figure | None:
    """Draw the loss against seconds, a panel for each set of the curve; None where there is none."""
    part = curve_cells(cells)
    problems = list(dict.fromkeys(part["problem"]))
    if not problems:
        return None
    figure = new_figure(3.2 * len(problems), 3.2)
    panels = figure.subplots(1, len(problems), squeeze=False)[0]
    for panel, problem in zip(panels, problems, strict=True):
        shown = part[part["problem"] == problem]
        styled(panel, x="seconds", y=f"{shown['told'].iloc[0]} of the test rows").set_title(problem, size=9)
        for j, name in enumerate(SEARCHING):
            line = shown[shown["name"] == name].sort_values("limit_seconds")
            draw_line(panel, line["limit_seconds"].to_numpy(), line["value"].to_numpy(), j, name, marker="o")
        panel.set_xscale("log")
        ticks = sorted(set(shown["limit_seconds"]))
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8, frameon=False)
    return figure


TABLES["curve"] = curve_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=Path)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    folder = Path(__file__).parents[2] / "experiments" / "rows"
    paths = given.rows or paths_of(folder)
    if not paths:
        print("Not run yet.")
        return
    cells = read_cells(paths)
    for make in TABLES.values():
        table = make(cells)
        if table.rows:
            print(markdown(table))
    figure = curve(cells) if given.figure else None
    if figure is not None:
        given.figure.write_text(svg(figure), encoding="utf-8")
        print(f"Written: {given.figure}", file=sys.stderr)


if __name__ == "__main__":
    main()
