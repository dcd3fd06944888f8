"""When a table may be held in single precision."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from comitia.tables import precision
from comitia.tables.cleaner import TableCleaner
from comitia.tables.precision import fits_single, single

N = 30_000
RNG = np.random.default_rng(0)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every table count as large."""
    monkeypatch.setattr(precision, "SINGLE_FROM", 1)


def with_gaps(column: Any) -> Any:
    return np.where(np.arange(N) % 7 == 0, np.nan, column)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (RNG.normal(size=N), True),
        (RNG.lognormal(0, 8, size=N), True),
        (1e6 + RNG.integers(0, 2000, N) / 16, True),
        (RNG.integers(0, 2**24, N), True),
        (2.0**24 + np.arange(N), False),
        (2.0 ** np.arange(N).clip(0, 120), True),
        (1.7e9 + RNG.random(N) * 3e7, False),
        (19_000 + RNG.integers(0, 3000, N), True),
        (19_000 + RNG.random(N), False),
        (1e12 * RNG.choice([-1, 1], N) + RNG.normal(size=N), False),
        (np.full(N, np.nan), True),
        (1e300 * RNG.normal(size=N), False),
        (1e-60 * RNG.normal(size=N), False),
    ],
    ids=[
        "measurements",
        "orders of magnitude",
        "offsets",
        "whole numbers",
        "long identifiers",
        "powers",
        "seconds",
        "days",
        "parts of days",
        "two far places",
        "nothing",
        "too large",
        "too small",
    ],
)
def test_a_column_fits_if_its_values_stay_apart(column: Any, expected: bool) -> None:
    numbers = np.asarray(column, dtype=np.float64)
    for some in (numbers, with_gaps(numbers)):
        assert fits_single(some[:, None]) is expected
        assert fits_single(np.column_stack([RNG.normal(size=N), some])) is expected


def test_small_tables_stay_as_they_are() -> None:
    assert not fits_single(np.zeros((1000, 100)))
    assert fits_single(np.zeros((40_000, 100)))


def test_what_is_beyond_its_range_is_missing() -> None:
    assert np.isnan(single(np.array([[1e300, 1.0]]))).tolist() == [[True, False]]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("mixed", [True, False])
def test_later_tables_are_rounded_as_the_first_one_was(mixed: bool) -> None:
    X = pd.DataFrame({"x": RNG.normal(size=50), "y": RNG.normal(size=50)})
    if mixed:
        X["z"] = ["a", "b"] * 25
    cleaner = TableCleaner().fit(X)
    table = cleaner.in_precision(cleaner.transform(X))
    assert table.dtype == np.float32
    later = cleaner.transform(X[:10])
    assert later.dtype == np.float32
    assert (later == table[:10]).all()
    assert cleaner.fit(X).transform(X).dtype == np.float64


@pytest.mark.usefixtures("large")
def test_a_table_that_would_lose_something_stays_in_double_precision() -> None:
    X = np.column_stack([RNG.normal(size=50), 2.0**24 + np.arange(50)])
    cleaner = TableCleaner().fit(X)
    assert cleaner.in_precision(cleaner.transform(X)).dtype == np.float64
    assert cleaner.transform(X).dtype == np.float64
