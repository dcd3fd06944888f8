"""A bar on a terminal; elsewhere lines, not too many."""

import io
import sys
import time
from typing import Any

import pytest

from comitia import FunctionEvaluator, Study


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def run(evaluate: Any, n_trials: int = 10) -> None:
    Study({"x": list(range(20))}, "grid", seed=0).run(FunctionEvaluator(evaluate), n_trials=n_trials, progress=True)


def test_lines_are_seconds_apart_and_the_last_one_is_the_end(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluate(config: Any) -> float:
        clock[0] += 2.0
        return float(config["x"])

    run(evaluate)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["1 trials", "4 trials", "7 trials", "10 trials"]
    assert lines[-1].startswith("10 trials, best loss 2, 100 %")


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(lambda config: float(config["x"]))
    assert "10 trials, best loss 2" in terminal.getvalue()
    assert "━" in terminal.getvalue()


def test_the_text_of_a_failure_is_one_short_line(capsys: pytest.CaptureFixture[str], caplog: Any) -> None:
    def fail(config: Any) -> float:
        raise ValueError("no good\n" * 100)

    caplog.set_level("WARNING", logger="comitia")  # cells of experiments, run in this process, leave it higher
    run(fail, n_trials=1)
    [record] = [record for record in caplog.records if record.levelname == "WARNING"]
    assert record.getMessage().startswith("trial 0 failed: ValueError: no good no good")
    assert len(record.getMessage()) < 130
    assert "1 trials, none succeeded, 1 failed" in capsys.readouterr().err
