"""One virtual environment for each peer tool, in a folder that git does not see.

An environment counts as built when its stamp is there, which is written last and says what was asked for: neither a
build that was killed nor one of older requirements is taken for a finished one.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from comitia.arrays import Json
from comitia.bench.files import replacing
from comitia.errors import PeerError, PeerMissing, UnknownName

STAMP = "built.json"
TAIL_LINES = 25
"""Lines of a log that are shown in an error."""
TORCH = "torch==2.13.0"


@dataclass(frozen=True)
class Environment:
    """What is installed for one tool."""

    name: str
    steps: tuple[tuple[str, ...], ...]
    """Requirements of one `pip install` after the other."""
    package: str
    """The distribution whose version is the tool's."""


ENVIRONMENTS: dict[str, Environment] = {
    environment.name: environment
    for environment in [
        # torch for its Gaussian process, cmaes for CMA-ES
        Environment("optuna", ((TORCH,), (TORCH, "optuna==5.0.0", "cmaes==0.13.1", "scipy")), "optuna"),
        Environment("smac", (("smac==2.4.1",),), "smac"),
        Environment("catboost", (("catboost==1.2.10", "pyarrow"),), "catboost"),
        Environment("flaml", (("flaml[automl]==2.7.0", "pyarrow"),), "flaml"),
        Environment(
            "autogluon",
            ((TORCH,), ("autogluon.tabular[catboost,lightgbm,xgboost]==1.6.3", "pyarrow")),
            "autogluon.tabular",
        ),
        Environment("mljar", (("mljar-supervised==1.3.2", "pyarrow"),), "mljar-supervised"),
    ]
}


def peers_folder() -> Path:
    """Return where environments are: `COMITIA_PEERS`, or `.peers` in the current folder."""
    return Path(os.environ.get("COMITIA_PEERS") or ".peers")


def get_environment(name: str | Environment) -> Environment:
    """Look an environment up by name."""
    if isinstance(name, Environment):
        return name
    if name not in ENVIRONMENTS:
        raise UnknownName("environment of a peer", name, ENVIRONMENTS)
    return ENVIRONMENTS[name]


def is_built(environment: str | Environment) -> bool:
    """Tell whether the environment is there, complete, and of the current requirements."""
    environment = get_environment(environment)
    stamp = _read_stamp(peers_folder() / environment.name)
    return stamp is not None and bool(stamp["steps"] == [list(step) for step in environment.steps])


def version_of(environment: str | Environment) -> str | None:
    """Return the version of the tool in a built environment; None if it is not built."""
    environment = get_environment(environment)
    stamp = _read_stamp(peers_folder() / environment.name)
    return None if stamp is None else stamp["versions"].get(_plain(environment.package))


def python_of(environment: str | Environment | None) -> str:
    """Return the interpreter of an environment; None is our own.

    Raises
    ------
    PeerMissing
        If it is not built, or was built for other requirements.
    """
    if environment is None:
        return sys.executable
    environment = get_environment(environment)
    folder = peers_folder() / environment.name
    if not is_built(environment):
        found = "There is none" if _read_stamp(folder) is None else "There is one for other requirements"
        raise PeerMissing(
            f"Peer {environment.name!r} must be installed in an environment of its own. {found} in {folder}. "
            f"Run: make peer NAME={environment.name}"
        )
    return str(_interpreter(folder).absolute())


def build(environment: str | Environment) -> Path:
    """Create the environment from scratch and return its folder; the log is kept beside it.

    Raises
    ------
    PeerError
        If something cannot be installed; the text has the end of the log.
    """
    environment = get_environment(environment)
    folder = peers_folder() / environment.name
    log = folder.with_name(f"{environment.name}.log")
    folder.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    (folder / STAMP).unlink(missing_ok=True)
    _logged([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], log, environment)
    pip = [sys.executable, "-m", "pip", "--python", str(_interpreter(folder)), "--no-input"]  # ours serves them all
    for step in environment.steps:
        _logged([*pip, "install", *step], log, environment)
    listing = subprocess.run([*pip, "list", "--format", "json"], capture_output=True, text=True, check=True)
    versions = {_plain(row["name"]): row["version"] for row in json.loads(listing.stdout)}
    stamp = {"steps": environment.steps, "versions": versions}
    with replacing(folder / STAMP) as beside:
        beside.write_text(json.dumps(stamp, indent=1))
    return folder


def tail(path: Path, n_lines: int = TAIL_LINES) -> str:
    """Return the last lines of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-n_lines:])


def _logged(command: list[str], log: Path, environment: Environment) -> None:
    with log.open("a") as file:
        file.write(f"$ {' '.join(command)}\n")
        file.flush()
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise PeerError(
            f"The environment of peer {environment.name!r} must be installable. {' '.join(command[1:3])} ended with "
            f"{done.returncode}; the whole log is in {log}, and its end is:\n{tail(log)}"
        )


def _read_stamp(folder: Path) -> Json | None:
    try:
        stamp: Json = json.loads((folder / STAMP).read_text())
    except (OSError, ValueError):
        return None
    return stamp


def _interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _plain(name: str) -> str:
    """Return a distribution's name in one spelling."""
    return name.lower().replace("_", "-").replace(".", "-")
