"""Large tables within a time limit: on how many rows each learner is looked at, and on how many it is fitted again.

A trial is fitted on as many rows as a fit of its learner's default takes a twentieth of the limit for, by what it
usually takes (`learners.default.costs`), and judged on the same rows as any other. So the number of rows is
a function of the configuration and, as one number for each learner, part of the study's record: a search has no state.
What is handed over is fitted again on all rows, or on as many as the time that is left allows.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comitia.auto.reserve import makespan
from comitia.evaluation.fewer_rows import MostRows
from comitia.evaluation.table import TableEvaluator
from comitia.history import History
from comitia.learners.default import DefaultSpace
from comitia.learners.default.costs import power_of_rows, rows_within
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
SAFE = 0.7
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
    seconds = FIT_SHARE * time_limit / n_folds
    most: dict[str, int] = {}
    for name in default.learners:
        rows = max(FEWEST_ROWS, rows_within(seconds, name, n_columns, n_classes))
        if rows < n_rows:
            most[name] = rows
    return RowsByLearner(most) if most else None


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


def whole_seconds(members: Sequence[Member], history: History, evaluator: TableEvaluator, n_workers: int) -> float:
    """Return how many seconds to keep so that members which had a part of the rows can be fitted again on all of them.

    By the power of the number of rows that fits of their learner usually grow by; `growth` takes a part of them.
    """
    fits = []
    for member in members:
        observation = None if member.trial is None else history.observation(member.trial)
        if observation is None:
            continue
        most = None if evaluator.most_rows is None else evaluator.most_rows(member.config)
        more = 1.0 if most is None else max(len(evaluator.y) / most, 1.0)
        power = power_of_rows(str(member.config.get("learner")))
        fits.append(observation.seconds / max(observation.n_evaluations, 1) * more**power)
    return makespan(fits, n_workers) / SAFE if fits else 0.0


def growth(
    members: Sequence[Member], history: History, evaluator: TableEvaluator, seconds: float, n_workers: int
) -> float:
    """Return by how much the rows of members may grow when they are fitted again within some seconds; 1 or more.

    All fits side by side, and each by itself, must end in a part of the time.
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
