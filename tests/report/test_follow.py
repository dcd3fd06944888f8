"""A study's file, followed while somebody writes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comitia import Study
from comitia.report import follow
from comitia.report.follow import Follower
from comitia.report.trials import Entry, entry_of, read_trials
from comitia.seams import Ask

SPACE = {"x": (0.0, 1.0)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def same(follower: Follower) -> None:
    """Compare what was followed with what is read at once."""
    found, whole = follower.recorded.trials, read_trials(follower.path).trials
    assert len(follower) == len(whole)
    for name in ("numbers", "losses", "seconds", "is_superseded"):
        np.testing.assert_array_equal(vars(found)[name], vars(whole)[name])
    for name in ("statuses", "errors", "configs"):
        assert list(vars(found)[name]) == list(vars(whole)[name])
    assert follower.n_pending == int(whole.is_pending.sum())
    assert (None if follower.best is None else follower.best.number) == whole.best


def test_there_may_be_no_file_and_no_study_yet(path: Path) -> None:
    follower = Follower(path)
    follower.look()
    assert (follower.header, len(follower), follower.problem) == (None, 0, None)
    path.touch()
    follower.look()
    assert (follower.header, len(follower), follower.problem) == (None, 0, None)
    path.unlink()
    with Study(SPACE, "rs", seed=0, storage=path):
        assert follower.look()
        assert follower.header is not None


def test_results_are_followed_in_whatever_order_they_come(path: Path) -> None:
    follower = Follower(path)
    with Study(SPACE, "rs", seed=0, storage=path) as study:
        trials = study.ask(6)
        assert follower.look()
        assert (len(follower), follower.n_pending) == (6, 6)
        for i in (4, 0, 5):
            study.tell(trials[i], float(i))
            assert follower.look()
            same(follower)
        study.tell(trials[1], error="no <b>luck</b>")
        study.ask(2)
        assert follower.look()
        same(follower)
        assert not follower.look()
        assert [entry.number for entry in follower.newest] == [4, 0, 5, 1]
        assert follower.n_failed == 1


def test_only_new_rows_are_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def entry(row: tuple[Any, ...]) -> Entry:
        read.append(row[0])
        return entry_of(row)

    monkeypatch.setattr(follow, "entry_of", entry)
    follower = Follower(path)
    with Study(SPACE, "rs", seed=0, storage=path) as study:
        trials = study.ask(50)
        study.tell_all([(trial, 0.0) for trial in trials[:49]])
        follower.look()
        read.clear()
        study.tell(trials[49], 1.0)
        study.ask()
        follower.look()
        assert read == [49, 50]


def test_another_study_in_the_same_place_is_followed_from_its_beginning(path: Path) -> None:
    follower = Follower(path)
    with Study(SPACE, "rs", seed=0, storage=path) as study:
        study.tell_all([(trial, -1.0) for trial in study.ask(3)])
        follower.look()
    path.rename(path.with_name("old.db"))
    with Study(SPACE, "rs", seed=1, storage=path) as study:
        study.tell_all([(trial, 2.0) for trial in study.ask(2)])
        follower.look()
        same(follower)
        assert follower.best is not None
        assert follower.best.loss == 2.0


def test_a_trial_that_is_continued_is_the_best_no_more(path: Path) -> None:
    follower = Follower(path)
    with Study(SPACE, "rs", seed=0, storage=path) as study:
        study.tell_all([(trial, float(i)) for i, trial in enumerate(study.ask(3))])
        follower.look()
        assert follower.best is not None
        assert follower.best.number == 0
        [more] = study._append([Ask(np.array(study.history.trial(0).x), continues=0)], [study.history.trial(0).config])
        study.tell(more, 10.0)  # so that its mean is 5
        follower.look()
        same(follower)
        assert follower.best.number == 1


def test_a_damaged_file_says_so_and_shows_what_can_be_read(path: Path) -> None:
    with Study(SPACE, "rs", seed=0, storage=path) as study:
        study.tell_all([(trial, 0.5) for trial in study.ask(2_000)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    follower = Follower(path)
    follower.look()
    assert follower.problem
    for content in (b"not a database at all, by any means", whole[:100] + bytes(4000)):
        path.write_bytes(content)
        follower = Follower(path)
        follower.look()
        assert follower.problem
        assert not len(follower.recorded.trials)
