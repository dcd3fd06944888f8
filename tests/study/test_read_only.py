"""A study that is read while another process writes it."""

import os
import sqlite3
from pathlib import Path

import pytest

from comitia import Study
from comitia.errors import StoreError
from comitia.study.read_only import ReadOnlyStore, read_only, stamp_of


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM observations").fetchone()[0])


def told(study: Study) -> None:
    [trial] = study.ask()
    study.tell(trial, 1.0)


def test_what_a_writer_has_written_is_read_at_once_and_the_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study({"x": [1, 2, 3]}, "grid", storage=path) as study:
        stamps = {stamp_of(path)}
        for n in range(3):
            told(study)
            assert read_only(path, count) == n + 1
            stamps.add(stamp_of(path))
        assert len(stamps) == 4
    assert read_only(path, count) == 3


def test_nothing_is_left_beside_a_file_that_nobody_writes(tmp_path: Path) -> None:
    with Study({"x": [1, 2, 3]}, "grid", storage=tmp_path / "study.db") as study:
        told(study)
        read_only(tmp_path / "study.db", count)
    before = (tmp_path / "study.db").read_bytes()
    read_only(tmp_path / "study.db", count)
    assert os.listdir(tmp_path) == ["study.db"]
    assert (tmp_path / "study.db").read_bytes() == before


def test_a_writer_that_begins_while_an_idle_file_is_read_makes_it_read_again(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study({"x": [1, 2, 3]}, "grid", storage=path) as study:
        told(study)
    writers: list[Study] = []

    def slow(connection: sqlite3.Connection) -> int:
        if not writers:
            writers.append(Study.open(path))
            told(writers[0])
        return count(connection)

    assert read_only(path, slow) == 2
    writers[0].close()


def test_what_is_read_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study({"x": [1, 2, 3]}, "grid", storage=path), pytest.raises(sqlite3.OperationalError, match="readonly"):
        read_only(path, lambda connection: connection.execute("DELETE FROM trials"))


def test_a_file_that_is_not_there_has_a_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "none.db") == (None, None)


def test_a_study_can_be_opened_to_be_read_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Study({"x": [1, 2, 3]}, "grid", storage=path) as study:
        told(study)
    before = path.read_bytes()
    with Study(storage=ReadOnlyStore(path)) as study:
        assert study.history.n_finished == 1
        with pytest.raises(StoreError, match="readonly"):
            study.ask()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["study.db"]
    with pytest.raises(StoreError, match="Could not open"):
        ReadOnlyStore(tmp_path / "none.db")
