"""Any black box."""

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from comitia import Workers, minimize
from comitia.errors import UnknownName
from comitia.execution.kept import kept_starter


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

    result = minimize(hang, {"x": [1, 2]}, n_trials=2, executor=Workers(2, trial_time_limit=0.5, starter=kept_starter))
    assert [o.status for o in result.history.observations()] == ["timeout", "timeout"]


def test_an_unknown_space() -> None:
    with pytest.raises(UnknownName, match="'svm-rbf'"):
        minimize(lambda c: 0.0, "svm-rfb", n_trials=1)


def test_without_a_budget_it_takes_a_hundred_trials_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "comitia"):
        study = minimize(lambda config: config["x"], {"x": (0.0, 1.0)}, method="rs", seed=0)
    assert study.history.n_finished == 100
    assert "100 trials" in caplog.text


def test_searches_by_bayes_unless_told_otherwise() -> None:
    assert minimize(lambda config: config["x"], {"x": (0.0, 1.0)}, n_trials=1).method.name == "bayes"


@pytest.mark.processes
def test_cma_does_not_mind_that_matplotlib_is_missing() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from comitia import minimize\n"
        "minimize(lambda config: config['x'], {'x': (0.0, 1.0)}, method='cma', n_trials=10, seed=0)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
