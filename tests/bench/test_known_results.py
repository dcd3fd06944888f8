"""Methods that ask for the same trial share its training, and get what they would have got alone."""

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from comitia import Config, Observation, Predictions, Seeds, Study, TableEvaluator, Trial
from comitia.bench.cells.known_results import LEAST_BYTES, KnownResults, Question, SharedEvaluator
from comitia.bench.cells.run import run_cell
from comitia.bench.cells.study_cells import Trace
from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Job
from comitia.bench.rows.row import Row
from tests.bench.tables_folder import make_folder

BASE: dict[str, Any] = {
    "problems": ["plain"],
    "spaces": ["sklearn-cash"],
    "repetitions": 1,
    "budget": {"n_trials": 8},
    "test_every": 8,
    "validation": [{"name": "3-fold", "cv": 3}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("tables"))


def rows_of(folder: Path, method: str, known: KnownResults | None, **changes: Any) -> list[Row]:
    experiment = make_experiment({**BASE, "methods": [method], **changes}, "e")
    rows = run_cell(Job(experiment, experiment.cells()[0], folder), known)
    return [replace(row, train_seconds=0.0, optimizer_seconds=0.0) for row in rows]


def same(rows: list[Row], others: list[Row]) -> bool:
    return repr(rows) == repr(others)  # NaN equals NaN here


@pytest.mark.parametrize(
    ("first", "second", "n_trained"),
    [
        ("rs-post", "rs-best", 0),  # the same search; predictions that nobody asks for are left out
        ("rs-best", "rs-post", 8),  # predictions that were not kept are not there
        ("eo-sqm", "eo-post", 0),
        ("bo-post", "eo-c", 3),  # five Sobol points are the same
        ("gp", "gp-r", 8),  # other splits
        ("eo-sqm", "committee", 8),  # probabilities are not votes
    ],
)
def test_only_what_is_the_same_is_shared(folder: Path, first: str, second: str, n_trained: int) -> None:
    known = KnownResults()
    rows_of(folder, first, known)
    assert len(known) == 8
    shared = rows_of(folder, second, known)
    assert len(known) - 8 <= n_trained
    assert len(known) - 8 == n_trained or second == "eo-c"  # a surrogate may agree with another's first suggestion
    assert same(shared, rows_of(folder, second, None))


@pytest.mark.processes
def test_a_search_with_a_time_limit_trains_itself(folder: Path) -> None:
    known = KnownResults()
    rows_of(folder, "rs", known, budget={"time_limit": 1.0, "n_trials": 2}, spaces=["svm-rbf"])
    assert len(known) == 0


@pytest.mark.parametrize("is_known", [False, True])
def test_seconds_of_what_was_looked_up_are_not_taken_from_a_longer_suggestion(is_known: bool) -> None:
    experiment = make_experiment({**BASE, "methods": ["rs"]}, "e")
    facts = {"loss": "zero-one", "n_rows": 10, "n_classes": 2, "dataset": "plain"}
    arena: Any = SimpleNamespace(**facts, was_looked_up=lambda number: is_known)
    trace = Trace(replace(experiment, test_every=9), arena)
    study = Study({"a": [1]}, "rs", seed=0)
    [trial] = study.ask(1)
    observation = Observation(trial, "ok", (0.5,), seconds=100.0)
    study.record([(observation, None)])
    trace.resume()
    trace.resumed -= 150.0
    trace(study, observation)
    assert trace.optimizer_seconds == pytest.approx(150.0 if is_known else 50.0, abs=5.0)
    assert trace.train_seconds == 100.0


def test_a_cell_knows_what_it_shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces: list[Trace] = []

    def noted(*args: Any) -> Trace:
        traces.append(Trace(*args))
        return traces[-1]

    monkeypatch.setattr("comitia.bench.cells.study_cells.Trace", noted)
    known = KnownResults()
    for _ in range(2):
        rows_of(folder, "rs", known)
    assert [[trace.arena.was_looked_up(number) for number in range(8)] for trace in traces] == [[False] * 8, [True] * 8]


def test_an_evaluator_knows_which_trials_it_looked_up_and_can_be_copied() -> None:
    evaluator = TableEvaluator(lambda config, seed: GaussianNB(), *load_iris(return_X_y=True), cv=2)
    known, seeds = KnownResults(), Seeds(0)
    trials = [Trial(number, 0, (0.5,), Config({"a": 0})) for number in range(2)]
    SharedEvaluator(evaluator, "s", known)(trials[1], seeds)
    shared = SharedEvaluator(evaluator, "s", known)
    for trial in trials:
        shared(trial, seeds)
    assert [shared.was_looked_up(trial.number) for trial in trials] == [False, True]
    again = copy.copy(shared)
    assert again.judging.keep == shared.judging.keep
    assert again.was_looked_up(1)


def test_known_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    def result(number: int) -> tuple[Observation, Predictions]:
        trial = Trial(number, 0, (0.5,), Config({"a": number}))
        rows = np.arange(1000)
        return Observation(trial, "ok", (0.5,)), Predictions(rows, rows * 0, rows.astype(float))

    def question(number: int) -> Question:
        return ("s", "f", 0, "predictions", Trial(number, 0, (0.5,), Config({"a": number})))

    each = LEAST_BYTES + 3 * 8000
    known = KnownResults(most_bytes=3 * each)
    for number in range(3):
        known.add(question(number), result(number))
    assert known.get(question(0)) is not None
    known.add(question(3), result(3))
    assert [known.get(question(number)) is not None for number in range(4)] == [True, False, True, True]
