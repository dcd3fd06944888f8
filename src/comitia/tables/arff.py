"""Read ARFF, WEKA's format: a header with the type of each column, and rows that are dense or sparse.

Nominal columns become categories, also where their values are numbers; numeric ones numbers; strings texts; dates
become dates, or texts where their format has parts that are not known here. `?` is missing. Columns that hold tables
(`relational`) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from comitia.errors import TableError

Kind = Literal["numeric", "nominal", "string", "date"]
Cell = str | None
"""A value as it is written, without its quotes; None if missing."""

QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
VALUE = re.compile(rf"\s*(?:{QUOTED}|([^,\t]*?))\s*(,|\t|$)")
PAIR = re.compile(rf"\s*(\d+)\s+(?:{QUOTED}|([^,]*?))\s*(?:,|$)")
ATTRIBUTE = re.compile(rf"@attribute\s+(?:{QUOTED}|([^\s{{]+))\s*(.*)", re.IGNORECASE)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
DATE_PARTS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "'T'": "T"}
"""Java's names of the parts of a date, and Python's."""


@dataclass(frozen=True)
class Attribute:
    """One column of the header."""

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    """Of a nominal one, in the order of the header."""
    date_format: str = "yyyy-MM-dd'T'HH:mm:ss"

    @property
    def default(self) -> Cell:
        """What a sparse row means by leaving it out: 0, or the first value."""
        return {"numeric": "0", "nominal": self.values[0] if self.values else None}.get(self.kind)

    def column(self, cells: Sequence[Cell]) -> pd.Series:
        """Return the column with its type."""
        texts = pd.Series(list(cells), dtype=object)
        match self.kind:
            case "numeric":
                return pd.to_numeric(texts.where(texts != "", None))
            case "nominal":
                if unknown := set(cells) - {None, *self.values}:
                    raise ValueError(f"{min(map(str, unknown))!r} is none of its values")
                return pd.Series(pd.Categorical(texts, categories=list(self.values)))
            case "date":
                return self._dates(texts)
        return texts

    def _dates(self, texts: pd.Series) -> pd.Series:
        names = re.compile("|".join(DATE_PARTS))
        form = names.sub(lambda found: DATE_PARTS[found[0]], self.date_format)
        try:
            return pd.to_datetime(texts, format=form)
        except ValueError:  # time zones, milliseconds and the like
            return texts


def parse_arff(text: str, name: str) -> pd.DataFrame:
    """Return the table of an ARFF file; `name` is for messages."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    data = next((i for i, line in enumerate(lines) if line.lower().startswith("@data")), None)
    header = [line for line in lines[:data] if line.lower().startswith("@attribute")]
    if data is None or not header:
        raise TableError(f"{name} must be an ARFF file with @attribute and @data. Got none.")
    attributes = [_attribute(line, name) for line in header]
    rows = lines[data + 1 :]
    if not rows:
        raise TableError(f"A table must have rows. {name} has none after @data.")
    cells = [_sparse(row, attributes, name) if row.startswith("{") else _dense(row) for row in rows]
    if bad := next((row for row, found in zip(rows, cells, strict=True) if len(found) != len(attributes)), None):
        raise TableError(f"Rows of {name} must have {len(attributes)} values. Got {bad[:60]!r}. Check its quotes.")
    columns = {}
    for i, (attribute, column) in enumerate(zip(attributes, zip(*cells, strict=True), strict=True)):
        try:
            columns[i] = attribute.column(column)
        except ValueError as error:
            raise TableError(f"{name} could not be read: column {attribute.name!r}, {error}.") from error
    table = pd.DataFrame(columns)
    table.columns = pd.Index([attribute.name for attribute in attributes])
    return table


def _attribute(line: str, name: str) -> Attribute:
    found = ATTRIBUTE.match(line)
    if found is None:
        raise TableError(f"{name} must have a name and a type after each @attribute. Got {line[:60]!r}.")
    column, kind = _unquoted(*found.groups()[:3]) or "", found[4].strip()
    if kind.startswith("{"):
        values = _dense(kind.rstrip().removeprefix("{").removesuffix("}"), may_be_missing=False)
        return Attribute(column, "nominal", tuple(dict.fromkeys(value or "" for value in values)))
    word = re.split(r"[^A-Za-z]", kind, maxsplit=1)[0]  # KEEL writes real[0,1]
    match word.lower():
        case "numeric" | "real" | "integer":
            return Attribute(column, "numeric")
        case "string":
            return Attribute(column, "string")
        case "date":
            form = kind[len(word) :].strip().strip("\"'")
            return Attribute(column, "date", date_format=form) if form else Attribute(column, "date")
    raise TableError(
        f"Columns of {name} must be numeric, nominal, strings or dates. Got {column!r}, which is {kind[:40]!r}. "
        "Leave that column out."
    )


def _dense(row: str, *, may_be_missing: bool = True) -> list[Cell]:
    """Return the values of a row."""
    if (quickly := _plain(row, may_be_missing)) is not None:
        return quickly
    cells: list[Cell] = []
    position, mark = 0, ","
    while mark:
        found = VALUE.match(row, position)
        assert found is not None  # what is not quoted may be anything
        *value, mark = found.groups()
        cells.append(_unquoted(*value, may_be_missing=may_be_missing))
        position = found.end()
    return cells


def _plain(row: str, may_be_missing: bool) -> list[Cell] | None:
    """Return the values of a row without escapes and without commas in quotes, as most are; None for others."""
    if "\\" in row or "\t" in row:
        return None
    cells: list[Cell] = []
    for written in row.split(","):
        cell = written.strip()
        if cell[:1] in ("'", '"'):
            if len(cell) < 2 or cell.find(cell[0], 1) != len(cell) - 1:
                return None
            cells.append(cell[1:-1])
        else:
            cells.append(None if may_be_missing and cell == "?" else cell)
    return cells


def _sparse(row: str, attributes: Sequence[Attribute], name: str) -> list[Cell]:
    """Return the values of a row of pairs "index value"; what it leaves out is 0, or the first nominal value."""
    cells = [attribute.default for attribute in attributes]
    inside = row.strip().removeprefix("{").removesuffix("}").strip()
    position = 0
    while position < len(inside):
        found = PAIR.match(inside, position)
        if found is None or int(found[1]) >= len(cells):
            raise TableError(f"Sparse rows of {name} must be pairs of an index and a value. Got {row[:60]!r}.")
        cells[int(found[1])] = _unquoted(*found.groups()[1:4])
        position = found.end()
    return cells


def _unquoted(single: Cell, double: Cell, bare: Cell, *, may_be_missing: bool = True) -> Cell:
    """Return a value without quotes and escapes, by how it was written; a bare `?` is missing."""
    if bare == "?" and may_be_missing:
        return None
    text = next((text for text in (single, double, bare) if text is not None), "")
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text)
