"""What a fit says of itself on standard error, by `verbose`; everything goes through the logger "comitia"."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from comitia.evaluation.scoring import Scoring
from comitia.history import Observation
from comitia.study.study import Study

log = logging.getLogger("comitia")
SILENT = logging.CRITICAL + 1


class _Own(logging.StreamHandler):  # type: ignore[type-arg]
    """Prints what one fit says, which runs in one thread; others may run beside it."""

    def __init__(self, verbose: int) -> None:
        super().__init__(sys.stderr)
        self.setLevel(logging.INFO if verbose >= 2 else logging.WARNING if verbose == 1 else SILENT)
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread == self._thread


class _Loudness:
    """Lets the logger through to INFO while a fit wants it, and gives it its level back after the last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_wanting = 0
        self._before = logging.NOTSET

    @contextmanager
    def raised(self) -> Iterator[None]:
        with self._lock:
            if not self._n_wanting:
                self._before = log.level
                log.setLevel(logging.INFO)
            self._n_wanting += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_wanting -= 1
                if not self._n_wanting:
                    log.setLevel(self._before)


_LOUDNESS = _Loudness()


@contextmanager
def heard(verbose: int) -> Iterator[None]:
    """Let through what `verbose` asks for: 0 nothing, 1 what went wrong, 2 what is tried and why.

    Where the user's program has handlers of its own, these decide at 0 and 1, and get everything at 2.
    """
    others = [*log.handlers, *(logging.root.handlers if log.propagate else [])]
    own = None if any(not isinstance(handler, _Own) for handler in others) else _Own(verbose)
    with ExitStack() as stack:
        if verbose >= 2:
            stack.enter_context(_LOUDNESS.raised())
        if own is not None:
            log.addHandler(own)
            stack.callback(log.removeHandler, own)
        yield


@dataclass(frozen=True)
class TrialLines:
    """A callback that logs one line for each trial that succeeded; the loop itself logs the others."""

    scoring: Scoring

    def __call__(self, study: Study, observation: Observation) -> None:
        if observation.is_ok:
            what = observation.config.get("learner", "trial")
            score, seconds = self.scoring.score(observation.loss), observation.seconds
            log.info("trial %d: %s, score %.4g, %.2f s", observation.number, what, score, seconds)
