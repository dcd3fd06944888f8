"""The short way to a radial SVM's answers is the long way's, or is not taken."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia import Seeds, TableEvaluator, Trial, get_space
from comitia.learners import quick_svm
from comitia.learners.quick_svm import QuickBuild
from tests.ids import stable


def table(n: int, d: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d) + rng.normal(size=d)
    every = np.tile(np.arange(n_classes), 4)  # enough of each to be set aside and split
    y = np.concatenate([every, rng.integers(0, n_classes, n - len(every))])
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def both_ways(name: str, X: Any, y: Any, **options: Any) -> tuple[TableEvaluator, TableEvaluator]:
    ready = get_space(name, n_features=X.shape[1])
    assert isinstance(ready.build, QuickBuild)
    quick = TableEvaluator(ready.build, X, y, **options)
    plain = TableEvaluator(ready.build.build, X, y, **options)
    assert quick._quick is not None
    assert plain._quick is None
    return quick, plain


def results(evaluator: TableEvaluator, x: Any, name: str, **asked: Any) -> Any:
    space = get_space(name, n_features=evaluator.X.shape[1]).space
    trial = Trial(3, 0, tuple(x), space.decode(np.array([x]))[0], **asked)
    observation, predictions = evaluator(trial, Seeds(1))
    if predictions is not None:
        kept = vars(replace(predictions, seconds=None)).values()  # what was said, not how fast
        return replace(observation, seconds=0.0), [v if v is None else v.tolist() for v in kept]
    return replace(observation, seconds=0.0), None


@pytest.fixture
def retry_the_entry() -> Iterator[None]:
    yield
    quick_svm.matches_public_svc.cache_clear()


def test_the_installed_scikit_learn_has_the_entry() -> None:
    assert quick_svm.matches_public_svc()


@pytest.mark.parametrize("name", ["svm-rbf", "svm", "svm-ard"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_losses_and_predictions_are_bit_for_bit_those_of_the_pipeline(name: str, data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 4))
    X, y = table(data.draw(st.integers(20, 90)), d, data.draw(st.integers(2, 4)), data.draw(st.integers(0, 99)))
    options: dict[str, Any] = {
        "cv": data.draw(st.sampled_from([0.3, 3])),
        "reshuffled": data.draw(st.booleans()),
        "keep": data.draw(st.sampled_from(["nothing", "predictions"])),
        "selection_split": data.draw(st.sampled_from([None, 0.25])),
    }
    quick, plain = both_ways(name, X, y, **options)
    x = [data.draw(st.floats(0.2, 0.8)) for _ in get_space(name, n_features=d).space.names]
    assert results(quick, x, name, repeats=2) == results(plain, x, name, repeats=2)


def test_every_width_is_that_of_its_own_column_where_there_are_more_than_ten() -> None:
    """In the order of names gamma_10 comes before gamma_2."""
    X = np.random.default_rng(0).normal(size=(60, 12))
    y = X[:, 2] > 0
    quick, plain = both_ways("svm-ard", X, y, cv=0.3, keep="predictions")
    x = [0.5 if name in ("C", "gamma_2") else 0.1 for name in get_space("svm-ard", n_features=12).space.names]
    found = results(quick, x, "svm-ard", repeats=5)
    assert found == results(plain, x, "svm-ard", repeats=5)
    assert found[0].loss < 0.2


@pytest.mark.parametrize("name", ["svm-rbf", "svm-ard"])
def test_the_ends_of_the_ranges_are_no_exception(name: str) -> None:
    X, y = table(40, 2, 2, 0)
    quick, plain = both_ways(name, X, y, cv=0.3)
    d = len(get_space(name, n_features=2).space)
    for corner in np.ndindex(*[2] * d):
        assert results(quick, corner, name) == results(plain, corner, name)


def test_a_fold_with_one_class_fails_with_the_words_of_the_pipeline() -> None:
    X, y = table(20, 2, 2, 0)
    order = np.argsort(y)
    one_class = [(order[:8], order[8:])]
    quick, plain = both_ways("svm-rbf", X, y, cv=one_class)
    observation, _ = results(quick, (0.5, 0.5), "svm-rbf")
    assert observation == results(plain, (0.5, 0.5), "svm-rbf")[0]
    assert observation.status == "failed"
    assert "The number of classes has to be greater than one" in observation.error


def test_a_class_that_is_missing_from_a_fold_is_not_predicted() -> None:
    X, y = table(60, 2, 3, 0)
    rows = np.flatnonzero(y != "bee")
    quick, plain = both_ways(
        "svm-rbf", X, y, cv=[(rows[:30], np.setdiff1d(np.arange(60), rows[:30]))], keep="predictions"
    )
    found = results(quick, (0.5, 0.5), "svm-rbf")
    assert found == results(plain, (0.5, 0.5), "svm-rbf")
    assert 1 not in found[1][2]


def test_seconds_of_answers_that_cannot_be_told_from_those_of_the_fit_are_unknown() -> None:
    found = []
    for evaluator in both_ways("svm-rbf", *table(60, 2, 3, 0), cv=2, keep="predictions"):
        [config] = get_space("svm-rbf").space.decode(np.array([[0.5, 0.5]]))
        _, predictions = evaluator(Trial(0, 0, (0.5, 0.5), config), Seeds(0))
        assert predictions is not None
        assert predictions.seconds is not None
        found.append(np.isnan(predictions.seconds).tolist())
    assert found == [[True, True], [False, False]]


@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_constant_columns_are_scaled_as_ever(shift: float) -> None:
    X, y = table(40, 3, 2, 0)
    X[:, 1] = shift
    quick, plain = both_ways("svm-rbf", X, y, cv=3)
    assert results(quick, (0.5, 0.5), "svm-rbf") == results(plain, (0.5, 0.5), "svm-rbf")


@pytest.mark.parametrize(
    "options",
    [{"loss": "accuracy"}, {"metrics": ["accuracy"]}, {"sample_weight": np.ones(40)}, {"keep": "probabilities"}],
    ids=stable,
)
def test_more_than_classes_of_rows_needs_the_pipeline(options: dict[str, Any]) -> None:
    X, y = table(40, 2, 2, 0)
    assert TableEvaluator(get_space("svm-rbf").build, X, y, **options)._quick is None


@pytest.mark.parametrize(
    "spoil", [lambda X: X.astype(np.float32), np.asfortranarray, lambda X: np.where(X > 1, np.nan, X)]
)
def test_tables_that_need_checks_get_them(spoil: Any) -> None:
    X, y = table(40, 2, 2, 0)
    assert TableEvaluator(get_space("svm-rbf").build, spoil(X), y)._quick is None


@pytest.mark.usefixtures("retry_the_entry")
@pytest.mark.parametrize("change", ["gone", "renamed", "other arguments", "other answers"])
def test_an_entry_that_changed_is_left_alone(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = quick_svm.libsvm

    def weaker(X: Any, codes: Any, *, C: float, **options: Any) -> Any:
        return real.fit(X, codes, C=C / 2, **options)

    there = {"set_verbosity_wrap": real.set_verbosity_wrap, "fit": real.fit, "predict": real.predict}
    changed: Any = {
        "gone": None,
        "renamed": SimpleNamespace(train=real.fit),
        "other arguments": SimpleNamespace(**there | {"fit": lambda X: None}),
        "other answers": SimpleNamespace(**there | {"fit": weaker}),
    }[change]
    monkeypatch.setattr(quick_svm, "libsvm", changed)
    quick_svm.matches_public_svc.cache_clear()
    assert not quick_svm.matches_public_svc()
    X, y = table(40, 2, 2, 0)
    quick, plain = both_ways("svm-rbf", X, y, cv=0.3)
    assert results(quick, (0.5, 0.6), "svm-rbf") == results(plain, (0.5, 0.6), "svm-rbf")


def test_what_users_get_is_the_ordinary_pipeline() -> None:
    ready = get_space("svm-rbf")
    model: Any = ready.build(ready.space.default, 0)
    assert [type(step).__name__ for step in model] == ["StandardScaler", "SVC"]
