"""Cells of images: studies in lockstep, whose networks are trained side by side (Lévesque 2018, §4.4.3).

Every study has a file of its own beside the rows and resumes there; a cell has its rows when its study has all its
trials. What a network answers to the test images is kept in the file too, so that no network is trained twice.
"""

from __future__ import annotations

import csv
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from comitia.arrays import AnyArray
from comitia.bench.cells.run import Summary, missing_of
from comitia.bench.cells.scores import score_members
from comitia.bench.cells.study_cells import Trace, returned_loss
from comitia.bench.plan.plan import Cell, Experiment
from comitia.bench.problems.finding import find_problem
from comitia.bench.problems.image_sets import ImageProblem
from comitia.bench.rows.row import Row, Score, one_line
from comitia.bench.rows.rows import RowsFile
from comitia.committees.combine import Answers
from comitia.errors import ComitiaError, ExperimentError
from comitia.evaluation.images import ImageEvaluator
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.history import Observation
from comitia.learners import get_space
from comitia.learners.cnn import Networks
from comitia.methods import Method, get_method
from comitia.methods.options import split_name
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.study.study import Study
from comitia.study.trial_stack import TrialStack, lockstep

log = logging.getLogger("comitia")
STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
"""Sizes of the greedy choice that Fig. 4.10 is drawn from."""
PATIENCE = 60.0
"""Seconds that networks wait for those of a study that is slow to suggest; one that has ended says so."""
SIZES = ("problem", "method", "repetition", "n_steps", "n_members", "validation_loss", "test_loss")
"""Columns of the file for that figure."""
Found = tuple[Cell, list[Row], list[dict[str, object]]]
"""What came of a cell: its rows, and lines for the figure."""


@dataclass(eq=False)
class ImageArena:
    """A set of images, of which the last part of the training images validates, the same in every repetition."""

    problem: ImageProblem
    evaluator: ImageEvaluator
    study: Study
    loss: str = "zero-one"

    def __post_init__(self) -> None:
        self.space = self.study.space
        self.dataset = self.problem.name
        self.n_rows = len(self.problem.y)
        self.n_classes = len(self.evaluator.classes)

    def adapted(self, method: Method) -> Method:
        return method

    def was_looked_up(self, number: int) -> bool:
        return False

    def keep_answers(self, study: Study, observation: Observation) -> None:
        """Keep what a trial's network answers to the test images; a callback of `Study.run`."""
        if observation.is_ok:
            self.answers(observation.number, study.seeds)

    def answers(self, number: int, seeds: Seeds) -> AnyArray:
        """Return what a trial's network answered, and keep it; a kill may have come between a result and that."""
        key = f"test/{number}"
        kept = self.study.store.get(key)
        if kept is not None:
            return np.frombuffer(kept, "<i2")
        found = self.evaluator.test_answers(self.study.history.trial(number), seeds).astype("<i2")
        self.study.store.put(key, found.tobytes())
        return found

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        found = [Answers(self.answers(member.trial, seeds)) for member in members if member.trial is not None]
        classes, loss = self.evaluator.classes, ROW_LOSSES[self.loss]
        return score_members(members, found, self.problem.y_test, loss=loss, classes=classes, averages=False)


def run_stacked(
    experiment: Experiment,
    output: Path,
    *,
    data: Path | None = None,
    jobs: int = 1,
    device: str | None = None,
    time_limit: float | None = None,
    retry: bool = False,
    on_start: Callable[[int, int], None] = lambda n_cells, n_done: None,
    on_cell: Callable[[Cell, list[Row]], None] = lambda cell, rows: None,
) -> Summary:
    """Run what is missing of an experiment on images, `jobs` studies in lockstep.

    Parameters
    ----------
    device : str, optional
        PyTorch's name of one; a GPU where there is one.
    time_limit : float, optional
        Seconds after which studies end with the trial that they are at; running again resumes them.
    """
    missing = missing_of(experiment.methods, experiment.spaces)
    cells = experiment.cells(missing)
    until = math.inf if time_limit is None else time.monotonic() + time_limit
    n_run = n_failed = 0
    is_interrupted = False
    with RowsFile(output, {**experiment.protocol(), "n_cells": len(cells)}) as rows:
        failures = rows.failed_cells() if retry else set()
        todo = [cell for cell in cells if cell not in rows.cells or cell in failures]
        n_before = len(cells) - len(todo)
        on_start(len(cells), n_before)
        folder = output.with_name(f"{output.stem}-studies")
        folder.mkdir(exist_ok=True)
        make = evaluator_maker(experiment, data, device)
        try:
            while todo and time.monotonic() < until:
                batch, todo = todo[:jobs], todo[jobs:]
                runs = [partial(_run, experiment, cell, make(cell), folder, until) for cell in batch]
                for cell, found, sizes in _finished(runs):
                    _append_sizes(output.with_name(f"{output.stem}-sizes.csv"), sizes)
                    rows.append(cell, found)
                    n_run += 1
                    n_failed += found[0].is_failed_cell
                    on_cell(cell, found)
        except KeyboardInterrupt:
            is_interrupted = True
    return Summary(len(cells), n_before, n_run, n_failed, missing, is_interrupted)


def _finished(runs: Sequence[Callable[[TrialStack], Found | None]]) -> Iterator[Found]:
    """Run studies in lockstep in the background; yield what comes of each as it ends."""
    ended: queue.Queue[Found | BaseException | None] = queue.Queue()

    def carry_out() -> None:
        try:
            with TrialStack(len(runs), patience=PATIENCE) as stack:
                lockstep(stack, [lambda run=run: ended.put(run(stack)) for run in runs])  # type: ignore[misc]
        except BaseException as error:  # raised again by who waits
            ended.put(error)

    threading.Thread(target=carry_out, daemon=True).start()
    for _ in runs:
        found = ended.get()
        if isinstance(found, BaseException):
            raise found
        if found is not None:
            yield found


def evaluator_maker(
    experiment: Experiment, data: Path | None, device: str | None
) -> Callable[[Cell], tuple[ImageProblem, ImageEvaluator]]:
    """Return what makes the evaluator of a cell; cells of one problem share it, so that they are trained together."""
    known: dict[tuple[str, str], tuple[ImageProblem, ImageEvaluator]] = {}
    recipe = experiment.networks
    assert recipe is not None, "an experiment on images has networks"

    def make(cell: Cell) -> tuple[ImageProblem, ImageEvaluator]:
        key = (cell.problem, cell.validation)
        if key not in known:
            problem = find_problem(cell.problem, data)
            cv = experiment.validation_of(cell).cv
            if not isinstance(problem, ImageProblem) or get_space(cell.space).learns_from != "images" or cv >= 1:
                raise ExperimentError(
                    "An experiment with [networks] must have images, a space for them and a hold-out. "
                    f"Got {cell.problem!r}, {cell.space!r} and cv = {cv}."
                )
            n = len(problem.y) - round(cv * len(problem.y))
            networks = Networks(epochs=recipe.epochs, batch=recipe.batch, filters=recipe.filters, device=device)
            X, y = problem.X, problem.y
            test = (problem.X_test, problem.y_test)
            known[key] = problem, ImageEvaluator(networks, (X[:n], y[:n]), (X[n:], y[n:]), test=test)
        return known[key]

    return make


def _run(
    experiment: Experiment,
    cell: Cell,
    made: tuple[ImageProblem, ImageEvaluator],
    folder: Path,
    until: float,
    stack: TrialStack,
) -> Found | None:
    """Run or resume one study; None where it has not all its trials yet."""
    problem, evaluator = made
    file = folder / f"{'-'.join(map(str, astuple(cell)))}.db".replace(":", "-")

    def stop_in_time(study: Study, _: Observation) -> None:
        if time.monotonic() > until:
            study.stop()

    try:
        ready = get_space(cell.space)
        with Study(ready.space, get_method(cell.method), seed=cell.seed, storage=file) as study:
            arena = ImageArena(problem, evaluator, study)
            study.run(
                evaluator,
                n_trials=experiment.budget.n_trials,
                executor=stack,
                n_jobs=1,
                callbacks=[arena.keep_answers, stop_in_time],
            )
            if study.stop_reason == "stopped":
                return None
            return cell, rows_of(experiment, arena), sizes_of(cell, arena)
    except ComitiaError as error:
        return cell, [Row.failed(str(error))], []
    except Exception as error:  # whatever a learner may raise
        log.debug("cell %s failed", cell, exc_info=True)
        return cell, [Row.failed(f"{type(error).__name__}: {error}")], []


def rows_of(experiment: Experiment, arena: ImageArena) -> list[Row]:
    """Return one row per trial of a study that has ended, the last with the test of what it hands over.

    Seconds of the search are not told: in lockstep they are mostly those of waiting for others.
    """
    rows: list[Row] = []
    best, seconds = math.inf, 0.0
    for number, observation in enumerate(arena.study.history.observations()):
        best = min(best, observation.loss) if observation.is_ok else best
        seconds += observation.seconds
        rows.append(
            Row(
                iteration=number + 1,
                n_evaluations=number + 1,
                status=observation.status,
                loss=arena.loss,
                trial_loss=observation.loss,
                validation_loss=best if best < math.inf else math.nan,
                train_seconds=seconds,
                n_rows=arena.n_rows,
                n_classes=arena.n_classes,
                error=one_line(observation.error) or None,
                dataset=arena.dataset,
            )
        )
    return [*rows[:-1], Trace(experiment, arena).tested(rows[-1], arena.study)]


def sizes_of(cell: Cell, arena: ImageArena) -> list[dict[str, object]]:
    """Return validation and test errors of what a study would hand over with fewer greedy steps (Fig. 4.10)."""
    name, options = split_name(cell.method)
    study = arena.study
    optimizer = study.method.make_optimizer(study.space)
    found: list[dict[str, object]] = []
    for n_steps in STEPS:
        if n_steps > int(options.get("steps", max(STEPS))):
            break
        text = ",".join(f"{key}={value}" for key, value in {**options, "steps": n_steps}.items())
        selection = get_method(f"{name}[{text}]").selection
        members = selection.members(study.history, optimizer, study.seeds)
        losses = returned_loss(study.history, members, arena.loss), arena.test(members, study.seeds).loss
        values = (cell.problem, cell.method, cell.repetition, n_steps, len(members), *losses)
        found.append(dict(zip(SIZES, values, strict=True)))
    return found


def _append_sizes(path: Path, sizes: Sequence[dict[str, object]]) -> None:
    """Add lines to the file for the figure; a cell that is there twice counts once, the last time."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, SIZES)
        if is_new:
            writer.writeheader()
        writer.writerows(sizes)
