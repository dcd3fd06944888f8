"""An automatic fit keeps its limits, and leaves nothing running however it ends."""

import time
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris, make_classification

from comitia import AutoClassifier, Workers
from comitia.auto import base
from comitia.errors import FallbackWarning

X, Y = load_iris(return_X_y=True)


class Sleeper(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that never ends."""

    def fit(self, X: Any, y: Any) -> None:
        time.sleep(10_000)


class Glutton(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that allocates without end."""

    def fit(self, X: Any, y: Any) -> None:
        held = []
        while True:
            held.append(b"x" * 25_000_000)
            time.sleep(0.005)


def test_learners_without_end() -> None:
    X, y = make_classification(2000, random_state=0)
    # on a busy machine the start of the first workers would leave no time for anything else
    AutoClassifier(n_trials=1, include=["linear"], n_jobs=2, cv=2).fit(X[:50], y[:50])
    began = time.monotonic()
    model = AutoClassifier(
        time_limit=5, include=["linear", Sleeper(), Glutton()], n_jobs=2, trial_memory_limit=1e9, random_state=0
    ).fit(X, y)
    assert time.monotonic() - began < 5 * 1.1 + 4
    assert model.members_[0].config  # not the fallback
    assert model.score(X, y) > 0.8


def test_when_nothing_succeeds_the_prior_is_returned_with_a_warning() -> None:
    X, y = load_digits(return_X_y=True)
    began = time.monotonic()
    with pytest.warns(FallbackWarning, match="most frequent class"):
        model = AutoClassifier(time_limit=3, include=[Sleeper()], random_state=0).fit(X, y)
    assert time.monotonic() - began < 3 * 1.1 + 4
    assert model.predict_proba(X)[0] == pytest.approx(np.bincount(y) / len(y))
    assert model.best_params_ == {}


def test_workers_of_ones_own_are_left_running() -> None:
    with Workers(2) as pool:
        for _ in range(2):
            model = AutoClassifier(executor=pool, n_trials=3, include=["linear"], random_state=0)
            assert model.fit(X, Y).score(X, Y) > 0.9
        assert pool.is_held


class Noted(Workers):
    """Workers that say whether they were opened and closed."""

    made: list["Noted"] = []  # noqa: RUF012
    state = "new"

    def __enter__(self) -> Any:
        self.state = "open"
        self.made.append(self)
        return super().__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.state = "closed"
        super().__exit__(*exception)


def _fail(study: Any, observation: Any) -> None:
    raise RuntimeError("a callback that fails")


@pytest.mark.parametrize("callbacks", [(), (_fail,)], ids=["done", "failed"])
def test_workers_are_closed_however_a_fit_ends(callbacks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "Workers", Noted)
    monkeypatch.setattr(Noted, "made", [])
    model = AutoClassifier(n_trials=1, n_jobs=2, include=["linear"], cv=2, callbacks=callbacks)
    if callbacks:
        with pytest.raises(RuntimeError, match="a callback that fails"):
            model.fit(X, Y)
        assert "study_" not in vars(model)
    else:
        model.fit(X, Y)
    assert [workers.state for workers in Noted.made] == ["closed"]
