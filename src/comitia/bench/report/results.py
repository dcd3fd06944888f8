"""Rows as arrays: what the tables and figures of a report are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from comitia.arrays import Array, Json
from comitia.errors import ExperimentError

MEASURES = ("test_loss", "test_precision", "test_recall", "test_log_loss", "validation_loss", "returned_loss")
GAINS = ("test_precision", "test_recall")
"""Measures of which more is better; of the others less is."""
VALIDATION = {
    "returned_loss": "the validation loss of what would be returned",
    "validation_loss": "the smallest validation loss of a trial so far",
}
"""Measures of the validation; the first that all cells have counts. Older rows have the second alone."""
KEY = ["space", "validation", "problem", "method", "repetition"]
"""Of a cell."""


class Setting(NamedTuple):
    """What is compared with each other: one space and one validation."""

    space: str
    validation: str

    def label(self, others: list[Setting]) -> str:
        """Return the part of the name that tells it from the others."""
        names = [self.space] if len({s.space for s in others}) > 1 else []
        names += [self.validation] if len({s.validation for s in others}) > 1 else []
        return ", ".join(names)


@dataclass(frozen=True, eq=False)
class Paired:
    """Results of one setting on the datasets that every method has, repetition by repetition."""

    setting: Setting
    methods: list[str]
    problems: list[str]
    """Datasets: a table or a black box is one, and all pools of one dataset together are one."""
    values: dict[str, list[Array]]
    """For each measure and dataset, the repetitions that all methods have, (n_repetitions, n_methods)."""
    repetitions: list[list[tuple[str, int]]]
    """Which those are, for each dataset: problem and repetition."""
    n_left_out: int
    """Datasets that some method does not have."""
    methods_left_out: list[str]
    """Methods that have fewer than half of the datasets: they would leave little to compare."""
    is_error_rate: bool

    @property
    def errors(self) -> Array:
        """Mean test loss, (n_problems, n_methods)."""
        return self.means("test_loss")

    def means(self, measure: str) -> Array:
        """Return the mean of a measure over repetitions, (n_problems, n_methods)."""
        # rounded, so that the same numbers in another order are the same mean, and a tie is a tie
        return np.array([values.mean(axis=0) for values in self.values[measure]]).round(12)

    @property
    def validation_measure(self) -> str | None:
        """The measure of the validation that all compared cells have; None where there is none."""
        return next((m for m in VALIDATION if not any(np.isnan(values).any() for values in self.values[m])), None)

    @property
    def comparable(self) -> Array:
        """Errors that can be compared across datasets: rates as they are, others as shares of the dataset's largest."""
        if self.is_error_rate:
            return self.errors
        size = np.abs(self.errors).max(axis=1, keepdims=True)
        return np.asarray(np.divide(self.errors, size, out=np.zeros_like(self.errors), where=size > 0))

    @property
    def n_repetitions(self) -> tuple[int, int]:
        """Fewest and most repetitions of a problem."""
        counts = [len(values) for values in self.values["test_loss"]]
        return min(counts), max(counts)

    @property
    def repetitions_text(self) -> str:
        """The number of repetitions of a problem, or the fewest and the most."""
        least, most = self.n_repetitions
        return str(least) if least == most else f"{least} to {most}"


class Results:
    """All rows of one experiment and what its cells have in common, as `read_rows` returns them."""

    def __init__(self, frame: pd.DataFrame, protocol: Json) -> None:
        self.protocol = protocol
        self.failures = frame[frame["iteration"] == 0]
        rows = frame[frame["iteration"] > 0]
        known = rows["dataset"] if "dataset" in rows else rows["problem"]  # older rows have none
        rows = rows.assign(dataset=known.fillna(rows["problem"]))
        for later in ("test_losses", "n_classes"):
            if later not in rows:
                rows[later] = None
        # an infinite loss cannot be averaged: it counts as none
        self.rows = rows.assign(test_loss=rows["test_loss"].where(np.isfinite(rows["test_loss"])))
        if not len(self.rows):
            first = f" The first failed with: {self.failures['error'].iloc[0]}" if len(self.failures) else ""
            raise ExperimentError(f"A report must have finished cells. Got none.{first} Run the experiment first.")

    @property
    def is_error_rate(self) -> bool:
        """Whether losses are error rates, which are printed in per cent."""
        return bool((self.rows["loss"] == "zero-one").all())

    @property
    def progress(self) -> tuple[int, int]:
        """How many cells there are, and how many were planned; older rows do not know, and count as finished."""
        n_cells = len(self.final) + len(self.failures)
        return n_cells, max(n_cells, int(self.protocol.get("n_cells") or 0))

    @cached_property
    def settings(self) -> list[Setting]:
        """Spaces and validations in the order in which they appear."""
        pairs = self.rows[["space", "validation"]].drop_duplicates()
        return [Setting(*pair) for pair in pairs.itertuples(index=False)]

    @cached_property
    def ordered(self) -> pd.DataFrame:
        """All rows, cell by cell."""
        return self.rows.sort_values([*KEY, "iteration"], kind="stable")

    @cached_property
    def last_tested(self) -> pd.DataFrame:
        """The rows that tables average: the tested ones of the last iterations, as many as the protocol says."""
        last = int(self.protocol.get("average_last", 1))
        end = self.ordered.groupby(KEY, sort=False)["iteration"].transform("max")
        return self.ordered[self.ordered["test_loss"].notna() & (self.ordered["iteration"] > end - last)]

    @cached_property
    def final(self) -> pd.DataFrame:
        """One row per cell: the end of its search, averaged over the last iterations where the protocol says so."""
        numbers = self.last_tested.groupby(KEY, sort=False)[list(MEASURES)].mean()
        rest = self.ordered.groupby(KEY, sort=False).tail(1).set_index(KEY)
        kept = ["dataset", "learner", "n_rows", "n_classes", "n_members", "iteration"]
        seconds = ["train_seconds", "optimizer_seconds"]
        return rest[[*kept, *seconds]].join(numbers, how="left").reset_index()

    def paired(self, setting: Setting) -> Paired:
        """Return one setting's results on what all methods have in common."""
        part = _of(setting, self.final)
        part = part[part["test_loss"].notna()]
        n_problems = part.groupby("method")["dataset"].nunique()
        methods = [m for m in part["method"].drop_duplicates() if 2 * n_problems[m] >= n_problems.max()]
        left_out = [m for m in n_problems.index if m not in methods]
        wide = part.pivot(index=["dataset", "problem", "repetition"], columns="method", values=list(MEASURES))
        arrays = {measure: pd.DataFrame(wide[measure])[methods].to_numpy(float) for measure in MEASURES}
        whole = np.flatnonzero(~np.isnan(arrays["test_loss"]).any(axis=1))
        places: dict[str, list[int]] = {}
        for place, name in zip(whole.tolist(), wide.index.get_level_values("dataset")[whole], strict=True):
            places.setdefault(name, []).append(place)
        problems = [name for name in part["dataset"].drop_duplicates() if name in places]
        values = {measure: [arrays[measure][places[name]] for name in problems] for measure in MEASURES}
        repetitions = [[(str(p), int(r)) for _, p, r in wide.index[places[name]]] for name in problems]
        return Paired(
            setting=setting,
            methods=methods,
            problems=problems,
            values=values,
            repetitions=repetitions,
            n_left_out=part["dataset"].nunique() - len(problems),
            methods_left_out=left_out,
            is_error_rate=self.is_error_rate,
        )

    def cells_of(self, paired: Paired) -> pd.DataFrame:
        """Return the ends of the cells that are compared."""
        pairs = [pair for pairs in paired.repetitions for pair in pairs]
        common = pd.MultiIndex.from_tuples(pairs, names=["problem", "repetition"])
        part = _of(paired.setting, self.final)
        is_common = pd.MultiIndex.from_frame(part[["problem", "repetition"]]).isin(common)
        return part[is_common & part["method"].isin(paired.methods)]

    def curves(self, paired: Paired, x: str, grid: Array, measure: str = "test_loss") -> Array:
        """Return the mean over repetitions of a measure along a grid, (n_problems, n_methods, n_grid); see `traces`."""
        return np.array([values.mean(axis=0) for values in self.traces(paired, x, grid, measure)]).round(12)

    def traces(self, paired: Paired, x: str, grid: Array, measure: str = "test_loss") -> list[Array]:
        """Return a measure along a grid of iterations or seconds, carried forward.

        For each dataset (n_repetitions, n_methods, n_grid). Before its first value a cell counts with that value.
        """
        part = _of(paired.setting, self.ordered)
        part = part[part[measure].notna()]
        cells = part.groupby(["problem", "method", "repetition"], sort=False).ngroup().to_numpy()
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        row_of = {pair: (i, k) for i, pairs in enumerate(paired.repetitions) for k, pair in enumerate(pairs)}
        column_of = {name: j for j, name in enumerate(paired.methods)}
        at = (_seconds(part) if x == "seconds" else part[x]).to_numpy(float)
        values = part[measure].to_numpy(float)
        found = [np.full((len(pairs), len(paired.methods), len(grid)), np.nan) for pairs in paired.repetitions]
        keys = part[["problem", "repetition", "method"]].iloc[starts].itertuples(index=False)
        for (problem, repetition, method), start, end in zip(keys, starts, [*starts[1:], len(part)], strict=True):
            place, j = row_of.get((problem, repetition)), column_of.get(method)
            if place is not None and j is not None:
                steps = np.searchsorted(at[start:end], grid, side="right") - 1
                found[place[0]][place[1], j] = values[start:end][np.maximum(steps, 0)]
        return found

    def grid(self, paired: Paired, x: str, n: int = 60) -> Array:
        """Return points along which curves are drawn."""
        part = _of(paired.setting, self.rows)
        if x == "seconds":
            seconds = _seconds(part)
            low, high = max(1e-4, float(seconds[seconds > 0].min())), float(seconds.max())  # NaN: none took any
            return np.geomspace(low, max(high, low * 1.01), n)
        most = float(part[x].max())
        return np.unique(np.linspace(1, most, min(n, int(most))).round())


def _of(setting: Setting, frame: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["space"] == setting.space) & (frame["validation"] == setting.validation)]


def _seconds(frame: pd.DataFrame) -> pd.Series:
    return frame["train_seconds"].fillna(0) + frame["optimizer_seconds"].fillna(0)
