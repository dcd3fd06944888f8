"""The loop: asking, telling, budgets, resuming, interruptions."""

import logging
import os
import signal
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from comitia import (
    Config,
    FunctionEvaluator,
    History,
    Method,
    Observation,
    Seeds,
    Serial,
    Space,
    Study,
    TableEvaluator,
    Trial,
    Workers,
    get_space,
)
from comitia.errors import (
    ChoiceError,
    ExhaustedError,
    NothingFound,
    SpaceError,
    StoreError,
    StoreMismatch,
    TellError,
    UnknownName,
)
from comitia.optimizers import RandomSearch
from comitia.seams import Ask, Judging, Needs, Values
from comitia.study.store import MemoryStore

SPACE = {"x": stats.uniform(0, 1), "k": ["a", "b"]}


def square(config: Any) -> float:
    return float((config["x"] - 0.5) ** 2)


def history_of(study: Study) -> Any:
    return [(o.number, o.trial.x, o.config, o.status, o.losses) for o in study.history.observations()]


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

    def test_time_is_kept(self) -> None:
        study = Study(SPACE, seed=1)
        began = time.monotonic()

        def slow(config: Any) -> float:
            time.sleep(0.01)
            return 1.0

        study.run(FunctionEvaluator(slow), time_limit=0.5, executor=Serial())
        assert 0.4 < time.monotonic() - began < 1
        assert study.stop_reason == "time"

    @pytest.mark.parametrize("name", ["n_trials", "time_limit", "n_evaluations"])
    @pytest.mark.parametrize("value", [0, -1, "10", float("nan"), True])
    def test_must_be_positive(self, name: str, value: Any) -> None:
        with pytest.raises(ChoiceError, match=name):
            Study(SPACE).run(FunctionEvaluator(square), **{name: value})

    @pytest.mark.parametrize("n_jobs", [0, -2, 1.5])
    def test_n_jobs_must_be_positive(self, n_jobs: Any) -> None:
        with pytest.raises(ChoiceError, match="n_jobs"):
            Study(SPACE).run(FunctionEvaluator(square), n_trials=1, n_jobs=n_jobs)

    def test_an_executor_must_be_one(self) -> None:
        with pytest.raises(ChoiceError, match="submit"):
            Study(SPACE).run(FunctionEvaluator(square), n_trials=1, executor="dask")  # type: ignore[arg-type]


class TestResuming:
    def test_the_result_is_that_of_an_uninterrupted_run(self, tmp_path: Path) -> None:
        whole = Study(SPACE, seed=1).run(FunctionEvaluator(square), n_trials=12)
        for n in (3, 7, 12):
            with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
                study.run(FunctionEvaluator(square), n_trials=n)
        with Study.open(tmp_path / "s.db") as study:
            assert history_of(study) == history_of(whole)
            assert study.space == Space(SPACE)
            assert study.seeds == Seeds(1)

    def test_a_seed_that_was_drawn_is_remembered(self, tmp_path: Path) -> None:
        with Study(SPACE, storage=tmp_path / "s.db") as study:
            seed = study.seeds.seed
        with Study(SPACE, storage=tmp_path / "s.db") as study:
            assert study.seeds.seed == seed

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"space": {"x": stats.uniform(0, 2), "k": ["a", "b"]}}, "space"),
            ({"space": {"x": stats.uniform(0, 1)}}, "one over k, x"),
            ({"method": "sobol"}, "method"),
            ({"seed": 2}, "seed"),
        ],
        ids=repr,
    )
    def test_another_study_is_refused(self, tmp_path: Path, changed: dict[str, Any], message: str) -> None:
        Study(SPACE, "rs", seed=1, storage=tmp_path / "s.db").close()
        with pytest.raises(StoreMismatch, match=message):
            Study(**{"space": SPACE, "method": "rs", "seed": 1, "storage": tmp_path / "s.db", **changed})

    def test_predictions_are_there_again(self, tmp_path: Path) -> None:
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

    def test_a_new_study_needs_a_space(self, tmp_path: Path) -> None:
        with pytest.raises(ChoiceError, match="needs a space"):
            Study(storage=tmp_path / "s.db")
        with pytest.raises(StoreMismatch, match="empty record"):
            Study.open(tmp_path / "s.db")
        with pytest.raises(StoreError, match="There is no"):
            Study.open(tmp_path / "typo.db")
        assert not (tmp_path / "typo.db").exists()


class TestInterruption:
    @pytest.mark.parametrize("executor", [None, Workers(2)], ids=["serial", "workers"])
    def test_ctrl_c_returns_the_best_so_far(self, executor: Any) -> None:
        def slow(config: Any) -> float:
            time.sleep(0.05)
            return square(config)

        def interrupt(study: Study, observation: Observation) -> None:
            if observation.number == 3:
                threading.Timer(0.08, os.kill, [os.getpid(), signal.SIGINT]).start()

        study = Study(SPACE, seed=1)
        study.run(FunctionEvaluator(slow), n_trials=1000, executor=executor, callbacks=[interrupt])
        assert study.stop_reason == "interrupted"
        assert 3 < study.history.n_finished < 100
        assert study.best_trial.is_ok
        # and it can go on, to the same end
        study.run(FunctionEvaluator(square), n_trials=20)
        assert history_of(study) == history_of(Study(SPACE, seed=1).run(FunctionEvaluator(square), n_trials=20))

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

    def test_a_callback_can_stop(self) -> None:
        study = Study(SPACE, seed=1)
        study.run(FunctionEvaluator(square), n_trials=50, callbacks=[lambda s, o: s.stop() if o.number == 4 else None])
        assert study.stop_reason == "stopped"
        assert study.history.n_finished == 5


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


class Continuing:
    """An optimizer that evaluates one fold of each point and goes on with the other folds if it is good."""

    needs = Needs()

    def __init__(self, space: Space) -> None:
        self.space = space

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        if history.n_pending:
            return []
        if len(history) and history.trial(len(history) - 1).continues is None:
            last = history.trial(len(history) - 1)
            return [Ask(np.array(last.x), folds=(1, 2), continues=last.number)]
        return [Ask(self.space.sample(1, seeds("continuing", len(history)))[0], folds=(0,))]


class Repeating(Continuing):
    """An optimizer that averages repeats and goes on with more of them."""

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        if not len(history):
            return [Ask(np.full(len(self.space), 0.4), repeats=2)]
        return [Ask(np.full(len(self.space), 0.4), repeats=3, continues=len(history) - 1)] if n else []


@pytest.fixture
def table() -> TableEvaluator:
    X, y = load_iris(return_X_y=True)
    return TableEvaluator(get_space("random-forest").build, X, y, cv=3, reshuffled=True, loss="log-loss")


def test_a_trial_can_go_on_with_the_folds_of_another(table: TableEvaluator) -> None:
    study = Study("random-forest", Method("lazy", Continuing, "one fold, then the others"), seed=1)
    study.run(table, n_trials=4)
    first = study.history.trial(0)
    whole, _ = table(Trial(0, 0, first.x, first.config), study.seeds)
    assert study.history.losses[1] == pytest.approx(whole.loss)
    assert study.history.trial(1).root == 0
    assert study.history.is_superseded.tolist() == [True, False, True, False]


def test_a_trial_can_go_on_with_more_repeats(table: TableEvaluator) -> None:
    study = Study("random-forest", Method("more", Repeating, "more repeats"), seed=1)
    study.run(table, n_trials=3)
    first = study.history.trial(0)
    whole, _ = table(Trial(0, 0, first.x, first.config, repeats=8), study.seeds)
    assert study.history.losses[2] == pytest.approx(whole.loss)
    assert study.history.n_evaluations == 24
    assert study.history.trial(2).first_repeat == 5


def test_progress_bar_shows_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    study = Study(SPACE, seed=1)
    study.run(FunctionEvaluator(lambda c: square(c) / (c["k"] == "a")), n_trials=6, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "6 trials, best" in err
    assert "failed" in err


def test_a_study_prints_what_it_is() -> None:
    assert "0 trials finished" in repr(Study(SPACE))
    assert Config({"x": 1}) == {"x": 1}


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

    def test_numpy_numbers_and_odd_texts_are_recorded(self, tmp_path: Path) -> None:
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

    def test_an_optimizer_that_asks_for_too_much(self) -> None:
        class Greedy(Continuing):
            def ask(self, history: History, values: Any, n: int, seeds: Seeds) -> list[Ask]:
                return [Ask(np.full(2, 0.5))] * (n + 1)

        with pytest.raises(ChoiceError, match="at most 1"):
            Study(SPACE, Method("greedy", Greedy, "asks for too much"), seed=0).ask()


def test_another_table_or_loss_is_not_mixed_into_a_recorded_study(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    build = get_space("svm-rbf").build
    with Study("svm-rbf", seed=1, storage=tmp_path / "s.db") as study:
        study.run(TableEvaluator(build, X, y), n_trials=1)
        study.run(TableEvaluator(build, X.copy(), y.copy()), n_trials=2)
        for other in (
            TableEvaluator(build, X[:100], y[:100]),
            TableEvaluator(build, X, y, loss="accuracy"),
            TableEvaluator(build, X, y, cv=3),
        ):
            with pytest.raises(StoreMismatch, match="cannot be compared"):
                study.run(other, n_trials=3)


def test_an_endless_trial_does_not_block_the_study_for_ever() -> None:
    def some_hang(config: Any) -> float:
        while config["k"] % 3 == 0:
            pass
        return float(config["k"])

    study = Study({"k": [1, 3, 2, 6]}, "grid", seed=0)
    with Workers(1) as pool:
        pool.submit(abs, -1).result()  # on a busy machine the start of a worker is longer than the limit
        for _ in range(4):
            study.run(FunctionEvaluator(some_hang), time_limit=1.5, executor=pool)
    assert {o.config["k"]: o.status for o in study.history.observations()} == {
        1: "ok",
        2: "ok",
        3: "timeout",
        6: "timeout",
    }


def test_values_that_are_equal_but_of_other_types_are_all_tried() -> None:
    study = Study({"a": [1, 1.0, True]}, "grid", seed=0).run(FunctionEvaluator(lambda c: 0.5), n_trials=9)
    assert {type(o.config["a"]) for o in study.history.observations()} == {int, float, bool}


def test_enqueueing_again_asks_once(tmp_path: Path) -> None:
    for _ in range(2):  # a script that is run again
        with Study(SPACE, seed=1, storage=tmp_path / "s.db") as study:
            assert study.enqueue({"x": 0.25, "k": "a"}).number == 0
            assert len(study.history) == 1


def test_evaluations_left_by_failures_are_used() -> None:
    X, y = load_iris(return_X_y=True)

    def build(config: Any, random_state: int) -> Any:
        if config["k"] == "b":
            raise ValueError("no")
        return get_space("svm-rbf").build(Config({"C": 1.0, "gamma": config["x"]}), random_state)

    counts = set()
    for executor in (Serial(), Serial(n_slots=4), Workers(2)):
        study = Study(SPACE, seed=3).run(TableEvaluator(build, X, y, cv=4), n_evaluations=20, executor=executor)
        assert 16 < study.history.n_evaluations <= 20
        counts.add(study.history.n_evaluations)
    assert len(counts) == 1


def test_a_method_of_ones_own_must_be_given_again(tmp_path: Path) -> None:
    method = Method("mine", Continuing, "my own")
    Study(SPACE, method, seed=1, storage=tmp_path / "s.db").close()
    with pytest.raises(ChoiceError, match="'mine', which must be given again"):
        Study.open(tmp_path / "s.db")
    Study(SPACE, method, storage=tmp_path / "s.db").close()


def test_the_method_may_be_left_out_when_it_is_recorded(tmp_path: Path) -> None:
    Study(SPACE, "sobol", seed=1, storage=tmp_path / "s.db").close()
    with Study(storage=tmp_path / "s.db") as study:
        assert study.method.name == "sobol"


class Pairs(RandomSearch):
    """Two points at a time, the next two when both are back."""

    needs = Needs(generations=True, fixed_values=True)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        left = 2 - len(history) % 2
        if left == 2 and history.n_pending:
            return []
        return list(super().ask(history, values, min(n, left), seeds))


def test_a_generation_is_one_batch_however_few_are_asked_for_at_a_time() -> None:
    study = Study({"x": stats.uniform(0, 1)}, Method("pairs", Pairs, "two at a time"), seed=0)
    study.run(FunctionEvaluator(lambda config: config["x"]), n_trials=5)
    assert [study.history.trial(number).batch for number in range(len(study.history))] == [0, 0, 1, 1, 2, 2]
    assert study.history.n_finished == 5
    [left] = study.ask()
    assert left.number == 5
    assert study.ask() == []


class Counting(MemoryStore):
    """Counts records, and keeps how many results were in each."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[int, int]] = []

    def append(self, *, trials: Any = (), observations: Any = (), blobs: Any = None) -> None:
        super().append(trials=trials, observations=observations, blobs=blobs)
        if trials or observations:
            self.records.append((len(trials), len(observations)))


PAIRS = Method("pairs", Pairs, "two at a time")
LINE = {"x": stats.uniform(0, 1)}


class TestGroups:
    """Results of a generation are recorded together."""

    def test_a_generation_is_recorded_with_the_asks_of_the_next(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("comitia.study.record.MOST_SECONDS_AT_RISK", np.inf)  # however busy the machine is
        store = Counting()
        Study(LINE, PAIRS, seed=0, storage=store).run(FunctionEvaluator(lambda c: c["x"]), n_trials=6)
        assert store.records == [(2, 0), (2, 2), (2, 2), (0, 2)]

    def test_results_of_workers_are_recorded_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("comitia.study.record.MOST_SECONDS_AT_RISK", np.inf)
        store = Counting()
        study = Study(LINE, PAIRS, seed=0, storage=store)
        study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=2, n_jobs=2)
        assert sum(n for _, n in store.records) == 2
        assert (2, 0) in store.records

    def test_a_store_that_cannot_write_is_closed_nevertheless(self) -> None:
        store = Counting()
        study = Study(LINE, PAIRS, seed=0, storage=store)
        [trial] = study.ask()
        store.append = lambda **_: 1 / 0  # type: ignore[method-assign, assignment]
        with pytest.raises(ZeroDivisionError):
            study.tell(trial, 0.5)
        closed = []
        store.close = lambda: closed.append(True)  # type: ignore[method-assign]
        with pytest.raises(ZeroDivisionError):
            study.close()
        assert closed == [True]

    def test_a_second_ctrl_c_does_not_leave_trials_in_nobodys_hands(self, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_without_generations_each_result_is_recorded_before_it_is_told_of(self) -> None:
        store = Counting()
        seen = []
        study = Study(LINE, "rs", seed=0, storage=store)
        callback = lambda s, o: seen.append(store.records[-1])  # noqa: E731
        study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=3, callbacks=[callback])
        assert seen == [(0, 1)] * 3

    def test_a_slow_trial_is_recorded_at_once(self) -> None:
        store = Counting()
        told: list[tuple[int, int]] = []

        def slow(config: Any) -> float:
            time.sleep(0.3)
            return 0.5

        study = Study(LINE, PAIRS, seed=0, storage=store)
        study.run(FunctionEvaluator(slow), n_trials=2, callbacks=[lambda s, o: told.append(store.records[-1])])
        assert told == [(0, 1), (0, 1)]

    def test_work_that_took_long_elsewhere_is_not_at_risk(self) -> None:
        class Elsewhere:
            judging = Judging()

            def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, None]:
                return Observation(trial, "ok", (0.5,), seconds=60.0), None

            def n_fits(self, trial: Trial) -> int:
                return 1

        store = Counting()
        Study(LINE, PAIRS, seed=0, storage=store).run(Elsewhere(), n_trials=2)
        assert store.records == [(2, 0), (0, 1), (0, 1)]

    def test_callbacks_see_the_history_grow_by_one(self) -> None:
        sizes: list[tuple[int, int]] = []
        study = Study(LINE, PAIRS, seed=0)
        callback = lambda s, o: sizes.append((o.number, s.history.n_finished))  # noqa: E731
        study.run(FunctionEvaluator(lambda c: c["x"]), n_evaluations=5, callbacks=[callback])
        assert sizes == [(k, k + 1) for k in range(5)]
        assert study.stop_reason == "budget"

    def test_what_was_told_by_hand_is_recorded_at_once(self) -> None:
        store = Counting()
        study = Study(LINE, PAIRS, seed=0, storage=store)
        [trial] = study.ask()
        study.tell(trial, 0.5)
        assert store.records == [(2, 0), (0, 1)]

    @pytest.mark.parametrize("how", ["stop", "error", "interrupt"])
    def test_however_a_run_ends_its_results_are_recorded(self, how: str) -> None:
        def callback(study: Study, observation: Observation) -> None:
            if observation.number == 2:
                {"stop": study.stop, "error": lambda: 1 / 0, "interrupt": interrupt}[how]()

        def interrupt() -> None:
            raise KeyboardInterrupt

        store = Counting()
        study = Study(LINE, PAIRS, seed=0, storage=store)
        with pytest.raises(ZeroDivisionError) if how == "error" else nullcontext():
            study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=10, callbacks=[callback])
        assert sum(n for _, n in store.records) == study.history.n_finished == 3

    def test_predictions_can_be_read_before_they_are_recorded(self) -> None:
        X, y = load_iris(return_X_y=True)
        evaluator = TableEvaluator(get_space("svm-rbf").build, X, y, cv=0.3, keep="predictions")
        found: list[Any] = []
        study = Study("svm-rbf", PAIRS, seed=0)
        study.run(evaluator, n_trials=2, callbacks=[lambda s, o: found.append(s.history.predictions(o.number))])
        assert all(predictions is not None for predictions in found)
