"""What a study takes in: asks become trials, what a user tells becomes an observation, callbacks are checked."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from comitia.errors import ChoiceError, TellError
from comitia.history import History, Observation, Trial
from comitia.seams import Ask
from comitia.space import Config

Called = TypeVar("Called", bound=Callable[..., object])


def make_trials(history: History, asks: Sequence[Ask], configs: Sequence[Config]) -> list[Trial]:
    """Return the trials of one call of an optimizer, with the next numbers."""
    first = len(history)
    batch = history.trial(first - 1).batch + 1 if first else 0
    return [
        _trial(history, ask, config, number=number, batch=batch)
        for number, (ask, config) in enumerate(zip(asks, configs, strict=True), first)
    ]


def _trial(history: History, ask: Ask, config: Config, *, number: int, batch: int) -> Trial:
    root, first_repeat = number, 0
    if ask.continues is not None:
        observation = history.observation(ask.continues)
        if observation is None or not observation.is_ok:
            raise ChoiceError(
                f"A trial must continue one that succeeded. Got an ask that continues trial {ask.continues}, which "
                f"{'is pending' if observation is None else 'failed'}."
            )
        parent = observation.trial
        root = parent.root
        # further folds belong to the parent's own resamplings, further repeats come after them
        first_repeat = parent.first_repeat + (parent.repeats if ask.folds is None else 0)
    return Trial(
        number=number,
        batch=batch,
        x=tuple(np.asarray(ask.x, dtype=np.float64).tolist()),
        config=config,
        repeats=ask.repeats,
        folds=ask.folds,
        continues=ask.continues,
        root=root,
        first_repeat=first_repeat,
    )


def make_observation(history: History, trial: Trial | int, result: float | str | None) -> Observation:
    """Return what a user says came of a trial: a loss, or the text of a failure."""
    number = trial.number if isinstance(trial, Trial) else trial
    if not isinstance(number, int | np.integer) or not 0 <= number < len(history):
        raise TellError(
            f"A result must be told for a trial that this study asked, 0 to {len(history) - 1}. "
            f"Got {number!r} instead. Use the trials that ask() returns."
        )
    asked = history.trial(int(number))
    if history.observation(asked.number) is not None:
        raise TellError(f"A trial must be told once. Got a second result for trial {number}.")
    if isinstance(trial, Trial) and trial != asked:
        raise TellError(f"Trial {number} must be the one that this study asked. Got another study's trial.")
    if isinstance(result, str):
        return Observation.failed(asked, result)
    if isinstance(result, np.ndarray) and result.ndim == 0:
        result = result.item()
    if not isinstance(result, float | int | np.number) or not math.isfinite(result):
        raise TellError(
            f"The loss of a trial must be a finite number. Got {result!r} for trial {number}. "
            "If it failed, use tell(trial, error='what happened')."
        )
    return Observation(trial=asked, status="ok", losses=(float(result),))


def checked_callbacks(callbacks: Iterable[Called]) -> list[Called]:
    """Return callbacks as a list; refuse what cannot be called."""
    found = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    if not isinstance(callbacks, Iterable) or not all(callable(callback) for callback in found):
        raise ChoiceError(f"'callbacks' must be a list of functions (study, observation). Got {callbacks!r} instead.")
    return found
