"""The trials of a file: the same as those of the study, read without writing, as far as they can be read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from comitia import Study
from comitia.report.trials import PENDING, read_trials, trials_of
from tests.study.examples import SPACE


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with Study(SPACE, "rs", seed=0, storage=tmp_path / "study.db") as made:
        trials = made.ask(6)
        made.tell_all([(trial, 0.1 * i if i != 2 else "it <b>broke</b>") for i, trial in enumerate(trials[:5])])
        yield made


def path_of(study: Study, tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def test_a_file_gives_the_same_trials_as_the_study(study: Study, tmp_path: Path) -> None:
    ours, theirs = trials_of(study), read_trials(path_of(study, tmp_path))
    assert theirs.problem is None
    assert theirs.header is not None
    np.testing.assert_array_equal(ours.losses, theirs.trials.losses)
    np.testing.assert_array_equal(ours.X, theirs.trials.X)
    assert [dict(config) for config in ours.configs] == list(theirs.trials.configs)
    assert list(ours.statuses) == list(theirs.trials.statuses) == ["ok", "ok", "failed", "ok", "ok", PENDING]
    assert ours.best == theirs.trials.best == 0
    assert theirs.trials.errors[2] == "it <b>broke</b>"


def test_reading_leaves_a_study_that_is_being_written_as_it_is(study: Study, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.glob("study.db*") if not path.name.endswith("-shm")}
    read_trials(path_of(study, tmp_path))
    assert before == {p.name: p.read_bytes() for p in tmp_path.glob("study.db*") if not p.name.endswith("-shm")}
    study.tell(5, 0.5)
    assert len(read_trials(path_of(study, tmp_path)).trials) == 6
    assert not read_trials(path_of(study, tmp_path)).trials.is_pending.any()


def test_a_file_that_is_cut_off_says_so(study: Study, tmp_path: Path) -> None:
    study.close()
    path = path_of(study, tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    found = read_trials(path)
    assert found.problem is not None
    assert "study.db" in found.problem


def test_a_file_of_another_kind_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"no database at all, but some text that is long enough" * 20)
    assert "cannot be read" in str(read_trials(path).problem)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t (a)")
    assert "another SQLite file" in str(read_trials(tmp_path / "other.db").problem)
    assert "does not exist" in str(read_trials(tmp_path / "none.db").problem)
    (tmp_path / "empty.db").touch()
    assert "not begun" in str(read_trials(tmp_path / "empty.db").problem)


def test_trials_that_are_damaged_are_left_out_and_counted(study: Study, tmp_path: Path) -> None:
    study.close()
    with closing(sqlite3.connect(path_of(study, tmp_path))) as connection, connection:
        connection.execute("UPDATE trials SET config = '{broken' WHERE number = 1")
        connection.execute("UPDATE observations SET losses = '7' WHERE number = 3")
        connection.execute("UPDATE trials SET x = x'00' WHERE number = 4")
    found = read_trials(path_of(study, tmp_path))
    assert found.trials.numbers.tolist() == [0, 2, 5]
    assert found.problem == "3 of 6 recorded trials are damaged and are left out."


def test_a_record_whose_header_is_damaged_still_shows_its_trials(study: Study, tmp_path: Path) -> None:
    study.close()
    with closing(sqlite3.connect(path_of(study, tmp_path))) as connection, connection:
        connection.execute("UPDATE blobs SET value = '{' WHERE key = 'study'")
    found = read_trials(path_of(study, tmp_path))
    assert found.header is None
    assert "damaged" in str(found.problem)
    assert len(found.trials) == 6


def test_a_study_that_nothing_is_recorded_of_has_not_begun(study: Study, tmp_path: Path) -> None:
    study.close()
    with closing(sqlite3.connect(path_of(study, tmp_path))) as connection, connection:
        for table in ("observations", "trials", "blobs"):
            connection.execute(f"DELETE FROM {table}")
    assert "not begun" in str(read_trials(path_of(study, tmp_path)).problem)
