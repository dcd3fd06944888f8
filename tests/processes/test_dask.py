"""Trials on Dask clusters: a local one, and a scheduler with workers that are started by command and killed."""

import os
import random
import shutil
import socketserver
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from comitia import DaskWorkers, FunctionEvaluator, Observation, Study, TableEvaluator, get_space
from comitia.errors import ChoiceError, ExecutionError
from comitia.execution.dask import connect, is_client
from tests.processes.clusters import Cluster, cluster, connected, make_certificate
from tests.study.examples import SPACE, history_of, square

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster(2) as found:
        yield found


def bounded(study: Study, n_trials: int) -> None:
    """Check that every trial has one result, under its own number."""
    assert [o.number for o in study.history.observations()] == list(range(n_trials))


def test_a_study_is_the_same_as_with_local_workers(running: Cluster) -> None:
    X, y = load_iris(return_X_y=True)
    ready = get_space("svm")
    evaluator = TableEvaluator(ready.build, X, y, cv=3, keep="probabilities")
    here, there = (
        Study(ready.space, "committee", seed=1, lag=2).run(evaluator, n_trials=12, executor=executor)
        for executor in (None, running.address)
    )
    assert history_of(here) == history_of(there)
    assert here.members() == there.members()
    assert there.history.predictions(3) is not None


def test_a_local_cluster_of_processes_gives_the_same_study() -> None:
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as local, Client(local, set_as_default=False) as client:
        here, there = (
            Study(SPACE, "bayes", seed=1, lag=2).run(FunctionEvaluator(square), n_trials=12, executor=executor)
            for executor in (None, client)
        )
    assert history_of(here) == history_of(there)


def test_limits_hold_and_failures_are_told(running: Cluster) -> None:
    def some(config: Any) -> float:
        if config["a"] == 1:
            time.sleep(60)
        if config["a"] == 2:
            os._exit(3)
        if config["a"] == 3:
            raise ValueError("three")
        return float(config["a"])

    study = Study({"a": [1, 2, 3, 4]}, "grid", seed=0)
    study.run(FunctionEvaluator(some), n_trials=4, executor=DaskWorkers(running.address, trial_time_limit=1))
    status = {o.config["a"]: o.status for o in study.history.observations()}
    assert status == {1: "timeout", 2: "crashed", 3: "failed", 4: "ok"}
    assert any("ValueError: three" in o.error for o in study.history.observations())


def test_a_local_cluster_serves_and_what_is_given_up_is_killed(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    alive = tmp_path / "alive"

    def slow(config: Any) -> float:
        if config["x"] > 0.5:
            for _ in range(600):
                time.sleep(0.1)
                alive.write_text(str(time.time()))
        return square(config)

    def is_written() -> bool:
        before = alive.stat().st_mtime_ns
        time.sleep(1.0)
        return alive.stat().st_mtime_ns != before

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0") as local,
        Client(local, set_as_default=False) as client,
    ):
        study = Study(SPACE, "rs", seed=0)
        end = time.monotonic() + 60
        while not alive.exists():  # on a busy machine no such trial may have begun after six seconds
            assert time.monotonic() < end
            study.run(FunctionEvaluator(slow), time_limit=6, executor=client)
            assert study.stop_reason == "time"
            assert not study.history.begun
        end = time.monotonic() + 20  # workers look twice a second
        while is_written():
            assert time.monotonic() < end
        study.run(FunctionEvaluator(square), n_trials=study.history.n_finished + 4, executor=client)


def kill_at_random(found: Cluster, n_kills: int, stop: threading.Event) -> None:
    """Kill a worker and start another, again and again."""
    rng = random.Random(0)
    for _ in range(n_kills):
        found.add_worker()
        if stop.wait(3 + 2 * rng.random()):
            return
        found.kill_worker(rng.randrange(len(found.workers) - 1))


def survives(n_kills: int, n_trials: int) -> None:
    def slow(config: Any) -> float:
        time.sleep(0.4)
        return square(config)

    stop = threading.Event()
    with cluster(2) as found:
        killer = threading.Thread(target=kill_at_random, args=(found, n_kills, stop))
        killer.start()
        study = Study(SPACE, "rs", seed=3)
        try:
            n = 0
            while n < n_trials or killer.is_alive():
                n += n_trials
                study.run(FunctionEvaluator(slow), n_trials=n, executor=found.address)
        finally:
            stop.set()
            killer.join()
    bounded(study, n)
    assert {o.status for o in study.history.observations()} <= {"ok", "crashed"}
    assert sum(o.is_ok for o in study.history.observations()) > 0.5 * n


def test_workers_that_are_killed_and_come_lose_no_trial() -> None:
    survives(2, 12)


@pytest.mark.slow
def test_twenty_workers_that_are_killed_lose_no_trial() -> None:
    survives(20, 60)


@pytest.mark.slow
def test_a_trial_that_kills_its_worker_twice_is_given_up() -> None:
    def murderous(config: Any) -> float:
        if config["a"] == 2:
            # the parent of the process that forks trials is the Dask worker
            import psutil

            nursery = psutil.Process().parent()
            assert nursery is not None
            os.kill(nursery.ppid(), 9)
            time.sleep(60)
        return float(config["a"])

    with cluster(4) as found:  # the third start, at which it is given up, may take one more
        study = Study({"a": [1, 2, 3]}, "grid", seed=0)
        study.run(FunctionEvaluator(murderous), n_trials=3, n_jobs=1, executor=found.address)
    bounded(study, 3)
    [bad] = [o for o in study.history.observations() if not o.is_ok]
    assert bad.config == {"a": 2}
    assert bad.status == "crashed"
    assert "2 Dask workers had died" in bad.error


def test_a_scheduler_that_is_lost_ends_the_run_and_another_resumes_it(tmp_path: Path, running: Cluster) -> None:
    def slow(config: Any) -> float:
        time.sleep(0.2)
        return square(config)

    path = tmp_path / "s.db"
    with cluster(1) as found, Study(SPACE, "rs", seed=3, storage=path) as study:

        def kill(study: Study, observation: Observation) -> None:
            if study.history.n_finished == 3:
                found.kill_scheduler()

        with pytest.raises(ExecutionError, match="Everything finished is kept"):
            study.run(FunctionEvaluator(slow), n_trials=30, executor=found.address, callbacks=[kill])
    with Study.open(path) as study:
        assert study.history.n_finished >= 3
        study.run(FunctionEvaluator(square), n_trials=8, executor=running.address)
        bounded(study, 8)


DRIVER = """
import sys, time
from comitia import FunctionEvaluator, Study

def slow(config):
    time.sleep(0.3)
    return config["x"] ** 2

with Study({"x": (-1.0, 1.0)}, "rs", seed=3, storage=sys.argv[2]) as study:
    say = lambda study, observation: print(observation.number, flush=True)
    study.run(FunctionEvaluator(slow), n_trials=40, executor=sys.argv[1], callbacks=[say])
"""


def test_a_driver_that_is_killed_leaves_what_had_ended_to_the_next(tmp_path: Path, running: Cluster) -> None:
    path = tmp_path / "s.db"
    command = [sys.executable, "-c", DRIVER, running.address, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        told = [int(driver.stdout.readline()) for _ in range(4)]
        driver.kill()
    with Study.open(path) as study:
        before = {o.number: o.losses for o in study.history.observations()}
        assert set(told) <= set(before)
        study.run(FunctionEvaluator(lambda config: config["x"] ** 2), n_trials=12, executor=running.address)
        bounded(study, 12)
        assert {n: o.losses for n in before if (o := study.history.observation(n))} == before


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl, which is not here")
def test_settings_of_tls_are_passed_through(tmp_path: Path) -> None:
    from dask import config

    certificate = tmp_path / "both.pem"
    make_certificate(certificate)
    names = ("ca-file", "client.cert", "client.key", "scheduler.cert", "scheduler.key", "worker.cert", "worker.key")
    settings = {f"distributed.comm.tls.{name}": str(certificate) for name in names}
    with config.set(settings), cluster(1, certificate) as found:
        assert found.address.startswith("tls://")
        study = Study(SPACE, "rs", seed=0).run(FunctionEvaluator(square), n_trials=3, executor=found.address)
        bounded(study, 3)
        with config.set(dict.fromkeys(settings)), pytest.raises(ExecutionError, match="tls://"):
            connect(found.address)


def test_an_address_must_answer() -> None:
    with pytest.raises(ChoiceError, match="tcp://"):
        DaskWorkers("somewhere")
    with pytest.raises(ChoiceError, match="trial_time_limit"):
        DaskWorkers("tcp://127.0.0.1:1", trial_time_limit=0)


class Another(socketserver.BaseRequestHandler):
    """A server that does not speak Dask's language."""

    def handle(self) -> None:
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_another_server_is_no_scheduler() -> None:
    from dask import config

    with socketserver.TCPServer(("127.0.0.1", 0), Another) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.server_address[1]}"
        quickly = config.set({"distributed.comm.timeouts.connect": "2s"})
        with quickly, pytest.raises(ExecutionError, match=address) as found:
            connect(address)
        server.shutdown()
    # one that is closed only when it is freed can block whoever makes the next one
    cause = found.value.__cause__
    assert cause is not None
    frames = [frame for frame, _ in traceback.walk_tb(cause.__traceback__)]
    assert {one.f_locals["self"].status for one in frames if is_client(one.f_locals.get("self"))} == {"closed"}


def test_a_client_of_the_user_stays_open(running: Cluster) -> None:
    from distributed import Client

    with connected(running.address) as client:
        assert isinstance(client, Client)
        study = Study(SPACE, "rs", seed=0).run(FunctionEvaluator(square), n_trials=3, executor=client)
        assert client.status == "running"
    bounded(study, 3)
