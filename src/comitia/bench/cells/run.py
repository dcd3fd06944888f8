"""Run the cells of an experiment, each in a process of its own: methods, other tools, whole systems.

Only the main process writes rows, one cell at a time, so a kill at any moment loses nothing that was finished; running
again fills the gaps.
"""

import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from comitia.bench.cells.known_results import KNOWN, KnownResults
from comitia.bench.cells.search_cells import run_search
from comitia.bench.cells.study_cells import run_sampler, run_study
from comitia.bench.cells.system_cells import SYSTEMS, ask_peer, run_system_cell
from comitia.bench.peers.registry import PEERS, get_peer, is_peer
from comitia.bench.plan.plan import OWN_SPACE, Cell, Experiment, Job
from comitia.bench.problems.finding import check_problem, task_of_problem
from comitia.bench.rows.row import Row
from comitia.bench.rows.rows import RowsFile
from comitia.errors import ComitiaError, ExecutionError, UnknownName
from comitia.execution import Workers
from comitia.learners import SPACES
from comitia.methods import METHODS, get_method, is_method

log = logging.getLogger("comitia")
RunCell = Callable[[Job, KnownResults | None], list[Row]]
"""Runs a cell and returns its rows; trials that are known need not be trained again."""


def find_contestant(name: str) -> tuple[RunCell, bool]:
    """Look up by name how a cell is run, and whether that can be done here: another tool must be installed."""
    if is_method(name):
        return partial(run_study, get_method(name)), True
    if name in SYSTEMS:
        return partial(run_system_cell, name, SYSTEMS[name].ask), True
    if not is_peer(name):
        raise UnknownName("method", name, [*METHODS, *PEERS, *SYSTEMS])
    peer = get_peer(name)
    match peer.kind:
        case "sampler":
            return partial(run_sampler, peer), peer.is_ready
        case "search":
            return partial(run_search, peer), peer.is_ready
        case "system":
            return partial(run_system_cell, name, partial(ask_peer, peer)), peer.is_ready


def missing_of(methods: Iterable[str], spaces: Iterable[str]) -> list[str]:
    """Return the methods that cannot be run here because a tool is not installed; refuse unknown names."""
    for name in spaces:
        if name != OWN_SPACE and name not in SPACES:
            raise UnknownName("space", name, SPACES)
    return [name for name in methods if not find_contestant(name)[1]]


def run_cell(job: Job, known: KnownResults | None = None) -> list[Row]:
    """Run one cell; a failure of the whole cell is one row with its error. Known trials are not trained again."""
    logging.getLogger("comitia").setLevel(logging.ERROR)  # failed trials are in the rows
    try:
        run, _ = find_contestant(job.cell.method)
        return run(job, known)
    except ComitiaError as error:
        return [Row.failed(str(error))]
    except Exception as error:  # whatever a learner, a tool or a table may raise
        log.debug("cell %s failed", job.cell, exc_info=True)
        return [Row.failed(f"{type(error).__name__}: {error}")]


def run_sharing(job: Job) -> list[Row]:
    """Run one cell, and share the training of trials with the other cells of this process."""
    return run_cell(job, KNOWN)


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    n_cells: int
    n_done_before: int
    n_run: int
    n_failed: int
    missing: list[str]
    is_interrupted: bool


def check(experiment: Experiment, data: Path | None) -> tuple[list[str], dict[str, int]]:
    """Refuse unknown names; return the methods that cannot be run here, and the sizes of problems."""
    sizes = {name: check_problem(name, data) for name in experiment.problems}
    missing = missing_of(experiment.methods, experiment.spaces)
    return missing, {name: size for name, size in sizes.items() if size is not None}


def run_experiment(
    experiment: Experiment,
    output: Path,
    *,
    data: Path | None = None,
    jobs: int = 1,
    retry: bool = False,
    on_start: Callable[[int, int], None] = lambda n_cells, n_done: None,
    on_cell: Callable[[Cell, list[Row]], None] = lambda cell, rows: None,
) -> Summary:
    """Run what is missing of an experiment, `jobs` cells at a time; Ctrl-C ends it with everything finished kept.

    Parameters
    ----------
    output : Path
        The Parquet file with the rows.
    data : Path, optional
        Folder of tables.
    retry : bool
        Run cells that failed again.
    on_start, on_cell : callables
        For a progress bar: the number of cells and of those done before; each cell as it ends.
    """
    missing, _ = check(experiment, data)
    cells = [cell for cell in experiment.cells(missing) if _is_for_its_task(cell, data)]
    protocol = {**experiment.protocol(), "n_cells": len(cells)}
    n_run = n_failed = 0
    is_interrupted = False
    if not cells:
        return Summary(0, 0, 0, 0, missing, False)
    with RowsFile(output, protocol) as rows, _scratch(), Workers(jobs) as pool:
        failures = rows.failed_cells() if retry else set()
        todo = [cell for cell in cells if cell not in rows.cells or cell in failures]
        on_start(len(cells), len(cells) - len(todo))
        try:
            for cell, result in _results(pool, (Job(experiment, cell, data) for cell in todo), jobs):
                rows.append(cell, result)
                n_run += 1
                n_failed += result[0].is_failed_cell
                on_cell(cell, result)
        except KeyboardInterrupt:
            is_interrupted = True
            pool.shutdown(wait=False, cancel_futures=True)
    return Summary(len(cells), len(cells) - len(todo), n_run, n_failed, missing, is_interrupted)


def _is_for_its_task(cell: Cell, data: Path | None) -> bool:
    """Tell whether a space is for the problem's task: an experiment may name spaces and tables of both kinds."""
    if cell.space == OWN_SPACE:
        return True
    task = task_of_problem(cell.problem, data)
    return task is None or SPACES[cell.space].task == task


@contextmanager
def _scratch() -> Iterator[None]:
    """Let workers, which may be killed, leave their temporary files where we remove them."""
    before = {name: value for name, value in os.environ.items() if name == "TMPDIR"}
    with tempfile.TemporaryDirectory(prefix="comitia-bench-", ignore_cleanup_errors=True) as folder:
        os.environ["TMPDIR"] = folder
        try:
            yield
        finally:
            del os.environ["TMPDIR"]
            os.environ.update(before)


def _results(pool: Workers, jobs: Iterable[Job], n_jobs: int) -> Iterable[tuple[Cell, list[Row]]]:
    """Keep the workers busy; yield cells as they end."""
    waiting = iter(jobs)
    running: dict[Future[list[Row]], Cell] = {}
    while True:
        while len(running) < n_jobs and (job := next(waiting, None)) is not None:
            running[pool.submit(run_sharing, job)] = job.cell
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), _result(future)


def _result(future: Future[list[Row]]) -> list[Row]:
    try:
        return future.result()
    except ExecutionError as error:  # killed for its memory, or crashed
        return [Row.failed(f"{type(error).__name__}: {error}")]
