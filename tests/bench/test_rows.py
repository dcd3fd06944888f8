"""Rows: a cell is there wholly or not at all, once, in a file that other tools read."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from comitia.bench.rows import journal, parquet
from comitia.bench.rows import rows as rows_module
from comitia.bench.rows.journal import journal_of
from comitia.bench.rows.row import COLUMNS, Row
from comitia.bench.rows.rows import RowsFile, merge_rows, read_rows
from comitia.errors import ExperimentError
from tests import warm
from tests.bench.some_rows import PROTOCOL, cell, rows


def test_what_is_appended_is_read_by_us_and_by_pandas(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
        file.append(cell("grid"), [Row.failed("no")])
        assert len(read_rows(path)[0]) == 4  # also while it is written
    frame, protocol = read_rows(path)
    assert protocol == PROTOCOL
    pd.testing.assert_frame_equal(frame, pd.read_parquet(path))
    assert list(frame.columns) == list(COLUMNS)
    assert frame["method"].tolist() == ["rs"] * 3 + ["grid"]
    assert frame["versions"].str.contains("scikit-learn").all()
    assert not journal_of(path).exists()


def test_opening_again_resumes(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
    with RowsFile(path, {**PROTOCOL, "title": "another"}) as file:
        assert file.cells == {cell()}
        file.append(cell("grid"), rows())
    assert len(read_rows(path)[0]) == 6


def test_a_file_from_before_a_column_came_is_read_and_resumed(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
    pq.write_table(pq.read_table(path).drop_columns(["test_log_loss"]), path)
    assert read_rows(path)[0]["test_log_loss"].isna().all()
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell("grid"), [Row(iteration=1, test_log_loss=0.5)])
    assert read_rows(path)[0]["test_log_loss"].tolist()[-1] == 0.5


def test_a_journal_from_before_a_column_came_is_merged(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
        _, payload = journal_of(path).read_bytes().rstrip(b"\n").split(b" ", 1)
    older = {name: values for name, values in json.loads(payload).items() if name != "test_log_loss"}
    payload = json.dumps({**older, "method": ["grid"] * len(older["method"])}).encode()
    journal_of(path).write_bytes(b"%08x %s\n" % (zlib.crc32(payload), payload))
    assert len(read_rows(path)[0]) == 6


def test_a_cell_that_is_run_again_replaces_the_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), [Row.failed("no")])
        file.merge()
        assert file.failed_cells() == {cell()}
        file.append(cell(), rows(2))
        assert file.failed_cells() == set()
    assert read_rows(path)[0]["iteration"].tolist() == [1, 2]


@pytest.mark.processes
def test_a_torn_last_line_is_dropped_and_the_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from comitia.bench.rows.rows import RowsFile\n"
        "from tests.bench.some_rows import *\n"
        f"file = RowsFile(Path({str(path)!r}), PROTOCOL)\n"
        "file.append(cell(), rows())\nfile.append(cell('grid'), rows())\nos._exit(9)\n"
    )
    assert warm.run("-c", program, cwd=Path(__file__).parents[2]).returncode == 9
    journal = journal_of(path)
    whole = journal.read_bytes()
    for n_lost in range(1, len(whole) // 2, 50):
        journal.write_bytes(whole[:-n_lost])
        with_torn, _ = read_rows(path)
        assert with_torn["method"].tolist() == ["rs"] * 3
    with RowsFile(path, PROTOCOL) as file:
        assert file.cells == {cell()}
        file.append(cell("grid"), rows())
    assert len(read_rows(path)[0]) == 6


def test_a_line_damaged_in_the_middle_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
        file.append(cell("grid"), rows())
        data = journal_of(path).read_bytes()
        journal_of(path).write_bytes(data[:20] + b"X" + data[21:])
        with pytest.raises(ExperimentError, match="Line 1 is damaged"):
            read_rows(path)


def test_a_journal_that_was_merged_but_not_emptied_doubles_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
        left = journal_of(path).read_bytes()
        file.merge()
    journal_of(path).write_bytes(left)
    assert len(read_rows(path)[0]) == 3
    with RowsFile(path, PROTOCOL):
        pass
    assert len(pd.read_parquet(path)) == 3


def test_a_merge_while_rows_are_read_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
        read = journal.read_journal

        def read_and_merge(place: Path) -> Any:
            found = read(place)
            file.merge()
            return found

        monkeypatch.setattr(rows_module, "read_journal", read_and_merge)
        assert len(read_rows(path)[0]) == 3


def test_a_journal_without_its_file_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    file = RowsFile(path, PROTOCOL)
    file.append(cell(), rows())
    left = journal_of(path).read_bytes()
    file.close()
    path.unlink()
    journal_of(path).write_bytes(left)
    with RowsFile(path, {**PROTOCOL, "budget": {"n_trials": 999}}) as again:
        assert not again.cells


def test_what_is_only_shown_may_change(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL) as file:
        file.append(cell(), rows())
    with RowsFile(path, {**PROTOCOL, "title": "better"}):
        pass
    assert read_rows(path)[1]["title"] == "better"
    assert len(read_rows(path)[0]) == 3


def test_a_full_disk_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    file = RowsFile(path, PROTOCOL)
    file.append(cell(), rows())
    write = os.write
    written: list[int] = []

    def short(descriptor: int, data: bytes) -> int:
        """Take a piece, then no more."""
        if written:
            raise OSError(28, "No space left on device")
        written.append(write(descriptor, data[:20]))
        return written[0]

    monkeypatch.setattr(os, "write", short)
    with pytest.raises(ExperimentError, match="No space"):
        file.append(cell("grid"), rows())
    monkeypatch.setattr(os, "write", write)
    file.append(cell("sobol"), rows())
    file.close()
    assert read_rows(path)[0]["method"].unique().tolist() == ["rs", "sobol"]


@pytest.mark.processes
def test_two_writers_of_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL):
        program = (
            "from pathlib import Path\nfrom comitia.bench.rows.rows import RowsFile\n"
            "from comitia.errors import ExperimentError\n"
            "from tests.bench.some_rows import *\n"
            f"try: RowsFile(Path({str(path)!r}), PROTOCOL)\nexcept ExperimentError as error: print(error)\n"
        )
        done = warm.run("-c", program, cwd=Path(__file__).parents[2])
        assert "held by another program" in done.stdout
    with RowsFile(path, PROTOCOL):  # and let go at the end
        pass


def test_rows_of_another_protocol_version_or_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowsFile(path, PROTOCOL):
        pass
    with pytest.raises(ExperimentError, match=r"budget = \{'n_trials': 3\}"):
        RowsFile(path, {**PROTOCOL, "budget": {"n_trials": 4}})
    table = pq.read_table(path)
    newer = {"comitia.rows": "99", "comitia.protocol": json.dumps(PROTOCOL)}
    pq.write_table(table.replace_schema_metadata(newer), path)
    with pytest.raises(ExperimentError, match="version 99"):
        read_rows(path)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(ExperimentError, match="another Parquet file"):
        RowsFile(path, PROTOCOL)
    path.write_text("not parquet")
    with pytest.raises(ExperimentError, match="Parquet"):
        read_rows(path)
    with pytest.raises(ExperimentError, match="no "):
        read_rows(tmp_path / "none.parquet")


def test_files_of_several_machines_are_brought_together(tmp_path: Path) -> None:
    here, there, everything = (tmp_path / f"{name}.parquet" for name in ("here", "there", "all"))
    with RowsFile(here, {**PROTOCOL, "n_cells": 2}) as file:
        file.append(cell(), rows())
        file.append(cell("grid"), rows(loss=0.1))
    with RowsFile(there, {**PROTOCOL, "n_cells": 2}) as running:
        running.append(cell("grid"), rows(loss=0.9))  # in both: the first counts
        running.append(cell("sobol"), rows())
        assert merge_rows(everything, [here, there]) == 3  # also while it is written
    assert merge_rows(everything, [here, there]) == 0
    frame, protocol = read_rows(everything)
    assert frame.groupby("method", sort=False)["test_loss"].max().to_dict() == {"rs": 0.5, "grid": 0.1, "sobol": 0.5}
    assert len(frame) == 9
    assert protocol["n_cells"] == 3
    assert merge_rows(here, [there]) == 1  # into one that is there


FAILED = [Row.failed("no")]


def test_a_cell_that_failed_here_is_taken_from_where_it_did_not(tmp_path: Path) -> None:
    here, there = (tmp_path / f"{name}.parquet" for name in ("here", "there"))
    with RowsFile(here, PROTOCOL) as file:
        file.append(cell(), FAILED)
        file.append(cell("grid"), rows(2))
        file.append(cell("sobol"), FAILED)
    with RowsFile(there, PROTOCOL) as file:
        file.append(cell(), rows())
        file.append(cell("grid"), FAILED)
        file.append(cell("sobol"), FAILED)
    assert merge_rows(here, [there]) == 1
    assert merge_rows(here, [there]) == 0
    frame, _ = read_rows(here)
    found = {method: group["iteration"].tolist() for method, group in frame.groupby("method")}
    assert found == {"rs": [1, 2, 3], "grid": [1, 2], "sobol": [0]}


def test_what_another_machine_plans_is_not_forgotten(tmp_path: Path) -> None:
    here, there = (tmp_path / f"{name}.parquet" for name in ("here", "there"))
    for path, n_cells in ((here, 3), (there, 8)):
        with RowsFile(path, {**PROTOCOL, "n_cells": n_cells}) as file:
            file.append(cell(), rows())
    merge_rows(here, [there])
    assert read_rows(here)[1]["n_cells"] == 8


def test_a_merge_there_while_cells_are_taken_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = (tmp_path / f"{name}.parquet" for name in ("here", "there"))
    with RowsFile(here, PROTOCOL) as file, RowsFile(there, PROTOCOL) as running:
        running.append(cell(), rows())
        read = parquet.read_table

        def read_and_merge(path: Path) -> Any:
            found = read(path)
            if path == there:
                monkeypatch.undo()
                running.merge()
            return found

        monkeypatch.setattr(parquet, "read_table", read_and_merge)
        assert file.take(there) == 1


def test_what_cannot_be_brought_together_is_refused(tmp_path: Path) -> None:
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    with RowsFile(here, PROTOCOL):
        pass
    with RowsFile(there, {**PROTOCOL, "budget": {"n_trials": 4}}):
        pass
    with pytest.raises(ExperimentError, match="one protocol"):
        merge_rows(here, [there])
    with pytest.raises(ExperimentError, match="There is no"):
        merge_rows(here, [tmp_path / "nowhere.parquet"])
