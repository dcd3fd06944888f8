"""`minimize`: search any black box in one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from comitia.evaluation.function import FunctionEvaluator
from comitia.execution.crew import ExecutorLike
from comitia.learners.registry import SpaceLike
from comitia.methods import Method
from comitia.seams import Store
from comitia.space import Config
from comitia.study.record import Direction
from comitia.study.study import Callback, Study

log = logging.getLogger("comitia")
DEFAULT_TRIALS = 100
"""If no budget is given. A number of trials, so that the function runs in this process, and the end is repeatable."""


def minimize(
    function: Callable[[Config], float],
    space: SpaceLike,
    *,
    method: str | Method = "bayes",
    direction: Direction = "minimize",
    n_trials: int | None = None,
    time_limit: float | None = None,
    n_evaluations: int | None = None,
    n_jobs: int | None = None,
    lag: int | None = None,
    seed: int | None = None,
    storage: str | Path | Store | None = None,
    executor: ExecutorLike | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool = False,
) -> Study:
    """Find the configuration at which a function is smallest, or largest.

    Parameters
    ----------
    function : callable (config) -> float
        Any function; a call that raises or returns NaN is a failed trial.
    space : Space, ConfigSpace.ConfigurationSpace, dict or str
        What to search.
    direction : {"minimize", "maximize"}
        With "maximize" the function's largest value is searched: `best_value` and `to_frame` have the function's sign.
    n_trials, time_limit, n_evaluations : optional
        The budget, as for `Study.run`; 100 trials if none of them is given.
    method, n_jobs, lag, seed, storage, executor, callbacks, progress
        As for `Study` and `Study.run`.

    Returns
    -------
    Study
        With `best_trial`, `best_value`, `to_frame()` and everything else.

    Examples
    --------
    >>> from comitia import minimize
    >>> result = minimize(lambda config: (config["x"] - 1) ** 2, {"x": (-5.0, 5.0)}, n_trials=20, seed=0)
    >>> abs(result.best_trial.config["x"] - 1) < 0.1
    True
    """
    if n_trials is time_limit is n_evaluations is None:
        n_trials = DEFAULT_TRIALS
        log.warning("no budget was given, so the search takes %d trials: set n_trials or time_limit", n_trials)
    study = Study(space, method, seed=seed, storage=storage, direction=direction, lag=lag)
    return study.run(
        FunctionEvaluator(function),
        n_trials=n_trials,
        time_limit=time_limit,
        n_evaluations=n_evaluations,
        n_jobs=n_jobs,
        executor=executor,
        callbacks=callbacks,
        progress=progress,
    )
