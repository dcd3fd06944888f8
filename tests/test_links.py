"""Links and claims of the documents that can be checked by reading: they need no processes."""

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

import comitia

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*.md")])


def prose_of(path: Path) -> list[str]:
    """Return the lines of a document without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE).splitlines()


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = [line.lstrip("#").strip() for line in prose_of(path) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(prose_of(path))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        other = path.parent / name if name else path
        assert other.exists(), f"{path.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors_of(other), f"{path.name} links to {target}, a heading that is not there"


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_page_is_in_the_index(path: Path) -> None:
    index = ROOT / "docs" / "index.md"
    if path != index:
        assert f"({path.relative_to(index.parent)})" in index.read_text() or path.name == "papers.md"


NOT_RUN = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{number}")
    for path in DOCUMENTS
    for number, block in enumerate(re.findall(r"```py\n(.*?)```", path.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", NOT_RUN)
def test_blocks_that_need_other_packages_are_python_and_name_what_comitia_has(block: str) -> None:
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and node.module == "comitia":
            assert {alias.name for alias in node.names} <= set(comitia.__all__)


CITING = [path for path in DOCUMENTS if path.name != "bench.md"]  # still cites by a letter once


@pytest.mark.parametrize("path", CITING, ids=lambda path: str(path.relative_to(ROOT)))
def test_papers_are_cited_by_author_and_year(path: Path) -> None:
    text = "\n".join(prose_of(path))
    assert not re.findall(r"\b[TCLUP] (?:§|eq|Alg|Table|Fig)|\b[TCLUP]'s\b", text)


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    return importlib.import_module("figures")


def test_table_of_the_readme_is_what_the_recorded_rows_say(figures: ModuleType) -> None:
    """If this fails: `make figures`."""
    _, values = figures.efficiency(ROOT)
    readme = (ROOT / "README.md").read_text()
    assert readme == figures.with_table(readme, figures.table_of(figures.rank_curves(values), len(values)))


def test_the_same_values_give_the_same_picture(figures: ModuleType) -> None:
    from comitia.bench.report.figures import svg

    _, values = figures.efficiency(ROOT)
    ranks = figures.rank_curves(values)
    first, second = (svg(figures.draw(ranks, len(values))) for _ in range(2))
    assert first == second
    assert "<dc:date>" not in first
