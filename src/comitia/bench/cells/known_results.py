"""Methods that ask for the same trial share its training.

`rs-best` and `rs-post` search alike and differ in what they hand over; all that begin with the same points share those.
Splits and random states follow from the table, the study's seed and the trial's number, so what was measured for one
method is what the other would have measured, seconds included.
"""

from collections import OrderedDict

import numpy as np

from comitia.evaluation.table import TableEvaluator
from comitia.history import Observation, Predictions, Trial
from comitia.seams import Bar, Judging, Keep
from comitia.seeds import Seeds

Result = tuple[Observation, Predictions | None]
Question = tuple[str, str, int, Keep, Trial]
"""Space, fingerprint of table and judging, seed, what is kept, trial: all that a result follows from."""

MOST_BYTES = 512 * 2**20
"""Predictions that a process keeps; beyond this the least recently used are dropped."""
LEAST_BYTES = 2048
"""The size that a trial without predictions counts as."""
SERVES: dict[Keep, tuple[Keep, ...]] = {
    "nothing": ("nothing", "predictions"),
    "predictions": ("predictions",),
    "probabilities": ("probabilities",),
}
"""What must have been kept of a trial to answer an evaluator that keeps this."""


class KnownResults:
    """Results of trials by what they follow from."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._results: OrderedDict[Question, Result] = OrderedDict()
        self._n_bytes = 0

    def __len__(self) -> int:
        return len(self._results)

    def get(self, question: Question) -> Result | None:
        """Return a result, and note that it was used."""
        if question in self._results:
            self._results.move_to_end(question)
        return self._results.get(question)

    def add(self, question: Question, result: Result) -> None:
        """Keep a result, and drop what there is no more room for."""
        self._results[question] = result
        self._n_bytes += size_of(result)
        while self._n_bytes > self._most:
            _, dropped = self._results.popitem(last=False)
            self._n_bytes -= size_of(dropped)


KNOWN = KnownResults()
"""Of this process: cells of one problem follow each other."""


class SharedEvaluator:
    """An evaluator that looks a trial up where another cell has trained it."""

    def __init__(self, evaluator: TableEvaluator, space: str, known: KnownResults) -> None:
        self._evaluator = evaluator
        self._known = known
        self._judged = (space, evaluator.fingerprint())
        self._looked_up: set[int] = set()

    @property
    def judging(self) -> Judging:
        return self._evaluator.judging

    def __call__(self, trial: Trial, seeds: Seeds) -> Result:
        kept = self._evaluator.keep
        for keep in SERVES[kept]:
            if (found := self._known.get((*self._judged, seeds.seed, keep, trial))) is not None:
                self._looked_up.add(trial.number)
                return found if keep == kept else (found[0], None)
        result = self._evaluator(trial, seeds)
        self._known.add((*self._judged, seeds.seed, kept, trial), result)
        return result

    def screened(self, trial: Trial, seeds: Seeds, bar: Bar) -> Result:
        """Evaluate fold by fold; what comes of it follows from the bar, too, and is not shared."""
        return self._evaluator.screened(trial, seeds, bar)

    def was_looked_up(self, number: int) -> bool:
        """Tell whether a trial was looked up, so that its seconds have not passed now."""
        return number in self._looked_up

    def n_fits(self, trial: Trial) -> int:
        return self._evaluator.n_fits(trial)


def size_of(result: Result) -> int:
    """Return the bytes of what was predicted."""
    predictions = result[1]
    arrays = [] if predictions is None else [a for a in vars(predictions).values() if isinstance(a, np.ndarray)]
    return LEAST_BYTES + sum(int(a.nbytes) for a in arrays)
