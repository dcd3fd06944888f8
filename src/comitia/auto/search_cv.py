"""`SearchCV`: comitia's methods behind the interface of scikit-learn's `RandomizedSearchCV`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV  # what scikit-learn's own searches extend by `_run_search`

from comitia.arrays import Estimator
from comitia.errors import ChoiceError, ExhaustedError
from comitia.evaluation.resampling import CV, Reshuffled, make_splitter
from comitia.learners.registry import SpaceLike
from comitia.methods import Method
from comitia.seeds import seed_of
from comitia.study.study import Study

Results: TypeAlias = Mapping[str, Sequence[float]]
"""What scikit-learn's `cv_results_` is, one entry per configuration."""


class SearchCV(BaseSearchCV):  # type: ignore[misc]
    """Tune an estimator: `RandomizedSearchCV` with comitia's search methods.

    Parameters
    ----------
    estimator : estimator
    space : dict, Space or ConfigSpace.ConfigurationSpace
        What to search; a dict of lists and SciPy distributions, as in scikit-learn.
    method : str or Method
        A method of the registry, `comitia.METHODS`.
    n_trials : int
        Configurations to try; fewer if the space has fewer.
    time_limit : float, optional
        Seconds after which no further trial begins.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn; `n_jobs` fits the folds of a trial in parallel. A configuration all of whose fits fail is
        in `study_` and not in `cv_results_`.
    random_state : int, optional

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from comitia import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(SVC(), {"C": loguniform(1e-2, 1e2)}, n_trials=5, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Estimator,
        space: SpaceLike,
        *,
        method: str | Method = "sobol",
        n_trials: int = 30,
        time_limit: float | None = None,
        scoring: str | Callable[..., float] | Iterable[str] | Mapping[str, Callable[..., float]] | None = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., int] = True,
        cv: CV | None = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: float | Literal["raise"] = np.nan,
        return_train_score: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.method = method
        self.n_trials = n_trials
        self.time_limit = time_limit
        self.random_state = random_state

    def _run_search(self, evaluate_candidates: Callable[..., Results]) -> None:
        """Ask the study, evaluate as scikit-learn does, tell the study."""
        study = Study(self.space, self.method, seed=seed_of(self.random_state))
        if study.method.compares_rows:
            raise ChoiceError(
                f"SearchCV must get a method that needs scores alone. Got {study.method.name!r}, which compares trials "
                "row by row. Use AutoClassifier, AutoRegressor, or a Study with a TableEvaluator."
            )
        if study.method.has_selection_split:
            raise ChoiceError(
                f"SearchCV judges models on scikit-learn's splits alone. Got the method {study.method.name!r}, which "
                "needs rows set aside from them. Use gp-r or gp-pm-r, or a Study with "
                "TableEvaluator(..., selection_split=0.2)."
            )
        resampling = self._resampling() if study.method.is_reshuffled else None
        began = time.monotonic()
        failure: ValueError | None = None
        while len(study.history) < self.n_trials:
            if self.time_limit is not None and len(study.history) and time.monotonic() - began > self.time_limit:
                break
            try:
                [trial] = study.ask()
            except ExhaustedError:
                break
            more = {"cv": resampling.splitter_of(trial.number, 0, study.seeds)} if resampling is not None else {}
            try:
                results = evaluate_candidates([dict(trial.config)], **more)
            except ValueError as error:  # what scikit-learn raises if every fit failed: the search continues
                if not str(error).lstrip().startswith("All the"):
                    raise
                study.tell(trial, error=str(error))
                failure = error
                continue
            score = self._refit_score(results)
            if np.isfinite(score):
                study.tell(trial, -score)
            else:
                study.tell(trial, error="the estimator failed on some split")
        if failure is not None and study.history.n_failed == len(study.history):
            raise failure
        self.study_ = study

    def _refit_score(self, results: Results) -> float:
        name = self.refit if isinstance(self.refit, str) else "score"
        key = f"mean_test_{name}"
        if key not in results:  # several metrics and no refit: the first leads
            key = next(k for k in results if k.startswith("mean_test_"))
        return float(results[key][-1])

    def _resampling(self) -> Reshuffled:
        """Return the user's `cv` for a method that shuffles it for every trial."""
        cv = 5 if self.cv is None else self.cv
        return Reshuffled(make_splitter(cv, stratify=is_classifier(self.estimator)))
