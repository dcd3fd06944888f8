"""kill -9 at random moments: the study opens again, nothing finished is lost, and the end is the same."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from comitia import Study
from tests.killed import N_TRIALS, SPACE, run

ROOT = Path(__file__).parents[1]


def history_of(study: Study) -> Any:
    return [(o.number, o.trial.x, o.config, o.status, o.losses) for o in study.history.observations()]


def kill_after(path: Path, n_jobs: int, seconds: float) -> list[int]:
    """Run the program, kill it after so many seconds from its first word, return what it had said was finished."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.killed", str(path), str(n_jobs)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert program.stdout is not None
    with program.stdout as out:
        assert out.readline() == b"begun\n"
        time.sleep(seconds)
        program.kill()
        program.wait()
        words = out.read().split()
    return [int(word) for word in words if word.isdigit()]


def check_one_kill(path: Path, n_jobs: int, seconds: float, expected: Any) -> int:
    said = kill_after(path, n_jobs, seconds)
    if path.exists():
        with Study(SPACE, "rs", storage=path, seed=11) as study:  # opens, and every row is whole
            kept = {o.number for o in study.history.observations()}
            assert set(said) <= kept
            assert history_of(study) == [row for row in expected if row[0] in kept]
    else:
        assert not said
    with run(str(path), None) as resumed:
        assert resumed.history.n_finished == len(resumed.history) == N_TRIALS
        assert history_of(resumed) == expected
        assert resumed.best_trial.number == min(expected, key=lambda row: (row[3] != "ok", row[4]))[0]
    return len(said)


def check_kills(folder: Path, n_jobs: int, n_kills: int, longest: float) -> None:
    with run(str(folder / "whole.db"), None) as whole:
        expected = history_of(whole)
    moments = random.Random(n_jobs)
    # every fifth in the set-up, which is short: tables, header, first trial
    ends = [0.05 if i % 5 == 4 else longest for i in range(n_kills)]
    progress = [
        check_one_kill(folder / f"{i}.db", n_jobs, moments.uniform(0, end), expected) for i, end in enumerate(ends)
    ]
    assert min(progress) < N_TRIALS / 2, "the kills came too late to tell anything"
    assert max(progress) > 0, "the kills came too early to tell anything"


# one worker: 40 trials of 6 ms; two workers: the same after the workers' imports
LONGEST = {1: 0.5, 2: 2.2}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_survives_kill_9(n_jobs: int, tmp_path: Path) -> None:
    check_kills(tmp_path, n_jobs, 5, LONGEST[n_jobs])


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_survives_fifty_kills(n_jobs: int, tmp_path: Path) -> None:
    check_kills(tmp_path, n_jobs, 50, LONGEST[n_jobs])


def test_a_study_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    with run(str(tmp_path / "whole.db"), None) as whole:
        expected = history_of(whole)
    for seconds in (0.05, 0.15, 0.1, 0.2):
        kill_after(tmp_path / "study.db", 1, seconds)
    with run(str(tmp_path / "study.db"), None) as resumed:
        assert history_of(resumed) == expected
