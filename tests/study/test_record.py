"""The record: resuming, refusing another study, results that are written together."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from comitia import (
    FunctionEvaluator,
    Method,
    Observation,
    Seeds,
    Space,
    Study,
    TableEvaluator,
    Trial,
    get_space,
)
from comitia.errors import (
    ChoiceError,
    StoreError,
    StoreMismatch,
)
from comitia.seams import Judging
from tests.ids import stable
from tests.study.examples import LINE, PAIRS, SPACE, Continuing, Counting, history_of, square


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
        ids=stable,
    )
    def test_another_study_is_refused(self, tmp_path: Path, changed: dict[str, Any], message: str) -> None:
        Study(SPACE, "rs", seed=1, storage=tmp_path / "s.db").close()
        with pytest.raises(StoreMismatch, match=message):
            Study(**{"space": SPACE, "method": "rs", "seed": 1, "storage": tmp_path / "s.db", **changed})

    def test_a_new_study_needs_a_space(self, tmp_path: Path) -> None:
        with pytest.raises(ChoiceError, match="needs a space"):
            Study(storage=tmp_path / "s.db")
        with pytest.raises(StoreMismatch, match="empty record"):
            Study.open(tmp_path / "s.db")
        with pytest.raises(StoreError, match="There is no"):
            Study.open(tmp_path / "typo.db")
        assert not (tmp_path / "typo.db").exists()


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


class TestGroups:
    """Results of a generation are recorded together."""

    def test_a_generation_is_recorded_with_the_asks_of_the_next(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("comitia.study.record.MOST_SECONDS_AT_RISK", np.inf)  # however busy the machine is
        store = Counting()
        Study(LINE, PAIRS, seed=0, storage=store).run(FunctionEvaluator(lambda c: c["x"]), n_trials=6)
        assert store.records == [(2, 0), (2, 2), (2, 2), (0, 2)]

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

    def test_without_generations_each_result_is_recorded_before_it_is_told_of(self) -> None:
        store = Counting()
        seen = []
        study = Study(LINE, "rs", seed=0, storage=store)
        callback = lambda s, o: seen.append(store.records[-1])  # noqa: E731
        study.run(FunctionEvaluator(lambda c: c["x"]), n_trials=3, callbacks=[callback])
        assert seen == [(0, 1)] * 3

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
