"""From a user's raw table to one matrix of numbers.

Columns are cleaned once per study: nothing here learns from the target, so nothing leaks between folds. Numbers stay
numbers, booleans become 0 and 1, dates become their parts, strings become codes (and, where there are very many
different ones, counts of hashed letters as well, and of sentences counts of their words). Encoders that learn,
such as one-hot or target encoding, are fitted in each fold by the learners' own pipelines (`comitia.learners.default`),
which are told which columns are codes.

Numeric arrays, numeric frames and sparse matrices pass through without an inspection of each column.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.extensions import ExtensionDtype
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from comitia.arrays import AnyArray, Array, Table
from comitia.errors import TableError
from comitia.tables.precision import fits_single, single
from comitia.tables.texts import N_HASHED, coded_texts, hashed, known_texts
from comitia.tables.words import are_sentences, counted, vocabulary_of

Kind: TypeAlias = Literal["number", "date", "category", "text", "nothing"]
"""What a column is; "nothing" is constant or all missing, and left out."""
MOST_LEVELS = 100
"""Columns of strings with more different values than this also become counts of hashed letters."""
MOST_CELLS = 100_000
"""Cells of strings that are read at once."""
Matrix: TypeAlias = AnyArray | sparse.csr_matrix
DATE_PARTS = ("year", "month", "day", "weekday", "hour", "days")


@runtime_checkable
class PolarsFrame(Protocol):
    """A frame of polars, which comitia does not need to be installed."""

    columns: list[str]
    width: int

    def __getitem__(self, name: str) -> pd.Series: ...

    def to_pandas(self) -> pd.DataFrame: ...


@runtime_checkable
class ArrowTable(Protocol):
    """A table or a record batch of pyarrow, which comitia does not need to be installed."""

    column_names: list[str]
    num_rows: int

    def to_pandas(self) -> pd.DataFrame: ...


@dataclass(frozen=True)
class ColumnKind:
    """What one column of the user's table is, and what it becomes."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    """Words that are counted in a column of sentences."""

    @property
    def outputs(self) -> list[str]:
        """Names of the columns it becomes."""
        match self.kind:
            case "number" | "category":
                return [self.name]
            case "date":
                return [f"{self.name}.{part}" for part in DATE_PARTS]
            case "text":
                letters = [f"{self.name}.{i}" for i in range(N_HASHED)]
                return [self.name, *letters, *(f"{self.name}:{word}" for word in self.vocabulary)]
        return []

    @property
    def output_is_code(self) -> list[bool]:
        """Which of them are category codes: the first, of a category or a text."""
        return [i == 0 and self.kind in ("category", "text") for i in range(len(self.outputs))]


@dataclass(frozen=True)
class Columns:
    """What learners need to know about the cleaned table."""

    n_columns: int
    is_sparse: bool = False
    codes: tuple[int, ...] = ()
    """Positions of the columns that are category codes."""
    n_levels: tuple[int, ...] = field(default=())
    """Number of different codes of each of them."""
    words: tuple[tuple[int, ...], ...] = ()
    """For each column of sentences, the positions of its counts of words."""


class TableCleaner(BaseEstimator):  # type: ignore[misc]
    """Learn the types of a table's columns; turn this table and later ones into a matrix of numbers.

    Later tables are matched by column name if the first had names: extra columns are ignored, the order is free, and
    missing columns are an error. Categories that were not in the first table are treated as missing.

    Parameters
    ----------
    owner : str
        Whose table it is, for messages.
    """

    is_single_ = False
    """Whether numbers are in single precision; see `in_precision`."""

    def __init__(self, owner: str = "the model") -> None:
        self.owner = owner

    def fit(self, X: Table | ArrayLike) -> TableCleaner:
        """Learn the types."""
        self.is_single_ = False
        self.is_sparse_ = False
        self.names_: list[str] | None = None
        self.kinds_: list[ColumnKind] | None = None
        if isinstance(X, sparse.spmatrix | sparse.sparray):
            self.is_sparse_ = True
            self.n_features_in_ = int(X.shape[1])
            return self
        frame = as_frame(X)
        if frame is None:
            self.n_features_in_ = int(_as_numbers(X).shape[1])
            return self
        self.n_features_in_ = frame.shape[1]
        self.names_ = _checked_names(frame)
        if not all(_is_number(dtype) for dtype in frame.dtypes):
            self.kinds_ = [_kind_of(frame.iloc[:, i], name) for i, name in enumerate(self.names_)]
            if not any(kind.outputs for kind in self.kinds_):
                raise TableError("A table must have a column that varies. Got only constant or empty ones.")
        return self

    @property
    def columns_(self) -> Columns:
        if self.kinds_ is None:
            return Columns(self.n_features_in_, self.is_sparse_)
        is_code = [code for kind in self.kinds_ for code in kind.output_is_code]
        levels = [len(kind.levels) for kind in self.kinds_ for code in kind.output_is_code if code]
        codes = tuple(np.flatnonzero(is_code).tolist())
        return Columns(len(is_code), False, codes, tuple(levels), tuple(_places_of_words(self.kinds_)))

    def in_precision(self, table: Matrix) -> Matrix:
        """Return the cleaned first table in single precision, if it is large and loses nothing; and later ones, too."""
        if not self.is_sparse_ and fits_single(table):
            self.is_single_ = True
            return single(table)
        return table

    def transform(self, X: Table | ArrayLike) -> Matrix:
        """Return the table as a matrix of numbers, (n, p), with NaN for missing values; sparse stays sparse."""
        matrix = self._transformed(X)
        return single(matrix) if self.is_single_ else matrix

    def _transformed(self, X: Table | ArrayLike) -> Matrix:
        if isinstance(X, sparse.spmatrix | sparse.sparray):
            return self._sparse(X)
        frame = as_frame(X)
        if self.names_ is None or frame is None:
            return self._by_position(X, frame)
        frame = self._matched(frame)
        if self.kinds_ is None:
            return self._numeric(frame)
        return self._mixed(frame, self.kinds_)

    def _mixed(self, frame: pd.DataFrame, kinds: Sequence[ColumnKind]) -> Array:
        """Return the numbers of all columns; those alike are taken together, which matters for a table of one row."""
        dtypes = frame.dtypes.tolist()
        found: dict[int, Array] = {}
        plain = [i for i, kind in enumerate(kinds) if kind.kind == "number" and _is_number(dtypes[i])]
        numbers = _finite(frame.iloc[:, plain].to_numpy(dtype=np.float64, na_value=np.nan))
        found |= {i: numbers[:, [place]] for place, i in enumerate(plain)}
        strings = [i for i, kind in enumerate(kinds) if kind.kind in ("category", "text")]
        step = max(1, MOST_CELLS // max(len(frame), 1))
        for group in (strings[start : start + step] for start in range(0, len(strings), step)):
            values = frame.iloc[:, group].to_numpy(dtype=object)
            found |= {i: _coded(known_texts(values[:, place]), kinds[i]) for place, i in enumerate(group)}
        dates = [i for i, kind in enumerate(kinds) if kind.kind == "date" and isinstance(dtypes[i], np.dtype)]
        for dtype in {dtypes[i] for i in dates if dtypes[i].kind == "M"}:
            group = [i for i in dates if dtypes[i] == dtype]
            parts = _parts_of(frame.iloc[:, group].to_numpy())
            found |= {i: parts[:, place] for place, i in enumerate(group)}
        return np.column_stack(
            [found[i] if i in found else _clean(frame.iloc[:, i], kind) for i, kind in enumerate(kinds) if kind.outputs]
        )

    def _sparse(self, X: sparse.spmatrix) -> Matrix:
        if not self.is_sparse_:
            return self._by_position(X.toarray(), None)
        self._check_width(X.shape[1])
        return sparse.csr_matrix(X, dtype=np.float64)

    def _by_position(self, X: Table | ArrayLike, frame: pd.DataFrame | None) -> Matrix:
        if self.kinds_ is not None and frame is None:
            values = np.asarray(X, dtype=object)
            self._check_width(values.shape[1] if values.ndim == 2 else -1)
            return self._transformed(pd.DataFrame(values, columns=self.names_))
        matrix = _as_numbers(X if frame is None else frame.to_numpy())
        self._check_width(matrix.shape[1])
        return sparse.csr_matrix(matrix) if self.is_sparse_ else matrix

    def _check_width(self, n: int) -> None:
        if n != self.n_features_in_:
            raise TableError(
                f"X has {n} features, but {self.owner} is expecting {self.n_features_in_} features as input. "
                "Give it the columns it was fitted with."
            )

    def _matched(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame's columns in the order of the first table."""
        assert self.names_ is not None
        names = [str(name) for name in frame.columns]
        if names == self.names_:
            return frame
        positions = {name: i for i, name in enumerate(names)}
        if missing := [name for name in self.names_ if name not in positions]:
            raise TableError(
                f"The table must have the columns that the model was fitted with. Got one without {_listing(missing)}. "
                "Feature names must match those that were passed during fit; add the columns, empty if need be."
            )
        return frame.iloc[:, [positions[name] for name in self.names_]]

    def _numeric(self, frame: pd.DataFrame) -> Array:
        if all(_is_number(dtype) for dtype in frame.dtypes):
            return _finite(frame.to_numpy(dtype=np.float64, na_value=np.nan))
        assert self.names_ is not None
        return np.column_stack([_numbers(frame.iloc[:, i], name) for i, name in enumerate(self.names_)])


def _places_of_words(kinds: Sequence[ColumnKind]) -> Iterator[tuple[int, ...]]:
    """Yield, for each column of sentences, the positions of its counts of words among all outputs."""
    end = 0
    for kind in kinds:
        end += len(kind.outputs)
        if kind.vocabulary:
            yield tuple(range(end - len(kind.vocabulary), end))


def column_names(X: Table | ArrayLike) -> list[str] | None:
    """Return what scikit-learn calls feature names: the names of a frame's columns, if all are texts; else None."""
    names = list(X.columns) if isinstance(X, pd.DataFrame | PolarsFrame) else None
    if isinstance(X, ArrowTable):
        names = list(X.column_names)
    return None if names is None or not all(isinstance(name, str) for name in names) else names


def as_table(X: Table | ArrayLike) -> Table:
    """Return what has a shape and rows that can be taken; frames of polars and pyarrow as those of pandas."""
    if isinstance(X, sparse.spmatrix | sparse.sparray):
        return X.tocsr()
    frame = as_frame(X) if isinstance(X, PolarsFrame | ArrowTable) else None
    if frame is not None:
        return frame
    table: Table = X if hasattr(X, "shape") else np.asarray(X)
    return table


def as_frame(X: Table | ArrayLike) -> pd.DataFrame | None:
    """Return a pandas frame for frames and for arrays with more than numbers in them; None for plain numbers."""
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, PolarsFrame):
        return pd.DataFrame({name: X[name].to_list() for name in X.columns}) if X.width else X.to_pandas()
    if isinstance(X, ArrowTable):
        return X.to_pandas()
    values = np.asarray(X)
    if values.dtype.kind in "OUSM" and values.ndim == 2:
        frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])]).infer_objects()
        return None if all(_is_number(dtype) for dtype in frame.dtypes) else frame
    return None


def _as_numbers(X: Table | ArrayLike) -> Array:
    """Return an array of numbers; refuse others with scikit-learn's own messages."""
    matrix = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator="comitia")
    return _finite(matrix)


def _finite(matrix: Array) -> Array:
    """Treat infinity as missing: no learner accepts it."""
    is_bad = np.isinf(matrix)
    return np.where(is_bad, np.nan, matrix) if is_bad.any() else matrix


def _checked_names(frame: pd.DataFrame) -> list[str]:
    if not frame.shape[1]:
        raise TableError(
            "A table must have at least one column. Got none: 0 feature(s) while a minimum of 1 is required."
        )
    if not len(frame):
        raise TableError("A table must have at least one row. Got none: 0 sample(s) while a minimum of 1 is required.")
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []:
        raise TableError(f"Columns must have different names. Got {_listing(twice)} more than once. Rename them.")
    return names


def _is_number(dtype: np.dtype | ExtensionDtype) -> bool:
    return bool(pd.api.types.is_numeric_dtype(dtype)) and not pd.api.types.is_complex_dtype(dtype)


def _kind_of(column: pd.Series, name: str) -> ColumnKind:
    """Decide what a column is by looking at all of it."""
    if _is_number(column.dtype):
        values = _finite(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return ColumnKind(name, "number" if _varies(values) else "nothing")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return ColumnKind(name, "date" if column.nunique() > 1 else "nothing")
    if column.dtype.kind == "m":
        return ColumnKind(name, "number")
    texts = _texts(column)
    known = texts.dropna()
    if known.nunique() < 2 and (known.nunique() == 0 or not texts.isna().any()):
        return ColumnKind(name, "nothing")
    if not isinstance(column.dtype, pd.CategoricalDtype):
        if pd.to_numeric(pd.Series(known.unique()), errors="coerce").notna().all():
            return ColumnKind(name, "number")
        if _dates(known) is not None:
            return ColumnKind(name, "date")
    levels = tuple(sorted(known.unique().tolist()))
    if len(levels) <= MOST_LEVELS:
        return ColumnKind(name, "category", levels)
    return ColumnKind(name, "text", levels, vocabulary_of(known.tolist()) if are_sentences(known.tolist()) else ())


def _varies(values: Array) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and (bool((known != known[0]).any()) or len(known) < len(values))


def _clean(column: pd.Series, kind: ColumnKind) -> Array:
    """Return the numbers that a column of numbers or dates becomes, (n, n_outputs)."""
    return _date_parts(column, kind.name) if kind.kind == "date" else _numbers(column, kind.name)[:, None]


def _coded(texts: Sequence[str | None], kind: ColumnKind) -> Array:
    """Return the numbers that a column of strings becomes, (n, n_outputs)."""
    codes = coded_texts(texts, kind.levels)[:, None]
    if kind.kind == "category":
        return codes
    parts = [codes, hashed(texts), *([counted(texts, kind.vocabulary)] if kind.vocabulary else [])]
    return np.column_stack(parts)


def _numbers(column: pd.Series, name: str) -> Array:
    if _is_number(column.dtype):
        return _finite(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if column.dtype.kind == "m":
        spans = pd.TimedeltaIndex(column.astype(object))  # also of pyarrow's types
        return np.asarray(spans.total_seconds(), dtype=np.float64)
    texts = _texts(column)
    numbers = pd.to_numeric(texts, errors="coerce")
    if (bad := numbers.isna() & texts.notna()).any():
        raise TableError(
            f"The column {name!r} must hold numbers, as it did when the model was fitted. Got {texts[bad].iloc[0]!r} "
            f"and {int(bad.sum()) - 1} more that are not. Clean the column, or fit again with it as it is now."
        )
    return _finite(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


def _texts(column: pd.Series) -> pd.Series:
    """Return a column of anything as stripped strings, missing ones as missing."""
    known = known_texts(column.astype(object).to_numpy(dtype=object))
    return pd.Series(known, index=column.index, dtype=object)


DATE_LIKE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}-\d{2}")


def _dates(known: pd.Series) -> pd.Series | None:
    """Parse strings as dates; None if they are not all dates. Plain numbers are not."""
    if not known.head(20).map(lambda text: bool(DATE_LIKE.search(text))).all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # formats that differ from row to row
        for form in (None, "mixed"):
            parsed = pd.to_datetime(known, errors="coerce", utc=True, format=form)
            if parsed.notna().all():
                return parsed
    return None


def _date_parts(column: pd.Series, name: str) -> Array:
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = _texts(column)
        known = texts.dropna()
        parsed = _dates(known) if len(known) else pd.Series(dtype="datetime64[ns, UTC]")
        if parsed is None:
            raise TableError(
                f"The column {name!r} must hold dates, as it did when the model was fitted. Got {known.iloc[0]!r} and "
                "others that are not all dates. Clean the column, or fit again with it as it is now."
            )
        column = parsed.reindex(texts.index)
    if isinstance(column.dtype, pd.ArrowDtype):  # whose arithmetic refuses nanoseconds
        column = pd.Series(pd.DatetimeIndex(column.astype(object)))
    # years, months, ... are those of the clock there; the days since 1970 count the same everywhere
    there = column if column.dt.tz is None else column.dt.tz_localize(None)
    here = column if column.dt.tz is None else column.dt.tz_convert(None)
    return np.column_stack([_parts_of(there.to_numpy())[:, :-1], _parts_of(here.to_numpy())[:, -1]])


def _parts_of(times: AnyArray) -> Array:
    """Return the parts of dates, and days since 1970 with their fraction; NaN for missing: (..., ) -> (..., 6)."""
    days, months, years = (times.astype(f"M8[{unit}]") for unit in "DMY")
    since = pd.TimedeltaIndex((times - np.datetime64(0, "D").astype(times.dtype)).ravel())
    numbers = [
        years.astype(np.int64) + 1970,
        months.astype(np.int64) - years.astype("M8[M]").astype(np.int64) + 1,
        (days - months.astype("M8[D]")).astype(np.int64) + 1,
        (days.astype(np.int64) + 3) % 7,  # 1970 began on a Thursday
        (times - days).astype("m8[h]").astype(np.int64),
        np.reshape(since.total_seconds(), times.shape) / 86400,
    ]
    parts = np.stack([np.asarray(part, dtype=np.float64) for part in numbers], axis=-1)
    parts[np.isnat(times)] = np.nan
    return parts


def _listing(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name if len(name) <= 40 else name[:37] + "...") for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
