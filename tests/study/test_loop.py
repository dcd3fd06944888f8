"""The loop: budgets, callbacks, what evaluators may return, what a run gives back."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from comitia import (
    FunctionEvaluator,
    Observation,
    Seeds,
    Serial,
    Study,
    TableEvaluator,
    Trial,
    get_space,
)
from comitia.errors import ChoiceError, ExecutionError
from comitia.seams import Judging
from tests.study.examples import LINE, PAIRS, SPACE, square


class TestBudgets:
    def test_trials_count_from_the_beginning_of_the_study(self) -> None:
        study = Study(SPACE, seed=1)
        study.run(FunctionEvaluator(square), n_trials=5)
        study.run(FunctionEvaluator(square), n_trials=8)
        study.run(FunctionEvaluator(square), n_trials=8)
        assert study.history.n_finished == 8

    @pytest.mark.parametrize("executor", [None, Serial(n_slots=4)])
    def test_evaluations_are_not_exceeded(self, executor: Any) -> None:
        X, y = load_iris(return_X_y=True)
        study = Study("svm-rbf", seed=1)
        study.run(TableEvaluator(get_space("svm-rbf").build, X, y, cv=3), n_evaluations=11, executor=executor)
        assert study.history.n_evaluations == 9
        assert study.stop_reason == "budget"
        assert study.history.n_pending == 1  # asked, but no room for it: the first of the next run
        study.run(TableEvaluator(get_space("svm-rbf").build, X, y, cv=3), n_evaluations=15, executor=executor)
        assert study.history.n_evaluations == 15
        assert study.history.n_finished == 5

    @pytest.mark.parametrize("name", ["n_trials", "time_limit", "n_evaluations"])
    @pytest.mark.parametrize("value", [0, -1, "10", float("nan"), True])
    def test_must_be_positive(self, name: str, value: Any) -> None:
        with pytest.raises(ChoiceError, match=name):
            Study(SPACE).run(FunctionEvaluator(square), **{name: value})

    @pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
    def test_n_jobs_must_be_a_whole_number_other_than_zero(self, n_jobs: Any) -> None:
        with pytest.raises(ChoiceError, match="n_jobs"):
            Study(SPACE).run(FunctionEvaluator(square), n_trials=1, n_jobs=n_jobs)

    def test_an_executor_must_be_one(self) -> None:
        with pytest.raises(ChoiceError, match="address"):
            Study(SPACE).run(FunctionEvaluator(square), n_trials=1, executor="dask")
        with pytest.raises(ChoiceError, match="submit"):
            Study(SPACE).run(FunctionEvaluator(square), n_trials=1, executor=3)  # type: ignore[arg-type]


def test_progress_shows_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    study = Study(SPACE, seed=1)
    study.run(FunctionEvaluator(lambda c: square(c) / (c["k"] == "a")), n_trials=6, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "6 trials, best" in err
    assert "failed" in err


class TestResultsOfOnesOwnEvaluator:
    """What an evaluator of the user's own may return wrongly: recorded as failed, never as the best."""

    @pytest.mark.parametrize(
        "result",
        [
            lambda t: (Observation(t, "ok", (float("nan"),)), None),
            lambda t: (Observation(t, "ok", ()), None),
            lambda t: (Observation(t, "done", (1.0,)), None),  # type: ignore[arg-type]
            lambda t: Observation(t, "ok", (1.0,)),
            lambda t: 1.0,
        ],
        ids=["nan", "empty", "status", "no tuple", "number"],
    )
    def test_nonsense_is_a_failure(self, result: Any, tmp_path: Path) -> None:
        class Own:
            judging = Judging()

            def __call__(self, trial: Trial, seeds: Seeds) -> Any:
                return result(trial)

            def n_fits(self, trial: Trial) -> int:
                return 1

        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            study.run(Own(), n_trials=2)
            assert study.history.n_failed == 2
            assert "an evaluator must return" in study.history.observations()[0].error

    @pytest.mark.parametrize("judging", [{}, {"judging": Judging}])
    def test_an_evaluator_that_does_not_say_how_it_judges_is_told_what_to_write(self, judging: Any) -> None:
        methods = {"__call__": lambda self, trial, seeds: None, "n_fits": lambda self, trial: 1}
        own = type("Own", (), {**methods, **judging})()
        with pytest.raises(ChoiceError, match=r"Got .*Own.*judging = Judging\(\), from comitia.seams"):
            Study(SPACE, seed=1).run(own, n_trials=2)

    def test_numpy_numbers_and_odd_texts_are_recorded(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("CRITICAL", logger="comitia")  # pytest could not send such a text from one process to another

        class Own:
            judging = Judging()

            def __call__(self, trial: Trial, seeds: Seeds) -> Any:
                if trial.number:
                    return Observation(trial, "failed", error="lone \ud800 surrogate"), None
                return Observation(trial, "ok", (np.float32(0.5),)), None  # type: ignore[arg-type]

            def n_fits(self, trial: Trial) -> int:
                return 1

        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            study.run(Own(), n_trials=2)
        with Study.open(tmp_path / "s.db") as study:
            assert [o.status for o in study.history.observations()] == ["ok", "failed"]

    @pytest.mark.parametrize("thing", [square, 3, None, "evaluator"])
    def test_what_is_no_evaluator_is_refused_at_once(self, thing: Any) -> None:
        with pytest.raises(ChoiceError, match="FunctionEvaluator"):
            Study(SPACE).run(thing, n_trials=1)


def test_a_callback_can_stop() -> None:
    study = Study(SPACE, seed=1)
    study.run(FunctionEvaluator(square), n_trials=50, callbacks=[lambda s, o: s.stop() if o.number == 4 else None])
    assert study.stop_reason == "stopped"
    assert study.history.n_finished == 5


class TestHands:
    """Who works on what: a run takes what waits, and gives back what it did not finish."""

    def test_trials_in_the_hands_of_the_user_are_not_given_to_a_run(self) -> None:
        study = Study(SPACE, seed=1)
        [mine] = study.ask()
        study.run(FunctionEvaluator(square), n_trials=3)
        assert [o.number for o in study.history.observations()] == [1, 2, 3]
        assert [trial.number for trial in study.history.begun] == [mine.number]
        study.tell(mine, 0.5)
        assert study.history.n_pending == 0

    def test_a_run_that_ends_in_the_middle_gives_back_what_it_did_not_finish(self) -> None:
        study = Study(SPACE, seed=1)
        [mine] = study.ask()

        def stop_at_two(config: Any) -> float:
            if study.history.n_finished == 2:
                raise KeyboardInterrupt
            return square(config)

        study.run(FunctionEvaluator(stop_at_two), n_trials=9, executor=Serial(n_slots=2))
        assert study.stop_reason == "interrupted"
        assert [trial.number for trial in study.history.begun] == [mine.number]
        assert [trial.number for trial in study.history.waiting] == [3, 4]
        assert [trial.number for trial in study.ask(2)] == [3, 4]  # under their own numbers, before any other

    def test_a_trial_that_does_not_fit_the_budget_is_the_first_of_the_next_run(self) -> None:
        study = Study(LINE, PAIRS, seed=0)
        study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=3)
        assert [trial.number for trial in study.history.waiting] == [3]
        study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=4)
        assert study.history.n_pending == 0

    def test_a_fault_of_the_executor_comes_out_and_its_trial_waits_again(self) -> None:
        class Faulty(Serial):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
                future = super().submit(fn, *args, **kwargs)
                if args[0].number == 1:
                    future = Future()
                    future.set_exception(ExecutionError("unreachable"))
                return future

        study = Study(SPACE, seed=1)
        with pytest.raises(ExecutionError, match="unreachable"):
            study.run(FunctionEvaluator(square), n_trials=9, executor=Faulty(n_slots=3))
        assert [o.number for o in study.history.observations()] == [0, 2]
        assert [trial.number for trial in study.history.waiting] == [1]
        assert not list(study.history.begun)

    def test_a_copy_keeps_what_is_in_the_hands_of_the_user(self) -> None:
        study = Study(SPACE, seed=1)
        study.enqueue({"x": 0.5, "k": "a"})
        study.ask(2)
        study.enqueue({"x": 0.25, "k": "b"})
        copy = study.in_memory()
        assert [trial.number for trial in copy.history.begun] == [0, 1]
        assert [trial.number for trial in copy.history.waiting] == [2]
        assert copy.ask() == study.ask()


def test_a_second_ctrl_c_does_not_leave_trials_in_nobodys_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(LINE, PAIRS, seed=0)

    def interrupted(config: Any) -> float:
        raise KeyboardInterrupt

    def impatient(run: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("comitia.execution.crew.HereCrew.close", impatient)
        with pytest.raises(KeyboardInterrupt):
            study.run(FunctionEvaluator(interrupted), n_trials=4)
    study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=4)
    assert study.history.n_finished == 4
