"""A study by hand: asking, telling, the queue, results."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from comitia import (
    Config,
    FunctionEvaluator,
    History,
    Method,
    Observation,
    Seeds,
    Study,
    Trial,
)
from comitia.errors import (
    ChoiceError,
    ExhaustedError,
    NothingFound,
    SpaceError,
    TellError,
    UnknownName,
)
from comitia.seams import Ask, Judging
from tests.study.examples import SPACE, Continuing, history_of, square


def test_searches_by_bayes_unless_told_otherwise() -> None:
    assert Study(SPACE).method.name == "bayes"


class TestAskAndTell:
    def test_by_hand_equals_by_run(self) -> None:
        by_hand = Study(SPACE, seed=1)
        for _ in range(10):
            [trial] = by_hand.ask()
            by_hand.tell(trial, square(trial.config))
        by_run = Study(SPACE, seed=1).run(FunctionEvaluator(square), n_trials=10)
        assert history_of(by_hand) == history_of(by_run)

    def test_trials_can_be_told_in_any_order_by_number_or_trial(self) -> None:
        study = Study(SPACE, seed=1)
        trials = study.ask(3)
        study.tell(trials[2], 0.5)
        study.tell(0, 0.25)
        study.tell_all([(trials[1], "it failed")])
        assert study.best_trial.number == 0
        assert study.history.n_failed == 1

    @pytest.mark.parametrize("loss", [float("nan"), float("inf"), None, "0.5", 1j, [0.5]])
    def test_a_loss_must_be_a_finite_number(self, loss: Any) -> None:
        study = Study(SPACE, seed=1)
        [trial] = study.ask()
        with pytest.raises(TellError, match="tell\\(trial, error="):
            study.tell(trial, loss)
        study.tell(trial, 0.5)  # nothing was recorded

    @pytest.mark.parametrize("number", [5, -1, "0", None])
    def test_a_trial_must_have_been_asked(self, number: Any) -> None:
        study = Study(SPACE, seed=1)
        study.ask()
        with pytest.raises(TellError, match="that ask\\(\\) returns"):
            study.tell(number, 0.5)

    def test_another_studys_trial_is_refused(self) -> None:
        study = Study(SPACE, seed=1)
        study.ask()
        [other] = Study(SPACE, seed=2).ask()
        with pytest.raises(TellError, match="another study's"):
            study.tell(other, 0.5)

    def test_a_trial_is_told_once(self) -> None:
        study = Study(SPACE, seed=1)
        [trial] = study.ask()
        study.tell(trial, 0.5)
        with pytest.raises(TellError, match="second result"):
            study.tell(trial, 0.5)
        [trial] = study.ask()
        with pytest.raises(TellError, match="twice"):
            study.tell_all([(trial, 0.1), (trial, 0.2)])

    @pytest.mark.parametrize("n", [0, -1, 1.5, None])
    def test_n_must_be_positive(self, n: Any) -> None:
        with pytest.raises(ChoiceError, match="'n'"):
            Study(SPACE).ask(n)

    def test_a_finite_space_ends(self) -> None:
        study = Study({"a": [1, 2]}, seed=0)
        trials = study.ask(5)
        assert len(trials) == 2
        assert study.ask() == []  # wait: two are pending
        study.tell_all([(trial, 0.5) for trial in trials])
        with pytest.raises(ExhaustedError, match="All 2 configurations"):
            study.ask()


class TestQueue:
    def test_enqueued_configurations_come_first_and_survive(self, tmp_path: Path) -> None:
        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            study.enqueue({"x": 0.123456789012345, "k": "b"})
        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            [trial] = study.ask()
            assert trial.config == {"x": 0.123456789, "k": "b"}
            study.run(FunctionEvaluator(square), n_trials=3)
            assert study.history.n_finished == 3
            assert study.history.trial(0).config["k"] == "b"

    def test_what_is_not_in_the_space_is_refused(self) -> None:
        study = Study(SPACE, seed=1)
        with pytest.raises(SpaceError):
            study.enqueue({"x": 7, "k": "a"})
        with pytest.raises(UnknownName, match="'k'"):
            study.enqueue({"x": 0.5, "kk": "a"})
        assert len(study.history) == 0

    def test_warm_start_takes_the_best_that_fit(self) -> None:
        older = Study({"x": stats.uniform(0, 2), "k": ["a", "b"]}, seed=0).run(FunctionEvaluator(square), n_trials=30)
        study = Study(SPACE, seed=1)
        assert study.warm_start(older, 4) == 4
        study.run(FunctionEvaluator(square), n_trials=4)
        fitting = sorted(o.loss for o in older.history.observations() if o.config["x"] <= 1)
        assert sorted(o.loss for o in study.history.observations()) == pytest.approx(fitting[:4], rel=1e-6)
        assert study.warm_start(Study(SPACE), 3) == 0

    def test_warm_start_skips_what_was_asked(self) -> None:
        older = Study({"a": [1, 2, 3]}, seed=0).run(FunctionEvaluator(lambda c: c["a"]), n_trials=3)
        study = Study({"a": [1, 2, 3, 4]}, seed=0)
        assert study.warm_start(older, 2) == 2
        assert study.warm_start(older, 2) == 0  # a script that is run again does not ask for more
        assert study.warm_start(older, 3) == 1


class TestResults:
    def test_the_frame_has_a_row_a_trial(self) -> None:
        study = Study(SPACE, seed=1)
        study.run(FunctionEvaluator(lambda c: square(c) / (c["k"] == "a")), n_trials=8)
        study.ask()
        frame = study.to_frame()
        assert len(frame) == 9
        assert frame.columns.tolist()[:3] == ["number", "status", "loss"]
        assert set(frame["status"]) == {"ok", "failed", "pending"}
        assert frame["config.k"][frame["status"] == "failed"].eq("b").all()

    def test_a_metric_that_is_called_as_a_column_has_one_of_its_own(self) -> None:
        class Own:
            judging = Judging()

            def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, None]:
                return Observation(trial, "ok", (0.5,), metrics={"loss": (0.2, 0.4), "recall": (1.0,)}), None

            def n_fits(self, trial: Trial) -> int:
                return 1

        frame = Study(SPACE, seed=1).run(Own(), n_trials=1).to_frame()
        assert frame["loss"].tolist() == [0.5]
        assert frame["metrics.loss"].tolist() == pytest.approx([0.3])
        assert frame["recall"].tolist() == [1.0]

    def test_nothing_to_hand_over(self) -> None:
        study = Study(SPACE, seed=1)
        with pytest.raises(NothingFound, match="Run some trials"):
            _ = study.best_trial
        study.run(FunctionEvaluator(lambda c: 1 / 0), n_trials=3)
        with pytest.raises(NothingFound, match="division by zero"):
            study.members()

    def test_members(self) -> None:
        study = Study(SPACE, seed=1).run(FunctionEvaluator(square), n_trials=5)
        [member] = study.members()
        assert member.config == study.best_trial.config
        assert member.weight == 1

    def test_failures_are_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="comitia"):
            Study(SPACE, seed=1).run(FunctionEvaluator(lambda c: 1 / 0), n_trials=2)
        assert "trial 1 failed: ZeroDivisionError" in caplog.text
        assert "stopped (budget) after 2 trials" in caplog.text


def test_a_study_prints_what_it_is() -> None:
    assert "0 trials finished" in repr(Study(SPACE))
    assert Config({"x": 1}) == {"x": 1}


def test_values_that_are_equal_but_of_other_types_are_all_tried() -> None:
    study = Study({"a": [1, 1.0, True]}, "grid", seed=0).run(FunctionEvaluator(lambda c: 0.5), n_trials=9)
    assert {type(o.config["a"]) for o in study.history.observations()} == {int, float, bool}


def test_enqueueing_again_asks_once(tmp_path: Path) -> None:
    for _ in range(2):  # a script that is run again
        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            assert study.enqueue({"x": 0.25, "k": "a"}).number == 0
            assert len(study.history) == 1


def test_an_optimizer_that_asks_for_too_much() -> None:
    class Greedy(Continuing):
        def ask(self, history: History, values: Any, n: int, seeds: Seeds) -> list[Ask]:
            return [Ask(np.full(2, 0.5))] * (n + 1)

    with pytest.raises(ChoiceError, match="at most 1"):
        Study(SPACE, Method("greedy", Greedy, "asks for too much"), seed=0).ask()
