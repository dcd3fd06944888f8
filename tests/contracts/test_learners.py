"""What every ready-made space and every learner of the default space must do. A new one joins by its registry."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import accuracy_score, r2_score

from comitia import Config, Seeds, Space, get_space
from comitia.arrays import AnyArray, Table
from comitia.evaluation.scoring import Task
from comitia.learners import SPACES
from comitia.learners.default import LEARNERS, default_space
from comitia.optimizers.bayes.single_thread import one_thread
from comitia.tables.cleaner import Columns, TableCleaner
from comitia.tables.precision import single

N_FEATURES = 6
TASKS: tuple[Task, ...] = ("classification", "regression")
FEW_POINTS = {"boosting-regression": 1, "mlp": 3, "ensembles": 4}
"""Spaces whose learners take long: fewer of them are drawn."""


def numbers(task: Task) -> tuple[AnyArray, AnyArray]:
    X, y = load_breast_cancer(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    X = X[:120, :N_FEATURES]
    return (X - X.mean(axis=0)) / X.std(axis=0), y[:120]


def fitted(model: BaseEstimator, X: Table, y: AnyArray) -> BaseEstimator:
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # convergence
        return clone(model).fit(X, y)


def answers(model: BaseEstimator, X: Table) -> AnyArray:
    """Return the finest answer that a model has."""
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X))
    return np.asarray(model.predict(X))


def assert_fits_repeatably(model: BaseEstimator, X: Table, y: AnyArray) -> None:
    """Check that it fits and answers, that a second fit answers the same, and that it pickles."""
    first = fitted(model, X, y)
    predicted = first.predict(X)
    assert predicted.shape == y.shape
    assert np.isfinite(np.asarray(predicted, dtype=np.float64)).all()
    assert np.isfinite(answers(first, X)).all()
    np.testing.assert_array_equal(answers(first, X), answers(fitted(model, X, y), X))
    np.testing.assert_array_equal(answers(first, X), answers(pickle.loads(pickle.dumps(first)), X))


def is_endless(config: Config) -> bool:
    """Tell whether libsvm takes minutes, which is what time limits are for."""
    return config.get("kernel") in ("poly", "linear") and config["C"] > 1e3


# ---- ready-made spaces ------------------------------------------------------------------------------------------


OF_TABLES = sorted(name for name, ready in SPACES.items() if ready.learns_from == "tables")
"""Those of images are tested by tests/learners/test_cnn.py."""


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_ready_made_space_builds_learners_that_fit_whatever_it_allows(name: str) -> None:
    ready = get_space(name, n_features=N_FEATURES)
    X, y = numbers(ready.task)
    points = ready.space.sample(FEW_POINTS.get(name, 6), Seeds(0)("test"))
    corners = np.array([np.full(len(ready.space), 0.0), np.full(len(ready.space), 1.0), ready.space.defaults])
    for config in ready.space.decode(np.concatenate([points, corners])):
        if not is_endless(config):
            model = fitted(ready.build(config, 0), X, y)
            assert np.isfinite(np.asarray(model.predict(X), dtype=np.float64)).all()


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_ready_made_space_has_a_learner_that_is_repeated_by_its_seed_and_pickles(name: str) -> None:
    ready = get_space(name, n_features=N_FEATURES)
    again = pickle.loads(pickle.dumps(ready))
    assert again.space == ready.space
    assert_fits_repeatably(again.build(ready.space.default, 7), *numbers(ready.task))


@pytest.mark.parametrize("name", sorted(SPACES))
def test_a_ready_made_space_says_what_it_is_and_comes_back_from_json(name: str) -> None:
    ready = get_space(name, n_features=N_FEATURES)
    assert ready.name == name == name.lower()
    assert ready.task in TASKS
    assert ready.paper
    assert ready.summary.endswith(".")
    assert Space.from_json(ready.space.to_json()) == ready.space


# ---- learners of the default space ------------------------------------------------------------------------------

EACH_LEARNER = pytest.mark.parametrize("name", sorted(LEARNERS))
EACH_LEARNER_AND_TASK = pytest.mark.parametrize(
    ("name", "task"), [(name, task) for name in sorted(LEARNERS) for task in LEARNERS[name].tasks]
)


@pytest.fixture(autouse=True)
def _installed(request: pytest.FixtureRequest) -> None:
    """Skip learners whose package is not installed: they are an extra."""
    named = request.node.callspec.params.get("name") if hasattr(request.node, "callspec") else None
    if named in LEARNERS and (package := LEARNERS[named].package) is not None:
        pytest.importorskip(package)


def built(name: str, task: Task, columns: Columns, seed: int = 3) -> BaseEstimator:
    default = default_space(columns, task, 100, include=[name])
    [config] = default.space.decode(default.space.encode(default.first))
    return default.build(config, seed)


@EACH_LEARNER_AND_TASK
def test_a_learner_fits_numbers_and_is_repeated_by_its_seed(name: str, task: Task) -> None:
    assert_fits_repeatably(built(name, task, Columns(N_FEATURES)), *numbers(task))


def mixed(task: Task) -> tuple[pd.DataFrame, AnyArray]:
    X, y = numbers(task)
    X[::7, 1] = np.nan
    table = pd.DataFrame(X).assign(few=list("abc") * 40, many=[f"level {i % 30}" for i in range(120)])
    table.columns = table.columns.astype(str)
    table.loc[::5, "few"] = None
    return table, y


@EACH_LEARNER_AND_TASK
def test_a_learner_takes_missing_values_and_categories_of_a_cleaned_table(name: str, task: Task) -> None:
    table, y = mixed(task)
    cleaner = TableCleaner().fit(table)
    assert_fits_repeatably(built(name, task, cleaner.columns_), cleaner.transform(table), y)


@EACH_LEARNER_AND_TASK
def test_a_learner_takes_single_precision(name: str, task: Task) -> None:
    table, y = mixed(task)
    cleaner = TableCleaner().fit(table)
    assert_fits_repeatably(built(name, task, cleaner.columns_), single(cleaner.transform(table)), y)


@EACH_LEARNER_AND_TASK
def test_a_learner_takes_sparse_tables(name: str, task: Task) -> None:
    X, y = numbers(task)
    table = sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    assert_fits_repeatably(built(name, task, Columns(N_FEATURES, is_sparse=True)), table, y)


@EACH_LEARNER_AND_TASK
def test_a_learner_fits_whatever_its_space_allows(name: str, task: Task) -> None:
    X, y = numbers(task)
    default = default_space(Columns(N_FEATURES), task, len(y), include=[name])
    points = default.space.sample(3, Seeds(0)("test"))
    for config in default.space.decode(np.concatenate([points, np.zeros_like(points[:1]), np.ones_like(points[:1])])):
        model = fitted(default.build(config, 0), X, y)
        assert np.isfinite(np.asarray(model.predict(X), dtype=np.float64)).all()


@EACH_LEARNER
def test_a_learner_s_default_lies_in_its_space(name: str) -> None:
    learner = LEARNERS[name]
    assert learner.name == name
    assert {h.name for h in learner.hyperparameters()} == set(learner.default)
    for task in learner.tasks:
        default = default_space(Columns(2), task, 10, include=[name])
        assert {h.name for h in learner.definitions(task)} == set(learner.first(task))
        assert default.space.decode(default.space.encode(default.first))[0]["learner"] == name


@EACH_LEARNER_AND_TASK
def test_a_learner_takes_a_constant_column_and_few_rows(name: str, task: Task) -> None:
    X, y = numbers(task)
    X[:, 2] = 1.0
    few = np.flatnonzero(np.arange(len(y)) % 4 == 3)
    assert_fits_repeatably(built(name, task, Columns(N_FEATURES)), X[few], y[few])


@EACH_LEARNER_AND_TASK
def test_a_learner_learns_from_numbers_and_from_a_category(name: str, task: Task) -> None:
    """Of rows enough for early stopping; half of the signal is in a category, and some of the rest is missing."""
    rng = np.random.default_rng(0)
    X, level = rng.normal(size=(600, 3)), rng.integers(0, 20, 600)
    signal = X[:, 0] + 2 * (level % 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    table = np.column_stack([X, level])
    y = (signal > 1).astype(np.intp) if task == "classification" else signal
    model = fitted(built(name, task, Columns(4, codes=(3,), n_levels=(20,))), table[:400], y[:400])
    metric = accuracy_score if task == "classification" else r2_score
    assert metric(y[400:], model.predict(table[400:])) > 0.4
