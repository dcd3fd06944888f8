"""What is said of a table: true numbers, and warnings where there is something to look at, not elsewhere."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from comitia.tables.survey import Judged, survey

N = 400
CLASSES = np.array(["no", "yes"])


def table(**more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], N).astype(object)
    town[:40] = None
    return pd.DataFrame({"age": rng.normal(size=N), "town": town, "day": pd.date_range("2020", periods=N), **more})


def target() -> Any:
    return (np.random.default_rng(1).random(N) < 0.4).astype(np.intp)


def folds(*, in_order: bool = False) -> Judged:
    order = np.arange(N) if in_order else np.random.default_rng(2).permutation(N)
    return Judged(np.arange(N), order * 5 // N)


def kinds(X: Any, y: Any = None, judged: Judged | None = None) -> list[str]:
    found = survey(X, target() if y is None else y, CLASSES, judged or folds(), None)
    return [warning["kind"] for warning in found["warnings"]]


def test_columns_are_described() -> None:
    found = survey(table(), target(), CLASSES, folds(), ["age", "town", "day"])
    age, town, day = found["columns"]
    assert (found["n_rows"], found["n_columns"], found["duplicates"]) == (N, 3, 0)
    assert (age["kind"], town["kind"], day["kind"]) == ("number", "category", "date")
    assert town["missing"] == pytest.approx(0.1)
    assert town["distinct"] == 3
    assert found["target"] == {"kind": "classes", "labels": ["no", "yes"], "counts": np.bincount(target()).tolist()}


def test_an_ordinary_table_has_no_warnings() -> None:
    assert kinds(table()) == []


def test_a_column_that_gives_the_target_away_is_named() -> None:
    found = survey(table(**{"<b>paid</b>": 3.0 * target()}), target(), CLASSES, folds(), None)
    [warning] = found["warnings"]
    assert warning["kind"] == "leak"
    assert "'<b>paid</b>'" in warning["text"]
    assert kinds(table(paid=np.where(target(), "late", "early"))) == ["leak"]
    numbers = np.random.default_rng(3).normal(size=N)
    found = survey(table(copy=2 * numbers), numbers, None, folds(), None)
    assert [column["alone"] > 0.9 for column in found["columns"]] == [False, False, False, True]


def test_copies_constants_identifiers_and_tiny_classes_are_named() -> None:
    assert kinds(table(one=1, name=[f"row {i}" for i in range(N)])) == ["constant", "identifier"]
    X, y = table(), target()
    X.iloc[100:110] = X.iloc[100]
    y[100:110] = 0
    assert kinds(X, y) == ["duplicates"]
    y[105] = 1
    assert kinds(X, y) == ["duplicates", "conflicting"]
    few = np.zeros(N, dtype=np.intp)
    few[:4] = 1
    assert kinds(table(), few) == ["tiny class"]


def test_folds_that_differ_are_named() -> None:
    found = survey(table(), target(), CLASSES, folds(in_order=True), None)
    assert [one["column"] for one in found["drift"]] == ["day", "town"]  # towns are missing in the first rows alone
    age = table()[["age"]]
    assert kinds(age, judged=folds(in_order=True)) == []
    drifting = age.assign(year=np.arange(N) // 100 + np.random.default_rng(4).normal(size=N))
    assert kinds(drifting, judged=folds(in_order=True)) == ["drift"]
    assert kinds(drifting) == []
    seasons = age.assign(season=np.repeat(["w", "s", "u", "f"], N // 4))
    assert kinds(seasons, judged=folds(in_order=True)) == ["drift"]
    assert kinds(age, np.sort(target()), folds(in_order=True)) == ["drift"]


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(N, 3)),
        sparse.random(N, 5, density=0.2, random_state=0, format="csr"),
        pd.DataFrame({"a": pd.array([1, None] * (N // 2), dtype="Int64"), "b": [True, False] * (N // 2)}),
        pd.DataFrame({"mixed": [1, "one", None, 2.5] * (N // 4), "nothing": np.full(N, np.nan)}),
    ],
    ids=["array", "sparse", "nullable", "mixed"],
)
def test_every_kind_of_table_is_described(X: Any) -> None:
    found = survey(X, target(), CLASSES, folds(), None)
    assert len(found["columns"]) == X.shape[1]
