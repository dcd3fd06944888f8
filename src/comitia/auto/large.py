"""Large tables within a time limit: on how many rows each learner is looked at, and on how many it is fitted again.

A trial is fitted on as many rows as a fit of its learner's default takes a twentieth of the limit for, by what it takes
for a million cells (`Learner.seconds_per_million`), and judged on the same rows as any other. So the number of rows is
a function of the configuration and, as one number for each learner, part of the study's record: a search has no state.
What is handed over is fitted again on all rows, or on as many as the time that is left allows.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ConfigSpace as CS

from comitia.evaluation.fewer_rows import MostRows
from comitia.evaluation.table import TableEvaluator
from comitia.history import History
from comitia.learners.default import DefaultSpace
from comitia.learners.default.learners import LEARNERS
from comitia.seams import Member
from comitia.space import Config
from comitia.study.study import Study

log = logging.getLogger("comitia")

LARGE_FROM = 20_000
"""Rows from which fits have fewer of them where time is short."""
FIT_SHARE = 0.05
"""Part of the time limit that the fits of one trial may take together, if it is a default: one with six times as many
trees still ends before it is killed."""
FEWEST_ROWS = 1_000
"""Less says little about a large table."""
UNKNOWN_SECONDS = 10.0
"""What estimators of the user's are taken to need for a million cells."""
SAFE = 0.5
"""Part of the time left that fits on more rows may take: seconds grow faster than rows, and machines are busy."""
KEY = "most_rows"
"""What the numbers of rows are called in a study's record."""


@dataclass(frozen=True)
class RowsByLearner:
    """On how many rows configurations are fitted at most, by their learner; picklable."""

    most: Mapping[str, int]

    def __call__(self, config: Config) -> int | None:
        return self.most.get(str(config.get("learner")))


def rows_by_learner(
    default: DefaultSpace, shape: tuple[int, int], n_classes: int, time_limit: float | None, n_folds: int
) -> MostRows | None:
    """Return on how many rows each learner is looked at; None where that is all rows for all of them.

    The shape is that of the table; there are 0 classes for numbers.
    """
    n_rows, n_columns = shape
    if time_limit is None or n_rows < LARGE_FROM:
        return None
    learner = default.space.configspace.get("learner")
    names = learner.choices if isinstance(learner, CS.CategoricalHyperparameter) else ()
    cells = 1e6 * FIT_SHARE * time_limit / n_folds
    most: dict[str, int] = {}
    for name in names:
        rows = max(FEWEST_ROWS, int(cells / _seconds_per_million(str(name), n_classes) / n_columns))
        if rows < n_rows:
            most[str(name)] = rows
    return RowsByLearner(most) if most else None


def _seconds_per_million(name: str, n_classes: int) -> float:
    learner = LEARNERS.get(name)
    if learner is None:
        return UNKNOWN_SECONDS
    return learner.seconds_per_million * (n_classes if learner.is_slower_by_class and n_classes > 2 else 1)


def recorded_rows(study: Study, wanted: MostRows | None) -> MostRows | None:
    """Return the numbers of rows that a study was begun with, so that its losses can be compared; record new ones."""
    record = study.store.get(KEY)
    if record is not None:
        return RowsByLearner(json.loads(record))
    if len(study.history):
        return None
    if isinstance(wanted, RowsByLearner):
        study.store.put(KEY, json.dumps(dict(wanted.most)).encode())
    return wanted


def growth(
    members: Sequence[Member], history: History, evaluator: TableEvaluator, seconds: float, n_workers: int
) -> float:
    """Return by how much the rows of members may grow when they are fitted again within some seconds; 1 or more.

    All fits side by side, and each by itself, must end in half of the time.
    """
    if evaluator.most_rows is None:
        return 1.0
    whole, parts = 0.0, []
    for member in members:
        observation = None if member.trial is None else history.observation(member.trial)
        if observation is None:
            continue
        one = observation.seconds / max(observation.n_evaluations, 1)
        if evaluator.most_rows(member.config) is None:
            whole += one
        else:
            parts.append(one)
    if not parts:
        return 1.0
    left = SAFE * max(seconds, 0.0)
    found = max(1.0, min((n_workers * left - whole) / sum(parts), left / max(parts)))
    log.info("members that were fitted on a part of the rows may have %.1f times as many now", found)
    return found
