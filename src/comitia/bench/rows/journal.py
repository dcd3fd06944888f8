"""Beside the Parquet file, which cannot be appended to: finished cells, one line with a checksum each, and a lock."""

import json
import os
import zlib
from pathlib import Path
from typing import BinaryIO

from comitia.bench.plan.plan import Cell
from comitia.bench.rows.row import KEY
from comitia.errors import ExperimentError

Value = str | int | float | None
Columns = dict[str, list[Value]]
"""The rows of one cell, column by column."""


class Journal:
    """A journal open for appending.

    Each line is written in one piece. A line that a kill tore is dropped when the journal is opened again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells, n_good = _read(path)
        if path.exists():
            os.truncate(path, n_good)
        binary = os.O_BINARY if os.name == "nt" else 0  # type: ignore[attr-defined]
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o644)

    def append(self, cell: Cell, columns: Columns) -> None:
        """Write a line, or on an error nothing of it: what follows must begin on a line of its own."""
        payload = json.dumps(columns, separators=(",", ":")).encode()
        line = b"%08x %s\n" % (zlib.crc32(payload), payload)
        before = os.fstat(self._file).st_size
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.truncate(self.path, before)
            raise ExperimentError(
                f"Rows must be written to {str(self.path)!r}. Got: {error}. Make room and run again; what is "
                "finished is kept."
            ) from error
        self.cells[cell] = columns

    def clear(self) -> None:
        """Forget all cells: they are in the Parquet file now."""
        os.truncate(self.path, 0)
        self.cells = {}

    def close(self) -> None:
        """Let go of the file, which goes if it is empty."""
        os.close(self._file)
        if not self.cells:
            self.path.unlink(missing_ok=True)


class Lock:
    """Hold a file beside the rows for as long as the program lives; the system lets go if it is killed."""

    def __init__(self, path: Path) -> None:
        self.file = path.with_name(path.name + ".lock").open("a+b")
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


def _hold(file: BinaryIO) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def journal_of(path: Path) -> Path:
    """Return where the journal of a rows file lies."""
    return path.with_name(path.name + ".journal")


def read_journal(path: Path) -> dict[Cell, Columns]:
    """Return the cells of the journal of a rows file, also while another program writes it."""
    return _read(journal_of(path))[0]


def _read(path: Path) -> tuple[dict[Cell, Columns], int]:
    """Return the cells of a journal and how many bytes of it are whole lines."""
    found: dict[Cell, Columns] = {}
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
                f"The journal {str(path)!r} must be whole. Line {position + 1} is damaged. Remove the line."
            )
        columns = json.loads(payload)
        found[Cell(*(columns[name][0] for name in KEY))] = columns
        n_good += len(line) + 1
    return found, n_good
