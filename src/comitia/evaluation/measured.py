"""What came of one trial: collected split by split, so that a failure leaves what came before it."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.history import Observation, Predictions, Status, Trial

Item = TypeVar("Item")
MOST_TEXT = 4000
"""Characters of an error that are kept."""


class RejectedError(Exception):
    """A trial is not worth its other folds."""


class TooLongError(Exception):
    """A trial would take longer than it may: its first folds show it."""


@dataclass(frozen=True, eq=False)
class KeptSplit:
    """What the model of one split said about the rows that it was judged on."""

    rows: Indices
    values: AnyArray
    losses: Array | None
    """Of each row, where the loss is a mean over rows."""
    seconds: float
    """How long the answers took; NaN where that was not measured."""


@dataclass(frozen=True, eq=False)
class Answered:
    """What the model of one split answered, for scorers that have no number for a split by itself."""

    rows: Indices
    answers: dict[bool, AnyArray]
    """By whether they are probabilities."""


@dataclass
class Measured:
    """What one trial has so far."""

    metrics: dict[str, list[float]] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    selection_losses: list[float] = field(default_factory=list)
    n_fits: int = 0
    kept: list[KeptSplit] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    """What scorers were answered on each split."""
    sizes: list[float] = field(default_factory=list)
    """How large the model of each fit grew, NaN where it did not find that out by itself."""
    where: str = ""
    """What is being done now, for the text of an error."""

    def turn_back(self, n: int) -> None:
        """Put splits that were begun with the n-th, and then the first ones, into their own order."""
        self.losses, self.selection_losses = _turned_back(self.losses, n), _turned_back(self.selection_losses, n)
        self.kept, self.answered = _turned_back(self.kept, n), _turned_back(self.answered, n)
        self.sizes = _turned_back(self.sizes, n)
        self.metrics = {name: _turned_back(scores, n) for name, scores in self.metrics.items()}

    def predictions(self) -> Predictions:
        """Return what was kept of all splits."""
        losses = [split.losses for split in self.kept if split.losses is not None]
        return Predictions(
            rows=np.concatenate([split.rows for split in self.kept]),
            folds=np.concatenate([np.full(len(split.rows), fold) for fold, split in enumerate(self.kept)]),
            values=np.concatenate([split.values for split in self.kept]),
            losses=np.concatenate(losses) if losses else None,
            seconds=np.array([split.seconds for split in self.kept]),
            sizes=np.array(self.sizes) if np.isfinite(self.sizes).any() else None,
        )


def observed(trial: Trial, measured: Measured, evaluate: Callable[[], None]) -> Observation:
    """Evaluate a trial; a failure, whatever it is, becomes an observation with its text."""
    started = time.perf_counter()
    status: Status = "ok"
    error = ""
    try:
        evaluate()
    except RejectedError as caught:
        status, error = "rejected", str(caught)
    except TooLongError as caught:
        status, error = "timeout", str(caught)
    except MemoryError as caught:
        status, error = "memory", described(caught, measured.where)
    except (Exception, SystemExit) as caught:  # a learner or a user's function may raise anything
        status, error = "failed", described(caught, measured.where)
    return Observation(
        trial=trial,
        status=status,
        losses=tuple(measured.losses),
        metrics={name: tuple(scores) for name, scores in measured.metrics.items()},
        seconds=time.perf_counter() - started,
        n_evaluations=measured.n_fits,
        error=error,
        selection_losses=tuple(measured.selection_losses),
    )


def _turned_back(some: list[Item], n: int) -> list[Item]:
    return some[len(some) - n :] + some[: len(some) - n] if some else some


def turned(n: int, first: int) -> list[int]:
    """Return the numbers of n splits, beginning with one of them: the last is followed by the first."""
    return [(first + k) % n for k in range(n)]


def rejection(n_done: int, n_folds: int) -> str:
    """Say why further folds were left out."""
    return f"worse than what is there after {n_done} of {n_folds} folds, beyond noise: the others were left out"


def check_seconds(seconds: float, n_done: int, n_fits: int, most: float | None) -> None:
    """Give a trial up if, at the pace of its first fits, all of them would take longer than it may."""
    expected = seconds / max(n_done, 1) * n_fits
    if most is not None and 0 < n_done < n_fits and expected > most:
        raise TooLongError(
            f"It would take {expected:.3g} s, as {n_done} of {n_fits} fits took {seconds:.3g} s. "
            f"It may take {most:.3g} s."
        )


def compact(answers: AnyArray) -> AnyArray:
    """Keep probabilities in single precision and class codes in 16 bits: they are most of a study's file."""
    if answers.ndim == 2:
        return answers.astype(np.float32)
    return answers.astype(np.int16) if answers.dtype.kind in "iu" and answers.max(initial=0) < 2**15 else answers


def described(error: BaseException, where: str) -> str:
    """Say what went wrong and where; the innermost frame is the learner's own."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" (at {frames[-1].name}, line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    text = str(error)
    if len(text) > MOST_TEXT:
        text = text[:MOST_TEXT] + "..."
    return f"{where}: {type(error).__name__}: {text}{place}" if where else f"{type(error).__name__}: {text}{place}"
