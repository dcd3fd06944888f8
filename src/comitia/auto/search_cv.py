"""`SearchCV`: comitia's methods behind the interface of scikit-learn's `RandomizedSearchCV`."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, NamedTuple, Self, TypeAlias

import joblib
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV  # what scikit-learn's own searches extend by `_run_search`

from comitia.arrays import Estimator, Json, Table
from comitia.errors import ChoiceError, ExhaustedError, StoreMismatch
from comitia.evaluation.resampling import CV, Reshuffled, make_splitter
from comitia.history import Observation, Trial
from comitia.learners.registry import SpaceLike
from comitia.methods import Method
from comitia.seams import Store
from comitia.seeds import seed_of
from comitia.study.budget import Budget
from comitia.study.progress import make_progress
from comitia.study.study import Callback, Study

Results: TypeAlias = Mapping[str, Sequence[float]]
"""What scikit-learn's `cv_results_` is, one entry per configuration."""

N_TRIALS = 30
"""Where the user sets no limit."""


class SearchCV(BaseSearchCV):  # type: ignore[misc]
    """Tune an estimator: `RandomizedSearchCV` with comitia's search methods.

    Parameters
    ----------
    estimator : estimator
        What is tuned; it is cloned, and stays as it is.
    space : dict, Space or ConfigSpace.ConfigurationSpace
        What to search; a dict of lists, ranges and SciPy distributions, or a list of such dicts.
    method : str or Method
        A method of the registry, `comitia.METHODS`.
    n_trials : int, optional
        Configurations to try; fewer if the space has fewer. With neither this nor `time_limit`, 30.
    time_limit : float, optional
        Seconds after which no further trial begins.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn. With `n_jobs` more than the number of folds, several trials run at a time; with 1 the same
        `random_state` gives the same search. Configurations asked together, all of whose fits fail, are in `study_`
        and not in `cv_results_`.
    random_state : int, optional
        The same number gives the same search, with `n_jobs=1`.
    storage : str or Path, optional
        SQLite file of the study; fitting again with it resumes the search. `cv_results_` then has earlier trials, too.
    callbacks : iterable of callable (study, observation)
        Called after each trial; `study.stop()` ends the search. `Patience(20)` is one.
    progress : bool
        Show a progress bar on standard error.

    Attributes
    ----------
    study_ : Study
        What was tried; `study_.best_value` is `best_score_`. The other attributes are those of `RandomizedSearchCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from comitia import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(SVC(), {"C": (1e-2, 1e2, "log")}, n_trials=5, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Estimator,
        space: SpaceLike,
        *,
        method: str | Method = "bayes",
        n_trials: int | None = None,
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
        storage: str | Path | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool = False,
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
        self.storage = storage
        self.callbacks = callbacks
        self.progress = progress

    def fit(self, X: Table | ArrayLike, y: ArrayLike | None = None, **params: object) -> Self:
        """Search, then fit the best configuration on all rows, as scikit-learn's searches do."""
        self._fingerprint = "" if self.storage is None else _fingerprint(self.estimator, X, y)
        self._earlier: list[_Earlier] = []
        self._fits: list[Json] = []
        try:
            super().fit(X, y, **params)
        finally:
            del self._fingerprint, self._earlier, self._fits  # for this fit alone
        return self

    def _run_search(self, evaluate_candidates: Callable[..., Results]) -> None:
        """Ask the study, evaluate as scikit-learn does, tell the study."""
        n_trials = N_TRIALS if self.n_trials is None and self.time_limit is None else self.n_trials
        meter = Budget(self.time_limit, n_trials).start()
        study = Study(
            self.space, self.method, seed=seed_of(self.random_state), storage=self.storage, direction="maximize"
        )
        self._check_method(study.method)
        self._compare(study.store)
        self._earlier = _earlier_results(study)
        resampling = self._resampling() if study.method.is_reshuffled else None
        failure: ValueError | None = None
        n_folds = 0
        with make_progress(meter) if self.progress else nullcontext() as bar:
            callbacks = [*self.callbacks, *([bar.update] if bar is not None else [])]
            while not study.is_stopped and (left := meter.trials_left(study.history.n_finished)) > 0:
                if meter.seconds_left <= 0 and study.history.n_finished:
                    break
                # candidates x folds are fitted at a time; the folds of a reshuffled trial are its own
                n = 1 if resampling is not None or not n_folds else -(-effective_n_jobs(self.n_jobs) // n_folds)
                try:
                    trials = study.ask(int(min(n, left)))
                except ExhaustedError:
                    break
                more = {"cv": resampling.splitter_of(trials[0].number, 0, study.seeds)} if resampling else {}
                try:
                    results = evaluate_candidates([dict(trial.config) for trial in trials], **more)
                except ValueError as error:  # what scikit-learn raises if every fit failed: the search continues
                    if not str(error).lstrip().startswith("All the"):
                        raise
                    failure = error
                    study.tell_all([(trial, str(error)) for trial in trials])
                else:
                    n_folds = len(self._fits) // (len(results["params"]) - len(self._earlier))
                    self._tell(study, trials, results, n_folds)
                for trial in trials:
                    observation = study.history.observation(trial.number)
                    assert observation is not None
                    for callback in callbacks:
                        callback(study, observation)
        if failure is not None and study.history.n_failed == study.history.n_finished:
            raise failure
        if not n_folds:
            self._judge_again(study.best_trial, evaluate_candidates)
        self.study_ = study if self.storage is None else study.in_memory()
        if self.storage is not None:
            study.close()

    def _check_method(self, method: Method) -> None:
        if method.compares_rows:
            raise ChoiceError(
                f"SearchCV must get a method that needs scores alone. Got {method.name!r}, which compares trials "
                "row by row. Use AutoClassifier, AutoRegressor, or a Study with a TableEvaluator."
            )
        if method.has_selection_split:
            raise ChoiceError(
                f"SearchCV judges models on scikit-learn's splits alone. Got the method {method.name!r}, which "
                "needs rows set aside from them. Use gp-r or gp-pm-r, or a Study with "
                "TableEvaluator(..., selection_split=0.2)."
            )

    def _tell(self, study: Study, trials: Sequence[Trial], results: Results, n_folds: int) -> None:
        """Tell the scores of a batch, after what scikit-learn keeps of each fit is in the store."""
        scores = self._refit_scores(results)[-len(trials) :]
        told: list[tuple[Trial, float | str]] = []
        for i, (trial, score) in enumerate(zip(trials, scores, strict=True), -len(trials)):
            fits = self._fits[len(self._fits) + i * n_folds :][:n_folds]
            study.store.put(_key(trial.number), json.dumps(fits, default=float).encode())
            told.append((trial, score if np.isfinite(score) else "the estimator failed on some split"))
        study.tell_all(told)

    def _judge_again(self, best: Observation, evaluate_candidates: Callable[..., Results]) -> None:
        """Evaluate the best of a search that was complete: scikit-learn's `fit` needs something that it has fitted."""
        self._earlier = [one for one in self._earlier if one.number != best.number]
        evaluate_candidates([dict(best.config)])

    def _format_results(
        self, candidate_params: Sequence[Json], n_splits: int, out: Sequence[Json], more_results: Json | None = None
    ) -> Results:
        """Put what the storage had before what was fitted now."""
        self._fits = list(out)
        params = [*(one.params for one in self._earlier), *candidate_params]
        fits = [*(fit for one in self._earlier for fit in one.fits), *out]
        results: Results = super()._format_results(params, n_splits, fits, more_results)
        return results

    def _compare(self, store: Store) -> None:
        """Refuse a storage whose trials were judged on other data."""
        if self.storage is None:
            return
        there = store.get("evaluator")
        if there is None:
            store.put("evaluator", self._fingerprint.encode())
        elif there != self._fingerprint.encode():
            store.close()
            raise StoreMismatch(
                "A search must be resumed with the estimator and the rows that it was begun with, else its scores "
                "cannot be compared. Got others. Use the same, or another storage."
            )

    def _refit_scores(self, results: Results) -> Sequence[float]:
        name = self.refit if isinstance(self.refit, str) else "score"
        key = f"mean_test_{name}"
        if key not in results:  # several metrics and no refit: the first leads
            key = next(k for k in results if k.startswith("mean_test_"))
        return [float(score) for score in results[key]]

    def _resampling(self) -> Reshuffled:
        """Return the user's `cv` for a method that shuffles it for every trial."""
        cv = 5 if self.cv is None else self.cv
        return Reshuffled(make_splitter(cv, stratify=is_classifier(self.estimator)))


class _Earlier(NamedTuple):
    """What scikit-learn kept of a trial of an earlier run."""

    number: int
    params: Json
    fits: list[Json]


def _earlier_results(study: Study) -> list[_Earlier]:
    found = []
    for observation in study.history.observations():
        if (data := study.store.get(_key(observation.number))) is not None:
            found.append(_Earlier(observation.number, dict(observation.config), json.loads(data)))
    return found


def _key(number: int) -> str:
    return f"cv_results/{number}"


def _fingerprint(estimator: Estimator, X: Table | ArrayLike, y: ArrayLike | None) -> str:
    """Return a hash of what is judged and on which rows; without addresses in memory."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(estimator))
    return str(joblib.hash([text, X, y]))
