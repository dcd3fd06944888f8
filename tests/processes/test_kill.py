"""kill -9 at random moments: the study opens again, nothing finished is lost, and the end is the same."""

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from comitia import Study
from tests import warm
from tests.processes.killed import BY_NAME, N_TRIALS, SPACE, run

ROOT = Path(__file__).parents[2]


def history_of(study: Study) -> Any:
    return [(o.number, o.trial.x, o.config, o.status, o.losses) for o in study.history.observations()]


def batches_of(study: Study) -> Counter[int]:
    """Return the sizes of generations."""
    return Counter(study.history.trial(number).batch for number in range(len(study.history)))


def kill_after(path: Path, n_jobs: int, n_finished: int, seconds: float, method: str = "rs") -> list[int]:
    """Run the program, kill it so many seconds after it has said that so many trials are finished.

    Return what it had said was finished.
    """
    program = warm.begin("-m", "tests.processes.killed", path, n_jobs, method, cwd=ROOT, is_read=True)
    assert program.stdout is not None
    with program.stdout as out:
        words = [out.readline() for _ in range(n_finished + 1)]
        assert words[0] == b"begun\n"
        time.sleep(seconds)
        program.kill()
        program.wait()
        words += out.read().splitlines()
    return [int(word) for word in words if word.strip().isdigit()]


def check_one_kill(path: Path, n_jobs: int, n_finished: int, seconds: float, expected: Any) -> int:
    said = kill_after(path, n_jobs, n_finished, seconds)
    if path.exists():
        with Study(SPACE, "rs", storage=path, seed=11) as study:  # opens, and every row is whole
            kept = {o.number for o in study.history.observations()}
            assert set(said) <= kept
            assert history_of(study) == [row for row in expected if row[0] in kept]
    else:
        assert not said
    with run(str(path), n_jobs) as resumed:
        assert resumed.history.n_finished == len(resumed.history) == N_TRIALS
        assert history_of(resumed) == expected
        assert resumed.best_trial.number == min(expected, key=lambda row: (row[3] != "ok", row[4]))[0]
    return len(said)


def check_kills(folder: Path, n_jobs: int, n_kills: int) -> None:
    """Kill in the set-up (every fifth), at the end (every fifth), and among trials and writes."""
    with run(str(folder / "whole.db"), None) as whole:
        expected = history_of(whole)
    moments = random.Random(n_jobs)
    progress = []
    for i in range(n_kills):
        n_finished = {0: 0, 1: N_TRIALS}.get(i % 5, moments.randrange(N_TRIALS))
        seconds = moments.uniform(0, 0.05 if n_jobs == 1 else 1.5 if n_finished == 0 else 0.05)
        progress.append(check_one_kill(folder / f"{i}.db", n_jobs, n_finished, seconds, expected))
    assert min(progress) < N_TRIALS / 2
    assert any(0 < n < N_TRIALS for n in progress)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_study_survives_kill_9(n_jobs: int, tmp_path: Path) -> None:
    check_kills(tmp_path, n_jobs, 5)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_survives_fifty_kills(n_jobs: int, tmp_path: Path) -> None:
    check_kills(tmp_path, n_jobs, 50)


def test_a_study_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    with run(str(tmp_path / "whole.db"), None) as whole:
        expected = history_of(whole)
    for n_finished in (0, 5, 3, 8):
        kill_after(tmp_path / "study.db", 1, n_finished, 0.003)
    with run(str(tmp_path / "study.db"), None) as resumed:
        assert history_of(resumed) == expected


@pytest.mark.parametrize(("method", "kills"), [("eights", (5, 9)), ("cma-r", (9,)), ("pbil-floor", (20,))])
def test_a_study_by_generations_that_was_killed_goes_on_to_the_same_end(
    method: str, kills: tuple[int, ...], tmp_path: Path
) -> None:
    with run(str(tmp_path / "whole.db"), None, method=method) as whole:
        expected, generations = history_of(whole), batches_of(whole)
    path = tmp_path / "study.db"
    for n_finished in kills:
        said = kill_after(path, 1, n_finished, 0.003, method)
        if path.exists():
            with Study(SPACE, BY_NAME[method], storage=path, seed=11) as study:
                kept = {o.number for o in study.history.observations()}
                assert history_of(study) == [row for row in expected if row[0] in kept]
                # at most the generation that was going on, which took little time, is lost
                assert len(set(said) - kept) <= max(generations.values())
                asked = batches_of(study)
                assert all(generations[batch] == size for batch, size in asked.items())  # no generation is cut
    with run(str(path), None, method=method) as resumed:
        assert history_of(resumed) == expected
