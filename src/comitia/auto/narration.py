"""What a fit says of itself on standard error, by `verbose`; everything goes through the logger "comitia"."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from comitia.evaluation.scoring import Scoring
from comitia.history import Observation
from comitia.study.study import Study

log = logging.getLogger("comitia")


@contextmanager
def heard(verbose: int) -> Iterator[None]:
    """Let through what `verbose` asks for: 0 nothing, 1 what went wrong, 2 what is tried and why.

    Where the user's program has handlers of its own, these decide at 0 and 1, and get everything at 2.
    """
    before = log.level
    handler = None if log.hasHandlers() else logging.StreamHandler(sys.stderr)
    if handler is not None:
        log.addHandler(handler)
    if verbose >= 2:
        log.setLevel(logging.INFO)
    elif verbose <= 0 and handler is not None:
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
        if handler is not None:
            log.removeHandler(handler)


@dataclass(frozen=True)
class TrialLines:
    """A callback that logs one line for each trial that succeeded; the loop itself logs the others."""

    scoring: Scoring

    def __call__(self, study: Study, observation: Observation) -> None:
        if observation.is_ok:
            what = observation.config.get("learner", "trial")
            score, seconds = self.scoring.score(observation.loss), observation.seconds
            log.info("trial %d: %s, score %.4g, %.2f s", observation.number, what, score, seconds)
