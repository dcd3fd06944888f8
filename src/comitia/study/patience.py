"""`Patience`: end a search that no longer finds anything better."""

from dataclasses import dataclass

import numpy as np

from comitia.errors import check_int
from comitia.history import Observation
from comitia.study.study import Study


@dataclass(frozen=True)
class Patience:
    """Stop the search when the best loss has not improved for so many finished trials: a callback.

    It looks at the history alone, so a study that is resumed counts on, and one object serves any number of studies.
    Trials that failed count, too. For `Study.run`, `minimize`, `AutoClassifier`, `AutoRegressor` and `SearchCV`.

    Parameters
    ----------
    n_trials : int
        Finished trials without anything better after which the search ends.

    Examples
    --------
    >>> from comitia import Patience, minimize
    >>> study = minimize(lambda config: 1.0, {"x": (0.0, 1.0)}, n_trials=100, seed=0, callbacks=[Patience(3)])
    >>> study.history.n_finished, study.stop_reason
    (4, 'stopped')
    """

    n_trials: int

    def __post_init__(self) -> None:
        check_int("Patience", "n_trials", self.n_trials)

    def __call__(self, study: Study, observation: Observation) -> None:
        """Stop the study if it is time."""
        best, finished = study.history.best, study.history.finished
        n_since = len(finished) if best is None else int(np.sum(finished > best.number))
        if n_since >= self.n_trials:
            study.stop()
