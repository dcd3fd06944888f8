"""The contract of layouts: whatever an experiment gave, a layout makes whole tables of it, or none."""

import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd
import pytest

from comitia.arrays import Json
from comitia.bench.plan.plan import Cell
from comitia.bench.report.layouts.comparison import comparison
from comitia.bench.report.layouts.registry import LAYOUTS, Layout
from comitia.bench.report.results import Results
from comitia.bench.report.writers import html_table, latex, markdown
from comitia.bench.rows.row import COLUMNS, Row

PROTOCOL: Json = {"name": "e", "budget": {"n_trials": 2}, "average_last": 1}
ALL: dict[str, Layout] = {**LAYOUTS, "comparison": comparison}
Loss = Callable[[int, int, int], float | None]
"""Test loss of a problem, a method and a repetition; None where the cell failed."""


def draw(problem: int, method: int, repetition: int) -> float:
    return float(np.random.default_rng((problem, method, repetition)).uniform(0.1, 0.4))


def results_of(
    n_problems: int,
    n_methods: int,
    n_repetitions: int,
    test_loss: Loss = draw,
    *,
    loss: str = "zero-one",
    validations: tuple[str, ...] = ("hold-out",),
    dataset: Callable[[int], str | None] = lambda problem: f"set_{problem}",
) -> Results:
    rows = []
    for validation in validations:
        for p in range(n_problems):
            for m in range(n_methods):
                for r in range(n_repetitions):
                    cell = Cell(f"set_{p}", "svm & co", validation, ["rs", "gp-r", "mine_1", "50 %"][m], r)
                    value = test_loss(p, m, r)
                    row = Row.failed("no <luck>") if value is None else row_of(value, loss, dataset(p), 2 + p)
                    rows.append({**asdict(cell), **asdict(row)})
    return Results(pd.DataFrame(rows).reindex(columns=list(COLUMNS)), PROTOCOL)


def row_of(value: float, loss: str, dataset: str | None, n_classes: int) -> Row:
    is_rate = loss == "zero-one"
    return Row(
        iteration=2,
        loss=loss,
        validation_loss=value,
        test_loss=value,
        test_precision=1 - value if is_rate else np.nan,
        test_recall=1 - value if is_rate else np.nan,
        test_log_loss=2 * value if is_rate else np.nan,
        train_seconds=1.0,
        optimizer_seconds=0.1,
        n_members=1,
        n_rows=100,
        n_classes=n_classes if is_rate else 0,
        dataset=dataset,
    )


RESULTS: dict[str, Callable[[], Results]] = {
    "many": lambda: results_of(6, 4, 6, validations=("hold-out", "5-fold")),
    "one method": lambda: results_of(3, 1, 2),
    "two methods": lambda: results_of(3, 2, 2),
    "one dataset": lambda: results_of(1, 3, 2),
    "one dataset, one repetition": lambda: results_of(1, 2, 1),
    "ties everywhere": lambda: results_of(4, 3, 6, lambda p, m, r: 0.25),
    "no errors at all": lambda: results_of(4, 3, 2, lambda p, m, r: 0.0),
    "cells that failed": lambda: results_of(4, 3, 3, lambda p, m, r: None if (p, m) == (0, 1) else draw(p, m, r)),
    "a method that failed everywhere": lambda: results_of(3, 3, 2, lambda p, m, r: None if m == 2 else draw(p, m, r)),
    "nothing in common": lambda: results_of(2, 2, 2, lambda p, m, r: draw(p, m, r) if p == m else None),
    "tests that are missing": lambda: results_of(3, 3, 2, lambda p, m, r: np.nan if p == 0 else draw(p, m, r)),
    "large losses": lambda: results_of(4, 3, 2, lambda p, m, r: 1e8 * draw(p, m, r), loss="squared-error"),
    "negative values": lambda: results_of(4, 3, 2, lambda p, m, r: draw(p, m, r) - 0.25, loss="value"),
    "pools of one dataset": lambda: results_of(4, 3, 2, dataset=lambda p: "wine"),
}


@cache
def made(name: str) -> Results:
    """Return results that every layout reads; none changes them."""
    return RESULTS[name]()


@pytest.mark.parametrize("name", sorted(RESULTS))
@pytest.mark.parametrize("layout", sorted(ALL))
def test_tables_are_rectangular_and_can_be_written(layout: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = list(ALL[layout](made(name)))
    for table in tables:
        assert table.title
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.header)}
        assert not any("nan" in entry.text for row in table.rows for entry in row)
        for write in (markdown, latex, html_table):
            assert len(write(table).splitlines()) > len(table.rows)


@pytest.mark.parametrize("layout", sorted(ALL))
def test_there_is_a_table_per_setting_or_problem_where_there_is_enough_to_compare(layout: str) -> None:
    assert list(ALL[layout](RESULTS["many"]()))


@pytest.mark.parametrize("layout", sorted(ALL))
def test_the_same_results_give_the_same_tables(layout: str) -> None:
    assert list(ALL[layout](RESULTS["many"]())) == list(ALL[layout](RESULTS["many"]()))


@pytest.mark.parametrize("layout", sorted(set(ALL) - {"quartiles"}))
def test_pools_of_one_dataset_count_once(layout: str) -> None:
    """Four pools of one dataset are no four datasets: tests over datasets must not see more than there are."""
    [paired] = [results.paired(s) for results in [RESULTS["pools of one dataset"]()] for s in results.settings]
    assert paired.problems == ["wine"]
    assert paired.errors.shape == (1, 3)
    assert paired.n_repetitions == (8, 8)
    for table in ALL[layout](RESULTS["pools of one dataset"]()):
        assert not any("4 datasets" in note for note in table.notes)
