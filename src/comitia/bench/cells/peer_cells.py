"""Cells of other tools: a sampler runs in our loop, a search of scikit-learn and a whole system run by themselves."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from comitia.bench.cells.arenas import TableArena, learner_of
from comitia.bench.cells.own_systems import answer_row, make_request
from comitia.bench.peers.registry import Peer
from comitia.bench.problems.problems import FunctionProblem, find_problem
from comitia.errors import ExperimentError
from comitia.methods import get_method
from comitia.seams import Member
from comitia.seeds import Seeds

if TYPE_CHECKING:
    from comitia.bench.cells.run import Job

Row = dict[str, Any]


def run_system_peer(job: Job, peer: Peer) -> list[Row]:
    """Ask another tool's system: one row."""
    from comitia.bench.peers.systems import run_system

    request = make_request(job.experiment, job.cell, find_problem(job.cell.problem, job.data))
    if request.time_limit is None:
        raise ExperimentError(f"The system {peer.name!r} must have a time limit. Got none. Add it to [budget].")
    draw = request.draw
    answer = run_system(
        peer,
        draw.raw_train,
        draw.y_train,
        draw.raw_test,
        task=request.task,
        metric=request.loss,
        time_limit=request.time_limit,
        seed=request.seed,
        n_jobs=request.jobs,
    )
    return [answer_row(request, answer)]


def run_search_peer(job: Job, peer: Peer, seed: int) -> list[Row]:
    """Run one of scikit-learn's searches: a row after each of its rounds, counted in whole trials."""
    from comitia.bench.peers.sklearn_search import search_with_sklearn
    from comitia.learners import get_space

    problem = find_problem(job.cell.problem, job.data)
    if isinstance(problem, FunctionProblem):
        raise ExperimentError(
            f"The search {peer.name!r} must be given a table. Got the black box {job.cell.problem!r}."
        )
    n_trials = job.experiment.budget.n_trials
    if n_trials is None:
        raise ExperimentError(f"The search {peer.name!r} must have a number of trials. Got none. Add it to [budget].")
    arena = TableArena(job.experiment, job.cell, problem, get_method("rs"))
    seeds = Seeds(seed)
    e = arena.evaluator
    ready = replace(get_space(job.cell.space, n_features=e.X.shape[1]), build=e.build)
    started = time.perf_counter()
    found = search_with_sklearn(
        ready, e.X, e.y, cv=e.splits(0, 0, seeds), n_trials=n_trials, seed=seed, loss=e.loss, **peer.options
    )
    seconds = time.perf_counter() - started
    rows = []
    for round_ in found.rounds:
        score = arena.test([Member(round_.config, 1.0, None)], seeds)
        rows.append(
            {
                "iteration": math.ceil(round_.spent),
                "n_evaluations": round(round_.spent * e.n_folds),
                "status": "ok",
                "loss": arena.loss,
                "validation_loss": round_.loss,
                "test_loss": score.loss,
                "test_precision": score.precision,
                "test_recall": score.recall,
                "test_log_loss": score.log_loss,
                "train_seconds": seconds * round_.spent / found.rounds[-1].spent,
                "optimizer_seconds": 0.0,
                "learner": learner_of(arena.space, round_.config),
                "n_members": 1,
                "n_rows": arena.n_rows,
            }
        )
    return rows
