"""What workers get of large arrays: one memory for all of them, of which nothing is left."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from comitia import AutoClassifier, Workers
from comitia.errors import TrialCrashed
from comitia.execution.packed import LEAST_BYTES, PackedFunction
from comitia.execution.starters import FreshProcesses, Starter, make_starter

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
N = LEAST_BYTES // 8 + 3


class Carrier:
    """A function that carries arrays: two large ones, one of them read-only and in Fortran's order, and a small one."""

    def __init__(self) -> None:
        self.column = np.arange(N, dtype=np.float64)
        self.table = np.asfortranarray(np.arange(4 * N, dtype=np.float32).reshape(N, 4))
        self.table.flags.writeable = False
        self.small = np.arange(5)

    def __call__(self, what: str) -> object:
        match what:
            case "sums":
                return float(self.column.sum()), float(self.table.sum(dtype=np.float64)), int(self.small.sum())
            case "flags":
                return self.column.flags.writeable, self.table.flags.writeable, self.table.flags.f_contiguous
            case "aligned":
                return self.column.ctypes.data % 64 == 0 and self.table.ctypes.data % 64 == 0
            case "mapped":
                return "memfd:comitia" in Path("/proc/self/maps").read_text()
            case "write":
                self.column[:] = -1.0
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
        return self.column[0]


def nameless_files(pid: int | str = "self") -> int:
    """Count the files of shared memory that a process has open."""
    folder, found = Path(f"/proc/{pid}/fd"), 0
    for entry in os.listdir(folder):
        try:
            found += "memfd:comitia" in os.readlink(folder / entry)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("starter", [make_starter, FreshProcesses], ids=["nursery", "fresh"])
def test_arrays_arrive_as_they_were(starter: Callable[[int], Starter]) -> None:
    carrier = Carrier()
    with Workers(2, starter=starter) as pool:
        assert pool.submit(carrier, "sums").result() == carrier("sums")
        assert pool.submit(carrier, "flags").result() == (True, False, True)
        assert pool.submit(carrier, "aligned").result() is True


@on_linux
def test_large_arrays_are_not_copied_into_workers() -> None:
    carrier = Carrier()
    with Workers(2) as pool:
        assert [future.result() for future in [pool.submit(carrier, "mapped") for _ in range(4)]] == [True] * 4


def test_what_a_task_writes_stays_in_its_process() -> None:
    carrier = Carrier()
    with Workers(1) as pool:
        assert pool.submit(carrier, "write").result() == -1.0
        with pytest.raises(TrialCrashed):
            pool.submit(carrier, "die").result()
        assert pool.submit(carrier, "first").result() == 0.0
    assert carrier.column[0] == 0.0


@on_linux
def test_no_memory_is_left_after_the_pool_and_after_workers_that_were_killed() -> None:
    before = nameless_files()
    carrier = Carrier()
    with Workers(1) as pool:
        assert pool.submit(carrier, "first").result() == 0.0
        assert nameless_files() == before + 1
        for _ in range(3):  # those that replace them get the same memory
            with pytest.raises(TrialCrashed):
                pool.submit(carrier, "die").result()
            assert pool.submit(carrier, "first").result() == 0.0
        assert nameless_files() == before + 1
    assert nameless_files() == before


@on_linux
def test_memory_of_a_function_that_is_gone_is_let_go() -> None:
    before = nameless_files()
    with Workers(1) as pool:
        carrier = Carrier()
        assert pool.submit(carrier, "first").result() == 0.0
        del carrier
        for _ in range(100):  # the supervisor looks between tasks
            pool.submit(abs, 1).result()
            if nameless_files() == before:
                break
            time.sleep(0.05)
        assert nameless_files() == before
        workers = [child for child in psutil.Process().children(recursive=True) if child.is_running()]
        assert sum(nameless_files(worker.pid) for worker in workers) == 0


@on_linux
def test_a_fit_leaves_no_memory() -> None:
    before, most = nameless_files(), []
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    y = (X[:, 0] > 0).astype(int)
    AutoClassifier(
        n_trials=2,
        cv=2,
        include=["linear"],
        n_jobs=2,
        random_state=0,
        callbacks=[lambda study, observation: most.append(nameless_files())],
    ).fit(X, y)
    assert max(most) > before
    assert nameless_files() == before


def test_small_arrays_are_part_of_the_pickle() -> None:
    assert PackedFunction(np.arange(10).sum).n_shared_bytes == 0


def test_without_room_for_shared_memory_each_worker_has_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise OSError("no space left")

    monkeypatch.setattr("comitia.execution.packed._nameless", full)
    carrier = Carrier()
    with Workers(1) as pool:
        assert pool.submit(carrier, "sums").result() == carrier("sums")
