"""Cells of whole systems, which take a table and a time limit and give predictions: one row each.

comitia's own estimators and plain baselines are here; other tools' systems are asked in their own environments.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from comitia.auto.estimators import AutoClassifier, AutoRegressor
from comitia.bench.cells.known_results import KnownResults
from comitia.bench.cells.scores import score_classes, score_numbers
from comitia.bench.peers.registry import Peer
from comitia.bench.peers.systems import SystemAnswer, run_system
from comitia.bench.plan.plan import Job
from comitia.bench.plan.splits import capped_rows
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import Draw
from comitia.bench.rows.row import Row, Score
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


Ask = Callable[[Request], SystemAnswer]


def run_system_cell(name: str, ask: Ask, job: Job, known: KnownResults | None) -> list[Row]:
    """Run the cell of a system: it is asked once, and its answer is scored."""
    request = request_of(name, job)
    answer = ask(request)
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
    )
    return [row.tested(score_answer(request, answer), keep_losses=job.experiment.keep_test_losses)]


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
    """Let another tool's system answer."""
    if request.time_limit is None:
        raise ExperimentError(f"The system {peer.name!r} must have a time limit. Got none. Add it to [budget].")
    return run_system(
        peer,
        request.draw.raw_train,
        request.draw.y_train,
        request.draw.raw_test,
        task=request.task,
        metric=request.loss,
        time_limit=request.time_limit,
        seed=request.seed,
        n_jobs=request.jobs,
    )


def ask_comitia(request: Request) -> SystemAnswer:
    """Fit comitia's own estimator with its defaults."""
    started = time.perf_counter()
    is_classes = request.task == "classification"
    kind = AutoClassifier if is_classes else AutoRegressor
    model = kind(time_limit=request.time_limit, scoring=request.loss, random_state=request.seed, n_jobs=request.jobs)
    model.fit(request.draw.raw_train, request.draw.y_train)
    heaviest = max(model.members_, key=lambda member: member.weight)
    return SystemAnswer(
        predictions=np.asarray(model.predict(request.draw.raw_test)),
        probabilities=np.asarray(model.predict_proba(request.draw.raw_test)) if is_classes else None,
        classes=np.asarray(model.classes_) if is_classes else None,
        seconds=time.perf_counter() - started,
        learner=str(heaviest.config.get("learner", "")),
        n_members=len(model.members_),
    )


def ask_default_forest(request: Request) -> SystemAnswer:
    """Fit scikit-learn's random forest with its defaults, the baseline of Xavier-Júnior et al. 2020."""
    started = time.perf_counter()
    is_classes = request.task == "classification"
    kind = RandomForestClassifier if is_classes else RandomForestRegressor
    model = kind(random_state=request.seed).fit(request.draw.X_train, request.draw.y_train)
    return SystemAnswer(
        predictions=model.predict(request.draw.X_test),
        probabilities=model.predict_proba(request.draw.X_test) if is_classes else None,
        classes=model.classes_ if is_classes else None,
        seconds=time.perf_counter() - started,
        learner="random-forest",
    )


@dataclass(frozen=True)
class System:
    """A whole system that needs no other environment."""

    name: str
    summary: str
    ask: Ask


SYSTEMS = {
    system.name: system
    for system in [
        System("comitia", "AutoClassifier or AutoRegressor as they come, within the time limit.", ask_comitia),
        System("default-forest", "scikit-learn's random forest with its defaults, no search.", ask_default_forest),
    ]
}
