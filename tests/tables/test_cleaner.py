"""From raw tables to numbers."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from comitia.errors import TableError
from comitia.tables.cleaner import MOST_LEVELS, TableCleaner


def clean(X: Any, Y: Any = None) -> Any:
    cleaner = TableCleaner().fit(X)
    return cleaner, cleaner.transform(X if Y is None else Y)


def kinds(**columns: Any) -> list[str]:
    cleaner = TableCleaner().fit(
        pd.DataFrame({**columns, "text": ["p", "q"] * (len(next(iter(columns.values()))) // 2)})
    )
    assert cleaner.kinds_ is not None
    return [kind.kind for kind in cleaner.kinds_[:-1]]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([1, 2, 3, 4], "number"),
        ([True, False, True, True], "number"),
        (["1", "2.5", " 3 ", "NA"], "number"),
        (["1", "2", "x", "3"], "category"),
        (["red", "green", None, "red"], "category"),
        (["2024-01-01", "2024-02-01", None, "2025-01-01"], "date"),
        (["01/02/2024", "13/02/2024", "14/02/2024", "15/02/2024"], "date"),
        (pd.to_datetime(["2024-01-01", "2024-02-01", "", "2025-01-01"]), "date"),
        (pd.to_datetime(["2024-01-01", "2024-02-01", "", "2025-01-01"], utc=True), "date"),
        (pd.to_timedelta([1, 2, 3, 4], unit="h"), "number"),
        (pd.Categorical(["a", "b", "a", "b"]), "category"),
        (pd.array([1, None, 3, 4], dtype="Int64"), "number"),
        (pd.array([True, None, True, False], dtype="boolean"), "number"),
        ([None, None, None, None], "nothing"),
        ([7, 7, 7, 7], "nothing"),
        (["same"] * 4, "nothing"),
        (["same", None, "same", None], "category"),
        ([{"a": 1}, {"a": 2}, {"a": 1}, {"a": 3}], "category"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_a_column_is(column: Any, kind: str) -> None:
    assert kinds(column=column) == [kind]


def test_dates_become_their_parts() -> None:
    table = pd.DataFrame({"when": ["2024-03-05 07:00", None], "x": ["a", "b"]})
    cleaner, matrix = clean(table)
    assert cleaner.kinds_[0].outputs == [f"when.{part}" for part in ("year", "month", "day", "weekday", "hour", "days")]
    assert matrix[0, :5].tolist() == [2024, 3, 5, 1, 7]
    assert np.isnan(matrix[1, :6]).all()


def test_categories_become_codes_and_unseen_ones_are_missing() -> None:
    table = pd.DataFrame({"c": ["b", "a", None, "c"], "n": [1.0, np.inf, np.nan, 2.0]})
    cleaner, matrix = clean(table)
    assert matrix[:, 0].tolist()[:2] == [1.0, 0.0]
    assert np.isnan(matrix[2, 0])
    assert np.isnan(matrix[1, 1])  # infinity is missing
    assert cleaner.columns_.codes == (0,)
    assert cleaner.columns_.n_levels == (3,)
    assert np.isnan(cleaner.transform(pd.DataFrame({"c": ["new"], "n": [1.0]}))[0, 0])


def test_many_different_texts_also_get_hashed_letters() -> None:
    texts = [f"street number {i}" for i in range(MOST_LEVELS + 1)]
    cleaner, matrix = clean(pd.DataFrame({"t": texts}))
    assert matrix.shape[1] > 1
    near, far = cleaner.transform(pd.DataFrame({"t": ["street number 5x", "zzz qqq"]}))[:, 1:]
    assert np.abs(near - matrix[5, 1:]).sum() < np.abs(far - matrix[5, 1:]).sum()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_frames_of_both_kinds_give_the_same(make: Any) -> None:
    data = {"a": [1.5, None, 3.0], "b": ["x", "y", None], "c": [True, False, True]}
    _, expected = clean(pd.DataFrame(data))
    _, found = clean(make(data))
    assert np.array_equal(found, expected, equal_nan=True)


def test_numbers_pass_through() -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert (clean(X)[1] == X).all()
    assert (clean(pd.DataFrame(X))[1] == X).all()
    assert (clean(X.tolist())[1] == X).all()
    assert clean(X.astype(np.float32))[1].dtype == np.float64


def test_sparse_stays_sparse() -> None:
    X = sparse.random(5, 4, density=0.5, format="coo", random_state=0)
    cleaner, matrix = clean(X)
    assert sparse.issparse(matrix)
    assert cleaner.columns_.is_sparse
    assert (cleaner.transform(X.toarray()) != matrix).nnz == 0
    with pytest.raises(TableError, match="3 features"):
        cleaner.transform(X.tocsr()[:, :3])


def test_a_numeric_frame_that_turns_into_text_is_reported() -> None:
    cleaner, _ = clean(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    with pytest.raises(TableError, match="'b' must hold numbers"):
        cleaner.transform(pd.DataFrame({"a": [1], "b": ["many"]}))
    assert cleaner.transform(pd.DataFrame({"b": ["4"], "a": [1]})).tolist() == [[1.0, 4.0]]


def test_names_that_are_no_texts() -> None:
    cleaner, _ = clean(pd.DataFrame({0: [1, 2], ("a", "b"): ["x", "y"]}))
    assert cleaner.names_ == ["0", "('a', 'b')"]


def test_parts_of_dates_are_those_of_pandas() -> None:
    """Before 1970, with fractions, in time zones that change their clocks, as nanoseconds, missing ones among them."""
    rng = np.random.default_rng(0)
    span = pd.to_timedelta(rng.integers(0, 3 * 10**9, 300), "s")
    here: Any = pd.Series(pd.Timestamp("1925-03-01 13:14:15.123456") + span)
    here[7] = pd.NaT
    kinds: dict[str, Any] = {
        "plain": here,
        "nanoseconds": here.astype("datetime64[ns]"),
        "zone": here.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
        "text": here.astype(str),
    }
    cleaner = TableCleaner().fit(pd.DataFrame(kinds))
    found = cleaner.transform(pd.DataFrame(kinds))
    for place, stamps in enumerate([kinds["plain"], kinds["nanoseconds"], kinds["zone"], kinds["plain"]]):
        since = (stamps - pd.Timestamp(0, tz=stamps.dt.tz)).dt.total_seconds() / 86400
        parts = [*(getattr(stamps.dt, name) for name in ("year", "month", "day", "day_of_week", "hour")), since]
        expected = np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])
        assert np.array_equal(found[:, 6 * place : 6 * place + 6], expected, equal_nan=True)


@pytest.mark.parametrize(
    "others", [(), (1,), (1, True, 1.0), (pd.Timestamp("2020-01-01"),)], ids=["texts", "1", "1s", "date"]
)
def test_many_strings_are_read_as_few_are(others: tuple[object, ...]) -> None:
    some = ["a", " b", "B ", "NA", "?", "", None, np.nan, pd.NaT, pd.NA, "null", "1", "2.5", "x y", *others]
    column = pd.Series(np.array([*some, None], dtype=object)[:-1])
    many = pd.concat([column] * 200, ignore_index=True)
    cleaner, table = clean(pd.DataFrame({"c": many}))
    few, small = clean(pd.DataFrame({"c": column}))
    assert cleaner.kinds_ == few.kinds_
    np.testing.assert_array_equal(table, np.tile(small, (200, 1)))
