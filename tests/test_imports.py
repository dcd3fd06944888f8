"""Who may import whom: the order of ARCHITECTURE.md, kept true."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import comitia

PACKAGE = Path(comitia.__file__).parent

# A module may import those of earlier lines, and, within a line, what PEERS says. Keep in step with ARCHITECTURE.md.
LAYERS = [
    ["errors", "arrays"],
    ["seeds", "gp"],
    ["space"],
    ["history"],
    ["seams"],
    ["committees", "optimizers", "evaluation", "execution", "tables"],
    ["goals", "selections", "learners"],
    ["methods"],
    ["study"],
    ["auto", "minimize"],
    ["bench"],
    ["cli"],
]
PEERS = {("committees", "evaluation"), ("goals", "selections")}
"""(a, b): b may import its neighbour a."""


def unit_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("comitia"):
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("comitia")}
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_module_has_a_place_in_the_order() -> None:
    units = {unit_of("comitia." + ".".join(p.relative_to(PACKAGE).with_suffix("").parts)) for p in FILES}
    assert units - {"__init__"} == {unit for layer in LAYERS for unit in layer}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = unit_of("comitia." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    if own == "__init__":
        return
    rank = {unit: i for i, layer in enumerate(LAYERS) for unit in layer}
    for module in imports_of(path):
        other = unit_of(module)
        assert other != "__init__", f"{path} imports the package's public face"
        allowed = other == own or rank[other] < rank[own] or (other, own) in PEERS
        assert allowed, f"{path} imports {module}, which is not below it"


def test_architecture_page_shows_this_order() -> None:
    page = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text()
    [shown] = re.findall(r"## Who may import whom.*?```text\n(.*?)```", page, re.DOTALL)
    assert [line.split() for line in shown.splitlines()] == LAYERS


@pytest.mark.processes
def test_import_brings_nothing_heavy() -> None:
    """What is heavy or optional, beyond scikit-learn (which imports pandas) and ConfigSpace, is imported in use."""
    code = (
        "import sys, pandas, sklearn.ensemble, sklearn.svm, ConfigSpace; before = set(sys.modules); "
        "import comitia; print(*set(sys.modules) - before)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.split(".")[0] for name in out.stdout.split()} - set(sys.stdlib_module_names)
    assert packages <= {"comitia", "sklearn", "scipy", "numpy", "cloudpickle", "psutil"}
