"""On how many folds trials are judged: by rows, by what the time limit affords, and by what a stored study has."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from comitia import AutoClassifier
from comitia.auto.folds import affordable_fits, default_folds
from comitia.errors import FallbackWarning, TableError

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("target", "groups", "has_selection_split", "expected"),
    [
        (np.repeat([0, 1], 50), None, False, 10),
        (np.repeat([0, 1], 150), None, False, 8),
        (np.repeat([0, 1], 500), None, False, 5),
        (np.repeat([0, 1], 3), None, False, 3),  # as many as the largest class has rows
        (np.repeat([0, 1], 50), np.arange(100) % 4, False, 4),
        (np.repeat([0, 1], 5), None, True, 4),
        (np.zeros(20_000, dtype=int), None, False, 3),
        (np.zeros(49_999, dtype=int), None, False, 3),
        (np.zeros(50_000, dtype=int), None, False, 0.2),
        (np.zeros(80_000, dtype=int), None, False, 0.125),
        (np.zeros(200_000, dtype=int), None, False, 0.1),
        (np.zeros(50_000, dtype=int), np.arange(50_000) // 10, False, 3),
    ],
)
def test_folds_are_as_many_as_the_rows_allow(
    target: Any, groups: Any, has_selection_split: bool, expected: float
) -> None:
    assert default_folds(target, "classification", groups, has_selection_split=has_selection_split) == expected


def test_very_many_rows_are_folded_where_more_folds_are_wanted() -> None:
    target = np.zeros(50_000, dtype=int)
    for wanted, expected in ((10, 10), (3, 0.2), (None, 0.2)):
        found = default_folds(target, "classification", None, has_selection_split=False, wanted=wanted)
        assert found == expected


def test_too_few_rows_for_folds_are_refused() -> None:
    with pytest.raises(TableError, match="too few rows"):
        default_folds(np.array([0, 1, 2]), "classification", None, has_selection_split=False)


@pytest.mark.parametrize(
    ("n_rows", "affordable", "expected"),
    [
        (250, 100.0, 10),
        (250, 9.0, 8),
        (4_999, 5.0, 5),
        (4_999, 4.9, 3),
        (4_999, 0.1, 3),  # a fifth of them would judge too little
        (5_000, 3.0, 3),
        (5_000, 2.9, 0.2),
        (30_000, 100.0, 3),
        (30_000, 1.0, 0.2),
    ],
)
def test_folds_are_fewer_where_the_time_is_short(n_rows: int, affordable: float, expected: float) -> None:
    target = np.zeros(n_rows)
    assert default_folds(target, "regression", None, has_selection_split=False, affordable=affordable) == expected


def test_folds_that_are_wanted_are_made_however_long_they_take() -> None:
    for wanted in (10, 3):
        found = default_folds(
            np.zeros(9_000), "regression", None, has_selection_split=False, wanted=wanted, affordable=0.1
        )
        assert found == wanted


def test_more_time_and_more_workers_afford_more_fits_of_smaller_tables() -> None:
    def fits(shape: tuple[int, int], limit: float | None, n_workers: int = 1) -> float:
        return affordable_fits(["linear", "lightgbm", "svm"], shape, 2, limit, n_workers)

    assert fits((1_000, 20), None) == math.inf
    assert fits((1_000, 20), 10.0) < fits((1_000, 20), 60.0)
    assert fits((1_000, 20), 60.0, 4) == pytest.approx(4 * fits((1_000, 20), 60.0))
    assert fits((30_000, 20), 60.0) < fits((1_000, 20), 60.0)
    assert fits((1_000, 200), 60.0) < fits((1_000, 20), 60.0)


def test_a_study_keeps_the_folds_that_it_was_begun_with_whatever_the_limit_is_later(tmp_path: Path) -> None:
    options: Any = {"include": ["linear"], "storage": tmp_path / "study.db", "n_jobs": 1, "random_state": 0}
    many = np.tile(X, (40, 1)), np.tile(Y, 40)
    short = AutoClassifier(time_limit=1e-2, n_trials=1, estimate=False, **options)
    with pytest.warns(FallbackWarning):  # nothing is ready in a hundredth of a second
        short.fit(*many)
    longer = AutoClassifier(n_trials=2, **options).fit(*many)
    assert {len(one.losses) for one in longer.study_.history.observations()} == {1}
