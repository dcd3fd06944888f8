"""What all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# examples differ from run to run, so that the suite keeps exploring; a failing one is printed and kept
settings.register_profile("comitia", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
# what CI refuses must be the change's own fault: the same examples each time
settings.register_profile("ci", settings.get_profile("comitia"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "comitia")

# a shell that runs the suite in the background has it ignore Ctrl-C, which is what some tests are about
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec"}
_quick_test: list[str] = []  # the test that must not start a process, while there is one


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in tests/processes; a test elsewhere that starts processes has the mark itself.

    What needs PyTorch is skipped without it, and says so.
    """
    processes = Path(__file__).parent / "processes"
    without_torch = pytest.mark.skip(reason="PyTorch is not installed; make test-images runs this")
    for item in items:
        if item.get_closest_marker("images") is not None and find_spec("torch") is None:
            item.add_marker(without_torch)
        if processes in item.path.parents:
            item.add_marker(pytest.mark.processes)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    # automatic fits of all tests share a nursery or two, which are kept between them; matplotlib, which cma imports,
    # asks for the fonts of a machine where it is new
    is_allowed = event == "subprocess.Popen" and ("nursery.py" in str(arguments[1]) or arguments[0] == "fc-list")
    if event in STARTS and _quick_test and not is_allowed:
        raise RuntimeError(f"{_quick_test[0]} starts a process: mark it with @pytest.mark.processes ({event})")


sys.addaudithook(_refuse)


@pytest.fixture(autouse=True)
def _only_marked_tests_start_processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep `make test-quick` quick: a test that starts a process waits for it."""
    if request.node.get_closest_marker("processes") is None:
        _quick_test.append(request.node.nodeid)
    yield
    _quick_test.clear()


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of garbage collection: thousands of tests would visit it again."""
    gc.collect()
    gc.freeze()
