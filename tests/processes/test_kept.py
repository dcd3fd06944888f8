"""What is kept between runs makes the next one quick, and nothing of one run is in another."""

import os
import random
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from comitia import AutoClassifier, Workers
from comitia.execution.kept import MOST_KEPT, end_kept, kept_starter
from comitia.execution.starters import Nursery
from tests import warm
from tests.processes.test_workers import is_alive

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def _an_empty_shelf() -> Iterator[None]:
    """Let every test begin with no kept nursery, and leave none."""
    end_kept()
    yield
    end_kept()


def nurseries(process: psutil.Process | None = None) -> list[psutil.Process]:
    children = (process or psutil.Process()).children()
    return [child for child in children if is_alive(child) and "nursery.py" in " ".join(child.cmdline())]


def called(function: Any, *arguments: Any, n_workers: int = 1) -> Any:
    with Workers(n_workers, starter=kept_starter) as pool:
        return pool.submit(function, *arguments).result(timeout=60)


class Segfault(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that takes its process with it."""

    def fit(self, X: Any, y: Any) -> None:
        import ctypes

        ctypes.string_at(0)


def test_a_learner_that_crashes_does_not_take_the_users_process() -> None:
    model = AutoClassifier(n_trials=3, include=["linear", Segfault()], random_state=0).fit(X, Y)
    assert "crashed" in set(model.leaderboard()["status"])
    assert model.score(X, Y) > 0.9


@pytest.mark.usefixtures("bare_nurseries")
def test_the_next_run_has_the_same_nursery_and_other_workers() -> None:
    pids = [called(os.getpid) for _ in range(3)]
    assert len(set(pids)) == 3
    [nursery] = nurseries()
    assert nursery.children() == [], "between runs there is no worker"


def test_fits_share_a_nursery() -> None:
    for _ in range(2):
        AutoClassifier(n_trials=1, include=["linear"], cv=2).fit(X, Y)
        [nursery] = nurseries()
    assert nursery.children() == []


def test_nothing_of_one_run_is_in_the_next() -> None:
    def leave_traces() -> None:
        os.environ["COMITIA_TRACE"] = "1"
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        sys.modules["comitia"].trace = 1  # type: ignore[attr-defined]

    def traces() -> tuple[bool, bool, float, float]:
        import comitia

        has_trace = "trace" in vars(comitia)
        return "COMITIA_TRACE" in os.environ, has_trace, np.random.random(), random.random()  # noqa: NPY002

    before = called(traces)
    called(leave_traces)
    assert called(traces)[:2] == before[:2] == (False, False)


@pytest.mark.usefixtures("bare_nurseries")
def test_a_module_that_was_changed_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def answer() -> int:
        import changing_module  # type: ignore[import-not-found]

        return int(changing_module.ANSWER)

    (tmp_path / "changing_module.py").write_text("ANSWER = 1\n")
    assert called(answer) == 1
    (tmp_path / "changing_module.py").write_text("ANSWER = 22\n")
    assert called(answer) == 22
    assert len(nurseries()) == 1


@pytest.mark.usefixtures("bare_nurseries")
def test_another_folder_or_environment_needs_another_nursery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called(os.getpid)
    [first] = nurseries()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMITIA_TRACE", "1")
    assert called(os.getcwd) == str(tmp_path)
    assert called(os.getenv, "COMITIA_TRACE") == "1"
    assert len(nurseries()) == 2
    assert first in nurseries()


def test_what_is_imported_meanwhile_is_ready_in_the_next_workers() -> None:
    def is_loaded() -> bool:
        return "sklearn.gaussian_process" in sys.modules

    called(os.getpid)
    import sklearn.gaussian_process  # noqa: F401

    assert called(is_loaded)


@pytest.mark.usefixtures("bare_nurseries")
def test_runs_at_the_same_time_do_not_share() -> None:
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(called(os.getpid))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(answers)) == 3
    assert len(nurseries()) <= MOST_KEPT


@pytest.mark.usefixtures("bare_nurseries")
def test_a_nursery_without_work_ends_by_itself() -> None:
    nursery = Nursery(1, idle_seconds=0.2)
    end = time.monotonic() + 30
    while nursery.is_alive and time.monotonic() < end:
        time.sleep(0.05)
    assert not nursery.is_alive
    nursery.close()


@pytest.mark.usefixtures("bare_nurseries")
def test_one_that_was_killed_meanwhile_is_replaced() -> None:
    called(os.getpid)
    [nursery] = nurseries()
    nursery.kill()
    nursery.wait(5)
    assert called(abs, -3) == 3


SCRIPT = """
import os, sys, time
from comitia import Workers
from comitia.execution.kept import MOST_KEPT, end_kept, kept_starter

def called():
    with Workers(1, starter=kept_starter) as pool:
        return pool.submit(abs, -3).result()

assert called() == 3
"""


def begun(tmp_path: Path, rest: str) -> warm.Program:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + textwrap.dedent(rest))
    program = warm.begin("-W", "error", script, cwd=tmp_path, is_read=True)
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    return program


def ended(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=5)
    return not any(is_alive(process) for process in alive)


@pytest.mark.parametrize("how", ["kill -9", "the end"])
def test_it_ends_with_the_process_that_keeps_it(how: str, tmp_path: Path) -> None:
    program = begun(tmp_path, "print('ready', flush=True)\ntime.sleep(3)")
    found = nurseries(psutil.Process(program.pid))
    assert len(found) == 1
    if how == "kill -9":
        program.kill()
    assert program.wait(30) in (0, -9)
    assert ended(found)
    assert program.stdout is not None
    program.stdout.close()


def test_a_forked_child_has_one_of_its_own_and_does_not_keep_its_parents_alive(tmp_path: Path) -> None:
    program = begun(
        tmp_path,
        """
        if os.fork() == 0:
            assert called() == 3
            print("ready", flush=True)
            time.sleep(30)
            os._exit(0)
        time.sleep(30)
        """,
    )
    parent = psutil.Process(program.pid)
    [own] = nurseries(parent)
    [child] = [process for process in parent.children() if process != own]
    [childs] = nurseries(child)
    program.kill()
    program.wait(5)
    assert ended([own]), "although the child lives"
    assert is_alive(child)
    assert is_alive(childs)
    child.kill()
    assert ended([childs])
    assert program.stdout is not None
    program.stdout.close()
