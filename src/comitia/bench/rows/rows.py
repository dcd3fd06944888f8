"""What an experiment gave: one tidy row for each cell and iteration, in one Parquet file that other tools read.

Parquet cannot be appended to, so finished cells go to a journal beside the file, one line with a checksum each, written
in one piece; from time to time, and at the end, the journal is merged into a new file that replaces the old one. A cell
is there wholly or not at all, whenever the program is killed; one that is in both places counts once.
"""

from __future__ import annotations

import json
import os
import platform
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comitia.bench.files import replacing
from comitia.bench.plan.plan import Cell
from comitia.errors import ExperimentError
from comitia.study.interrupts import held_back
from comitia.study.record import versions

if TYPE_CHECKING:
    import pandas as pd

VERSION = 1
"""Of the columns below; files of another version are refused, not guessed at."""
MERGE_SECONDS = 60.0
"""How often the journal is merged while a run goes on."""
KEY = tuple(field.name for field in fields(Cell))
COLUMNS: dict[str, str] = {
    "problem": "string",
    "space": "string",
    "validation": "string",
    "method": "string",
    "repetition": "int32",
    "iteration": "int32",  # trials so far; 0 in the one row of a cell that failed as a whole
    "n_evaluations": "int64",  # fits so far
    "status": "string",  # of this iteration's trial
    "loss": "string",  # what is measured: zero-one, log-loss, squared-error, value (of a black box), ...
    "trial_loss": "double",  # its validation loss
    "validation_loss": "double",  # the smallest so far
    "test_loss": "double",  # of what would be returned now
    "test_precision": "double",  # mean over classes (P §5.3)
    "test_recall": "double",
    "test_log_loss": "double",  # of averaged probabilities; a member without any gives margins or votes
    "train_seconds": "double",  # all trials so far
    "optimizer_seconds": "double",  # everything else of the search so far
    "learner": "string",  # chosen now
    "n_members": "int32",
    "n_rows": "int32",  # for training and validation
    "error": "string",
    "versions": "string",
    "machine": "string",
    "finished_at": "string",
}


class RowsFile:
    """The results of one experiment, open for appending; a context manager. One program at a time may hold it.

    Parameters
    ----------
    path : Path
        The Parquet file; its journal and its lock lie beside it.
    protocol : mapping
        What all cells must have in common, see `Experiment.protocol`.

    Raises
    ------
    ExperimentError
        If the file is of another protocol or version, damaged, or held by another program.
    """

    def __init__(self, path: Path, protocol: Mapping[str, Any]) -> None:
        _pyarrow()
        self.path = path
        self.journal = journal_of(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _Lock(path)
        try:
            if path.exists():
                is_shown_alike = _check_protocol(path, protocol)
                n_planned = [p.get("n_cells", 0) for p in (_protocol_of(path), protocol)]
                protocol = {**protocol, "n_cells": max(n_planned)}  # a run of some methods plans no fewer
                if not is_shown_alike:
                    _write(path, _read(path), protocol)
            else:
                self.journal.unlink(missing_ok=True)  # that of a file which is gone
                _write(path, _table([]), protocol)
            self.protocol = protocol
            self._pending, n_good = _read_journal(self.journal)
            if self.journal.exists():
                os.truncate(self.journal, n_good)  # a line that was torn by a kill
            self.keys = _keys_of(path) | set(self._pending)
            self._file = os.open(
                self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644
            )
        except BaseException:
            self._lock.release()
            raise
        self._merged_at = time.monotonic()

    def failed_keys(self) -> set[tuple[Any, ...]]:
        """Return the cells that failed as a whole."""
        return _failed_keys(_merged(_read(self.path), self._pending))

    def append(self, cell: Cell, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add a cell: all of its rows or none."""
        columns = _columns(cell, list(rows))
        payload = json.dumps(columns, separators=(",", ":")).encode()
        line = b"%08x %s\n" % (zlib.crc32(payload), payload)
        with held_back():  # an interrupt between the two would lose the cell at the next merge
            self._write_line(line)
            self._pending[astuple(cell)] = columns
            self.keys.add(astuple(cell))
        if time.monotonic() - self._merged_at > MERGE_SECONDS:
            self.merge()

    def _write_line(self, line: bytes) -> None:
        """Write a line, or on an error nothing of it: what follows must begin on a line of its own."""
        before = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.truncate(self.journal, before)
            raise ExperimentError(
                f"Rows must be written to {str(self.journal)!r}. Got: {error}. Make room and run again; what is "
                "finished is kept."
            ) from error

    def take(self, other: Path) -> int:
        """Add the cells of another file that are not here, or that failed here and not there; return how many."""
        _check_protocol(other, self.protocol)
        pending, _ = _read_journal(journal_of(other))  # first, as in `read_rows`
        n_there = _protocol_of(other).get("n_cells", 0)
        table = _merged(_read(other), pending)
        self.merge()
        here = _read(self.path)
        better = _failed_keys(here) - _failed_keys(table)
        keys = _keys(table)
        fresh = {key for key in keys if key not in self.keys or key in better}
        kept = _only(here, [key not in fresh for key in _keys(here)])
        rows = _only(table, [key in fresh for key in keys])
        n_planned = max(self.protocol.get("n_cells", 0), n_there, len(self.keys | fresh))
        self.protocol = {**self.protocol, "n_cells": n_planned}
        _write(self.path, _pyarrow().concat_tables([kept, rows]).combine_chunks(), self.protocol)
        self.keys |= fresh
        return len(fresh)

    def merge(self) -> None:
        """Move the journal into the Parquet file."""
        if self._pending:
            _write(self.path, _merged(_read(self.path), self._pending), self.protocol)
            os.truncate(self.journal, 0)
            self._pending = {}
        self._merged_at = time.monotonic()

    def close(self) -> None:
        """Merge and let go."""
        try:
            self.merge()
            self.journal.unlink(missing_ok=True)
        finally:  # if there is no room for the merge, the journal still has everything
            os.close(self._file)
            self._lock.release()

    def __enter__(self) -> RowsFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read_rows(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return all rows, those of a running or killed experiment included, and the protocol they follow."""
    _pyarrow()
    if not path.is_file():
        raise ExperimentError(f"Rows must be a Parquet file of comitia bench run. There is no {str(path)!r}.")
    # the journal first: a merge in between moves cells from it to the file, where they are then found twice, not never
    pending, _ = _read_journal(journal_of(path))
    protocol = _protocol_of(path)
    table = _merged(_read(path), pending)
    return table.to_pandas(), protocol


def merge_rows(into: Path, others: Iterable[Path]) -> int:
    """Add to a file the cells of others that it lacks or that failed in it; return how many.

    It is made if it is not there.
    """
    _pyarrow()
    others = list(others)
    for path in others:
        if not path.is_file():
            raise ExperimentError(f"Rows must be a Parquet file of comitia bench run. There is no {str(path)!r}.")
    with RowsFile(into, _protocol_of(into if into.exists() else others[0])) as file:
        return sum(file.take(path) for path in others)


def journal_of(path: Path) -> Path:
    """Return where the journal of a rows file lies."""
    return path.with_name(path.name + ".journal")


@cache
def versions_text() -> str:
    """Return the versions that results depend on, as one text."""
    packages = ("comitia", "numpy", "scipy", "scikit-learn", "lightgbm", "ConfigSpace")
    return ", ".join(f"{name} {version}" for name, version in versions(packages).items())


@cache
def machine() -> str:
    """Return what matters of the machine for seconds, as one text; no names of hosts or users."""
    import psutil

    gigabytes = psutil.virtual_memory().total / 2**30
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {gigabytes:.0f} GB"


# ---- journal --------------------------------------------------------------------------------------------------------

_Columns = dict[str, list[Any]]


def _columns(cell: Cell, rows: list[Mapping[str, Any]]) -> _Columns:
    """Turn rows into columns, with the cell's key and the facts of the machine; NaN is null in JSON."""
    facts = {**dict(zip(KEY, astuple(cell), strict=True)), "versions": versions_text(), "machine": machine()}
    facts["finished_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    full = [{**row, **facts} for row in rows]
    return {name: [_plain(row.get(name)) for row in full] for name in COLUMNS}


def _plain(value: Any) -> Any:
    return None if value is None or value != value else value


def _read_journal(path: Path) -> tuple[dict[tuple[Any, ...], _Columns], int]:
    """Return the cells of a journal and how many bytes of it are whole lines."""
    found: dict[tuple[Any, ...], _Columns] = {}
    n_good = 0
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    lines = data.split(b"\n")
    for position, line in enumerate(lines[:-1]):
        checksum, _, payload = line.partition(b" ")
        if checksum != b"%08x" % zlib.crc32(payload):
            if position == len(lines) - 2:
                break  # the last one: torn
            raise ExperimentError(
                f"The journal {str(path)!r} must be whole. Line {position + 1} is damaged. Remove it."
            )
        columns = json.loads(payload)
        found[tuple(columns[name][0] for name in KEY)] = columns
        n_good += len(line) + 1
    return found, n_good


# ---- Parquet --------------------------------------------------------------------------------------------------------


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ExperimentError(
            "Rows need pyarrow. It is not installed. Install it: pip install 'comitia[bench]'."
        ) from error
    return pyarrow


def _schema() -> Any:
    pa = _pyarrow()
    return pa.schema([(name, getattr(pa, {"double": "float64"}.get(kind, kind))()) for name, kind in COLUMNS.items()])


def _table(cells: Iterable[_Columns]) -> Any:
    pa = _pyarrow()
    joined: _Columns = {name: [] for name in COLUMNS}
    for columns in cells:
        for name, values in joined.items():
            # a journal that an older version left behind may lack a column
            values += columns.get(name, [None] * len(columns["iteration"]))
    return pa.table(joined, schema=_schema())


def _merged(table: Any, pending: Mapping[tuple[Any, ...], _Columns]) -> Any:
    """Return the rows of both; a cell that is in both counts as the journal has it."""
    if not pending:
        return table
    pa = _pyarrow()
    kept = _only(table, [key not in pending for key in _keys(table)])
    return pa.concat_tables([kept, _table(pending.values())]).combine_chunks()


def _only(table: Any, is_kept: list[bool]) -> Any:
    """Return some rows of a table."""
    pa = _pyarrow()
    return table.filter(pa.array(is_kept, type=pa.bool_()))


def _keys(table: Any) -> list[tuple[Any, ...]]:
    """Return the cell of each row."""
    return list(zip(*(table[name].to_pylist() for name in KEY), strict=True))


def _failed_keys(table: Any) -> set[tuple[Any, ...]]:
    """Return the cells that failed as a whole."""
    rows = zip(_keys(table), table["iteration"].to_pylist(), strict=True)
    return {key for key, iteration in rows if iteration == 0}


def _keys_of(path: Path) -> set[tuple[Any, ...]]:
    import pyarrow.parquet as pq

    return set(_keys(pq.read_table(path, columns=list(KEY))))


def _read(path: Path) -> Any:
    import pyarrow.parquet as pq

    table = pq.read_table(path).replace_schema_metadata(None)
    for name in set(COLUMNS) - set(table.column_names):  # a column that came later
        table = table.append_column(_schema().field(name), _pyarrow().nulls(len(table), _schema().field(name).type))
    return table.select(list(COLUMNS))


def _write(path: Path, table: Any, protocol: Mapping[str, Any]) -> None:
    import pyarrow.parquet as pq

    metadata = {"comitia.rows": str(VERSION), "comitia.protocol": json.dumps(protocol)}
    with replacing(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")


def _protocol_of(path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise ExperimentError(f"{str(path)!r} must be a Parquet file. It could not be read: {error}.") from error
    found = metadata.get(b"comitia.rows")
    if found is None:
        raise ExperimentError(f"{str(path)!r} must hold rows of comitia bench run. It is another Parquet file.")
    if found != str(VERSION).encode():
        raise ExperimentError(
            f"Rows must be of version {VERSION}. {str(path)!r} has version {found.decode()}. "
            "Read it with the comitia that wrote it, or run the experiment again into another file."
        )
    return json.loads(metadata[b"comitia.protocol"])  # type: ignore[no-any-return]


def _check_protocol(path: Path, protocol: Mapping[str, Any]) -> bool:
    """Refuse another protocol; tell whether also what is only shown is the same."""
    there = _protocol_of(path)
    here = json.loads(json.dumps(protocol))
    shown_only = ("title", "paper", "tables", "average_last", "n_cells")  # these do not change what a cell is
    differing = [key for key in here if key not in shown_only and there.get(key) != here[key]]
    if differing:
        key = differing[0]
        raise ExperimentError(
            f"Cells of one file must follow one protocol. {str(path)!r} was begun with {key} = {there.get(key)!r}, got "
            f"{here[key]!r} now. Use another --output, or the same experiment and scale."
        )
    return bool(there == here)


# ---- one writer -----------------------------------------------------------------------------------------------------


class _Lock:
    """Hold a file beside the rows for as long as the program lives; the system lets go if it is killed."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".lock")
        self.file = self.path.open("a+b")
        try:
            _hold(self.file)
        except OSError as error:
            self.file.close()
            raise ExperimentError(
                f"One experiment at a time may write a file. {str(path)!r} is held by another program. "
                "Wait until it ends, or use another --output."
            ) from error

    def release(self) -> None:
        """Let go. The file stays: removing it would let two programs hold two files of one name."""
        self.file.close()


def _hold(file: Any) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
