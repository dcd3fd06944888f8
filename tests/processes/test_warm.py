"""Programs that are forked from a warm Python are what `python` would have made of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

CODE = """
import atexit, os, sys
atexit.register(print, "at the end")
class Mine: pass
here = sys.modules["__main__"]
print(sys.argv, os.getcwd(), os.environ["WORD"], sys.stdin.read(), Mine.__module__, here.Mine is Mine, sys.path[0])
print("to standard error", file=sys.stderr)
sys.exit(7)
"""


@pytest.mark.parametrize("kind", ["script", "-c", "-m"])
def test_a_program_does_what_it_does_in_a_python_of_its_own(kind: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CODE)
    arguments = {"script": ["program.py"], "-c": ["-c", CODE], "-m": ["-m", "program"]}[kind]
    env = {**os.environ, "WORD": "sent"}
    done = warm.run(*arguments, "more", cwd=tmp_path, env=env, given="given")
    alone = subprocess.run(
        [sys.executable, *arguments, "more"],
        cwd=tmp_path,
        env=env,
        input="given",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert "sent given __main__ True" in done.stdout
    assert done.stdout.endswith("at the end\n")


def test_an_error_or_a_warning_that_is_one_ends_it(tmp_path: Path) -> None:
    code = "import warnings; warnings.warn('unusual', stacklevel=1)"
    done = warm.run("-c", code, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    done = warm.run("-W", "error", "-c", code, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("UserWarning: unusual\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_receives_signals(number: signal.Signals, tmp_path: Path) -> None:
    with (tmp_path / "errors.txt").open("w") as errors:
        code = "import time; print('ready', flush=True); time.sleep(60)"
        program = warm.begin("-c", code, cwd=tmp_path, is_read=True, stderr=errors)
    assert program.stdout is not None
    with program.stdout as out:
        assert out.readline() == b"ready\n"
        assert program.poll() is None
        program.send_signal(number)
        assert program.wait(10) == -number
        assert out.read() == b""
    assert ("KeyboardInterrupt" in (tmp_path / "errors.txt").read_text()) is (number == signal.SIGINT)


def test_one_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        warm.run("-c", "import time; time.sleep(60)", cwd=tmp_path, timeout=0.1)
