"""The results of an experiment: one row per cell and iteration, in one Parquet file that other tools read.

Parquet cannot be appended to, so finished cells go to a journal beside the file (`journal.py`). From time to time, and
at the end, the journal is merged into a new file that replaces the old one (`parquet.py`). Whenever the program is
killed, a cell is there wholly or not at all; one that is in both places counts once.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comitia.arrays import Json
from comitia.bench.plan.plan import Cell
from comitia.bench.rows import parquet
from comitia.bench.rows.journal import Columns, Journal, Lock, Value, journal_of, read_journal
from comitia.bench.rows.row import COLUMNS, Origin, Row
from comitia.study.interrupts import held_back
from comitia.study.record import versions

if TYPE_CHECKING:
    import pandas as pd

MERGE_SECONDS = 60.0
"""How often the journal is merged during a run."""


class RowsFile:
    """The results of one experiment, open for appending; a context manager. One program at a time may hold it.

    Parameters
    ----------
    path : Path
        The Parquet file; its journal and its lock lie beside it.
    protocol : dict
        What all cells must have in common, see `Experiment.protocol`.

    Raises
    ------
    ExperimentError
        If the file is of another protocol or version, damaged, or held by another program.
    """

    def __init__(self, path: Path, protocol: Json) -> None:
        parquet.check_pyarrow()
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(path)
        try:
            self.protocol = self._begin(protocol)
            self._journal = Journal(journal_of(path))
        except BaseException:
            self._lock.release()
            raise
        self.cells = parquet.read_cells(path) | set(self._journal.cells)
        self._merged_at = time.monotonic()

    def _begin(self, protocol: Json) -> Json:
        """Make the file, or check the one that is there; return the protocol that it has now."""
        if not self.path.exists():
            journal_of(self.path).unlink(missing_ok=True)  # that of a file which is gone
            parquet.write_table(self.path, parquet.table_of([]), protocol)
            return protocol
        is_shown_alike = parquet.check_protocol(self.path, protocol)
        n_planned = [p.get("n_cells", 0) for p in (parquet.read_protocol(self.path), protocol)]
        protocol = {**protocol, "n_cells": max(n_planned)}  # a run of some methods plans no fewer
        if not is_shown_alike:
            parquet.write_table(self.path, parquet.read_table(self.path), protocol)
        return protocol

    def failed_cells(self) -> set[Cell]:
        """Return the cells that failed as a whole."""
        return parquet.failed_cells(parquet.merged(parquet.read_table(self.path), self._journal.cells))

    def append(self, cell: Cell, rows: Sequence[Row]) -> None:
        """Add a cell: all of its rows or none."""
        columns = _columns(cell, rows)
        with held_back():  # an interrupt between the two would lose the cell at the next merge
            self._journal.append(cell, columns)
            self.cells.add(cell)
        if time.monotonic() - self._merged_at > MERGE_SECONDS:
            self.merge()

    def take(self, other: Path) -> int:
        """Add the cells of another file that are not here, or that failed here and not there; return how many."""
        parquet.check_protocol(other, self.protocol)
        pending = read_journal(other)  # first, as in `read_rows`
        n_there = parquet.read_protocol(other).get("n_cells", 0)
        there = parquet.merged(parquet.read_table(other), pending)
        self.merge()
        here = parquet.read_table(self.path)
        better = parquet.failed_cells(here) - parquet.failed_cells(there)
        cells = parquet.cells_of(there)
        fresh = {cell for cell in cells if cell not in self.cells or cell in better}
        rows = there.filter(np.array([cell in fresh for cell in cells], dtype=bool))
        n_planned = max(self.protocol.get("n_cells", 0), n_there, len(self.cells | fresh))
        self.protocol = {**self.protocol, "n_cells": n_planned}
        parquet.write_table(self.path, parquet.replaced(here, fresh, rows), self.protocol)
        self.cells |= fresh
        return len(fresh)

    def merge(self) -> None:
        """Move the journal into the Parquet file."""
        if self._journal.cells:
            table = parquet.merged(parquet.read_table(self.path), self._journal.cells)
            parquet.write_table(self.path, table, self.protocol)
            self._journal.clear()
        self._merged_at = time.monotonic()

    def close(self) -> None:
        """Merge and let go."""
        try:
            self.merge()
        finally:  # if there is no room for the merge, the journal still has everything
            self._journal.close()
            self._lock.release()

    def __enter__(self) -> RowsFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read_rows(path: Path) -> tuple[pd.DataFrame, Json]:
    """Return all rows, those of a running or killed experiment included, and the protocol they follow."""
    parquet.check_pyarrow()
    # the journal first: a merge in between moves cells from it to the file, where they are then found twice, not never
    pending = read_journal(path)
    protocol = parquet.read_protocol(path)
    frame: pd.DataFrame = parquet.merged(parquet.read_table(path), pending).to_pandas()
    return frame, protocol


def merge_rows(into: Path, others: Iterable[Path]) -> int:
    """Add to a file, new or old, the cells of others that it lacks or that failed in it; return how many."""
    parquet.check_pyarrow()
    others = list(others)
    protocols = [parquet.read_protocol(path) for path in others]
    with RowsFile(into, parquet.read_protocol(into) if into.exists() else protocols[0]) as file:
        return sum(file.take(path) for path in others)


@cache
def versions_text() -> str:
    """Return the versions that results depend on, as one text."""
    packages = ["comitia", "numpy", "scipy", "scikit-learn", "lightgbm", "ConfigSpace"]
    packages += ["torch"] if "torch" in sys.modules else []  # where networks were trained
    return ", ".join(f"{name} {version}" for name, version in versions(packages).items())


@cache
def machine() -> str:
    """Return what matters of the machine for seconds, as one text; no names of hosts or users."""
    import psutil

    gigabytes = psutil.virtual_memory().total / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {gigabytes:.0f} GB"


def _columns(cell: Cell, rows: Sequence[Row]) -> Columns:
    """Turn rows into columns, with the cell's key and where they come from; NaN is null in JSON."""
    origin = Origin(versions_text(), machine(), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    common = asdict(cell) | asdict(origin)
    full = [vars(row) for row in rows]

    def column(name: str) -> list[Value]:
        if name in common:
            return [common[name]] * len(full)
        return [None if value != value else value for value in (row[name] for row in full)]

    return {name: column(name) for name in COLUMNS}
