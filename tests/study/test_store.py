"""The SQLite file: damage, other versions, full disks, other writers; the contract suite has the rest."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from comitia import FunctionEvaluator, Space, SqliteStore, Study
from comitia.errors import StoreError, StoreMismatch

SPACE = Space({"a": list(range(100))})


def study_at(path: Path, n_trials: int = 10) -> Study:
    return Study(SPACE, "rs", seed=0, storage=path).run(FunctionEvaluator(lambda c: float(c["a"])), n_trials=n_trials)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    study_at(tmp_path / "study.db").close()
    return tmp_path / "study.db"


def test_a_closed_study_is_one_file(path: Path) -> None:
    assert sorted(os.listdir(path.parent)) == ["study.db"]


def test_the_file_can_be_moved_and_read_by_other_programs(path: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.db"
    path.rename(moved)
    with Study.open(moved) as study:
        assert study.history.n_finished == 10
    rows = (
        sqlite3.connect(moved).execute("SELECT config, losses FROM trials JOIN observations USING (number)").fetchall()
    )
    assert len(rows) == 10
    assert rows[0][0].startswith('{"a": ')


@pytest.mark.parametrize("where", [0, 40, 5000, -3000])
def test_damage_is_a_clear_error_or_harmless(path: Path, where: int) -> None:
    with Study.open(path) as study:
        expected = {o.number: o.losses for o in study.history.observations()}
    data = bytearray(path.read_bytes())
    data[where : where + 2000 if where >= 0 else None] = b"\x07" * (2000 if where >= 0 else -where)
    path.write_bytes(bytes(data))
    with contextlib.suppress(StoreError), Study.open(path) as study:  # what was hit may not be in use
        assert {o.number: o.losses for o in study.history.observations()} == expected


def test_a_truncated_file_is_a_clear_error(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:6000])
    with pytest.raises(StoreError, match=r"study\.db"):
        Study.open(path)


def test_a_torn_write_ahead_log_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    study = study_at(tmp_path / "study.db", 30)
    whole = (tmp_path / "study.db").read_bytes()
    log = (tmp_path / "study.db-wal").read_bytes()
    expected = {o.number: o.losses for o in study.history.observations()}
    for length in (len(log) - 1, len(log) - 5000, len(log) // 2, 100):
        torn = tmp_path / f"torn{length}"
        torn.mkdir()
        (torn / "study.db").write_bytes(whole)
        (torn / "study.db-wal").write_bytes(log[:length])
        try:
            with Study(SPACE, "rs", seed=0, storage=torn / "study.db") as again:
                kept = {o.number: o.losses for o in again.history.observations()}
                assert kept.items() <= expected.items()
                again.run(FunctionEvaluator(lambda c: float(c["a"])), n_trials=30)
                assert {o.number: o.losses for o in again.history.observations()} == expected
        except StoreMismatch:  # nothing of the study was in the file yet
            assert length == 100
    study.close()


def test_a_file_that_is_not_a_study(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("hello, this is no database at all" * 100)
    with pytest.raises(StoreError, match="not a study"):
        Study(SPACE, storage=text)
    assert "hello" in text.read_text()
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE users (name)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreMismatch, match="another program's"):
        Study(SPACE, storage=foreign)


@pytest.mark.parametrize(("version", "word"), [(99, "a newer"), (0, "an older")])
def test_another_version(path: Path, version: int, word: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    with pytest.raises(StoreMismatch, match=word):
        Study.open(path)


def test_a_file_of_the_first_format_is_resumed(path: Path) -> None:
    with Study.open(path) as study:
        before = study.to_frame()
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE observations DROP COLUMN selection_losses")
    connection.execute("PRAGMA user_version=1")
    connection.close()
    with Study.open(path) as study:
        assert study.to_frame().equals(before)
        study.run(FunctionEvaluator(lambda config: 0.5), n_trials=len(before) + 1)
    with Study.open(path) as study:
        assert len(study.history) == len(before) + 1


def test_an_empty_file_is_a_new_study(tmp_path: Path) -> None:
    (tmp_path / "study.db").touch()
    with study_at(tmp_path / "study.db") as study:
        assert study.history.n_finished == 10


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Create it first"):
        SqliteStore(tmp_path / "no" / "study.db")


def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Check that it is a file"):
        SqliteStore(tmp_path)


def test_a_file_that_cannot_be_written(path: Path) -> None:
    with Study.open(path) as study:
        study.store._connection.execute("PRAGMA query_only=ON")  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match="you may write"):
            study.run(FunctionEvaluator(lambda c: float(c["a"])), n_trials=20)
    with Study.open(path) as study:
        assert study.history.n_finished == 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 200 kB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs more rights than this user has")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.processes
def test_a_full_disk_loses_nothing_that_was_finished(small_disk: Path) -> None:
    def objective(config: object) -> float:
        raise ValueError("x" * 3000)  # a long text fills the disk soon

    study = Study(SPACE, "rs", seed=0, storage=small_disk / "study.db")
    with pytest.raises(StoreError, match="Free some space"):
        study.run(FunctionEvaluator(objective), n_trials=100)
    finished = study.history.n_finished
    assert 5 < finished < 100
    # the last result is in memory alone; with space again it is written with the next
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    study.run(FunctionEvaluator(objective), n_trials=100)
    study.close()
    with Study.open(small_disk / "study.db") as again:
        assert again.history.n_finished == 100


@pytest.mark.processes
def test_a_disk_that_became_read_only_loses_nothing_that_was_finished(small_disk: Path) -> None:
    study = study_at(small_disk / "study.db", 10)
    study.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match=r"read.?only|you may write"):
        study_at(small_disk / "study.db", 20)
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    with study_at(small_disk / "study.db", 20) as study:
        assert study.history.n_finished == 20


def test_a_full_disk_before_the_first_trial(tmp_path: Path) -> None:
    """The same error by SQLite's own limit, which needs no rights."""

    def objective(config: object) -> float:
        raise ValueError("x" * 3000)

    study = Study(SPACE, "rs", seed=0, storage=tmp_path / "study.db")
    store = study.store
    [pages] = store._connection.execute("PRAGMA page_count").fetchone()  # type: ignore[attr-defined]
    store._connection.execute(f"PRAGMA max_page_count={pages}")  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="everything that was finished before is kept"):
        study.run(FunctionEvaluator(objective), n_trials=100)
    n_known = study.history.n_finished
    store._connection.execute("PRAGMA max_page_count=1000000")  # type: ignore[attr-defined]
    study.run(FunctionEvaluator(objective), n_trials=50)
    study.close()
    with Study.open(tmp_path / "study.db") as again:
        assert again.history.n_finished == 50 >= n_known


def test_two_programs_on_one_study_do_not_mix_their_trials(path: Path) -> None:
    one, other = Study.open(path), Study.open(path)
    one.ask()
    with pytest.raises(StoreError, match="another program"):
        other.ask()
    one.close()
    other.close()


def test_a_closed_store_says_so(path: Path) -> None:
    study = Study.open(path)
    study.close()
    with pytest.raises(StoreError, match="open the study again"):
        study.ask()
