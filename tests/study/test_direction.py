"""A study that maximises: the sign is turned once, where results enter, and users see their own."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import FunctionEvaluator, MemoryStore, Study, TableEvaluator, get_space, minimize
from comitia.errors import ChoiceError, StoreMismatch, UnknownName

SPACE = {"x": (-5.0, 5.0)}


def hill(config: Any) -> float:
    return 7 - (config["x"] - 1) ** 2


def test_finds_the_top_of_a_hill() -> None:
    study = minimize(hill, SPACE, direction="maximize", n_trials=20, seed=0)
    assert study.best_value == pytest.approx(7, abs=0.01)
    assert study.best_trial.config["x"] == pytest.approx(1, abs=0.1)


def test_is_the_search_for_the_smallest_of_what_is_turned() -> None:
    up = minimize(hill, SPACE, direction="maximize", n_trials=12, seed=0)
    down = minimize(lambda config: -hill(config), SPACE, n_trials=12, seed=0)
    assert (up.history.X == down.history.X).all()
    assert (up.history.losses == down.history.losses).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_whatever_is_told_is_seen_with_its_own_sign(values: list[float]) -> None:
    store = MemoryStore()
    study = Study(SPACE, "rs", seed=0, direction="maximize", storage=store)
    for value in values:
        [trial] = study.ask()
        study.tell(trial, value)
    for seen in (study, Study(SPACE, "rs", storage=store), pickle.loads(pickle.dumps(study.in_memory()))):
        assert seen.direction == "maximize"
        assert seen.best_value == max(values)
        assert seen.to_frame()["value"].tolist() == values
        assert "loss" not in seen.to_frame()
        assert (seen.history.losses == -np.array(values)).all(), "inside, losses are minimised"


def test_callbacks_and_the_progress_bar_have_the_users_sign(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[float] = []
    study = Study(SPACE, "rs", seed=0, direction="maximize")
    study.run(
        FunctionEvaluator(hill),
        n_trials=5,
        callbacks=[lambda study, observation: heard.append(observation.value)],
        progress=True,
    )
    assert heard == study.to_frame()["value"].tolist() == [hill(config) for config in configs(study)]
    assert f"best value {max(heard):.4g}" in capsys.readouterr().err
    assert f"value={study.best_value:.6g}" in repr(study.best_trial)


def configs(study: Study) -> list[Any]:
    return [observation.config for observation in study.history.observations()]


def test_is_recorded_and_resumed(tmp_path: Path) -> None:
    whole = minimize(hill, SPACE, direction="maximize", n_trials=10, seed=0)
    minimize(hill, SPACE, direction="maximize", n_trials=6, seed=0, storage=tmp_path / "s.db").close()
    with Study.open(tmp_path / "s.db") as study:
        study.run(FunctionEvaluator(hill), n_trials=10)
        assert study.to_frame()["value"].tolist() == whole.to_frame()["value"].tolist()


@pytest.mark.parametrize(("first", "then"), [("maximize", "minimize"), ("minimize", "maximize")])
def test_another_direction_is_refused(first: Any, then: Any, tmp_path: Path) -> None:
    minimize(hill, SPACE, direction=first, n_trials=2, storage=tmp_path / "s.db").close()
    with pytest.raises(StoreMismatch, match="direction"):
        minimize(hill, SPACE, direction=then, n_trials=4, storage=tmp_path / "s.db")


def test_failures_have_no_value() -> None:
    study = Study(SPACE, "rs", seed=0, direction="maximize")
    [one, two] = study.ask(2)
    study.tell(one, error="it broke")
    study.tell(two, 3.0)
    assert np.isnan(study.to_frame()["value"][0])
    assert study.best_value == 3.0


def test_an_evaluator_of_tables_has_losses_of_its_own() -> None:
    ready = get_space("svm-rbf")
    evaluator = TableEvaluator(ready.build, np.arange(20.0).reshape(10, 2), np.arange(10) % 2, cv=2)
    with pytest.raises(ChoiceError, match="by losses"):
        Study(ready.space, direction="maximize").run(evaluator, n_trials=1)


def test_an_unknown_direction() -> None:
    with pytest.raises(UnknownName, match="'maximize'"):
        Study(SPACE, direction="maximise")  # type: ignore[arg-type]
