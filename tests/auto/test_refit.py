"""What is handed over: members are fitted again inside the time that is left, and predict as one."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from comitia import (
    AutoClassifier,
    AutoRegressor,
    Config,
    Method,
    Observation,
    Reshuffled,
    Seeds,
    Study,
    TableEvaluator,
    Trial,
    Workers,
    load,
)
from comitia.auto.refit import Refits, fit_again
from comitia.auto.reserve import LeaveTimeToRefit, RefitCosts
from comitia.committees import Ensemble
from comitia.committees.combine import argmax_in_order
from comitia.errors import DroppedWarning, FallbackWarning
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.execution import Serial
from comitia.execution.kept import kept_starter
from comitia.history import History
from comitia.optimizers import Grid
from comitia.seams import Member, Needs, Optimizer
from comitia.selections.committees import validation_loss
from comitia.study.budget import Budget

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(size=X.shape)  # else everybody is right
N_ALL = len(Y)


class Weighted:
    """The first trials with these weights."""

    needs = Needs(rows=True)

    def __init__(self, *weights: float) -> None:
        self._weights = weights

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return [Member(history.trial(i).config, weight, i) for i, weight in enumerate(self._weights)]


class OnlyParts(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that fails, or never ends, on all rows."""

    def __init__(self, endless: bool = False) -> None:
        self.endless = endless

    def fit(self, X: Any, y: Any) -> Any:
        if len(y) == N_ALL and self.endless:
            time.sleep(1000)
        if len(y) == N_ALL:
            raise RuntimeError("too many rows for me")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


class Plain(BaseEstimator):  # type: ignore[misc]
    """A learner of the user's own that says classes alone, and not which there are."""

    def fit(self, X: Any, y: Any) -> Any:
        self.model_ = GaussianNB().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


def study_of(kinds: Sequence[Any], *weights: float) -> tuple[Study, TableEvaluator]:
    """Return a study that has tried each learner once, in their order, and hands over the first."""
    method = Method("weighted", Grid, "Fixed weights.", selection=Weighted(*weights))
    study = Study({"kind": list(range(len(kinds)))}, method, seed=0)
    for kind in range(len(kinds)):
        study.enqueue({"kind": kind})
    evaluator = TableEvaluator(lambda config, seed: kinds[config["kind"]], X, Y, cv=3, keep="probabilities")
    return study.run(evaluator, n_trials=len(kinds)), evaluator


def weights_by_trial(members: Sequence[Any]) -> dict[Any, float]:
    return {member.trial: member.weight for member in members}


def test_members_that_fail_are_left_out_and_the_others_share_their_weight() -> None:
    study, evaluator = study_of([OnlyParts(), GaussianNB(), KNeighborsClassifier()], 0.5, 0.3, 0.2)
    fitted, errors, n_late = fit_again(study, evaluator, "full", Serial(), Budget(n_trials=1).start())
    assert weights_by_trial(fitted) == pytest.approx({1: 0.6, 2: 0.4})
    assert errors == ["RuntimeError: too many rows for me"]
    assert n_late == 0
    assert [type(member.pipeline) for member in fitted] == [GaussianNB, KNeighborsClassifier]


def test_where_no_member_can_be_fitted_the_best_trial_takes_their_place() -> None:
    study, evaluator = study_of([OnlyParts(), GaussianNB()], 1.0)
    fitted, *_ = fit_again(study, evaluator, "full", Serial(), Budget(n_trials=1).start())
    assert weights_by_trial(fitted) == {1: 1.0}
    study, evaluator = study_of([OnlyParts()], 1.0)
    assert fit_again(study, evaluator, "full", Serial(), Budget(n_trials=1).start())[0] == []


def test_what_has_begun_before_the_search_ended_is_not_fitted_again() -> None:
    study, evaluator = study_of([KNeighborsClassifier(), GaussianNB()], 0.75, 0.25)
    with ThreadPoolExecutor(1) as pool:
        refits = Refits(study, evaluator, "full", pool)
        pace = LeaveTimeToRefit(Budget(n_trials=1).start(), RefitCosts(), study.members, evaluator.n_fits, early=refits)
        pace.idle(1)
        assert list(refits.since()) == [0]
        pace.idle(1)
        assert list(refits.since()) == [0, 1]
        n_begun = len(refits.crew.tasks)
        found = fit_again(study, evaluator, "full", pool, Budget(n_trials=1).start(), refits=refits)
    assert weights_by_trial(found.members) == {0: 0.75, 1: 0.25}
    assert found.is_whole
    assert n_begun == 2
    assert not refits.crew.tasks


@pytest.mark.processes
def test_where_the_only_member_never_ends_a_cheap_trial_is_ready() -> None:
    study, evaluator = study_of([OnlyParts(endless=True), KNeighborsClassifier(), GaussianNB()], 1.0)
    for number, seconds in enumerate((9.0, 0.3, 0.01)):  # as if the first had taken long
        observation = study.history.observation(number)
        assert observation is not None
        study.history._observations[number] = replace(observation, seconds=seconds)
    with Workers(1, starter=kept_starter) as pool:
        pool.submit(abs, -1).result()
        fitted, errors, n_late = fit_again(study, evaluator, "full", pool, Budget(time_limit=3.5).start())
    assert len(fitted) == 1
    assert fitted[0].trial in (1, 2)
    assert (errors, n_late) == ([], 1)


def test_a_refit_that_began_early_and_failed_is_left_out() -> None:
    study, evaluator = study_of([OnlyParts(), GaussianNB()], 0.75, 0.25)
    with ThreadPoolExecutor(1) as pool:
        refits = Refits(study, evaluator, "full", pool)
        refits.begin_some(study.members(), 2)
        found = fit_again(study, evaluator, "full", pool, Budget(n_trials=1).start(), refits=refits)
    assert weights_by_trial(found.members) == {1: 1.0}
    assert found.errors == ["RuntimeError: too many rows for me"]


class Threads(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that remembers how many threads its fit was given."""

    def fit(self, X: Any, y: Any) -> Any:
        self.n_threads_ = effective_n_jobs(None)
        return super().fit(X, y)


@pytest.mark.parametrize(("is_local", "expected"), [(True, 3), (False, 1)])
def test_fewer_members_than_workers_of_this_machine_get_threads(is_local: bool, expected: int) -> None:
    study, evaluator = study_of([Threads(), GaussianNB()], 0.75, 0.25)
    executor = Serial(n_slots=6)
    refits = Refits(study, evaluator, "full", executor, is_local=is_local)
    found = fit_again(study, evaluator, "full", executor, Budget(n_trials=1).start(), refits=refits)
    fitted: Any = found.members[0].pipeline
    assert fitted.n_threads_ == expected
    assert effective_n_jobs(None) == 1


def test_a_forest_is_the_same_with_several_threads() -> None:
    _, evaluator = study_of([ExtraTreesClassifier(20, random_state=0)], 1.0)
    models: list[Any] = [evaluator.fit(Config({"kind": 0}), np.arange(N_ALL), Seeds(0), n_threads=n) for n in (1, 3)]
    one, three = (model.predict_proba(X) for model in models)
    assert (one == three).all()


@pytest.mark.processes
def test_without_a_time_limit_every_member_is_waited_for() -> None:
    study, evaluator = study_of([KNeighborsClassifier(), GaussianNB()], 0.75, 0.25)
    with Workers(1, starter=kept_starter) as pool:
        fitted, *_ = fit_again(study, evaluator, "full", pool, Budget(n_trials=1).start())
    assert weights_by_trial(fitted) == {0: 0.75, 1: 0.25}


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.processes
def test_a_member_that_never_ends_costs_no_more_than_the_time_that_is_left(n_workers: int) -> None:
    """Beside it another is ready; alone in the pool it is given up while there is time for the cheapest."""
    study, evaluator = study_of([OnlyParts(endless=True), GaussianNB()], 0.9, 0.1)
    with Workers(n_workers, starter=kept_starter) as pool:
        pool.submit(abs, -1).result()
        meter = Budget(time_limit=3.0).start()
        fitted, errors, n_late = fit_again(study, evaluator, "full", pool, meter)
        assert meter.seconds < 3.0 + 0.5
    assert weights_by_trial(fitted) == {1: 1.0}
    assert errors == []
    assert n_late == 3 - n_workers  # with one worker the other was waiting for it


@pytest.mark.parametrize(("refit", "n_models"), [("folds", 6), (False, 2), ("full", 2)])
def test_each_member_keeps_its_weight_however_it_is_fitted(refit: Any, n_models: int) -> None:
    study, evaluator = study_of([KNeighborsClassifier(), GaussianNB()], 0.75, 0.25)
    fitted, *_ = fit_again(study, evaluator, refit, Serial(), Budget(n_trials=1).start())
    assert len(fitted) == n_models
    assert sum(member.weight for member in fitted if member.trial == 0) == pytest.approx(0.75)


def test_models_of_the_folds_are_those_that_were_judged() -> None:
    """Their answers with the weights are the predictions that were kept, also for learners that draw numbers."""
    options: dict[str, Any] = {"include": ["extra-trees", "linear"], "n_trials": 5, "cv": 2, "random_state": 0}
    model: Any = AutoClassifier(refit="folds", **options).fit(X, Y)
    splits = TableEvaluator(lambda c, s: GaussianNB(), X, Y, cv=2).splits(0, 0, model.study_.seeds)
    for fold, (_, test) in enumerate(splits):
        fitted = model.members_[fold::2]
        told = sum(2 * m.weight * m.pipeline.predict_proba(model.cleaner_.transform(X[test])) for m in fitted)
        kept = 0.0
        for member in fitted:
            predictions = model.study_.history.predictions(member.trial)
            rows = predictions.rows[predictions.folds == fold]
            assert (rows == test).all()
            kept = kept + 2 * member.weight * predictions.values[predictions.folds == fold]
        assert np.allclose(told, kept, atol=1e-6)


class Untried:
    """What was never a trial, as a posterior mean may be."""

    needs = Needs()

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return [Member(history.trial(1).config, 1.0, None)]


def test_what_was_never_tried_does_not_cost_what_the_first_trial_did() -> None:
    method = Method("untried", Grid, "Hands over what was never tried.", selection=Untried())
    study = Study({"kind": [0, 1]}, method, seed=0)
    for kind, seconds in ((0, 1e6), (1, 0.01)):
        study.enqueue({"kind": kind})
        [trial] = study.ask(1)
        study.record([(Observation(trial, "ok", (0.5,), seconds=seconds), None)])
    evaluator = TableEvaluator(lambda config, seed: GaussianNB(), X, Y, cv=3)
    fitted, *_ = fit_again(study, evaluator, "full", Serial(), Budget(time_limit=100.0).start())
    assert [member.trial for member in fitted] == [None]


def test_a_trial_that_goes_on_with_another_is_fitted_on_the_splits_of_the_first() -> None:
    evaluator = TableEvaluator(lambda config, seed: KNeighborsClassifier(1), X, Y, cv=3, reshuffled=True)
    study = Study({"kind": [0]}, Method("weighted", Grid, "The second.", selection=Weighted(0.0, 1.0)), seed=0)
    [first] = study.ask(1)
    study.record([evaluator(first, study.seeds)])
    second = Trial(1, 1, first.x, first.config, continues=0, root=0, first_repeat=1)
    study.history.append(second)
    study.history.finish(Observation(second, "ok", (0.5,)))
    fitted: Any = fit_again(study, evaluator, False, Serial(), Budget(n_trials=1).start()).members
    [(train, _), *_] = evaluator.splits(0, 0, study.seeds)
    assert (fitted[1].pipeline._fit_X == X[train]).all()


def test_an_estimator_warns_of_members_that_it_leaves_out() -> None:
    method = Method("weighted", Grid, "Fixed weights.", selection=Weighted(0.5, 0.5))
    options: dict[str, Any] = {"method": method, "n_trials": 2, "cv": 3, "random_state": 0}
    with pytest.warns(DroppedWarning, match="1 of the models.*too many rows for me"):
        model = AutoClassifier(include=[OnlyParts(), GaussianNB()], **options).fit(X, Y)
    assert [member.weight for member in model.members_] == [1.0]
    with pytest.warns(FallbackWarning, match="most frequent class"):
        AutoClassifier(include=[OnlyParts(), OnlyParts()], **options).fit(X, Y)


@pytest.mark.processes
def test_an_estimator_warns_of_members_that_were_not_ready_in_time() -> None:
    method = Method("weighted", Grid, "Fixed weights.", selection=Weighted(0.5, 0.5))
    include = [OnlyParts(endless=True), GaussianNB()]
    model = AutoClassifier(
        method=method, n_trials=2, time_limit=6, trial_time_limit=100, n_jobs=2, include=include, cv=3
    )
    with pytest.warns(DroppedWarning, match=r"1 of the models .* not ready in time .* Give it more time"):
        model.fit(X, Y)
    assert [member.weight for member in model.members_] == [1.0]


def _negative_rmse(y: Any, predicted: Any) -> float:
    return -float(np.sqrt(np.mean((y - predicted) ** 2)))


class TestWhatIsReturnedByDefault:
    def test_a_committee_that_is_saved_and_loaded(self, tmp_path: Path) -> None:
        model = AutoClassifier(n_trials=6, include=["linear", "svm", "knn"], cv=3, random_state=0).fit(X, Y)
        assert model.study_.method.name == "committee"
        assert 1 < len(model.members_) <= 8
        assert sum(member.weight for member in model.members_) == pytest.approx(1)
        p = model.predict_proba(X)
        assert p.sum(axis=1) == pytest.approx(np.ones(N_ALL))
        assert model.validation_score_ > 0.7
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert (again.predict_proba(X) == p).all()
        assert again.validation_score_ == model.validation_score_
        assert again.study_.members() == model.study_.members()  # what it was chosen by is there too
        assert [m.config for m in again.members_] == [m.config for m in model.members_]

    def test_of_numbers(self) -> None:
        table, y = load_diabetes(return_X_y=True)
        model = AutoRegressor(n_trials=5, include=["linear", "knn"], cv=TimeSeriesSplit(3), random_state=0)
        model.fit(table, y)
        assert model.study_.method.name == "committee"
        mean = sum(m.weight * m.pipeline.predict(model.cleaner_.transform(table)) for m in model.members_)
        assert model.predict(table) == pytest.approx(mean)

    @pytest.mark.parametrize(
        ("scoring", "by_hand"), [("r2", r2_score), ("neg_root_mean_squared_error", _negative_rmse)]
    )
    def test_scores_of_numbers_are_of_all_rows_together(self, scoring: str, by_hand: Any) -> None:
        table, y = load_diabetes(return_X_y=True)
        options: dict[str, Any] = {"n_trials": 5, "include": ["linear", "knn"], "cv": 3, "random_state": 0}
        model: Any = AutoRegressor(scoring=scoring, **options).fit(table, y)
        kept = [model.study_.history.predictions(m.trial) for m in model.members_]
        assert len(kept) > 1
        mean = sum(m.weight * p.values for m, p in zip(model.members_, kept, strict=True))
        assert model.validation_score_ == pytest.approx(by_hand(y[kept[0].rows], mean))

    def test_a_committee_by_name_is_judged_by_what_it_predicts(self) -> None:
        options: dict[str, Any] = {"n_trials": 5, "include": ["linear", "knn"], "cv": 3, "random_state": 0}
        model: Any = AutoClassifier(method="rs-post", scoring="neg_log_loss", **options).fit(X, Y)
        assert len(model.members_) > 1
        kept = [model.study_.history.predictions(m.trial) for m in model.members_]
        p = sum(m.weight * one.values for m, one in zip(model.members_, kept, strict=True))
        codes = np.unique(Y, return_inverse=True)[1][kept[0].rows]
        assert model.validation_score_ == pytest.approx(-log_loss(codes, p), rel=1e-5)

    def test_a_single_model_where_no_committee_can_be_chosen(self, caplog: pytest.LogCaptureFixture) -> None:
        cv = Reshuffled(ShuffleSplit(1, test_size=0.4))
        with caplog.at_level(logging.INFO, logger="comitia"):
            model = AutoClassifier(n_trials=2, include=["linear"], cv=cv, random_state=0).fit(X, Y)
        assert model.study_.method.name == "bayes"
        assert "bayes instead of a committee" in caplog.text
        assert len(model.members_) == 1
        assert model.validation_score_ == pytest.approx(model.best_score_)

    def test_learners_that_say_classes_alone_take_part(self) -> None:
        model = AutoClassifier(n_trials=4, include=[Plain(), "linear"], cv=3, random_state=0).fit(X, Y)
        assert model.study_.history.n_failed == 0
        assert model.predict_proba(X).shape == (N_ALL, 3)


@pytest.mark.parametrize(
    "cv", [3, 0.3, ShuffleSplit(3, test_size=0.4, random_state=0)], ids=["folds", "hold-out", "own"]
)
def test_the_validation_loss_of_one_member_is_its_trials_loss(cv: Any) -> None:
    evaluator = TableEvaluator(lambda c, s: DecisionTreeClassifier(max_depth=c["d"]), X, Y, cv=cv, keep="predictions")
    study = Study({"d": [1, 2, 3]}, "grid", seed=0)
    truth = evaluator.judging.truth
    assert truth is not None
    study.history.truth = truth
    study.run(evaluator, n_trials=3)
    for observation in study.history.observations():
        alone = [Member(observation.config, 1.0, observation.number)]
        assert validation_loss(study.history, alone, ROW_LOSSES["zero-one"]) == pytest.approx(observation.loss)
        twice = [Member(observation.config, 0.5, observation.number)] * 2
        assert validation_loss(study.history, twice, ROW_LOSSES["zero-one"]) == pytest.approx(observation.loss)


class TestTies:
    def test_the_first_in_the_order_wins(self) -> None:
        scores = np.array([[0.5, 0.5, 0.0], [0.2, 0.4, 0.4], [0.1, 0.2, 0.7]])
        assert argmax_in_order(scores).tolist() == [0, 1, 2]
        assert argmax_in_order(scores, [2, 1, 0]).tolist() == [1, 2, 2]

    def test_sums_that_differ_by_rounding_are_equal(self) -> None:
        scores = np.array([[0.1 + 0.2, 0.3]])
        assert scores[0, 0] != scores[0, 1]
        assert argmax_in_order(scores, [1, 0]).tolist() == [1]

    def test_the_order_decides_between_equal_votes(self) -> None:
        models = [GaussianNB().fit(X[c != Y], Y[c != Y]) for c in range(2)]  # each knows two classes of three
        answers = [Ensemble(models, [0.5] * 2, 3, True, order).predict(X) for order in ([0, 1, 2], [2, 1, 0])]
        assert (answers[0] != answers[1]).any()

    def test_the_order_is_drawn_by_the_seed(self) -> None:
        options: dict[str, Any] = {"n_trials": 1, "include": ["linear"], "cv": 2}
        models: list[Any] = [AutoClassifier(random_state=seed, **options).fit(X, Y) for seed in (0, 0, 1, 2, 3)]
        orders = [model.ensemble_.order for model in models]
        assert all(sorted(order) == [0, 1, 2] for order in orders)
        assert orders[0] == orders[1]
        assert len({tuple(order) for order in orders}) > 1
