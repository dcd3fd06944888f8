"""Read a table from a file: CSV, TSV, Parquet, ARFF, or CSV from standard input."""

import csv
import io
import re
import sys
from pathlib import Path

import pandas as pd

from comitia.errors import TableError, UnknownName
from comitia.tables.arff import parse_arff

DELIMITERS = ",;\t|"


def read_table(source: str, *, delimiter: str | None = None) -> pd.DataFrame:
    """Read a table.

    Parameters
    ----------
    source : str
        A path whose ending says the format, or "-" for CSV on standard input.
    delimiter : str, optional
        What separates the columns of a CSV; detected if not given.
    """
    if source == "-":
        return _from_text(sys.stdin.buffer.read(), "standard input", delimiter)
    path = Path(source)
    if not path.is_file():
        raise TableError(f"A table must be a file. There is no {source!r}.")
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq"):
        return _from_parquet(path)
    if ending == ".arff":
        return parse_arff(path.read_text(encoding="utf-8", errors="replace"), repr(source))
    if ending in (".csv", ".tsv", ".txt", ".data", ""):
        return _from_text(path.read_bytes(), repr(source), delimiter or ("\t" if ending == ".tsv" else None))
    raise TableError(f"A table must be .csv, .tsv, .parquet or .arff. Got {source!r}. Convert it first.")


def split_target(table: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the table without the target column, and that column."""
    if target not in table.columns:
        hint = " Is the delimiter right? See --delimiter." if table.shape[1] == 1 else ""
        error = UnknownName("target column", target, [str(name) for name in table.columns])
        raise TableError(f"{error}{hint}")
    return table.drop(columns=target), table[target]


def _from_text(data: bytes, name: str, delimiter: str | None) -> pd.DataFrame:
    if not data.strip():
        raise TableError(f"A table must have a header and rows. {name} is empty.")
    if b"\x00" in data[:100_000]:
        raise TableError(f"A CSV must be text. {name} is a binary file. Is it a Parquet file? Then name it so.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    try:
        table = pd.read_csv(io.StringIO(text), sep=delimiter or _delimiter_of(text), skipinitialspace=True)
    except (ValueError, csv.Error) as error:  # pandas' parser errors are ValueErrors
        raise TableError(f"{name} must be a table. It could not be read: {error}. Check its delimiter.") from error
    if not len(table):
        raise TableError(f"A table must have rows below its header. {name} has none.")
    return table


def _delimiter_of(text: str) -> str:
    """Return the delimiter that occurs most in the header, quotes left out; a comma if none does."""
    header = re.sub(r'"[^"]*"', "", text.split("\n", 1)[0])
    counts = {delimiter: header.count(delimiter) for delimiter in DELIMITERS}
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] else ","


def _from_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise TableError("Reading Parquet needs pyarrow. Install it: pip install 'comitia[parquet]'.") from error
    except Exception as error:  # pyarrow's own errors
        raise TableError(f"{str(path)!r} must be a Parquet file. It could not be read: {error}") from error
