"""Run the cells of an experiment: each is one study through the ordinary loop, in a process of its own.

Only this program's main process writes rows, a cell at a time, so a kill at any moment loses nothing that was finished;
running again fills the gaps.
"""

from __future__ import annotations

import logging
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from comitia.bench.cells.arenas import Arena, Score, learner_of, make_arena
from comitia.bench.cells.own_systems import System, run_system_cell
from comitia.bench.cells.shared import MEMORY, Memory, SharedEvaluator
from comitia.bench.peers.registry import Peer
from comitia.bench.plan.contestants import find_contestant, missing_of
from comitia.bench.plan.plan import OWN_SPACE, Cell, Experiment
from comitia.bench.problems.problems import check_problem, find_problem, task_of_problem
from comitia.bench.rows.rows import RowsFile
from comitia.errors import ComitiaError, ExecutionError, ExperimentError, NothingFound
from comitia.evaluation.table import TableEvaluator
from comitia.execution import Serial, Workers
from comitia.history import Observation
from comitia.learners import SPACES
from comitia.methods import Method
from comitia.seeds import Seeds
from comitia.study.study import Study

log = logging.getLogger("comitia")
MOST_TEXT = 500
"""Letters of a cell's error that are kept."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to run a cell; the data are found again there."""

    experiment: Experiment
    cell: Cell
    data: Path | None


def run_cell(job: Job, memory: Memory | None = None) -> list[Row]:
    """Run one cell; a failure of the whole cell is one row with its error. Trials in memory are not trained again."""
    logging.getLogger("comitia").setLevel(logging.ERROR)  # failed trials are in the rows
    try:
        contestant = find_contestant(job.cell.method)
        if isinstance(contestant, Method):
            return run_method(job, contestant, memory)
        if isinstance(contestant, System):
            return run_system_cell(job.experiment, job.cell, find_problem(job.cell.problem, job.data), contestant)
        return run_peer(job, contestant, memory)
    except ComitiaError as error:
        return [failed_row(str(error))]
    except Exception as error:  # whatever a learner, a tool or a table may raise
        log.debug("cell %s failed", job.cell, exc_info=True)
        return [failed_row(f"{type(error).__name__}: {error}")]


def run_sharing(job: Job) -> list[Row]:
    """Run one cell, and share the training of trials with the other cells of this process."""
    return run_cell(job, MEMORY)


def run_peer(job: Job, peer: Peer, memory: Memory | None) -> list[Row]:
    """Run another tool: a sampler in our loop, a search or a system by itself."""
    from comitia.bench.cells import peer_cells
    from comitia.bench.peers.sampler import method_of

    if peer.kind == "sampler":
        return run_method(job, method_of(peer, n_trials=job.experiment.budget.n_trials), memory)
    if peer.kind == "search":
        return peer_cells.run_search_peer(job, peer, study_seed(job.cell))
    return peer_cells.run_system_peer(job, peer)


def failed_row(error: str) -> Row:
    """Return the one row of a cell that failed as a whole."""
    return {"iteration": 0, "n_evaluations": 0, "status": "failed", "error": " ".join(error.split())[:MOST_TEXT]}


def run_method(job: Job, method: Method, memory: Memory | None) -> list[Row]:
    """Run the study of a cell, and note after every trial where it stands."""
    problem = find_problem(job.cell.problem, job.data)
    arena = make_arena(job.experiment, job.cell, problem, method)
    study = Study(arena.space, arena.adapted(method), seed=study_seed(job.cell))
    budget = job.experiment.budget
    evaluator = arena.evaluator
    shared = None
    # a search that has so many seconds must not be given any
    if memory is not None and budget.time_limit is None and isinstance(evaluator, TableEvaluator):
        evaluator = shared = SharedEvaluator(evaluator, job.cell.space, memory)
    is_remembered = (lambda number: arena.is_tabulated) if shared is None else shared.is_remembered
    trace = Trace(job.experiment, arena, is_remembered)
    with ExitStack() as stack:
        executor: Executor = Serial()
        if budget.time_limit is not None:  # what runs in this process cannot be stopped
            executor = stack.enter_context(Workers(1))
            executor.submit(abs, -1).result()  # its start is not the search's
        trace.resume()
        study.run(
            evaluator,
            n_trials=budget.n_trials,
            n_evaluations=budget.n_evaluations,
            time_limit=budget.time_limit,
            executor=executor,
            callbacks=[trace],
        )
    if not study.history.n_finished:
        raise ExperimentError(f"A cell must finish a trial within its budget. Got none: {study.stop_reason}.")
    trace.finish(study)
    return trace.rows


def study_seed(cell: Cell) -> int:
    """Return the seed of a cell's study: the same for every method, hence the same splits and first random draws."""
    return Seeds(cell.repetition).integer(f"study/{cell.problem}/{cell.space}/{cell.validation}")


@dataclass(eq=False)
class Trace:
    """Makes one row after every trial; a callback of `Study.run`."""

    experiment: Experiment
    arena: Arena
    is_remembered: Callable[[int], bool] = lambda number: False
    """Whether a trial was looked up instead of trained now."""
    rows: list[Row] = field(default_factory=list)
    train_seconds: float = 0.0
    optimizer_seconds: float = 0.0
    left_out: Observation | None = None
    """The last trial, while it has no row."""

    def resume(self) -> None:
        """Let the search's clock go on; it stands still while we test."""
        self.resumed = time.perf_counter()

    def __call__(self, study: Study, observation: Observation) -> None:
        """Note where the study stands."""
        elapsed = time.perf_counter() - self.resumed
        # what was looked up took its seconds when it was trained: nothing of them has elapsed now
        trained = 0.0 if self.is_remembered(observation.number) else observation.seconds
        self.optimizer_seconds += elapsed - trained if elapsed > trained else elapsed
        self.train_seconds += observation.seconds
        n = study.history.n_finished
        self.left_out = observation
        if n % self.experiment.rows_every == 0:
            self.add_row(study, observation)
            # a test during a search with a time limit would be charged to the search
            if self.experiment.budget.time_limit is None and n % self.experiment.test_every == 0:
                self.test(study)
        self.resume()

    def add_row(self, study: Study, observation: Observation) -> None:
        """Add a row that says where the study stands after a trial."""
        self.left_out = None
        best = study.history.best
        row = {
            "iteration": study.history.n_finished,
            "n_evaluations": study.history.n_evaluations,
            "status": observation.status,
            "loss": self.arena.loss,
            "trial_loss": observation.loss,
            "validation_loss": math.nan if best is None else best.loss,
            "train_seconds": self.train_seconds,
            "optimizer_seconds": self.optimizer_seconds,
            "n_rows": self.arena.n_rows,
            "error": " ".join(observation.error.split())[:MOST_TEXT] or None,
        }
        self.rows.append(row)

    def finish(self, study: Study) -> None:
        """Test where the study stands at the end, if that is not done."""
        if self.left_out is not None:
            self.add_row(study, self.left_out)
        if "test_loss" not in self.rows[-1]:
            self.test(study)

    def test(self, study: Study) -> None:
        """Add to the last row how good what would be returned now is on the test rows."""
        row = self.rows[-1]
        row["test_loss"] = math.nan
        try:
            members = study.members()
        except NothingFound:
            return
        except Exception as error:  # the selection's own failure is not the search's
            row["error"] = f"selection: {type(error).__name__}: {' '.join(str(error).split())}"[:MOST_TEXT]
            return
        heaviest = max(members, key=lambda member: member.weight)
        row["learner"] = learner_of(self.arena.space, heaviest.config)
        row["n_members"] = len(members)
        try:
            score = self.arena.test(members, study.seeds)
        except ComitiaError:
            raise
        except Exception as error:  # what is returned cannot be fitted on all rows
            score = Score(math.nan)
            row["error"] = f"test: {type(error).__name__}: {' '.join(str(error).split())}"[:MOST_TEXT]
        row["test_loss"], row["test_precision"], row["test_recall"], row["test_log_loss"] = score


# ---- an experiment -------------------------------------------------------------------------------------------------


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
    """Refuse unknown problems and methods; return what cannot be run here, and the sizes of problems."""
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
    """Run what is missing of an experiment; Ctrl-C ends it with everything finished kept.

    Parameters
    ----------
    experiment : Experiment
    output : Path
        The Parquet file with the rows.
    data : Path, optional
        Folder of tables.
    jobs : int
        Cells at a time.
    retry : bool
        Run cells that failed again.
    on_start, on_cell : callables
        For a progress bar: the number of cells and of those done before; each cell as it ends.
    """
    missing, _ = check(experiment, data)
    cells = [cell for cell in experiment.cells(missing) if _is_meant(cell, data)]
    protocol = {**experiment.protocol(), "n_cells": len(cells)}
    n_run = n_failed = 0
    is_interrupted = False
    if not cells:
        return Summary(0, 0, 0, 0, missing, False)
    with RowsFile(output, protocol) as rows, _scratch(), Workers(jobs) as pool:
        failures = rows.failed_keys() if retry else set()
        todo = [cell for cell in cells if astuple(cell) not in rows.keys or astuple(cell) in failures]
        on_start(len(cells), len(cells) - len(todo))
        try:
            for cell, result in _results(pool, (Job(experiment, cell, data) for cell in todo), jobs):
                rows.append(cell, result)
                n_run += 1
                n_failed += result[0]["iteration"] == 0
                on_cell(cell, result)
        except KeyboardInterrupt:
            is_interrupted = True
            pool.shutdown(wait=False, cancel_futures=True)
    return Summary(len(cells), len(cells) - len(todo), n_run, n_failed, missing, is_interrupted)


def _is_meant(cell: Cell, data: Path | None) -> bool:
    """Tell whether a space is for the problem's task: an experiment may name spaces and tables of both kinds."""
    if cell.space == OWN_SPACE:
        return True
    task = task_of_problem(cell.problem, data)
    return task is None or SPACES[cell.space].task == task


@contextmanager
def _scratch() -> Iterator[None]:
    """Let workers, which may be killed, leave their temporary files where we remove them."""
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix="comitia-bench-", ignore_cleanup_errors=True) as folder:
        os.environ["TMPDIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def _results(pool: Workers, jobs: Iterable[Job], n_jobs: int) -> Iterable[tuple[Cell, list[Row]]]:
    """Keep the workers busy; yield cells as they end."""
    waiting = iter(jobs)
    running: dict[Future[Any], Cell] = {}
    while True:
        while len(running) < n_jobs and (job := next(waiting, None)) is not None:
            running[pool.submit(run_sharing, job)] = job.cell
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), _result(future)


def _result(future: Future[Any]) -> list[Row]:
    try:
        return list(future.result())
    except ExecutionError as error:  # killed for its memory, or crashed
        return [failed_row(f"{type(error).__name__}: {error}")]
