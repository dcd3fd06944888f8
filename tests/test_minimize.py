"""Any black box."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from comitia import Workers, minimize
from comitia.errors import UnknownName


@pytest.mark.processes
def test_finds_a_minimum_in_worker_processes_with_a_closure(tmp_path: Path) -> None:
    centre = 0.25

    def objective(config: Any) -> float:
        return (config["x"] - centre) ** 2

    result = minimize(objective, {"x": stats.uniform(0, 1)}, method="sobol", n_trials=64, n_jobs=2, seed=0)
    assert abs(result.best_trial.config["x"] - centre) < 0.02
    again = minimize(
        objective, {"x": stats.uniform(0, 1)}, method="sobol", n_trials=64, seed=0, storage=tmp_path / "s.db"
    )
    assert again.best_trial == result.best_trial or again.best_trial.config == result.best_trial.config


@pytest.mark.processes
def test_time_limit_of_a_function_that_never_returns() -> None:
    def hang(config: Any) -> float:
        while True:
            pass

    result = minimize(hang, {"x": [1, 2]}, n_trials=2, executor=Workers(2, trial_time_limit=0.5))
    assert [o.status for o in result.history.observations()] == ["timeout", "timeout"]


def test_an_unknown_space() -> None:
    with pytest.raises(UnknownName, match="'svm-rbf'"):
        minimize(lambda c: 0.0, "svm-rfb", n_trials=1)
