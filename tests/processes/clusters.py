"""A Dask scheduler and workers, started by command on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from comitia.execution.dask import close_failed_client


class Cluster:
    """Processes that a test may kill; with a certificate, they speak TLS alone."""

    def __init__(self, certificate: Path | None = None) -> None:
        self._certificate = certificate
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"{'tcp' if certificate is None else 'tls'}://127.0.0.1:{free.getsockname()[1]}"
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
        if self._certificate is not None:
            for name in ("ca-file", "cert", "key"):
                command += [f"--tls-{name}", str(self._certificate)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


def make_certificate(path: Path) -> None:
    """Write a key and a certificate that it signed itself to one file, for the address 127.0.0.1."""
    key = path.with_suffix(".key")
    options = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command = ["openssl", "req", "-x509", *options, "-keyout", str(key), "-out", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text() + key.read_text())


@contextmanager
def cluster(n_workers: int = 2, certificate: Path | None = None) -> Iterator[Cluster]:
    """Start a scheduler with workers, and wait until they are there."""
    from distributed import Client

    found = Cluster(certificate)
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
        except OSError as error:
            close_failed_client(error)
            if time.monotonic() > end:
                raise
    try:
        yield client
    finally:
        client.close()
