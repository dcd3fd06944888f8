"""Cells of whole systems, which take a table and a time limit and give predictions: one row each.

A system runs in a process of its own, comitia's estimators as well, so that seconds and memory can be compared.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from comitia.bench.cells.known_results import KnownResults
from comitia.bench.cells.scores import further_of_classes, further_of_numbers, score_classes, score_numbers
from comitia.bench.cells.yardstick import forest_seconds
from comitia.bench.peers.registry import Peer
from comitia.bench.peers.systems import SystemAnswer, run_system
from comitia.bench.plan.plan import Job
from comitia.bench.plan.splits import capped_rows
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import Draw
from comitia.bench.rows.row import Further, Row, Score
from comitia.errors import ExperimentError
from comitia.evaluation.scoring import DEFAULT_LOSSES, Scorer, Task, make_loss
from comitia.seeds import Seeds


@dataclass(frozen=True)
class Request:
    """What a system is asked."""

    draw: Draw
    task: Task
    loss: str
    time_limit: float | None
    seed: int
    jobs: int
    scale: float = 1.0
    """Of the experiment, and so of the seconds that a system's own name says."""


Ask = Callable[[Request], SystemAnswer]
YARDSTICK_FITS = 3
"""How often the yardstick is fitted before a system runs, and after."""


def run_system_cell(name: str, ask: Ask, job: Job, known: KnownResults | None) -> list[Row]:
    """Run the cell of a system: it is asked once, and its answer is scored."""
    request = request_of(name, job)
    before = forest_seconds(YARDSTICK_FITS)
    answer = ask(request)
    after = forest_seconds(YARDSTICK_FITS)
    further = further_of(request, answer)
    row = Row(
        iteration=1,
        loss=request.loss,
        train_seconds=answer.seconds,
        optimizer_seconds=0.0,
        learner=answer.learner,
        n_members=answer.n_members,
        n_rows=len(request.draw.y_train),
        n_classes=request.draw.n_classes(request.task),
        dataset=job.cell.problem,
        limit_seconds=math.nan if answer.limit_seconds is None else answer.limit_seconds,
        predict_seconds=answer.predict_seconds,
        peak_bytes=answer.peak_bytes,
        model_bytes=answer.model_bytes,
        yardstick_seconds=(before + after) / 2,
        test_error=further.error,
        test_balanced_accuracy=further.balanced_accuracy,
        test_calibration_error=further.calibration_error,
        test_rmse=further.rmse,
    )
    return [row.tested(score_answer(request, answer), keep_losses=job.experiment.keep_test_losses)]


def further_of(request: Request, answer: SystemAnswer) -> Further:
    """Return the measures that are recorded of every system, whatever it was told to minimise."""
    y = request.draw.y_test
    if request.task == "classification":
        return further_of_classes(answer.predictions, answer.probabilities, y, answer.classes)
    return further_of_numbers(np.asarray(answer.predictions, dtype=np.float64), y)


def request_of(name: str, job: Job) -> Request:
    """Turn a system's cell into a request."""
    experiment, cell = job.experiment, job.cell
    problem = find_table(cell.problem, job.data, f"The system {name!r}")
    draw = problem.draw(experiment.split, cell.repetition)
    rows = capped_rows(len(draw.y_train), experiment.split.most_train_rows, Seeds(cell.repetition))
    if len(rows) < len(draw.y_train):  # no more than the other methods' fits may see
        raw = draw.raw_train.iloc[rows].reset_index(drop=True)
        draw = replace(draw, X_train=draw.X_train[rows], y_train=draw.y_train[rows], raw_train=raw)
    return Request(
        draw=draw,
        task=problem.task,
        loss=experiment.loss or DEFAULT_LOSSES[problem.task],
        time_limit=experiment.budget.time_limit,
        seed=Seeds(cell.repetition).integer(f"system/{cell.problem}"),
        jobs=experiment.jobs,
        scale=experiment.scale,
    )


def score_answer(request: Request, answer: SystemAnswer) -> Score:
    """Score predictions, or probabilities where the loss needs them."""
    y, loss = request.draw.y_test, make_loss(request.loss)
    if isinstance(loss, Scorer):
        raise ExperimentError(
            f"A system must be tested by a loss on rows. Got {loss.name!r}. Use zero-one or log-loss."
        )
    if request.task == "regression":
        return score_numbers(np.asarray(answer.predictions, dtype=np.float64), y, loss=loss)
    if loss.needs_probabilities and answer.probabilities is None:
        raise ExperimentError("The log loss needs probabilities. The system gave none. Use zero-one.")
    return score_classes(answer.predictions, answer.probabilities, y, loss=loss, classes=answer.classes)


def ask_peer(peer: Peer, request: Request) -> SystemAnswer:
    """Let a system answer in a process of its own."""
    limit = None
    if peer.searches:
        limit = request.time_limit if peer.seconds is None else peer.seconds * request.scale
        if limit is None:
            raise ExperimentError(f"The system {peer.name!r} must have a time limit. Got none. Add it to [budget].")
    return run_system(
        peer,
        request.draw.raw_train,
        request.draw.y_train,
        request.draw.raw_test,
        task=request.task,
        metric=request.loss,
        time_limit=limit,
        seed=request.seed,
        n_jobs=request.jobs,
    )


def ask_default_forest(request: Request) -> SystemAnswer:
    """Fit scikit-learn's random forest with its defaults, here: the baseline of Xavier-Júnior et al. 2020."""
    began = time.perf_counter()
    is_classes = request.task == "classification"
    kind = RandomForestClassifier if is_classes else RandomForestRegressor
    model = kind(random_state=request.seed).fit(request.draw.X_train, request.draw.y_train)
    fitted = time.perf_counter()
    predictions = model.predict(request.draw.X_test)
    return SystemAnswer(
        predictions=predictions,
        predict_seconds=time.perf_counter() - fitted,
        probabilities=model.predict_proba(request.draw.X_test) if is_classes else None,
        classes=model.classes_ if is_classes else None,
        seconds=fitted - began,
        learner="random-forest",
    )


@dataclass(frozen=True)
class System:
    """A whole system that needs no other process."""

    name: str
    summary: str
    ask: Ask


SYSTEMS = {
    system.name: system
    for system in [
        System("default-forest", "scikit-learn's random forest with its defaults, no search.", ask_default_forest),
    ]
}
