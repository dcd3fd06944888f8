"""`PeerProcess`: a long-lived process of another environment that answers JSON with JSON, line by line.

It ends when it is closed or forgotten, and by itself when the parent dies, because its standard input ends then.
"""

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from typing import IO

from comitia.arrays import Json
from comitia.bench.peers.environments import tail
from comitia.errors import PeerError
from comitia.execution.starters import THREAD_VARIABLES, kill_group

SECONDS_TO_END = 5.0
"""How long a process may take to end by itself before it is killed."""


class PeerProcess:
    """A script run by an interpreter of another environment; one answer may take `timeout_seconds`."""

    def __init__(self, name: str, python: str, script: Path, *, timeout_seconds: float) -> None:
        self.name = name
        self._timeout_seconds = timeout_seconds
        self._folder = tempfile.TemporaryDirectory(prefix="comitia-peer-", ignore_cleanup_errors=True)
        self._log = Path(self._folder.name) / "stderr.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [python, "-u", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder.name,
                env=environment_variables(n_jobs=1),
                text=True,
                start_new_session=True,  # Ctrl-C is for the parent, and children die with the group
            )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._lines), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._process, self._folder)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def exchange(self, message: Json) -> Json:
        """Send a message and wait for its answer.

        Raises
        ------
        PeerError
            If the process died, took too long, or answered something that is not a JSON object. It is ended then.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=self._timeout_seconds)
        except queue.Empty:
            raise self._failed(f"Nothing came for {self._timeout_seconds:g} s, so it was killed", kill=True) from None
        except (OSError, ValueError):  # it closed the pipe, or was ended before: say what it said last
            line = None
        if line is None:
            raise self._failed("It ended instead")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise self._failed(f"Got {line.rstrip()[:200]!r} instead", kill=True)
        return answer

    def close(self) -> None:
        """End the process; closing twice does nothing."""
        self._end()

    def _failed(self, what: str, *, kill: bool = False) -> PeerError:
        if kill:
            kill_group(self._process.pid)
        status = _wait(self._process)
        said = tail(self._log)
        self.close()
        what = f"{what} (exit status {status})" if not kill else what
        return PeerError(f"Peer {self.name!r} must answer in JSON. {what}. It said last:\n{said or '(nothing)'}")


def environment_variables(*, n_jobs: int) -> dict[str, str]:
    """Return our environment without Python's own settings, with threads capped."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | dict.fromkeys(THREAD_VARIABLES, str(n_jobs)) | {"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}


def _listen(stdout: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    with contextlib.suppress(ValueError):  # closed while reading
        for line in stdout:
            lines.put(line)
    lines.put(None)


def _wait(process: subprocess.Popen[str]) -> int:
    try:
        return process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        kill_group(process.pid)
        return process.wait()


def _end(process: subprocess.Popen[str], folder: tempfile.TemporaryDirectory[str]) -> None:
    """Close the pipe, on which the script ends; kill it if it does not."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):  # a broken pipe: it is gone
        process.stdin.close()
    _wait(process)
    kill_group(process.pid)  # what it may have started
    process.stdout.close()
    folder.cleanup()
