"""Rows without a target, and rows to judge on."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from comitia import AutoClassifier, AutoRegressor, Fixed
from comitia.auto.fit_rows import fit_rows
from comitia.errors import ChoiceError, ComitiaWarning, TableError

X, Y = load_iris(return_X_y=True)
IS_KNOWN = np.arange(150) % 10 != 3
KNOWN = np.flatnonzero(IS_KNOWN)


def quick(kind: Any = AutoClassifier, **more: Any) -> Any:
    return kind(**{"n_trials": 2, "include": ["linear"], "random_state": 0, **more})


def with_holes(missing: Any = np.nan) -> Any:
    y = Y.astype(object)
    y[~IS_KNOWN] = missing
    return y


class TestMissingTargets:
    @pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT], ids=repr)
    def test_rows_without_one_are_left_out_with_a_warning(self, missing: Any) -> None:
        with pytest.warns(ComitiaWarning, match="15 of 150 rows have no target"):
            model = quick().fit(X, with_holes(missing))
        assert model.classes_.tolist() == [0, 1, 2]
        assert (model.predict_proba(X) == quick().fit(X[KNOWN], Y[KNOWN]).predict_proba(X)).all()

    @pytest.mark.parametrize(
        "make", [pd.DataFrame, pl.DataFrame, lambda X: pa.table(list(X.T), list("abcd")), sparse.csc_matrix, list]
    )
    def test_of_any_table(self, make: Any) -> None:
        with pytest.warns(ComitiaWarning, match="15 of 150"):
            found = fit_rows(make(X), pd.Series(with_holes(), dtype="Int64"))
        assert found.X.shape == (135, 4)
        assert np.asarray(found.y).tolist() == Y[KNOWN].tolist()

    def test_of_numbers_and_of_a_column(self) -> None:
        y = np.where(IS_KNOWN, X[:, 0], np.nan)[:, None]
        with pytest.warns(ComitiaWarning, match="15 of 150"):
            model = quick(AutoRegressor).fit(X[:, 1:], y)
        assert (model.predict(X[:, 1:]) == quick(AutoRegressor).fit(X[KNOWN, 1:], X[KNOWN, 0]).predict(X[:, 1:])).all()

    def test_weights_and_groups_are_those_of_the_rows_that_are_left(self) -> None:
        weights, groups = np.arange(150.0), np.arange(150) % 7
        with pytest.warns(ComitiaWarning):
            found = fit_rows(X, with_holes(), weights, groups, GroupKFold(3))
        assert (np.asarray(found.sample_weight) == weights[KNOWN]).all()
        assert (np.asarray(found.groups) == groups[KNOWN]).all()
        assert isinstance(found.cv, GroupKFold)
        with pytest.raises(ChoiceError, match="'groups' must have shape"), pytest.warns(ComitiaWarning):
            fit_rows(X, with_holes(), None, groups[:-1])

    def test_splits_that_name_rows_are_renumbered(self) -> None:
        folds = list(KFold(3, shuffle=True, random_state=0).split(X))
        masks = [(np.isin(np.arange(150), train), np.isin(np.arange(150), test)) for train, test in folds]
        for cv in (folds, iter(folds), masks, Fixed(folds)):
            with pytest.warns(ComitiaWarning):
                found: Any = fit_rows(X, with_holes(), cv=cv).cv
            pairs: Any = found.splitter if isinstance(found, Fixed) else found
            for (train, test), (new_train, new_test) in zip(folds, pairs, strict=True):
                assert KNOWN[new_train].tolist() == [row for row in train if IS_KNOWN[row]]
                assert KNOWN[new_test].tolist() == [row for row in test if IS_KNOWN[row]]
        with pytest.warns(ComitiaWarning):
            predefined: Any = fit_rows(X, with_holes(), cv=PredefinedSplit(np.arange(150) % 4)).cv
        assert (predefined.test_fold == (np.arange(150) % 4)[KNOWN]).all()

    def test_a_target_that_is_all_missing_is_an_error(self) -> None:
        with pytest.raises(TableError, match="NaN in all 150 rows"):
            quick().fit(X, np.full(150, np.nan))

    def test_infinity_is_an_error_still(self) -> None:
        y = np.where(IS_KNOWN, X[:, 0], np.inf)
        with pytest.raises(TableError, match="infinity"):
            quick(AutoRegressor).fit(X, y)


class TestRowsToJudgeOn:
    @pytest.mark.parametrize(("refit", "n_rows"), [("full", 100), ("full+val", 150), ("folds", 100), (False, 100)])
    def test_are_not_fitted_on_unless_asked_for(self, refit: Any, n_rows: int) -> None:
        order = np.random.default_rng(0).permutation(150)
        train, judge = order[:100], order[100:]
        include = [KNeighborsClassifier()]
        model = quick(refit=refit, include=include).fit(X[train], Y[train], X_val=X[judge], y_val=Y[judge])
        assert [member.pipeline.n_samples_fit_ for member in model.members_] == [n_rows]

    def test_may_be_given_beside_weights_and_groups(self) -> None:
        order = np.random.default_rng(0).permutation(150)
        train, judge = order[:100], order[100:]
        weights, groups = np.linspace(0.5, 2.0, 100), np.arange(100) % 10
        rows: dict[str, Any] = {"X_val": X[judge], "y_val": Y[judge]}
        both = quick().fit(X[train], Y[train], weights, groups, **rows)
        assert (both.predict_proba(X) == quick().fit(X[train], Y[train], weights, **rows).predict_proba(X)).all()
        assert (both.predict_proba(X) != quick().fit(X[train], Y[train], **rows).predict_proba(X)).any()

    def test_without_a_target_are_left_out_too(self) -> None:
        with pytest.warns(ComitiaWarning, match="15 of 150 rows have no target .y_val"):
            model = quick().fit(X, Y, X_val=X, y_val=with_holes())
        assert model.score(X, Y) > 0.9


def test_a_generator_of_splits_serves_a_second_fit() -> None:
    model = quick(cv=ShuffleSplit(2, random_state=0).split(X))
    first = model.fit(X, Y).study_.best_trial.losses
    assert model.fit(X, Y).study_.best_trial.losses == first
    assert len(first) == 2
