"""Contestants that take a table and a time limit and give predictions: comitia's own estimators, and plain baselines.

Other tools' systems are in `peers/`; these two need no other environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from comitia.auto.estimators import AutoClassifier, AutoRegressor
from comitia.bench.cells.arenas import Score, default_loss, log_loss_of
from comitia.bench.peers.systems import SystemAnswer
from comitia.bench.plan.plan import Cell, Experiment
from comitia.bench.plan.splits import capped_rows
from comitia.bench.problems.problems import Draw, FunctionProblem, Problem
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.errors import ExperimentError
from comitia.evaluation.scoring import Scorer, Task, make_loss
from comitia.seeds import Seeds


@dataclass(frozen=True)
class Request:
    """What a system is asked."""

    draw: Draw
    task: Task
    loss: str
    time_limit: float | None
    seed: int
    jobs: int = 1


@dataclass(frozen=True)
class System:
    """A whole system as one contestant."""

    name: str
    summary: str
    answer: Callable[[Request], SystemAnswer]


def comitia_answer(request: Request) -> SystemAnswer:
    """Fit comitia's own estimator with its defaults."""
    started = time.perf_counter()
    kind = AutoClassifier if request.task == "classification" else AutoRegressor
    model = kind(time_limit=request.time_limit, scoring=request.loss, random_state=request.seed, n_jobs=request.jobs)
    model.fit(request.draw.raw_train, request.draw.y_train)
    is_classes = request.task == "classification"
    predictions = np.asarray(model.predict(request.draw.raw_test))
    probabilities = np.asarray(model.predict_proba(request.draw.raw_test)) if is_classes else None
    heaviest = max(model.members_, key=lambda member: member.weight)
    return SystemAnswer(
        predictions,
        probabilities,
        np.asarray(model.classes_) if is_classes else None,
        time.perf_counter() - started,
        str(heaviest.config.get("learner", "")),
        n_members=len(model.members_),
    )


def default_forest(request: Request) -> SystemAnswer:
    """Fit scikit-learn's random forest as it comes (P's baseline)."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    started = time.perf_counter()
    is_classes = request.task == "classification"
    kind = RandomForestClassifier if is_classes else RandomForestRegressor
    model = kind(random_state=request.seed).fit(request.draw.X_train, request.draw.y_train)
    predictions = model.predict(request.draw.X_test)
    probabilities = model.predict_proba(request.draw.X_test) if is_classes else None
    seconds = time.perf_counter() - started
    return SystemAnswer(predictions, probabilities, model.classes_ if is_classes else None, seconds, "random-forest")


SYSTEMS = {
    system.name: system
    for system in [
        System(
            "comitia",
            "AutoClassifier or AutoRegressor as they come, within the time limit.",
            comitia_answer,
        ),
        System("default-forest", "scikit-learn's random forest with its defaults, no search.", default_forest),
    ]
}


def run_system_cell(experiment: Experiment, cell: Cell, problem: Problem, system: System) -> list[dict[str, Any]]:
    """Ask a system and score its answer: one row, at iteration 1."""
    request = make_request(experiment, cell, problem)
    answer = system.answer(request)
    return [answer_row(request, answer)]


def make_request(experiment: Experiment, cell: Cell, problem: Problem) -> Request:
    """Turn a cell into a request."""
    if isinstance(problem, FunctionProblem) or not hasattr(problem, "draw"):
        raise ExperimentError(f"The system {cell.method!r} must be given a table. Got the black box {cell.problem!r}.")
    draw = _capped(problem.draw(experiment.split, cell.repetition), experiment.split.most_train_rows, cell)
    seed = Seeds(cell.repetition).integer(f"system/{cell.problem}")
    loss = experiment.loss or default_loss(problem.task)
    return Request(draw, problem.task, loss, experiment.budget.time_limit, seed, experiment.jobs)


def _capped(draw: Draw, most: int | None, cell: Cell) -> Draw:
    """Give a system no more rows than the other methods' fits may see."""
    rows = capped_rows(len(draw.y_train), most, Seeds(cell.repetition))
    if len(rows) == len(draw.y_train):
        return draw
    raw = draw.raw_train.iloc[rows].reset_index(drop=True)
    return replace(draw, X_train=draw.X_train[rows], y_train=draw.y_train[rows], raw_train=raw)


def answer_row(request: Request, answer: SystemAnswer) -> dict[str, Any]:
    """Return the row of a system's answer."""
    score = score_answer(request, answer)
    return {
        "iteration": 1,
        "n_evaluations": 0,
        "status": "ok",
        "loss": request.loss,
        "test_loss": score.loss,
        "test_precision": score.precision,
        "test_recall": score.recall,
        "test_log_loss": score.log_loss,
        "train_seconds": answer.seconds,
        "optimizer_seconds": 0.0,
        "learner": answer.learner,
        "n_members": answer.n_members,
        "n_rows": len(request.draw.y_train),
    }


def score_answer(request: Request, answer: SystemAnswer) -> Score:
    """Score predictions, or probabilities where the loss needs them."""
    y, loss = request.draw.y_test, make_loss(request.loss)
    if isinstance(loss, Scorer):
        raise ExperimentError(
            f"A system must be tested by a loss on rows. Got {loss.name!r}. Use zero-one or log-loss."
        )
    if request.task == "regression":
        return Score(float(np.mean(loss.rows(y, np.asarray(answer.predictions, dtype=np.float64)))))
    precision, recall, _ = macro_precision_recall_f(y, answer.predictions)
    log_loss = np.nan
    if answer.probabilities is not None and answer.classes is not None:
        log_loss = log_loss_of(answer.probabilities, answer.classes, y)
    if loss.name != "log-loss":
        return Score(float(np.mean(answer.predictions != y)), precision, recall, log_loss)
    if np.isnan(log_loss):
        raise ExperimentError("The log loss needs probabilities. The system gave none. Use zero-one.")
    return Score(log_loss, precision, recall, log_loss)
