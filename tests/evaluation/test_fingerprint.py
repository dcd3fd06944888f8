"""Fingerprints of evaluators: what decides whether a recorded study may be resumed."""

import sys
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from comitia import TableEvaluator
from tests.ids import stable

X, Y = load_iris(return_X_y=True)


def evaluator(table: Any = X, **options: Any) -> TableEvaluator:
    return TableEvaluator(lambda config, seed: KNeighborsClassifier(), table, Y, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cv": 0.3, "reshuffled": True},
        {"cv": KFold(3), "loss": "f1_macro"},
        {"cv": [(np.arange(90), np.arange(90, 150))]},
        {"selection_split": 0.2, "groups": np.arange(150) // 3, "sample_weight": np.arange(150.0)},
        {"table": pd.DataFrame(X)},
    ],
    ids=stable,
)
def test_it_is_the_one_that_studies_recorded_when_the_module_was_called_resampling(
    options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = evaluator(**options)
    old = ModuleType("comitia.resampling")
    then = type(type(e.resampling).__name__, (), {"__module__": old.__name__})
    setattr(old, then.__name__, then)
    monkeypatch.setitem(sys.modules, old.__name__, old)
    resampling = then()
    resampling.__dict__.update({"splitter": e.judging.resampling.splitter})  # type: ignore[union-attr]
    judged = (e.y, e.groups, e.sample_weight, resampling, e.loss.name, e.selection_split)
    assert e.fingerprint() == joblib.hash((e.X, *judged))


def test_it_changes_with_the_data_and_with_how_they_are_judged() -> None:
    others = [
        evaluator(),
        evaluator(X + 1e-9),
        evaluator(cv=4),
        evaluator(reshuffled=True),
        evaluator(loss="log-loss"),
        evaluator(selection_split=0.2),
        evaluator(sample_weight=np.arange(150.0)),
    ]
    assert len({one.fingerprint() for one in others}) == len(others)
    assert evaluator(keep="predictions").fingerprint() == evaluator().fingerprint()
