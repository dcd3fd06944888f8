"""With a lag, a study does not depend on how many work on it, nor on how fast they are."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comitia import FunctionEvaluator, History, Method, Study, TableEvaluator, get_space, minimize
from comitia.errors import ChoiceError, StoreMismatch
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space
from tests.study.examples import LINE, SPACE, Continuing, history_of, square

LAG = 3


class Watched:
    """A random search that notes what it was told."""

    seen: list[tuple[int, tuple[int, ...]]]

    def __init__(self, space: Space) -> None:
        from comitia.optimizers import RandomSearch

        self.inner = RandomSearch(space)
        self.needs = self.inner.needs
        self.seen = []

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Any:
        self.seen.append((len(history), tuple(trial.number for trial in history.pending)))
        assert len(values.now) == history.n_finished
        return self.inner.ask(history, values, n, seeds)


def worked_on(study: Study, n_workers: int, n_trials: int, rng: random.Random) -> Study:
    """Let so many workers take trials and return them in a random order."""
    busy: list[Any] = []
    while study.history.n_finished < n_trials:
        room = min(n_workers - len(busy), n_trials - study.history.n_finished - len(busy))
        if room:
            busy += study.ask(room)
        trial = busy.pop(rng.randrange(len(busy)))
        study.tell(trial, square(trial.config))
    return study


def all_of(study: Study) -> Any:
    """Return everything that suggestions and splits depend on."""
    numbers = range(len(study.history))
    return history_of(study), [study.history.trial(number) for number in numbers]


@pytest.mark.parametrize("seed", range(10))
def test_one_two_and_three_workers_find_the_same(seed: int) -> None:
    studies = [
        worked_on(Study(SPACE, "bayes", seed=seed, lag=LAG), n_workers, 14, random.Random(100 * seed + n_workers))
        for n_workers in (1, 2, 3)
    ]
    assert all_of(studies[0]) == all_of(studies[1]) == all_of(studies[2])


@pytest.mark.parametrize("method", ["smac-rf", "gp-cond-ls", "cma", "pbil-v2", "rs", "grid"])
def test_that_holds_for_other_methods(method: str) -> None:
    studies = [
        worked_on(Study(SPACE, method, seed=1, lag=LAG), n_workers, 60 if method == "pbil-v2" else 12, random.Random(n))
        for n, n_workers in enumerate((1, 3))
    ]
    assert history_of(studies[0]) == history_of(studies[1])


@pytest.mark.processes
def test_that_holds_for_a_committee_in_threads_with_trials_of_random_length() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    ready = get_space("svm")
    inner = TableEvaluator(ready.build, X, y, keep="probabilities", cv=3)

    class Dawdling:
        judging = inner.judging
        n_fits = staticmethod(inner.n_fits)

        def __call__(self, trial: Any, seeds: Seeds) -> Any:
            time.sleep(0.02 * random.random())
            return inner(trial, seeds)

    found = []
    for n_workers in (1, 2, 3):
        study = Study(ready.space, "committee", seed=2, lag=LAG)
        with ThreadPoolExecutor(n_workers) as executor:
            study.run(Dawdling(), n_trials=20, executor=executor)
        found.append(history_of(study))
    assert found[0] == found[1] == found[2]


def test_a_lag_of_one_is_the_sequential_search() -> None:
    sequential = Study(SPACE, "bayes", seed=4).run(FunctionEvaluator(square), n_trials=12)
    lagged = worked_on(Study(SPACE, "bayes", seed=4, lag=1), 3, 12, random.Random(0))
    assert all_of(lagged) == all_of(sequential)


def test_a_suggestion_knows_all_results_but_the_latest() -> None:
    method = Method("watched", Watched, "notes what it was told")
    study = Study(LINE, method, seed=0, lag=LAG).run(FunctionEvaluator(square), n_trials=6)
    optimizer = study._optimizer
    assert isinstance(optimizer, Watched)
    assert optimizer.seen == [
        (0, ()),
        (1, (0,)),
        (2, (0, 1)),
        (3, (1, 2)),
        (4, (2, 3)),
        (5, (3, 4)),
    ]


def test_more_workers_than_the_lag_wait() -> None:
    study = Study(LINE, "bayes", seed=0, lag=2)
    first = study.ask(5)
    assert [trial.number for trial in first] == [0, 1]
    study.tell(1, 0.5)
    assert study.ask(5) == []  # trial 2 must know trial 0
    study.tell(0, 0.5)
    assert [trial.number for trial in study.ask(5)] == [2, 3]


def test_an_optimizer_that_waits_for_results_gets_them() -> None:
    method = Method("continuing", Continuing, "one fold, then the others")
    X = np.random.default_rng(0).normal(size=(60, 3))
    ready = get_space("svm")
    evaluator = TableEvaluator(ready.build, X, (X[:, 0] > 0).astype(int), cv=3)
    plain, lagged = (
        Study(ready.space, method, seed=0, lag=lag).run(evaluator, n_trials=6, executor=None) for lag in (None, LAG)
    )
    assert history_of(plain) == history_of(lagged)


def test_a_study_resumes_with_its_lag_and_finds_the_same(tmp_path: Path) -> None:
    whole = worked_on(Study(SPACE, "bayes", seed=5, lag=LAG), 3, 16, random.Random(1))
    path = tmp_path / "study.db"
    with Study(SPACE, "bayes", seed=5, lag=LAG, storage=path) as study:
        worked_on(study, 2, 9, random.Random(2))
        study.ask()  # begun, and lost
    with pytest.raises(StoreMismatch, match=r"lag it was begun with, which is 3\. Got 2"):
        Study(SPACE, "bayes", storage=path, lag=2)
    with Study.open(path) as study:
        assert study.lag == LAG
        assert study.in_memory().lag == LAG
        assert all_of(worked_on(study, 3, 16, random.Random(3))) == all_of(whole)


def test_a_study_without_a_lag_is_not_resumed_with_one(tmp_path: Path) -> None:
    with Study(SPACE, storage=tmp_path / "s.db"):
        pass
    with pytest.raises(StoreMismatch, match="lag it was begun with, which is none"):
        Study(SPACE, storage=tmp_path / "s.db", lag=2)


@pytest.mark.parametrize("lag", [0, -1, 1.5, "2", True])
def test_a_lag_is_a_number_of_trials(lag: Any) -> None:
    with pytest.raises(ChoiceError, match="'lag' parameter of Study must be an int >= 1"):
        Study(SPACE, lag=lag)


def test_minimize_takes_a_lag() -> None:
    assert minimize(square, LINE, n_trials=3, lag=2, seed=0).lag == 2
