"""Methods that ask for the same trial share its training.

`rs-best` and `rs-post` search alike and differ in what they hand over; all that begin with the same points share those.
Splits and random states follow from the table, the study's seed and the trial's number, so what was measured for one
method is what the other would have measured, seconds included.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from comitia.evaluation.table import TableEvaluator
from comitia.history import Observation, Predictions, Trial
from comitia.seams import Judging, Keep
from comitia.seeds import Seeds

Result = tuple[Observation, Predictions | None]

MOST_BYTES = 512 * 2**20
"""Predictions that a process remembers; beyond this what was not used for longest is forgotten."""
LEAST_BYTES = 2048
"""What a trial without predictions counts."""
SERVES: dict[Keep, tuple[Keep, ...]] = {
    "nothing": ("nothing", "predictions"),
    "predictions": ("predictions",),
    "probabilities": ("probabilities",),
}
"""What must have been kept of a trial to answer one who wants this."""


class Memory:
    """Results of trials by what they follow from."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._results: OrderedDict[tuple[Any, ...], Result] = OrderedDict()
        self._n_bytes = 0

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: tuple[Any, ...]) -> Result | None:
        """Return a result, and remember that it was used."""
        if key in self._results:
            self._results.move_to_end(key)
        return self._results.get(key)

    def add(self, key: tuple[Any, ...], result: Result) -> None:
        """Remember a result, and forget what there is no more room for."""
        self._results[key] = result
        self._n_bytes += size_of(result)
        while self._n_bytes > self._most:
            _, forgotten = self._results.popitem(last=False)
            self._n_bytes -= size_of(forgotten)


MEMORY = Memory()
"""Of this process: cells of one problem follow each other."""


class SharedEvaluator:
    """An evaluator that answers from memory where it can; see `Evaluator`."""

    def __init__(self, evaluator: TableEvaluator, space: str, memory: Memory) -> None:
        self._evaluator = evaluator
        self._memory = memory
        self._judged = (space, evaluator.fingerprint())
        self._remembered: set[int] = set()

    @property
    def judging(self) -> Judging:
        return self._evaluator.judging

    def __call__(self, trial: Trial, seeds: Seeds) -> Result:
        for keep in SERVES[self._evaluator.keep]:
            if (found := self._memory.get((*self._judged, seeds.seed, keep, trial))) is not None:
                self._remembered.add(trial.number)
                return found if keep == self._evaluator.keep else (found[0], None)
        result = self._evaluator(trial, seeds)
        self._memory.add((*self._judged, seeds.seed, self._evaluator.keep, trial), result)
        return result

    def is_remembered(self, number: int) -> bool:
        """Tell whether a trial was answered from memory, so that its seconds have not passed now."""
        return number in self._remembered

    def n_fits(self, trial: Trial) -> int:
        return self._evaluator.n_fits(trial)


def size_of(result: Result) -> int:
    """Return the bytes of what was predicted."""
    predictions = result[1]
    arrays = [] if predictions is None else [a for a in vars(predictions).values() if isinstance(a, np.ndarray)]
    return LEAST_BYTES + sum(int(a.nbytes) for a in arrays)
