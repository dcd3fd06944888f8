"""Every code block of the README and the documents runs as a plain script; docstrings' examples run too."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest

import comitia
from tests import warm

pytestmark = pytest.mark.documents
ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
BLOCKS = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in DOCUMENTS
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL))
]
LENGTH = re.compile(r"((?:Classifier|Regressor)\(\s*n_trials=|--n-trials |--time-limit )\d\d+")
"""How long automatic fits of documents take: a shorter one shows as well that they run."""


def shortened(text: str) -> str:
    return re.sub(r"n_repeats=\d", "n_repeats=1", LENGTH.sub(r"\g<1>5", text))


def check_that_it_ran(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("block", BLOCKS[1:])
def test_block_runs_as_a_plain_script(block: str, tmp_path: Path) -> None:
    """Without a `__main__` guard, from an empty folder."""
    (tmp_path / "script.py").write_text(shortened(block))
    check_that_it_ran(warm.run("-W", "error", "script.py", cwd=tmp_path, timeout=120))


@pytest.mark.parametrize("block", BLOCKS[:1])
def test_the_first_block_runs_in_a_python_of_its_own(block: str, tmp_path: Path) -> None:
    """With its imports, whose warnings are errors, too."""
    (tmp_path / "script.py").write_text(shortened(block))
    command = [sys.executable, "-W", "error", "script.py"]
    check_that_it_ran(
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False),
    )


def test_example_of_the_guide_runs_in_a_notebook(tmp_path: Path) -> None:
    """Two workers, and an estimator class that is defined in the notebook."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guide" / "spaces.md").read_text(), re.DOTALL)
    [block] = [block for block in blocks if "class " in block]
    assert "n_jobs=2" in block
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(block)])
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    [output] = [out for out in notebook.cells[0].outputs if out.get("name") == "stdout"]
    assert "Config(" in output.text


def commands_of(document: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("comitia ")]


def run_all(commands: list[str], folder: Path) -> None:
    for command in commands:
        short, _, file = shortened(command).partition(" > ")
        done = warm.run("-m", "comitia.cli", *shlex.split(short)[1:], cwd=folder, timeout=90)
        assert done.returncode == 0, done.stderr
        if file:
            (folder / file).write_text(done.stdout)


def test_commands_of_the_harness_document_run(tmp_path: Path) -> None:
    experiment, finding = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "bench.md").read_text(), re.DOTALL)
    (tmp_path / "svm.toml").write_text(experiment)
    (tmp_path / "findings.toml").write_text(finding)
    commands = commands_of("docs/bench.md")
    assert len(commands) >= 3
    run_all(commands, tmp_path)
    assert (tmp_path / "rows" / "svm-report" / "report.html").is_file()


def test_commands_of_the_tutorial_run_on_its_own_table(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "quick-start.md").read_text()
    (tmp_path / "script.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])
    check_that_it_ran(warm.run("-W", "error", "script.py", cwd=tmp_path, timeout=120))
    own = tmp_path / "own"
    own.mkdir()
    (own / "yours.csv").write_bytes((tmp_path / "train.csv").read_bytes())
    [split] = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    (own / "script.py").write_text(split)
    check_that_it_ran(warm.run("-W", "error", "script.py", cwd=own, timeout=120))
    assert len(pd.read_csv(own / "train.csv")) == 3 * len(pd.read_csv(own / "test.csv")) - 2 == 298
    commands = commands_of("docs/guide/quick-start.md")
    assert len(commands) >= 6
    run_all(commands, tmp_path)
    assert len(pd.read_csv(tmp_path / "predictions.csv")) == len(pd.read_csv(tmp_path / "test.csv"))


PAGES_WITH_COMMANDS = [
    path.stem
    for path in sorted((ROOT / "docs" / "guide").glob("*.md"))
    if path.stem != "quick-start" and any("--target" in line for line in commands_of(f"docs/guide/{path.name}"))
]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS)
def test_commands_of_the_guide_run(page: str, tmp_path: Path) -> None:
    """One after the other, in a folder with the tables that they name."""
    commands = commands_of(f"docs/guide/{page}.md")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=200), "town": rng.choice(["a", "b"], 200)})
    table["income"] = np.where(table["age"] + (table["town"] == "a") > 0.5, "high", "low")
    table.to_csv(tmp_path / "train.csv", index=False)
    table[150:].to_csv(tmp_path / "test.csv", index=False)
    table.drop(columns="income").to_csv(tmp_path / "new.csv", index=False)
    run_all(commands, tmp_path)
    assert page != "report" or {path.name for path in tmp_path.glob("*.html")} == {"report.html", "study.html"}


MODULES = [info.name for info in pkgutil.walk_packages(comitia.__path__, "comitia.")]


@pytest.mark.parametrize("name", [name for name in MODULES if name.split(".")[-1] not in ("nursery", "fresh")])
def test_examples_in_docstrings(name: str) -> None:
    if name == "comitia.learners.cnn.stacked":  # the one module that imports PyTorch
        pytest.importorskip("torch", reason="PyTorch is not installed")
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example_runs(script: Path, tmp_path: Path) -> None:
    done = warm.run(script, "8", cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    for picture in re.findall(r"\w+\.png", done.stdout):  # those that it says are drawn
        assert (tmp_path / picture).stat().st_size > 0
