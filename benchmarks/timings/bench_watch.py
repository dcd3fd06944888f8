"""The live page of a study of 50,000 trials: seconds until it is there, and what it takes of a processor meanwhile.

`comitia watch` runs in a process of its own, as a user starts it; this one runs the study and asks for news once a
second, more often than the page does. With Chromium installed the page is opened in it as well: the seconds until its
tables and figures are seen, and what the browser takes.
"""

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from comitia import Study

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.browser import BROWSER, DRIVER, browser

N_TRIALS = 50_000
SECONDS = 60.0
PER_SECOND = 4
SPACE = [
    {"learner": ["linear"], "C": (1e-4, 1e3, "log")},
    {"learner": ["forest"], "depth": (1, 30), "features": (0.1, 1.0)},
    {"learner": ["boosting"], "rate": (1e-3, 1.0, "log"), "leaves": (4, 256, "log"), "rounds": (10, 500)},
]


def tell(study: Study, n: int, rng: np.random.Generator) -> None:
    study.tell_all([(trial, float(rng.normal())) for trial in study.ask(n)])


@contextmanager
def watched(path: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Start `comitia watch`; give the address and the process."""
    command = [sys.executable, "-m", "comitia.cli", "watch", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        try:
            yield address, psutil.Process(process.pid)
        finally:
            process.terminate()


def get(address: str) -> bytes:
    with urllib.request.urlopen(address) as answer:
        found: bytes = answer.read()
        return found


def cpu(*processes: psutil.Process) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes if process.is_running())


def report(what: str, value: float, unit: str, target: float) -> None:
    print(f"{what:<62} {value:8.2f} {unit:<4} target {target:g}: {'met' if value <= target else 'MISSED'}")


def share(study: Study, rng: np.random.Generator, address: str | None, *processes: psutil.Process) -> float:
    """Return what processes take of one processor, in per cent, while trials end; ask for news, if there is nobody."""
    before, began = cpu(*processes), time.monotonic()
    while time.monotonic() - began < SECONDS:
        tell(study, PER_SECOND, rng)
        if address is not None:
            get(f"{address}data?version=0")
        time.sleep(1.0)
    return 100 * (cpu(*processes) - before) / (time.monotonic() - began)


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, Study(SPACE, "rs", seed=0, storage=f"{folder}/study.db") as study:
        while len(study.history) < N_TRIALS:
            tell(study, 2_000, rng)
        with watched(Path(folder) / "study.db") as (address, server):
            before, began = cpu(server), time.monotonic()
            page = get(address)
            report(f"first page of {N_TRIALS:,} trials, {len(page) / 1e6:.1f} MB", time.monotonic() - began, "s", 3.0)
            report("  seconds of a processor in it", cpu(server) - before, "s", 3.0)
            data = get(f"{address}data?version=0")
            print(f"{'  its data alone':<62} {len(data) / 1e6:8.2f} MB")
            report("the server while trials end, of one processor", share(study, rng, address, server), "%", 2.0)
            if BROWSER is None or DRIVER is None:
                print("no Chromium: the page itself was not measured")
                return
            others = set(psutil.process_iter())
            with browser(is_logged=False) as window:
                window.set_size(1280, 900)
                began = time.monotonic()
                window.open(address)
                window.wait("return document.querySelector('#leaderboard-table tbody tr') !== null")
                window.wait("return document.querySelector('#scores .plot .main-svg') !== null")
                report("seen in the browser, figures included", time.monotonic() - began, "s", 3.0)
                time.sleep(3.0)
                own = [p for p in set(psutil.process_iter()) - others if p.is_running() and "chrom" in p.name()]
                drawing = share(study, rng, None, *own)
                report("the browser while trials end, of one processor", drawing, "%", 2.0)


if __name__ == "__main__":
    main()
