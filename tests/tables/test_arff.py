"""ARFF: types, quotes, escapes, sparse rows; and what scipy and scikit-learn make of real files."""

import datetime
import gzip
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
import sklearn
from scipy.io import arff as scipys
from sklearn.externals import _arff as scikit_learns

from comitia.errors import TableError
from comitia.tables.arff import parse_arff
from comitia.tables.cleaner import TableCleaner
from comitia.tables.reading import read_table

HEADER = """% a comment
@relation 'r 1'
@attribute 'odd name' numeric
@ATTRIBUTE c {red, 'light blue', "d\\'q"}
@attribute code{1001,1002}
@attribute s string
@data
"""


def parse(rows: str, header: str = HEADER) -> pd.DataFrame:
    return parse_arff(header + rows, "it")


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(HEADER + "1,red,1001,x\n")
    assert read_table(str(tmp_path / "t.arff")).columns.tolist() == ["odd name", "c", "code", "s"]


def test_columns_have_the_types_of_the_header() -> None:
    table = parse("1.5, red, 1001, 'it, is'\n% note\n\n?, 'light blue', 1002, plain\n2,?,1001,?\n,red,1001,x")
    assert table["odd name"].dtype == np.float64
    assert table["odd name"].isna().tolist() == [False, True, False, True]
    assert table["c"].cat.categories.tolist() == ["red", "light blue", "d'q"]
    assert table["c"].isna().tolist() == [False, False, True, False]
    assert table["code"].tolist() == ["1001", "1002", "1001", "1001"]
    assert table["s"].tolist() == ["it, is", "plain", None, "x"]


def test_nominal_numbers_are_categories_for_the_learners() -> None:
    cleaner = TableCleaner().fit(parse("1,red,1001,x\n2,red,1002,y\n"))
    assert cleaner.kinds_ is not None
    assert [kind.kind for kind in cleaner.kinds_] == ["number", "nothing", "category", "category"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"double"', "double"),
        ("'single'", "single"),
        ("'a, b'", "a, b"),
        (r"'it\'s'", "it's"),
        (r'"a \"b\""', 'a "b"'),
        (r"'100\%'", "100%"),
        (r"'a\tb'", "a\tb"),
        ("'  kept  '", "  kept  "),
        ("  stripped  ", "stripped"),
        ("O'Brien", "O'Brien"),
        ("'tis", "'tis"),
        ("'?'", "?"),
        ("''", ""),
        ("ü", "ü"),
    ],
)
def test_quotes_and_escapes(written: str, value: str) -> None:
    for row in (f"1,red,1001,{written}", f"1,{written},1001,red"):  # at the end and in the middle of a row
        header = HEADER.replace("c {red, 'light blue', \"d\\'q\"}", "c string")
        assert value in parse(row, header).iloc[0].tolist()


def test_types_may_have_ranges_behind_them() -> None:
    assert parse("0.5\n", "@relation r\n@attribute a real[0.0, 1.0]\n@data\n")["a"].tolist() == [0.5]


def test_tabs_separate_too() -> None:
    assert parse("1\tred\t1001\t'a\tb'\n").iloc[0].tolist() == [1, "red", "1001", "a\tb"]


def test_sparse_rows_leave_out_zeros_and_first_values() -> None:
    table = parse("{0 1.5, 3 'x, y'}\n{}\n{1 'light blue',2 1002}\n{0 ?}\n")
    assert table["odd name"].fillna(-1).tolist() == [1.5, 0, 0, -1]
    assert table["c"].tolist() == ["red", "red", "light blue", "red"]
    assert table["code"].tolist() == ["1001", "1001", "1002", "1001"]
    assert table["s"].tolist() == ["x, y", None, None, None]


def test_dates_are_dates_where_their_format_is_known() -> None:
    header = """@relation r
@attribute a date
@attribute b DATE "dd.MM.yyyy HH:mm"
@attribute c date "yyyy Z"
@data
"""
    table = parse("2024-03-05T07:00:01,'05.03.2024 07:00','2024 UTC'\n?,?,?\n", header)
    assert table["a"].tolist()[0] == pd.Timestamp("2024-03-05 07:00:01")
    assert table["b"].tolist()[0] == pd.Timestamp("2024-03-05 07:00")
    assert table["c"].tolist() == ["2024 UTC", None]
    assert table.isna().iloc[1].all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,green,1001,x", "'green' is none of its values"),
        ("one,red,1001,x", "column 'odd name'"),
        ("1,red,1001", "must have 4 values"),
        ("1,red,1001,x,y", "must have 4 values"),
        ("{0 1, x}", "pairs of an index and a value"),
        ("{9 1}", "pairs of an index and a value"),
    ],
)
def test_rows_that_do_not_fit_the_header_are_refused(rows: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        parse(rows)


def test_columns_that_are_tables_are_refused() -> None:
    with pytest.raises(TableError, match="relational"):
        parse("1", "@relation r\n@attribute bag relational\n@attribute x numeric\n@end bag\n@data\n")


# ---- real files, read by others -------------------------------------------------------------------------------------

OF_SCIPY = (Path(scipy.__file__).parent / "io" / "arff" / "tests" / "data").glob("*.arff")
OF_OPENML = (Path(sklearn.__file__).parent / "datasets" / "tests" / "data" / "openml").glob("*/data*.gz")
"""Those that these packages test themselves with."""
MISTAKES = {"nodata.arff", "test2.arff", "test3.arff", "test8.arff", "test9.arff", "test10.arff"}
"""No rows, rows that do not fit the header, types that do not exist, time zones, tables in columns."""
FILES = sorted(path for path in (*OF_SCIPY, *OF_OPENML) if path.name not in MISTAKES)


def by_scipy(text: str) -> list[list[Any]]:
    data, _ = scipys.loadarff(io.StringIO(text))
    return [[v.decode() if isinstance(v, bytes) else v for v in data[name].tolist()] for name in data.dtype.names]


def by_scikit_learn(text: str) -> list[list[Any]]:
    return [list(column) for column in zip(*scikit_learns.loads(text)["data"], strict=True)]


def comparable(value: Any) -> Any:
    """Numbers as numbers, dates as dates, whatever is missing as None."""
    if value is None or value == "?" or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, datetime.date):
        return pd.Timestamp(value)
    try:
        return float(value)
    except ValueError:
        return value


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_real_files_are_read_as_others_read_them(path: Path) -> None:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    table = parse_arff(text, path.name)
    found = [[comparable(value) for value in table.iloc[:, i]] for i in range(table.shape[1])]
    n_readers = 0
    for reader in (by_scipy, by_scikit_learn):
        try:
            expected = reader(text)
        except Exception:  # each of them does without a part of the format
            continue
        n_readers += 1
        assert found == [[comparable(value) for value in column] for column in expected]
    assert n_readers
