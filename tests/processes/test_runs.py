"""Runs with worker processes, clocks and Ctrl-C."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from comitia import (
    Config,
    FunctionEvaluator,
    Observation,
    Serial,
    Study,
    TableEvaluator,
    Workers,
    get_space,
)
from comitia.execution.kept import kept_starter
from tests.study.examples import LINE, PAIRS, SPACE, Counting, history_of, square


class TestInterruption:
    @pytest.mark.parametrize("executor", [None, Workers(2, starter=kept_starter)], ids=["serial", "workers"])
    def test_ctrl_c_returns_the_best_so_far(self, executor: Any) -> None:
        def slow(config: Any) -> float:
            time.sleep(0.05)
            return square(config)

        def interrupt(study: Study, observation: Observation) -> None:
            if observation.number == 3:
                threading.Timer(0.08, os.kill, [os.getpid(), signal.SIGINT]).start()

        study = Study(SPACE, "rs", seed=1)
        study.run(FunctionEvaluator(slow), n_trials=1000, executor=executor, callbacks=[interrupt])
        assert study.stop_reason == "interrupted"
        assert 3 < study.history.n_finished < 100
        assert study.best_trial.is_ok
        # and it can go on, to the same end
        study.run(FunctionEvaluator(square), n_trials=20)
        assert history_of(study) == history_of(Study(SPACE, "rs", seed=1).run(FunctionEvaluator(square), n_trials=20))

    def test_a_ctrl_c_in_the_middle_of_a_record_waits_for_its_end(self, tmp_path: Path) -> None:
        study = Study(SPACE, seed=1, storage=tmp_path / "s.db")
        append = study.store.append

        def interrupted_append(**what: Any) -> None:
            append(**what)
            os.kill(os.getpid(), signal.SIGINT)

        study.store.append = interrupted_append  # type: ignore[method-assign]
        study.run(FunctionEvaluator(square), n_trials=5)
        assert study.stop_reason == "interrupted"
        study.store.append = append  # type: ignore[method-assign]
        study.run(FunctionEvaluator(square), n_trials=5)
        assert study.history.n_finished == 5
        study.close()

    def test_an_exception_in_a_callback_comes_out_and_loses_nothing(self, tmp_path: Path) -> None:
        def broken(study: Study, observation: Observation) -> None:
            raise ZeroDivisionError

        study = Study(SPACE, seed=1, storage=tmp_path / "s.db")
        with pytest.raises(ZeroDivisionError):
            study.run(FunctionEvaluator(square), n_trials=5, n_jobs=2, callbacks=[broken])
        study.close()
        with Study.open(tmp_path / "s.db") as again:
            assert again.history.n_finished >= 1


def test_time_is_kept() -> None:
    study = Study(SPACE, seed=1)
    began = time.monotonic()

    def slow(config: Any) -> float:
        time.sleep(0.01)
        return 1.0

    study.run(FunctionEvaluator(slow), time_limit=0.5, executor=Serial())
    assert 0.4 < time.monotonic() - began < 3  # not for ever; a busy machine takes its time
    assert study.stop_reason == "time"


def test_predictions_are_there_again(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    ready = get_space("random-forest")
    with Study(ready.space, seed=1, storage=tmp_path / "s.db") as study:
        study.run(TableEvaluator(ready.build, X, y, keep="probabilities"), n_trials=2, n_jobs=2)
    with Study.open(tmp_path / "s.db") as study:
        predictions = study.history.predictions(1)
        assert predictions is not None
        assert predictions.values.shape == (150, 3)
        wrong = predictions.values.argmax(axis=1) != y[predictions.rows]
        assert wrong.mean() == pytest.approx(study.history.losses[1])
        assert study.history.predictions(77) is None


def test_an_endless_trial_does_not_block_the_study_for_ever() -> None:
    def some_hang(config: Any) -> float:
        while config["k"] % 3 == 0:
            pass
        return float(config["k"])

    study = Study({"k": [1, 3, 2, 6]}, "grid", seed=0)
    with Workers(1, starter=kept_starter) as pool:
        pool.submit(abs, -1).result()  # on a busy machine the start of a worker is longer than the limit
        for _ in range(4):
            study.run(FunctionEvaluator(some_hang), time_limit=1.5, executor=pool)
    assert {o.config["k"]: o.status for o in study.history.observations()} == {
        1: "ok",
        2: "ok",
        3: "timeout",
        6: "timeout",
    }


def test_evaluations_left_by_failures_are_used() -> None:
    X, y = load_iris(return_X_y=True)

    def build(config: Any, random_state: int) -> Any:
        if config["k"] == "b":
            raise ValueError("no")
        return get_space("svm-rbf").build(Config({"C": 1.0, "gamma": config["x"]}), random_state)

    counts = set()
    for executor in (Serial(), Serial(n_slots=4), Workers(2, starter=kept_starter)):
        study = Study(SPACE, seed=3).run(TableEvaluator(build, X, y, cv=4), n_evaluations=20, executor=executor)
        assert 16 < study.history.n_evaluations <= 20
        counts.add(study.history.n_evaluations)
    assert len(counts) == 1


def test_results_of_workers_are_recorded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("comitia.study.record.MOST_SECONDS_AT_RISK", np.inf)
    store = Counting()
    study = Study(LINE, PAIRS, seed=0, storage=store)
    study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=2, n_jobs=2)
    assert sum(n for _, n in store.records) == 2
    assert (2, 0) in store.records


def test_a_slow_trial_is_recorded_at_once() -> None:
    store = Counting()
    told: list[tuple[int, int]] = []

    def slow(config: Any) -> float:
        time.sleep(0.3)
        return 0.5

    study = Study(LINE, PAIRS, seed=0, storage=store)
    study.run(FunctionEvaluator(slow), n_trials=2, callbacks=[lambda s, o: told.append(store.records[-1])])
    assert told == [(0, 1), (0, 1)]
