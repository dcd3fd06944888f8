"""A limit that counts from the start of the process."""

import subprocess
import sys
import time

import pytest

from comitia.cli.clock import AFTERWARDS, LEAST, seconds_left, seconds_of_process


def test_what_came_before_is_taken_off_with_a_part_for_what_comes_after() -> None:
    assert seconds_left(60.0, time.monotonic() - 5) == pytest.approx(60 - 5 * (1 + AFTERWARDS), abs=0.5)


def test_some_of_it_is_left_in_any_case() -> None:
    assert seconds_left(10.0, time.monotonic() - 100) == LEAST * 10


@pytest.mark.processes
def test_a_process_knows_when_it_was_started() -> None:
    began = time.monotonic()
    code = "import time; time.sleep(0.5); from comitia.cli.clock import seconds_of_process as s; print(s())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.5 <= float(done.stdout) <= time.monotonic() - began + 0.02  # ticks of the system's clock
    assert seconds_of_process() > 0.5
