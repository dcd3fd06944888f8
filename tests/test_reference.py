"""The reference in the documents names what the code has, and nothing else."""

import re
from pathlib import Path

import pytest

import comitia
from comitia import errors
from comitia.history import STATUSES
from comitia.study.store import SqliteStore

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.ComitiaError | errors.ComitiaWarning)
}


def rows_of(page: str, section: str) -> dict[str, list[str]]:
    """Return the cells of a section's table by the first one."""
    text = (REFERENCE / page).read_text(encoding="utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return {cells[0].strip("`"): cells[1:] for cells in lines[2:]}


def test_every_error_and_warning_is_explained() -> None:
    explained = {*rows_of("errors.md", "Errors"), *rows_of("errors.md", "Warnings"), "ComitiaError"}
    assert explained == set(CLASSES)


@pytest.mark.parametrize(("name", "cells"), rows_of("errors.md", "Errors").items())
def test_an_error_is_also_what_the_table_says(name: str, cells: list[str]) -> None:
    assert cells[0].strip("`") in [base.__name__ for base in CLASSES[name].__bases__]


def test_every_status_is_explained() -> None:
    assert set(rows_of("errors.md", "Statuses of trials")) == {*STATUSES, "pending"}


def test_every_public_name_is_in_the_reference() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("python-*.md"))
    shown = set(re.findall(r"\.\. (?:autoclass|autofunction|py:data):: (?:comitia\.)?(\w+)$", pages, re.MULTILINE))
    assert set(comitia.__all__) - shown == {"ComitiaError", "ComitiaWarning"}  # on the page of errors


def test_every_extra_is_on_the_page_of_installing() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = re.findall(r"^(\w+) = \[", text.split("[project.optional-dependencies]")[1].split("\n[")[0], re.MULTILINE)
    page = (ROOT / "docs" / "guide" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(extras)


def test_tables_of_a_study_are_those_of_the_page(tmp_path: Path) -> None:
    [shown] = re.findall(r"```sql\n(.*?)```", (REFERENCE / "files.md").read_text(encoding="utf-8"), re.DOTALL)
    store = SqliteStore(tmp_path / "study.db")
    for table in ("trials", "observations", "blobs"):
        columns = store._connection.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall()
        [body] = re.findall(rf"CREATE TABLE {table} \((.*?)\);", shown, re.DOTALL)
        assert re.findall(r"(\w+) (INTEGER|TEXT|BLOB|REAL)", re.sub(r"--.*", "", body)) == columns
    store.close()


def test_files_of_a_model_folder_are_those_of_the_page() -> None:
    from comitia.auto.folder import MODEL, STUDY
    from comitia.auto.folder import OPTIONS as FILE

    assert set(rows_of("files.md", "Model folders")) == {MODEL, STUDY, FILE}


def test_presets_of_the_page_of_splits_are_those_of_the_command_line() -> None:
    from comitia.auto.presets import ALIASES, PRESETS
    from comitia.cli.app import Preset

    assert {*PRESETS, *ALIASES} == {preset.value for preset in Preset}
    assert (PRESETS["fast"].n_folds, len(PRESETS["fast"].include or ())) == (3, 2)
    assert PRESETS["best"].n_folds == 10
    page = (ROOT / "docs" / "guide" / "splits.md").read_text(encoding="utf-8")
    assert '`preset="fast"`: 3 folds, 2 learners' in page
    assert '`preset="best"`: 10 folds' in page
