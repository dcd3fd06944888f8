"""`FunctionEvaluator`: a trial is a call of a function."""

import math
from collections.abc import Callable

from comitia.errors import ChoiceError
from comitia.evaluation.isolation import seeded_globals
from comitia.evaluation.measured import Measured, observed
from comitia.history import Observation, Trial
from comitia.seams import Judging
from comitia.seeds import Seeds
from comitia.space import Config


class FunctionEvaluator:
    """Evaluate any black box: `function(config)` returns the number to minimise.

    Where a trial asks for repeats, the function is called that many times. A function that draws from the global
    generators of `random` or `numpy.random` draws the same numbers for the same trial.
    """

    judging = Judging()

    def __init__(self, function: Callable[[Config], float]) -> None:
        if not callable(function):
            raise ChoiceError(f"A black box must be a function of a configuration. Got {function!r} instead.")
        self.function = function

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, None]:
        measured = Measured(n_fits=1)
        return observed(trial, measured, lambda: self._evaluate(trial, seeds, measured)), None

    def n_fits(self, trial: Trial) -> int:
        """Return how many calls the trial will take."""
        return trial.repeats * (1 if trial.folds is None else len(trial.folds))

    def _evaluate(self, trial: Trial, seeds: Seeds, measured: Measured) -> None:
        for repeat in range(self.n_fits(trial)):
            with seeded_globals(seeds, trial.root, trial.first_repeat + repeat):
                loss = float(self.function(trial.config))
            if not math.isfinite(loss):
                raise ValueError(f"the function must return a finite number, got {loss}")
            measured.losses.append(loss)
            measured.n_fits = len(measured.losses)
