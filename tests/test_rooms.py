"""The shape of the code base, kept true: small files, one name for one thing, imports that go one way."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import comitia

PACKAGE = Path(comitia.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "scripts" not in path.parts)
"""Scripts are run by other environments and import nothing of ours."""
SOURCES = {path: path.read_text() for path in FILES}
TREES = {path: ast.parse(source) for path, source in SOURCES.items()}
N_LINES = sum(len(source.splitlines()) for source in SOURCES.values())

MOST_FILES_AT_THE_TOP = 8
MOST_LINES = 450
MOST_LINES_OF_A_FUNCTION = 60
MOST_LOOKUPS, MOST_ANY = 1.0, 12.0
"""Of attributes by name, and of the type `Any`, per 1,000 lines."""
LONG_FILES = {"bench/report/statistics.py"}
"""Two thirds of it are docstrings that say what each test assumes."""

# A room may import those of earlier lines, and, within a line, what NEIGHBOURS says. Keep in step with ARCHITECTURE.md.
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
    ["report"],
    ["plots"],
    ["bench"],
    ["cli"],
]
NEIGHBOURS = {("committees", "evaluation"), ("goals", "selections")}
"""(a, b): b may import its neighbour a."""


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


MODULES = {module_of(path): path for path in FILES}


def imports_of(path: Path) -> set[str]:
    """Return our modules that a file imports anywhere: lazily, or for types alone, too."""
    found = set()
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "comitia":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found |= {node.module, inner} if inner in MODULES else {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "comitia"}
    return found


def test_no_alias_of_types_is_one_string() -> None:
    """`Alias | ArrayLike` raises where the alias is a string and NumPy's own is not a plain union (2.5 and later)."""
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path, tree in TREES.items()
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
        if isinstance(node.value, ast.Constant)
    ]
    assert not found


def test_every_module_has_a_room() -> None:
    rooms = {room_of(module) for module in MODULES} - {"__init__"}
    assert rooms == {room for layer in LAYERS for room in layer}
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_FILES_AT_THE_TOP


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    own = room_of(module_of(path))
    if own == "__init__":
        return
    rank = {room: i for i, layer in enumerate(LAYERS) for room in layer}
    for module in imports_of(path):
        other = room_of(module)
        assert other != "__init__", f"{path} imports the package's public face"
        allowed = other == own or rank[other] < rank[own] or (other, own) in NEIGHBOURS
        assert allowed, f"{path} imports {module}, which is not below it"


def test_the_architecture_page_shows_this_order() -> None:
    page = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text()
    [shown] = re.findall(r"## Who may import whom.*?```text\n(.*?)```", page, re.DOTALL)
    assert [line.split() for line in shown.splitlines()] == LAYERS


def test_no_module_is_in_an_import_cycle() -> None:
    waiting = {module: imports_of(path) & set(MODULES) - {module} for module, path in MODULES.items()}
    while ready := {module for module, needed in waiting.items() if not needed & set(waiting)}:
        for module in ready:
            del waiting[module]
    # what is left is in a cycle, or imports what is
    in_cycles = {
        module for module in waiting if module in _reachable(module, {m: n & set(waiting) for m, n in waiting.items()})
    }
    assert not in_cycles


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    front = set(graph[start])
    while front:
        found |= front
        front = {after for module in front for after in graph[module]} - found
    return found


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_are_short(path: Path) -> None:
    if name_of(path) not in LONG_FILES:
        assert len(SOURCES[path].splitlines()) <= MOST_LINES
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert lines_of(node) <= MOST_LINES_OF_A_FUNCTION, f"{path}: {node.name}"


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function, clean=False) is not None
    documented = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documented


def test_no_two_files_have_the_same_name() -> None:
    counts = Counter(path.name for path in FILES if path.name not in ("__init__.py", "registry.py", "__main__.py"))
    assert [name for name, n in counts.items() if n > 1] == []


def test_attributes_are_seldom_looked_up_by_name() -> None:
    """Our own objects say what they have in a protocol; what is left are objects of others."""
    n = sum(len(re.findall(r"\b(?:getattr|hasattr)\(", source)) for source in SOURCES.values())
    assert 1000 * n / N_LINES <= MOST_LOOKUPS


def test_types_are_named() -> None:
    n = sum(len(re.findall(r"\bAny\b", source)) for source in SOURCES.values())
    assert 1000 * n / N_LINES <= MOST_ANY


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_execution_asks_what_an_executor_is(path: Path) -> None:
    if room_of(module_of(path)) != "execution":
        assert not re.search(r"isinstance\([^)]*\b(?:Serial|Workers|Executor)\b", SOURCES[path])


@pytest.mark.processes
def test_import_brings_nothing_heavy() -> None:
    """What is heavy or optional, beyond scikit-learn and ConfigSpace, is imported where it is used."""
    code = (
        "import sys, sklearn.ensemble, sklearn.svm, ConfigSpace; before = set(sys.modules); "
        "import comitia; print(*set(sys.modules) - before)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.split(".")[0] for name in out.stdout.split()} - set(sys.stdlib_module_names)
    assert packages <= {"comitia", "sklearn", "scipy", "numpy", "cloudpickle", "psutil"}
