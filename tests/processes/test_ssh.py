"""The SSH example of docs/guide/cluster.md, on an SSH server of the test's own that listens on loopback alone."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import comitia
from comitia import FunctionEvaluator, Study
from tests.study.examples import SPACE, history_of

pytest.importorskip("distributed")
pytest.importorskip("asyncssh", reason="Dask's SSHCluster needs asyncssh, which is not installed")

PAGE = Path(__file__).parents[2] / "docs/guide/cluster.md"
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
LogLevel ERROR
SetEnv PYTHONPATH={source}
"""


@pytest.fixture(scope="module")
def login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Start a server that knows one key; return how to log in."""
    if SSHD is None or shutil.which("ssh-keygen") is None:
        pytest.skip("an SSH server (sshd) and ssh-keygen are not installed")
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = folder / "config"
    config.write_text(CONFIG.format(port=port, folder=folder, source=Path(comitia.__file__).parents[1]))
    checked = subprocess.run([SSHD, "-t", "-f", str(config)], capture_output=True, text=True)
    if checked.returncode:
        pytest.skip(f"an SSH server cannot start here: {checked.stderr.strip()}")
    server = subprocess.Popen([SSHD, "-D", "-f", str(config)], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        known = f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}"
        (folder / "known").write_text(known)
        yield {
            "port": port, "username": getpass.getuser(), "client_keys": [str(folder / "user")],
            "known_hosts": str(folder / "known"), "config": None, "agent_path": None,
        }  # fmt: skip
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    """Wait until a server listens."""
    end = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def example() -> str:
    """Return the page's example without the lines that name the user's machines."""
    [block] = [code for code in re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL) if "SSHCluster" in code]
    mine = ("hosts = ", "login = ", "workers = ")
    assert all(any(line.startswith(name) for line in block.splitlines()) for name in mine)
    return "\n".join(line for line in block.splitlines() if not line.startswith(mine))


def test_the_example_for_ssh_gives_the_same_study(login: dict[str, Any]) -> None:
    from dask import config

    def square(config: Any) -> float:  # a local one travels as it is: the workers do not know this file
        return float((config["x"] - 0.5) ** 2)

    evaluator = FunctionEvaluator(square)
    study = Study(SPACE, "bayes", seed=1, lag=2)
    names = {
        "hosts": ["127.0.0.1"] * 3,
        "login": login,
        "workers": {"nthreads": 1, "n_workers": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"},
        "study": study,
        "evaluator": evaluator,
    }
    with config.set({"distributed.comm.timeouts.connect": "60s"}):
        exec(compile(example(), str(PAGE), "exec"), names)
    here = Study(SPACE, "bayes", seed=1, lag=2).run(evaluator, n_trials=len(study.history))
    assert study.history.n_finished == len(study.history) > 8
    assert history_of(study) == history_of(here)
