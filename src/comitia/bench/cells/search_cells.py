"""Cells of scikit-learn's own searches over our learners: a row after each of their rounds."""

import math
import time
from dataclasses import replace

from comitia.bench.cells.arenas import TableArena, learner_of
from comitia.bench.cells.known_results import KnownResults
from comitia.bench.peers.registry import Peer
from comitia.bench.peers.sklearn_search import search_with_sklearn
from comitia.bench.plan.plan import Job
from comitia.bench.problems.finding import find_table
from comitia.bench.rows.row import Row
from comitia.errors import ExperimentError
from comitia.learners import get_space
from comitia.methods import get_method
from comitia.seams import Member
from comitia.seeds import Seeds


def run_search(peer: Peer, job: Job, known: KnownResults | None) -> list[Row]:
    """Run a search of scikit-learn's; its rounds are counted in whole trials."""
    problem = find_table(job.cell.problem, job.data, f"The search {peer.name!r}")
    n_trials = job.experiment.budget.n_trials
    if n_trials is None:
        raise ExperimentError(f"The search {peer.name!r} must have a number of trials. Got none. Add it to [budget].")
    arena = TableArena(job.experiment, job.cell, problem, get_method("rs"))
    seeds, e = Seeds(job.cell.seed), arena.table
    ready = replace(get_space(job.cell.space, n_features=e.X.shape[1]), build=e.build)
    cv = e.splits(0, 0, seeds)
    started = time.perf_counter()
    rounds = search_with_sklearn(
        ready, e.X, e.y, cv=cv, n_trials=n_trials, seed=job.cell.seed, loss=e.loss, **peer.options
    )
    seconds = time.perf_counter() - started
    return [
        Row(
            iteration=math.ceil(round_.spent),
            n_evaluations=round(round_.spent * e.n_folds),
            loss=arena.loss,
            validation_loss=round_.loss,
            train_seconds=seconds * round_.spent / rounds[-1].spent,
            optimizer_seconds=0.0,
            learner=learner_of(arena.space, round_.config),
            n_members=1,
            n_rows=arena.n_rows,
            n_classes=arena.n_classes,
            dataset=arena.dataset,
        ).tested(arena.test([Member(round_.config, 1.0, None)], seeds), keep_losses=job.experiment.keep_test_losses)
        for round_ in rounds
    ]
