"""What a fit says: nothing, progress, or each trial and why."""

import logging
import re
import threading
from typing import Any
from unittest import mock

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from comitia import AutoClassifier
from comitia.auto.narration import heard, log

IRIS = load_iris(return_X_y=True)


class Broken(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that fails."""

    def fit(self, X: Any, y: Any) -> None:
        raise ValueError("broken " * 100)


def no_handlers() -> Any:
    """Be a program that has not set up logging; a fixture would come before pytest's own handlers."""
    return mock.patch.multiple(log, propagate=False, handlers=[], level=logging.NOTSET, _cache={})


def said(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    include = ["linear", Broken()]
    with no_handlers():
        AutoClassifier(**{"n_trials": 4, "n_jobs": 1, "include": include, "random_state": 0, **options}).fit(*IRIS)
    out, err = capsys.readouterr()
    assert out == ""
    return err


class TestLevels:
    def test_0_is_silent(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert said(capsys) == ""

    def test_1_shows_progress_and_failures(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = said(capsys, verbose=1).splitlines()
        assert "4 trials, best score" in lines[-1]
        assert any(line.startswith("trial 1 failed: fold 0: ValueError: broken") for line in lines)
        assert max(map(len, lines)) < 130

    def test_2_says_what_is_tried_and_why(self, capsys: pytest.CaptureFixture[str]) -> None:
        text = said(capsys, verbose=2)
        assert "running committee with 1 at a time, at most 4 trials" in text
        assert "trial 0: linear, score " in text
        assert "trial 1 failed: fold 0: ValueError: broken" in text
        assert "stopped (budget) after 4 trials" in text

    @pytest.mark.processes
    def test_2_says_what_time_is_left_for_the_refit(self, capsys: pytest.CaptureFixture[str]) -> None:
        text = said(capsys, verbose=2, time_limit=30, include=["linear"])
        assert re.search(r"\d models are fitted again, \d+\.\d s are left for it", text)


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_the_logger_is_as_before_at_the_end(verbose: int) -> None:
    with no_handlers():
        with pytest.raises(ZeroDivisionError), heard(verbose):
            raise ZeroDivisionError
        assert (log.level, log.handlers) == (logging.NOTSET, [])


def test_a_program_with_handlers_of_its_own_decides(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", logger="comitia")
    caplog.handler.setLevel(logging.NOTSET)
    with heard(0):
        log.warning("one")
    with heard(2):
        log.info("two")
    assert caplog.messages == ["one", "two"]


def test_fits_side_by_side_do_not_hear_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    def speak(verbose: int) -> None:
        with heard(verbose):
            both.wait()
            log.info("info of %d", verbose)
            log.warning("warning of %d", verbose)
            both.wait()

    both = threading.Barrier(3)
    threads = [threading.Thread(target=speak, args=(verbose,)) for verbose in (0, 1, 2)]
    with no_handlers():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (log.level, log.handlers) == (logging.NOTSET, [])
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == ["info of 2", "warning of 1", "warning of 2"]
