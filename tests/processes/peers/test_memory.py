"""The memory of a process and of what it starts, from outside."""

import subprocess
import sys
import time

from comitia.bench.peers.memory import PeakMemory, tree_bytes

MEGABYTE = 2**20
CHILD = "import sys; held = bytearray(150 * 2**20); print('there', flush=True); sys.stdin.read()"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def started(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_memory_of_what_a_process_starts_counts() -> None:
    process = started(PARENT)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    with PeakMemory(process.pid) as memory:
        end = time.monotonic() + 60
        while memory.peak_bytes < 150 * MEGABYTE and time.monotonic() < end:
            time.sleep(0.05)
    assert memory.peak_bytes > 150 * MEGABYTE
    assert memory.peak_bytes < 400 * MEGABYTE
    assert tree_bytes(process.pid) > 150 * MEGABYTE
    process.stdin.close()
    process.wait()
    process.stdout.close()
    assert tree_bytes(process.pid) == 0


def test_what_comes_after_the_answer_does_not_count() -> None:
    process = started(CHILD)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    with PeakMemory(process.pid, is_over=lambda: True) as memory:
        process.stdin.close()
        process.wait()
    process.stdout.close()
    assert memory.peak_bytes == 0
