"""Tables from files."""

import io
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from comitia.errors import TableError
from comitia.tables.reading import read_table, split_target

TABLE = pd.DataFrame({"a": [1, 2], "odd; name": ["x, y", 'q"uote'], "ü": [0.5, None]})


def test_formats_give_the_same_table(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    TABLE.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    TABLE.to_csv(tmp_path / "semicolon.csv", index=False, sep=";")
    TABLE.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "latin.csv").write_bytes(TABLE.to_csv(index=False).encode("latin-1"))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + TABLE.to_csv(index=False).encode())
    for name in ("t.csv", "t.tsv", "semicolon.csv", "t.parquet", "latin.csv", "bom.csv"):
        pd.testing.assert_frame_equal(read_table(str(tmp_path / name)), TABLE, check_dtype=False)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": io.BytesIO(b"a,b\n1,2\n")}))
    assert read_table("-").to_dict("list") == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"a,b\n", "has none"),
        ("binary.csv", b"PAR1\x00\x01\x02" * 10, "binary"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3,4\n", "could not be read"),
        ("bad.parquet", b"nonsense", "Parquet"),
        ("bad.arff", b"nonsense", "@attribute"),
        ("none.arff", b"@relation r\n@attribute a numeric\n@data\n", "has none"),
        ("sparse.arff", b"@relation r\n@attribute a numeric\n@data\n{7 1}\n", "pairs"),
        ("table.xlsx", b"x", "Convert it"),
    ],
)
def test_files_that_are_no_tables(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_table(str(tmp_path / name))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(TableError, match="There is no"):
        read_table("no-such-file.csv")


@pytest.mark.parametrize(
    ("table", "message"), [(TABLE, "Did you mean 'a'"), (pd.DataFrame({"a;b;c": [1]}), "Is the delimiter right")]
)
def test_an_absent_target(table: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        split_target(table, "aa")
