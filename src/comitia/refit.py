"""What is fitted again at the end, and how the search leaves time for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia.budget import Meter
from comitia.errors import NothingFound
from comitia.evaluation import TableEvaluator, fit_parameters, take
from comitia.quiet import quiet
from comitia.seams import Member
from comitia.space import Config
from comitia.study import Study

OVERHEAD_SECONDS = 0.3
"""Seconds that a refit takes beside the fit itself."""


@dataclass(frozen=True, eq=False)
class Refit:
    """Fit one configuration on some rows; picklable."""

    evaluator: TableEvaluator
    random_state: int

    def __call__(self, config: Config, rows: NDArray[np.intp]) -> Any:
        """Return the fitted model."""
        e = self.evaluator
        model = e.build(config, self.random_state)
        with quiet():
            weight = None if e.sample_weight is None else e.sample_weight[rows]
            return model.fit(take(e.X, rows), e.y[rows], **fit_parameters(model, weight))


@dataclass
class LeaveTimeToRefit:
    """Stop the search while the best so far can still be refitted."""

    meter: Meter
    is_full: bool
    n_folds: int

    def __call__(self, study: Study, observation: Any) -> None:
        """Stop the study if another trial would leave too little."""
        best = study.history.best
        if best is None or np.isinf(self.meter.seconds_left):
            return
        one_fit = best.seconds / max(best.n_evaluations, 1)
        needed = OVERHEAD_SECONDS + 2.0 * one_fit * (1 if self.is_full else self.n_folds)
        if self.meter.seconds_left < needed:
            study.stop()


def candidates(study: Study) -> Iterable[Sequence[Member]]:
    """Yield what the method selects, then single trials from the best on, cheaper ones first where one failed."""
    try:
        yield study.members()
    except NothingFound:
        return
    good = sorted((o for o in study.history.observations() if o.is_ok), key=lambda o: o.loss)
    for observation in [*good[1:4], *sorted(good, key=lambda o: o.seconds)[:3]]:
        yield [Member(observation.config, 1.0, observation.number)]
