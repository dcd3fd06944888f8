"""Cells of methods: one study through the ordinary loop, with a row after every trial."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from comitia.bench.cells.arenas import Arena, FunctionArena, TableArena, learner_of
from comitia.bench.cells.known_results import KnownResults
from comitia.bench.cells.pool_cells import PoolArena
from comitia.bench.peers.registry import Peer
from comitia.bench.peers.sampler import method_of
from comitia.bench.plan.plan import Experiment, Job
from comitia.bench.problems.finding import find_problem
from comitia.bench.problems.image_sets import ImageProblem
from comitia.bench.problems.problems import FunctionProblem
from comitia.bench.problems.tabulated import Tabulated
from comitia.bench.rows.row import Row, Score, one_line
from comitia.errors import ComitiaError, ExperimentError, NothingFound
from comitia.evaluation.scoring import make_loss
from comitia.execution import Serial, Workers
from comitia.history import History, Observation
from comitia.methods import Method, for_budget
from comitia.seams import Member
from comitia.selections.committees import validation_loss
from comitia.study.study import Study

LOSSES_EVERY = 10
"""Iterations between two rows that keep the losses of test rows: enough for a figure, and files stay small."""


def make_arena(job: Job, method: Method, known: KnownResults | None = None) -> Arena:
    """Make what the study of a cell needs."""
    problem = find_problem(job.cell.problem, job.data)
    if isinstance(problem, FunctionProblem):
        return FunctionArena(problem)
    if isinstance(problem, ImageProblem):
        raise ExperimentError("Images must be run by studies in lockstep. Use comitia bench run, or run_stacked.")
    if isinstance(problem, Tabulated):
        return PoolArena(
            problem,
            method,
            repetition=job.cell.repetition,
            loss=job.experiment.loss,
            holds_out=job.experiment.validation_of(job.cell).cv < 1,
        )
    return TableArena(job.experiment, job.cell, problem, method, known)


def run_sampler(peer: Peer, job: Job, known: KnownResults | None) -> list[Row]:
    """Run the study of a cell with another tool that proposes its configurations."""
    return run_study(method_of(peer, n_trials=job.experiment.budget.n_trials), job, known)


def run_study(method: Method, job: Job, known: KnownResults | None) -> list[Row]:
    """Run the study of a cell, and note after every trial where it stands."""
    budget = job.experiment.budget
    method = for_budget(method, budget.n_trials)
    # a search with a time limit must train all of its trials itself
    arena = make_arena(job, method, known if budget.time_limit is None else None)
    study = Study(arena.space, arena.adapted(method), seed=job.cell.seed)
    trace = Trace(job.experiment, arena)
    with ExitStack() as stack:
        executor: Executor = Serial()
        if budget.time_limit is not None:  # what runs in this process cannot be stopped
            executor = stack.enter_context(Workers(1))
            executor.submit(abs, -1).result()  # its start is not the search's
        trace.resume()
        study.run(
            arena.evaluator,
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


@dataclass(eq=False)
class Trace:
    """Makes one row after every trial; a callback of `Study.run`."""

    experiment: Experiment
    arena: Arena
    clock: Callable[[], float] = time.perf_counter
    rows: list[Row] = field(default_factory=list)
    train_seconds: float = 0.0
    optimizer_seconds: float = 0.0
    left_out: Observation | None = None
    """The last trial, while it has no row."""
    is_tested: bool = False
    """Whether the last row has been tested."""

    def resume(self) -> None:
        """Let the search's clock run again; it is stopped while we test."""
        self.resumed = self.clock()

    def __call__(self, study: Study, observation: Observation) -> None:
        """Note where the study stands."""
        elapsed = self.clock() - self.resumed
        # what was looked up took its seconds when it was trained: nothing of them has elapsed now
        trained = 0.0 if self.arena.was_looked_up(observation.number) else observation.seconds
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
        self.left_out, self.is_tested = None, False
        best = study.history.best
        row = Row(
            iteration=study.history.n_finished,
            n_evaluations=study.history.n_evaluations,
            status=observation.status,
            loss=self.arena.loss,
            trial_loss=observation.loss,
            validation_loss=math.nan if best is None else best.loss,
            train_seconds=self.train_seconds,
            optimizer_seconds=self.optimizer_seconds,
            n_rows=self.arena.n_rows,
            n_classes=self.arena.n_classes,
            error=one_line(observation.error) or None,
            dataset=self.arena.dataset,
        )
        self.rows.append(row)

    def finish(self, study: Study) -> None:
        """Test where the study stands at the end, if that is not done."""
        if self.left_out is not None:
            self.add_row(study, self.left_out)
        if not self.is_tested:
            self.test(study)
        self.rows = with_few_losses(self.rows, self.experiment.average_last)

    def test(self, study: Study) -> None:
        """Add to the last row how good what would be returned now is on the test rows."""
        self.is_tested = True
        self.rows[-1] = self.tested(self.rows[-1], study)

    def tested(self, row: Row, study: Study) -> Row:
        """Return a row with the test score of what would be returned now."""
        try:
            members = study.members()
        except NothingFound:
            return row
        except Exception as error:  # the selection's own failure is not the search's
            return replace(row, error=one_line(f"selection: {type(error).__name__}: {error}"))
        heaviest = max(members, key=lambda member: member.weight)
        row = replace(
            row,
            learner=learner_of(self.arena.space, heaviest.config),
            n_members=len(members),
            returned_loss=returned_loss(study.history, members, self.arena.loss),
        )
        try:
            return row.tested(self.arena.test(members, study.seeds), keep_losses=self.experiment.keep_test_losses)
        except ComitiaError:
            raise
        except Exception as error:  # what is returned cannot be fitted on all rows
            return replace(row.tested(Score(math.nan)), error=one_line(f"test: {type(error).__name__}: {error}"))


def with_few_losses(rows: Sequence[Row], n_last: int) -> list[Row]:
    """Keep the losses of test rows at the last iterations, which tables average, and before them at a few."""
    first = rows[-1].iteration - n_last
    is_kept = [row.iteration > first or row.iteration % LOSSES_EVERY == 0 for row in rows]
    return [row if kept else replace(row, test_losses=None) for row, kept in zip(rows, is_kept, strict=True)]


def returned_loss(history: History, members: Sequence[Member], loss: str) -> float:
    """Return the validation loss of what would be returned; NaN for what was never tried, or was not kept."""
    if len(members) == 1 and members[0].trial is not None:
        return float(history.losses[members[0].trial])
    return math.nan if history.truth is None else validation_loss(history, members, make_loss(loss))
