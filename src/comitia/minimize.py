"""`minimize`: search any black box in one call."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from pathlib import Path

from comitia.evaluation.function import FunctionEvaluator
from comitia.learners.registry import SpaceLike
from comitia.methods import Method
from comitia.seams import Store
from comitia.space import Config
from comitia.study.study import Callback, Study


def minimize(
    function: Callable[[Config], float],
    space: SpaceLike,
    *,
    method: str | Method = "rs",
    n_trials: int | None = None,
    time_limit: float | None = None,
    n_evaluations: int | None = None,
    n_jobs: int | None = None,
    seed: int | None = None,
    storage: str | Path | Store | None = None,
    executor: Executor | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool = False,
) -> Study:
    """Find the configuration at which a function is smallest.

    Parameters
    ----------
    function : callable (config) -> float
        Any function; a call that raises or returns NaN is a failed trial.
    space : Space, ConfigSpace.ConfigurationSpace, dict or str
        What to search.
    method, n_trials, time_limit, n_evaluations, n_jobs, seed, storage, executor, callbacks, progress
        As for `Study` and `Study.run`.

    Returns
    -------
    Study
        With `best_trial`, `to_frame()` and everything else.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from comitia import minimize
    >>> result = minimize(lambda config: (config["x"] - 1) ** 2, {"x": uniform(-5, 10)}, n_trials=100, seed=0)
    >>> abs(result.best_trial.config["x"] - 1) < 0.3
    True
    """
    study = Study(space, method, seed=seed, storage=storage)
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
