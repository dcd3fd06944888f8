"""The same study comes out of every executor, with one worker and with two."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from joblib.externals import loky
from sklearn.datasets import load_iris

from comitia import FunctionEvaluator, Serial, Study, TableEvaluator, Workers, get_space
from comitia.execution.starters import FreshProcesses

N_TRIALS = 6  # more than a batch
EXECUTORS: dict[str, Callable[[], Executor]] = {
    "serial": Serial,
    "serial batch": lambda: Serial(n_slots=5),
    "one worker": lambda: Workers(1),
    "two workers": lambda: Workers(2),
    "two fresh processes": lambda: Workers(2, starter=FreshProcesses),
    "threads": lambda: ThreadPoolExecutor(2),
    "process pool": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": lambda: loky.ProcessPoolExecutor(2),
}


def history_of(study: Study) -> Any:
    return [
        (o.number, o.trial.x, o.config, o.status, o.losses, dict(o.metrics), o.n_evaluations)
        for o in study.history.observations()
    ]


@pytest.fixture(scope="module")
def evaluator() -> TableEvaluator:
    X, y = load_iris(return_X_y=True)
    return TableEvaluator(get_space("sklearn-cash").build, X, y, metrics=["f1_macro"], cv=3, reshuffled=True)


@pytest.fixture(scope="module")
def expected(evaluator: TableEvaluator) -> dict[str, Any]:
    found = {}
    for method in ("rs", "grid", "sobol"):
        study = Study(get_space("sklearn-cash").space, method, seed=3).run(evaluator, n_trials=N_TRIALS)
        assert study.history.n_finished == N_TRIALS
        found[method] = history_of(study)
    return found


@pytest.fixture(scope="module", params=sorted(EXECUTORS))
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with EXECUTORS[request.param]() as executor:
        yield executor


def test_the_history_does_not_depend_on_the_executor(
    executor: Executor, evaluator: TableEvaluator, expected: dict[str, Any]
) -> None:
    for method, histories in expected.items():
        study = Study(get_space("sklearn-cash").space, method, seed=3)
        study.run(evaluator, n_trials=N_TRIALS, executor=executor)
        assert history_of(study) == histories
        assert study.stop_reason == "budget"


def fails_on_three(config: Any) -> float:
    if config["a"] == 3:
        raise ValueError("three")
    return float(config["a"])


def test_a_failure_is_an_observation_and_the_search_goes_on(executor: Executor) -> None:
    study = Study({"a": [1, 2, 3, 4, 5]}, "grid", seed=0)
    study.run(FunctionEvaluator(fails_on_three), n_trials=10, executor=executor)
    assert study.history.n_finished == 5
    assert study.stop_reason == "exhausted"
    [bad] = [o for o in study.history.observations() if not o.is_ok]
    assert bad.config == {"a": 3}
    assert "ValueError: three" in bad.error


class Weight:
    """An objective that counts how often it is pickled."""

    n_pickled = 0

    def __call__(self, config: Any) -> float:
        return float(config["x"])

    def __getstate__(self) -> dict[str, Any]:
        Weight.n_pickled += 1
        return {}


@pytest.mark.parametrize(
    ("make", "n_expected"),
    [
        (lambda: Workers(1), 1),
        (lambda: ProcessPoolExecutor(1, mp_context=get_context("spawn")), 1),
        (lambda: loky.ProcessPoolExecutor(1), 1),
        (lambda: loky.get_reusable_executor(max_workers=1), 1),
        (lambda: ThreadPoolExecutor(1), 0),
    ],
    ids=["workers", "process pool", "loky", "reusable loky", "threads"],
)
def test_the_data_travel_once_if_at_all(make: Callable[[], Executor], n_expected: int) -> None:
    Weight.n_pickled = 0
    with make() as executor:
        study = Study({"x": (0.0, 1.0)}, "rs", seed=0).run(FunctionEvaluator(Weight()), n_trials=5, executor=executor)
    assert all(o.is_ok for o in study.history.observations())
    assert Weight.n_pickled == n_expected
