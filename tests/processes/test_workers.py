"""Workers: every way to misbehave is recorded within its limit, harms nobody else, and leaves nothing behind."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from comitia import FunctionEvaluator, Study, Workers
from comitia.errors import ChoiceError, ExecutionError, TrialCrashed, TrialMemory, TrialTimeout
from comitia.execution import starters
from comitia.execution.kept import end_kept
from comitia.execution.machine import n_processors
from comitia.execution.starters import FreshProcesses, Nursery, heavy_modules
from tests import warm
from tests.ids import stable
from tests.processes.learners import ODD_SECONDS, DiesWhenLoaded, Heavy, misbehave, objective

pytestmark = pytest.mark.usefixtures("bare_nurseries")  # how workers begin and end does not depend on imports
ROOT = Path(__file__).parents[2]
LIMIT = 1.0
MEMORY = 700 * 2**20
STARTERS: dict[str, Any] = {"nursery": Nursery, "fresh": FreshProcesses}


def living() -> set[psutil.Process]:
    """Return everything that lives because of us: descendants, and orphans marked by their odd argument."""
    descendants = psutil.Process().children(recursive=True)
    marked = [process for process in psutil.process_iter(["cmdline"]) if ODD_SECONDS in (process.info["cmdline"] or [])]
    return {process for process in descendants + marked if is_alive(process)}


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = living()
    yield
    end_kept()  # what runs leave for the next one
    for _ in range(40):
        if not (left := living() - before):
            return
        time.sleep(0.05)
    raise AssertionError(f"these are left: {left}")


@pytest.fixture
def _full_nurseries(bare_nurseries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nurseries import what this process has, as they do elsewhere."""
    monkeypatch.setattr(starters, "heavy_modules", heavy_modules)


full_nurseries = pytest.mark.usefixtures("_full_nurseries")


@pytest.mark.parametrize("starter", sorted(STARTERS))
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("raise", ValueError, "no such thing"),
        ("hang", TrialTimeout, "limit of 1 s"),
        ("spin", TrialTimeout, "limit of 1 s"),
        ("ignore SIGTERM", TrialTimeout, "limit of 1 s"),
        ("segfault", TrialCrashed, "SIGSEGV"),
        ("exit", TrialCrashed, "code 3"),
        ("sys.exit", RuntimeError, "SystemExit: 4"),
        ("abort", TrialCrashed, "SIGABRT"),
        ("kill", TrialCrashed, "SIGKILL"),
        ("fork a child that hangs", TrialTimeout, "limit of 1 s"),
        ("crash with a child", TrialCrashed, "code 5"),
        ("memory", TrialMemory, "limit of 700 MiB"),
        ("memory of a child", TrialMemory, "limit of 700 MiB"),
        ("unpicklable error", RuntimeError, "cannot travel"),
        ("unpicklable answer", TypeError, "pickle"),
    ],
)
def test_misbehaviour_ends_within_the_limit_and_others_are_unharmed(
    how: str, error: type[Exception], message: str, starter: str
) -> None:
    limit = 8.0 if "memory" in how else LIMIT
    with Workers(2, trial_time_limit=limit, trial_memory_limit=MEMORY, starter=STARTERS[starter]) as pool:
        wait([pool.submit(misbehave, "fine") for _ in range(2)])  # started
        began = time.monotonic()
        bad = pool.submit(misbehave, how)
        good = [pool.submit(misbehave, "fine") for _ in range(4)]
        with pytest.raises(error, match=message):
            bad.result(timeout=30)
        assert time.monotonic() - began < limit + 4
        assert [future.result(timeout=30) for future in good] == ["fine"] * 4
        assert pool.submit(misbehave, "again").result(timeout=30) == "again"


@pytest.mark.parametrize("how", ["leave a child", "leave a daemon"])
def test_what_a_good_task_leaves_running_ends_with_the_pool(how: str) -> None:
    with Workers(1) as pool:
        assert pool.submit(misbehave, how).result() == how


@pytest.mark.parametrize("how", ["hang", "fork a child that hangs", "leave a daemon"])
def test_nothing_is_left_after_an_exception(how: str) -> None:
    def stop_when_it_runs() -> None:
        with Workers(2) as pool:
            pool.submit(misbehave, how)
            pool.submit(misbehave, "fine").result()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_when_it_runs()


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_nothing_is_left_when_the_parent_is_killed(stop: signal.Signals) -> None:
    code = """
from comitia import Workers
from tests.processes.learners import misbehave
with Workers(2) as pool:
    pool.submit(misbehave, "leave a daemon").result()
    pool.submit(misbehave, "fork a child that hangs")
    print("running", flush=True)
    pool.submit(misbehave, "hang").result()
"""
    with open(os.devnull, "wb") as nothing:
        child = warm.begin("-c", code, cwd=ROOT, is_read=True, stderr=nothing)
    assert child.stdout is not None
    with child.stdout as out:
        assert out.readline() == b"running\n"
    others = psutil.Process(child.pid).children(recursive=True)
    assert len(others) >= 3  # the nursery, two workers
    child.send_signal(stop)
    child.wait(timeout=10)
    _, alive = psutil.wait_procs(others, timeout=5)
    assert [process for process in alive if is_alive(process)] == []


def large_ones() -> list[psutil.Process]:
    """Return the workers that hold an answer of half a gigabyte or more."""
    return [process for process in psutil.Process().children(recursive=True) if resident(process) > 5e8]


def resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


@pytest.mark.slow
def test_a_worker_killed_while_it_sends_harms_no_other() -> None:
    with Workers(2) as pool:
        wait([pool.submit(misbehave, "fine") for _ in range(2)])
        n_killed = 0
        for delay in (0.0, 0.2, 0.4):
            big = pool.submit(bytes, 700_000_000)
            others = [pool.submit(misbehave, "fine") for _ in range(3)]
            while not big.done() and not large_ones():
                time.sleep(0.01)
            time.sleep(delay)
            for process in large_ones():
                process.kill()
                n_killed += 1
            assert [future.result(timeout=30) for future in others] == ["fine"] * 3
            wait([big], timeout=30)
            assert big.done()
        assert n_killed


def test_a_function_travels_once_not_once_a_task() -> None:
    heavy = Heavy()
    Heavy.pickled = 0
    with Workers(2) as pool:
        assert [future.result() for future in [pool.submit(heavy, i) for i in range(20)]] == list(range(20))
    assert Heavy.pickled == 1


@full_nurseries
def test_threads_are_shared_out_among_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def threads() -> set[int]:
        import threadpoolctl

        np.ones((10, 10)) @ np.ones((10, 10))
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}

    with Workers(os.cpu_count() or 1) as pool:
        assert pool.submit(threads).result() == {1}
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert starters.environment(8)["OPENBLAS_NUM_THREADS"] == "2"  # the user's word counts


def test_who_limits_openmp_limits_linear_algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in starters.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert {starters.environment(1)[name] for name in starters.THREAD_VARIABLES} == {"1"}
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert starters.environment(1)["OPENBLAS_NUM_THREADS"] == str(n_processors())


def test_standard_output_stays_clean(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from comitia import Workers\nwith Workers(1) as pool:\n    pool.submit(print, 'noise').result()\n"
    )
    done = warm.run(script, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "noise" in done.stderr


def test_abandoned_tasks_are_killed_or_cancelled() -> None:
    with Workers(1) as pool:
        running = pool.submit(misbehave, "hang")
        queued = pool.submit(misbehave, "fine")
        while not running.running():
            time.sleep(0.01)
        pool.abandon([running, queued])
        with pytest.raises(TrialCrashed, match="given up"):
            running.result(timeout=10)
        with pytest.raises(CancelledError):
            queued.result(timeout=10)
        assert pool.submit(misbehave, "fine").result(timeout=10) == "fine"


def test_a_pool_can_be_used_again_after_its_end() -> None:
    pool = Workers(1)
    for _ in range(2):
        assert pool.submit(misbehave, "fine").result() == "fine"
        pool.shutdown()


def test_tasks_end_before_an_orderly_shutdown() -> None:
    pool = Workers(1)
    futures = [pool.submit(misbehave, str(i)) for i in range(5)]
    pool.shutdown(wait=True)
    assert [future.result() for future in futures] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    "options",
    [{"n_workers": 0}, {"n_workers": 1.5}, {"trial_time_limit": 0}, {"trial_memory_limit": -1}],
    ids=stable,
)
def test_limits_must_be_positive(options: dict[str, Any]) -> None:
    with pytest.raises(ChoiceError, match="must be"):
        Workers(**options)


def test_what_cannot_be_pickled_is_refused_with_advice() -> None:
    lock = threading.Lock()
    with Workers(1) as pool, pytest.raises(ExecutionError, match="n_jobs=1"):
        pool.submit(lambda: lock)


def test_workers_that_cannot_start_are_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("comitia.execution.starters.sys.executable", "/bin/false")
    with Workers(1) as pool, pytest.raises(ExecutionError):
        pool.submit(misbehave, "fine").result(timeout=20)


@full_nurseries
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_over_every_misbehaviour_goes_on(n_jobs: int) -> None:
    expected = {
        "fine": "ok",
        "raise": "failed",
        "hang": "timeout",
        "ignore SIGTERM": "timeout",
        "segfault": "crashed",
        "exit": "crashed",
        "sys.exit": "failed",
        "kill": "crashed",
        "fork a child that hangs": "timeout",
        "memory": "memory",
    }
    study = Study({"how": list(expected)}, "grid", seed=0)
    # memory goes over 700 MiB well inside the 6 s, also where the machine is busy
    with Workers(n_jobs, trial_time_limit=6, trial_memory_limit=MEMORY) as pool:
        pool.submit(abs, -1).result()  # on a busy machine the start of the workers takes seconds
        study.run(FunctionEvaluator(objective), n_trials=20, executor=pool)
    assert {o.config["how"]: o.status for o in study.history.observations()} == expected
    assert all(o.error for o in study.history.observations() if o.status != "ok")
    assert study.best_trial.config == {"how": "fine"}
    assert all(o.seconds < 8 for o in study.history.observations())


@full_nurseries
def test_a_learner_without_end_does_not_keep_the_study_past_its_time() -> None:
    study = Study({"how": ["hang", "ignore SIGTERM", "fork a child that hangs"]}, "grid", seed=0)
    began = time.monotonic()
    study.run(FunctionEvaluator(objective), time_limit=2.5, n_jobs=2)
    assert time.monotonic() - began < 6  # not for ever; a busy machine takes its time
    assert study.stop_reason == "time"
    assert study.history.n_finished + study.history.n_pending == 2


def test_every_future_ends_when_workers_cannot_begin_tasks() -> None:
    with Workers(1) as pool:
        futures = [pool.submit(DiesWhenLoaded()) for _ in range(6)]
        _, left = wait(futures, timeout=30)
        assert not left
        assert all(future.exception() for future in futures)


def test_a_forked_child_that_comes_back_does_not_answer_for_its_parent() -> None:
    def fork_and_return() -> int:
        return os.fork()  # 0 in the child

    with Workers(1, trial_time_limit=5) as pool:
        for _ in range(5):
            assert pool.submit(fork_and_return).result(timeout=20) > 0


def test_a_helper_of_a_healthy_trial_survives_its_neighbours_crash() -> None:
    def daemon_then_wait() -> bool:
        # an orphan at once: its parent, the shell, ends
        started = subprocess.run(
            ["sh", "-c", f"sleep {ODD_SECONDS} >/dev/null 2>&1 & echo $!"], capture_output=True, check=True
        )
        time.sleep(1.5)
        return psutil.pid_exists(int(started.stdout))

    with Workers(2) as pool:
        wait([pool.submit(misbehave, "fine") for _ in range(2)])
        healthy = pool.submit(daemon_then_wait)
        time.sleep(0.3)
        assert isinstance(pool.submit(misbehave, "segfault").exception(), TrialCrashed)
        assert healthy.result() is True


def test_functions_that_are_gone_are_forgotten() -> None:
    with Workers(1) as pool:
        for i in range(20):
            heavy = Heavy()
            assert pool.submit(heavy, i).result() == i
        del heavy
        pool.submit(abs, 1).result()
        time.sleep(0.2)
        manager = pool._supervisor
        assert manager is not None
        assert len(manager._functions) < 5


def test_a_dropped_pool_takes_its_processes_with_it() -> None:
    before = living()
    pool = Workers(1)
    assert pool.submit(abs, -1).result() == 1
    started = living() - before
    assert len(started) == 2  # the nursery and a worker
    del pool
    gc.collect()
    _, alive = psutil.wait_procs(started, timeout=5)
    assert not alive


def test_waiting_for_a_result_keeps_the_pool() -> None:
    assert Workers(1).submit(abs, -1).result() == 1


def test_a_user_module_called_worker_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text("def f(config):\n    return config['x']\n")
    (tmp_path / "script.py").write_text(
        "import pathlib, sys\nsys.path.append(pathlib.Path('.'))\nimport worker\nfrom comitia import minimize\n"
        "print(minimize(worker.f, {'x': [1, 2, 3]}, n_jobs=2, n_trials=3).best_trial.loss)\n"
    )
    done = warm.run("script.py", cwd=tmp_path)
    assert done.stdout == "1.0\n", done.stderr


def test_without_standard_error(tmp_path: Path) -> None:
    script = "from comitia import Workers\nwith Workers(1) as pool:\n    print(pool.submit(abs, -3).result())\n"
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} script.py 2>&-"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.stdout == b"3\n"


@full_nurseries
def test_a_pool_that_is_still_starting_stops_at_once() -> None:
    pool = Workers(2)
    pool.submit(misbehave, "fine")
    began = time.monotonic()
    pool.shutdown(cancel_futures=True)
    assert time.monotonic() - began < 1.5  # a start takes longer


@full_nurseries
def test_a_shutdown_does_not_wait_for_a_task_that_was_cancelled_before_its_worker_started() -> None:
    """The worker's start was the last thing that happened; then nothing woke the manager again."""
    for _ in range(3):
        pool = Workers(1)
        with pool:
            future = pool.submit(abs, -1)
            pool.abandon([future])
        with pytest.raises((CancelledError, TrialCrashed)):
            future.result(timeout=0)
