"""A Dask scheduler and workers, started by command on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Cluster:
    """Processes that a test may kill."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.scheduler = self._start("scheduler", "--host", self.address, "--dashboard-address", "127.0.0.1:0")
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_worker(self, n_threads: int = 1) -> None:
        """Start a worker without a nanny, so that one that is killed stays away."""
        options = ["--no-nanny", "--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1"]
        self.workers.append(
            self._start("worker", self.address, *options, "--nthreads", str(n_threads), "--memory-limit", "2GiB")
        )

    def kill_worker(self, index: int = 0) -> None:
        """Kill a worker as an operating system that is out of memory does."""
        worker = self.workers.pop(index)
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def kill_scheduler(self) -> None:
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@contextmanager
def cluster(n_workers: int = 2) -> Iterator[Cluster]:
    """Start a scheduler with workers, and wait until they are there."""
    from distributed import Client

    found = Cluster()
    try:
        for _ in range(n_workers):
            found.add_worker()
        with connected(found.address) as client:
            assert isinstance(client, Client)
            client.wait_for_workers(n_workers, timeout=60)
        yield found
    finally:
        found.close()


@contextmanager
def connected(address: str) -> Iterator[object]:
    """Return a client, after as many attempts as a scheduler that is starting needs."""
    from distributed import Client

    end = time.monotonic() + 60
    while True:
        try:
            client = Client(address, timeout=5, set_as_default=False)
            break
        except OSError:
            if time.monotonic() > end:
                raise
    try:
        yield client
    finally:
        client.close()
