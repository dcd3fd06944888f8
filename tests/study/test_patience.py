"""A search that finds nothing better ends."""

from pathlib import Path
from typing import Any

import pytest

from comitia import AutoClassifier, FunctionEvaluator, Patience, Serial, Study, minimize
from comitia.errors import ChoiceError

VALUES = [5, 3, 4, 4, 3, 1, 2, 2, 2, 0]
SPACE = {"x": list(range(len(VALUES)))}


def in_turn(sign: int = 1) -> Any:
    """Return a function whose values come one after the other, whatever it is called with."""
    values = iter(VALUES)
    return lambda config: sign * next(values)


@pytest.mark.parametrize(("n_trials", "n_run"), [(1, 3), (2, 4), (3, 5), (4, 10)])
def test_stops_after_so_many_trials_without_a_better_one(n_trials: int, n_run: int) -> None:
    study = minimize(in_turn(), SPACE, method="grid", n_trials=10, callbacks=[Patience(n_trials)])
    assert study.history.n_finished == n_run


def test_an_equal_loss_is_not_a_better_one() -> None:
    study = minimize(lambda config: 1.0, SPACE, method="grid", n_trials=10, callbacks=[Patience(4)])
    assert study.history.n_finished == 5


def test_failures_count() -> None:
    def fails(config: Any) -> float:
        raise ValueError

    assert minimize(fails, SPACE, method="grid", n_trials=10, callbacks=[Patience(4)]).history.n_finished == 4


def test_a_resumed_study_counts_on(tmp_path: Path) -> None:
    evaluator = FunctionEvaluator(in_turn())
    with Study(SPACE, "grid", seed=0, storage=tmp_path / "s.db") as study:
        study.run(evaluator, n_trials=3, callbacks=[Patience(3)])
    with Study.open(tmp_path / "s.db") as study:
        study.run(evaluator, n_trials=10, callbacks=[Patience(3)])
        assert study.history.n_finished == 5
        assert study.stop_reason == "stopped"


def test_counts_the_same_way_where_values_are_maximised() -> None:
    study = minimize(in_turn(-1), SPACE, method="grid", direction="maximize", n_trials=10, callbacks=[Patience(2)])
    assert study.history.n_finished == 4


def test_ends_an_automatic_fit() -> None:
    from sklearn.datasets import load_iris

    model = AutoClassifier(n_trials=40, include=["linear"], executor=Serial(), callbacks=[Patience(3)], random_state=0)
    model.fit(*load_iris(return_X_y=True))
    assert model.study_.history.n_finished < 40


@pytest.mark.parametrize("n_trials", [0, 1.5, True])
def test_must_be_a_number_of_trials(n_trials: Any) -> None:
    with pytest.raises(ChoiceError, match="Patience"):
        Patience(n_trials)
