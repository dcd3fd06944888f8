"""The Parquet file of an experiment's rows: its columns, its protocol, and how it is read, merged and written."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comitia.arrays import Json
from comitia.bench.files import replacing
from comitia.bench.plan.plan import Cell
from comitia.bench.rows.journal import Columns, Value
from comitia.bench.rows.row import COLUMNS, KEY
from comitia.errors import ExperimentError

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
"""Of the columns; files of another version are refused, not guessed at. A column may be added without a new one."""
SHOWN_ONLY = ("title", "paper", "tables", "average_last", "n_cells")
"""Parts of a protocol that do not change what a cell is."""


def check_pyarrow() -> None:
    """Refuse to begin where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ExperimentError(
            "Rows and pools are Parquet files, which need pyarrow. It is not installed. "
            "Install it: pip install 'comitia[bench]'."
        ) from error


def table_of(cells: Iterable[Columns]) -> pa.Table:
    """Return cells as a table."""
    import pyarrow as pa

    joined: Columns = {name: [] for name in COLUMNS}
    for columns in cells:
        nothing: list[Value] = [None] * len(columns["iteration"])
        for name, values in joined.items():
            values += columns.get(name, nothing)  # a journal of an older version may lack a column
    return pa.table(joined, schema=_schema())


def read_table(path: Path) -> pa.Table:
    """Read a file; a column that came later is empty in it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path).replace_schema_metadata(None)
    for column in _schema():
        if column.name not in table.column_names:
            table = table.append_column(column, pa.nulls(len(table), column.type))
    return table.select(list(COLUMNS))


def read_cells(path: Path) -> set[Cell]:
    """Return the cells of a file without reading the rest of it."""
    import pyarrow.parquet as pq

    return set(cells_of(pq.read_table(path, columns=list(KEY))))


def write_table(path: Path, table: pa.Table, protocol: Json) -> None:
    """Write a file in the place of the old one."""
    import pyarrow.parquet as pq

    metadata = {"comitia.rows": str(VERSION), "comitia.protocol": json.dumps(protocol)}
    with replacing(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")


def merged(table: pa.Table, cells: Mapping[Cell, Columns]) -> pa.Table:
    """Return the rows of both; a cell that is in both counts as it is in the journal."""
    return replaced(table, cells, table_of(cells.values())) if cells else table


def replaced(table: pa.Table, cells: Collection[Cell], by: pa.Table) -> pa.Table:
    """Return a table in which other rows stand for some cells."""
    import pyarrow as pa

    is_kept = np.array([cell not in cells for cell in cells_of(table)], dtype=bool)
    return pa.concat_tables([table.filter(is_kept), by]).combine_chunks()


def cells_of(table: pa.Table) -> list[Cell]:
    """Return the cell of each row."""
    return [Cell(*key) for key in zip(*(table[name].to_pylist() for name in KEY), strict=True)]


def failed_cells(table: pa.Table) -> set[Cell]:
    """Return the cells that failed as a whole."""
    rows = zip(cells_of(table), table["iteration"].to_pylist(), strict=True)
    return {cell for cell, iteration in rows if iteration == 0}


def read_protocol(path: Path) -> Json:
    """Return the protocol that the cells of a file follow; refuse what is no such file."""
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except FileNotFoundError as error:
        raise ExperimentError(
            f"Rows must be a Parquet file of comitia bench run. There is no {str(path)!r}."
        ) from error
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
    protocol: Json = json.loads(metadata[b"comitia.protocol"])
    return protocol


def check_protocol(path: Path, protocol: Json) -> bool:
    """Refuse another protocol; tell whether what is only shown is the same as well."""
    there, here = read_protocol(path), json.loads(json.dumps(protocol))
    for key in dict.fromkeys([*here, *there]):
        if key not in SHOWN_ONLY and there.get(key) != here.get(key):
            raise ExperimentError(
                f"Cells of one file must follow one protocol. {str(path)!r} was begun with {key} = "
                f"{there.get(key)!r}, got {here.get(key)!r} now. Use another --output, or the same experiment "
                "and scale."
            )
    return bool(there == here)


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
