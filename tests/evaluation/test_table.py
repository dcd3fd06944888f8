"""Evaluation of a trial against scikit-learn's own cross-validation, and everything that can be kept or go wrong."""

import time
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from comitia import Config, Seeds, TableEvaluator, Trial
from comitia.errors import ChoiceError, ResamplingError, TableError, UnknownName
from comitia.evaluation.measured import TooLongError, check_seconds
from comitia.evaluation.resampling import carve_selection
from tests.ids import stable

X, Y = load_iris(return_X_y=True)
SEEDS = Seeds(0)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=1)


def knn(config: Config, random_state: int) -> Any:
    return KNeighborsClassifier(config.get("k", 3))


def trial(number: int = 0, config: dict[str, Any] | None = None, **more: Any) -> Trial:
    return Trial(number, 0, (0.5,), Config(config or {"k": 3}), **more)


FIRST = trial()


def evaluate(build: Any = knn, y: Any = Y, trial: Trial = FIRST, X: Any = X, **options: Any) -> Any:
    return TableEvaluator(build, X, y, **{"cv": FOLDS, **options})(trial, SEEDS)


def test_losses_and_metrics_equal_scikit_learns() -> None:
    observation, _ = evaluate(metrics=["accuracy", "neg_log_loss"])
    expected = cross_val_score(KNeighborsClassifier(3), X, Y, cv=FOLDS)
    assert observation.losses == pytest.approx(tuple(1 - expected))
    assert observation.metrics["accuracy"] == pytest.approx(tuple(expected))
    logs = cross_val_score(KNeighborsClassifier(3), X, Y, cv=FOLDS, scoring="neg_log_loss")
    assert observation.metrics["neg_log_loss"] == pytest.approx(tuple(logs))
    assert observation.n_evaluations == 5
    assert observation.seconds > 0


def test_a_scorer_is_minimised_by_its_sign() -> None:
    observation, _ = evaluate(loss="f1_macro")
    expected = cross_val_score(KNeighborsClassifier(3), X, Y, cv=FOLDS, scoring="f1_macro")
    assert observation.losses == pytest.approx(tuple(-expected))


@pytest.mark.parametrize("labels", [np.array(["a", "b", "c"]), np.array([10, 20, 30]), np.array([-1.0, 0.0, 1.0])])
def test_predictions_are_kept_by_row(labels: Any) -> None:
    y = labels[Y]
    observation, kept = evaluate(y=y, loss="log-loss", keep="probabilities")
    assert observation.is_ok, observation.error
    expected = cross_val_predict(KNeighborsClassifier(3), X, y, cv=FOLDS, method="predict_proba")
    assert sorted(kept.rows) == list(range(150))
    assert np.allclose(kept.values, expected[kept.rows], atol=1e-6)
    assert kept.losses.shape == (150,)
    assert np.mean([kept.losses[kept.folds == fold].mean() for fold in range(5)]) == pytest.approx(observation.loss)


def test_classes_are_kept_as_codes() -> None:
    _, kept = evaluate(y=np.array(["x", "y", "z"])[Y], keep="predictions")
    expected = cross_val_predict(KNeighborsClassifier(3), X, Y, cv=FOLDS)
    assert kept.values.dtype == np.int16
    assert (kept.values == expected[kept.rows]).all()


def test_regression() -> None:
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(4)
    evaluator = TableEvaluator(lambda config, seed: LinearRegression(), X, y, cv=folds, keep="predictions")
    observation, kept = evaluator(trial(), SEEDS)
    assert kept is not None
    mse = -cross_val_score(LinearRegression(), X, y, cv=folds, scoring="neg_mean_squared_error")
    assert observation.losses == pytest.approx(tuple(mse))
    assert np.allclose(kept.values, cross_val_predict(LinearRegression(), X, y, cv=folds)[kept.rows])
    absolute, _ = TableEvaluator(evaluator.build, X, y, cv=folds, loss="absolute-error")(trial(), SEEDS)
    mae = -cross_val_score(LinearRegression(), X, y, cv=folds, scoring="neg_mean_absolute_error")
    assert absolute.losses == pytest.approx(tuple(mae))


def test_whole_numbers_can_be_a_regression() -> None:
    y = np.arange(150)
    assert TableEvaluator(knn, X, y, task="regression", cv=3).task == "regression"
    assert TableEvaluator(knn, X, y, loss="squared-error", cv=3).task == "regression"
    assert TableEvaluator(knn, X, Y).task == "classification"


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(X, columns=list("abcd")), sparse.csr_matrix(X), X],
    ids=["frame", "sparse", "array"],
)
def test_frames_and_sparse_matrices_give_the_same(table: Any) -> None:
    assert evaluate(X=table)[0].losses == evaluate()[0].losses


def test_a_class_absent_from_a_training_fold_has_probability_zero() -> None:
    y = np.array([0] * 10 + [1] * 10 + [2])
    table = np.random.default_rng(0).normal(size=(21, 2))
    split = [(np.arange(20), np.array([20])), (np.arange(1, 21), np.array([0]))]
    observation, kept = TableEvaluator(
        lambda config, seed: GaussianNB(), table, y, cv=split, loss="log-loss", keep="probabilities"
    )(trial(), SEEDS)
    assert observation.is_ok, observation.error
    assert kept is not None
    assert kept.values.shape == (2, 3)
    assert kept.values[0, 2] == 0
    assert observation.losses[0] == pytest.approx(-np.log(np.finfo(float).eps))


class TestWeights:
    weights = np.random.default_rng(1).random(150)

    def test_count_in_the_loss_and_in_the_fit(self) -> None:
        def build(config: Config, seed: int) -> Any:
            return make_pipeline(StandardScaler(), LogisticRegression(C=1e-2))

        observation, _ = evaluate(build, sample_weight=self.weights)
        for (train, test), loss in zip(FOLDS.split(X, Y), observation.losses, strict=True):
            weight = self.weights[train]
            scaler = StandardScaler().fit(X[train], sample_weight=weight)  # it counts rows, too
            model = LogisticRegression(C=1e-2).fit(scaler.transform(X[train]), Y[train], sample_weight=weight)
            wrong = model.predict(scaler.transform(X[test])) != Y[test]
            assert loss == pytest.approx(np.average(wrong, weights=self.weights[test]))

    def test_learners_that_take_none_are_fitted_without(self) -> None:
        assert evaluate(knn, sample_weight=self.weights)[0].is_ok

    @pytest.mark.parametrize(
        "weights", [np.zeros(150), -np.ones(150), np.full(150, np.nan), np.ones(149), np.ones((150, 2))]
    )
    def test_bad_ones_are_refused(self, weights: Any) -> None:
        with pytest.raises(ChoiceError, match="sample_weight"):
            TableEvaluator(knn, X, Y, sample_weight=weights)


class TestRepeatsAndContinuation:
    def test_repeats_are_further_resamplings(self) -> None:
        observation, _ = evaluate(trial=trial(repeats=3), cv=0.3, reshuffled=True, loss="log-loss")
        assert len(observation.losses) == 3
        assert len(set(observation.losses)) > 1

    def test_folds_on_demand_are_those_of_the_whole(self) -> None:
        whole, _ = evaluate(reshuffled=True)
        part, _ = evaluate(trial=trial(folds=(1, 3)), reshuffled=True)
        assert part.losses == (whole.losses[1], whole.losses[3])

    def test_a_continued_trial_goes_on_with_the_folds_of_the_first(self) -> None:
        whole, _ = evaluate(trial=trial(4), reshuffled=True)
        first, _ = evaluate(trial=trial(4, folds=(0,)), reshuffled=True)
        rest, _ = evaluate(trial=trial(9, folds=(1, 2, 3, 4), continues=4, root=4), reshuffled=True)
        assert first.losses + rest.losses == whole.losses

    def test_a_continued_trial_goes_on_with_further_repeats(self) -> None:
        whole, _ = evaluate(trial=trial(4, repeats=3), cv=0.3, reshuffled=True)
        first, _ = evaluate(trial=trial(4, repeats=1), cv=0.3, reshuffled=True)
        rest, _ = evaluate(trial=trial(9, repeats=2, continues=4, root=4, first_repeat=1), cv=0.3, reshuffled=True)
        assert first.losses + rest.losses == whole.losses


def test_the_selection_split_is_neither_trained_nor_judged_on() -> None:
    evaluator = TableEvaluator(knn, X, Y, selection_split=0.2, keep="predictions")
    _, first = evaluator(trial(0), SEEDS)
    _, second = evaluator(trial(1), SEEDS)
    assert first is not None
    assert second is not None
    assert len(set(first.rows)) == 120
    assert set(first.rows) == set(second.rows)


class TestSelectionSplit:
    @pytest.mark.parametrize("weight", [None, np.random.default_rng(1).random(150)], ids=["plain", "weighted"])
    def test_its_loss_is_that_of_each_folds_model_by_itself(self, weight: Any) -> None:
        """Lévesque 2018, §3.3: averaged over the models trained on the different training splits; not their vote."""
        y = (Y + (np.arange(150) % 4 == 0)) % 3  # a quarter of the labels are wrong
        evaluator = TableEvaluator(knn, X, y, selection_split=0.2, sample_weight=weight)
        observation, kept = evaluator(trial(), SEEDS)
        _, aside = carve_selection(y, None, 0.2, SEEDS, stratify=True)
        aside_weight = None if weight is None else weight[aside]
        models = [KNeighborsClassifier(3).fit(X[train], y[train]) for train, _ in evaluator.splits(0, 0, SEEDS)]
        expected = [np.average(model.predict(X[aside]) != y[aside], weights=aside_weight) for model in models]
        assert observation.selection_losses == pytest.approx(expected)
        assert observation.selection_loss == pytest.approx(np.mean(expected))
        assert len(set(expected)) > 1
        assert kept is None
        assert observation.metrics == {}

    @pytest.mark.parametrize("cv", [5, 0.3])
    def test_it_is_the_same_for_every_trial_even_if_reshuffled(self, cv: Any) -> None:
        evaluator = TableEvaluator(knn, X, Y, cv=cv, reshuffled=True, selection_split=0.2)
        _, aside = carve_selection(Y, None, 0.2, SEEDS, stratify=True)
        used = [np.sort(np.concatenate(split)) for number in range(6) for split in evaluator.splits(number, 0, SEEDS)]
        assert all((rows == np.setdiff1d(np.arange(150), aside)).all() for rows in used)
        assert len({tuple(evaluator.splits(number, 0, SEEDS)[0][1]) for number in range(6)}) == 6

    def test_a_scorer_and_log_loss_judge_it_too(self) -> None:
        _, aside = carve_selection(Y, None, 0.2, SEEDS, stratify=True)
        for loss in ("f1_macro", "log-loss"):
            evaluator = TableEvaluator(knn, X, Y, cv=0.3, selection_split=0.2, loss=loss)
            observation, _ = evaluator(trial(), SEEDS)
            [(train, _)] = evaluator.splits(0, 0, SEEDS)
            model = KNeighborsClassifier(3).fit(X[train], Y[train])
            scorer = get_scorer("neg_log_loss" if loss == "log-loss" else loss)
            assert observation.selection_losses == pytest.approx((-scorer(model, X[aside], Y[aside]),))

    def test_without_one_there_are_no_such_losses(self) -> None:
        observation, _ = evaluate()
        assert observation.selection_losses == ()
        assert np.isnan(observation.selection_loss)

    @pytest.mark.parametrize(
        "cv", [[(np.arange(100), np.arange(100, 150))], PredefinedSplit(Y), TimeSeriesSplit(3)], ids=stable
    )
    def test_splits_that_name_rows_are_refused(self, cv: Any) -> None:
        """They would be splits of other rows once some are set aside."""
        with pytest.raises(ChoiceError, match="whose splits mean certain rows"):
            TableEvaluator(knn, X, Y, cv=cv, selection_split=0.2)


class Failing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails at a chosen moment."""

    def __init__(self, how: str) -> None:
        self.how = how

    def fit(self, X: Any, y: Any) -> "Failing":
        if self.how == "fit":
            raise ValueError("singular matrix")
        if self.how == "exit":
            raise SystemExit(3)
        if self.how == "memory":
            raise MemoryError("no room")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        if self.how == "shape":
            return np.zeros(3)
        return np.zeros(len(X))

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 3), np.nan)


@pytest.mark.parametrize(
    ("how", "loss", "status", "text"),
    [
        ("fit", "zero-one", "failed", "fold 0: ValueError: singular matrix (at fit"),
        ("exit", "zero-one", "failed", "SystemExit: 3"),
        ("memory", "zero-one", "memory", "no room"),
        ("shape", "zero-one", "failed", "fold 0"),
        ("nan", "log-loss", "failed", "NaN or infinite probabilities"),
    ],
)
def test_a_failure_is_an_observation_with_its_text(how: str, loss: str, status: str, text: str) -> None:
    observation, kept = evaluate(lambda config, seed: Failing(how), loss=loss, keep="predictions")
    assert observation.status == status
    assert text in observation.error
    assert kept is None
    assert np.isnan(observation.loss)


def test_folds_before_the_failure_are_kept() -> None:
    calls: list[int] = []

    def build(config: Config, seed: int) -> Any:
        calls.append(seed)
        return KNeighborsClassifier(3) if len(calls) < 3 else Failing("fit")

    observation, _ = evaluate(build)
    assert observation.status == "failed"
    assert len(observation.losses) == 2
    assert observation.n_evaluations == 3
    assert "fold 2" in observation.error


class Sleeping(DummyClassifier):  # type: ignore[misc]
    """A fit of a twentieth of a second at least."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_a_trial_that_would_take_longer_than_it_may_is_given_up_after_its_first_fit() -> None:
    observation, predictions = evaluate(lambda config, random_state: Sleeping(), trial_seconds=0.2)
    assert (observation.status, observation.n_evaluations, len(observation.losses)) == ("timeout", 1, 1)
    assert "1 of 5 fits took" in observation.error
    assert predictions is None
    whole, _ = evaluate(lambda config, random_state: Sleeping(), trial_seconds=1_000.0)
    assert whole.is_ok


@pytest.mark.parametrize(
    ("seconds", "n_done", "most", "is_given_up"),
    [
        (0.0, 0, 1.0, False),  # nothing is known yet
        (1.0, 1, 5.0, False),
        (1.1, 1, 5.0, True),
        (4.0, 4, 4.9, True),
        (9.0, 5, 4.9, False),  # it is whole
        (9.0, 1, None, False),
    ],
)
def test_the_pace_of_the_first_fits_tells_how_long_five_take(
    seconds: float, n_done: int, most: float | None, is_given_up: bool
) -> None:
    with pytest.raises(TooLongError, match="of 5 fits") if is_given_up else nullcontext():
        check_seconds(seconds, n_done, 5, most)


def test_a_configuration_that_cannot_be_built_counts_as_a_fit() -> None:
    """Else a study with a budget of fits alone would never end."""

    def build(config: Config, seed: int) -> Any:
        raise ValueError("no such kernel")

    observation, _ = evaluate(build)
    assert (observation.status, observation.n_evaluations) == ("failed", 1)


@pytest.mark.parametrize("loss", ["log-loss", "neg_log_loss", "roc_auc_ovr"])
def test_a_learner_without_probabilities_is_judged_by_its_margins(loss: str) -> None:
    observation, _ = evaluate(lambda config, seed: LinearSVC(), loss=loss)
    assert observation.status == "ok"


def test_each_trial_repeat_and_fold_has_its_own_random_state_and_the_same_again() -> None:
    def states(number: int) -> list[int]:
        found: list[int] = []

        def build(config: Config, seed: int) -> Any:
            found.append(seed)
            return DummyClassifier()

        evaluate(build, trial=trial(number, repeats=2))
        return found

    assert states(3) == states(3)
    assert len(set(states(3) + states(4))) == 20


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"loss": "acuracy"}, UnknownName, "'accuracy'"),
        ({"metrics": ["roc_auk"]}, UnknownName, "'roc_auc'"),
        ({"y": Y[:-1]}, TableError, "Got 150 and 149"),
        ({"y": np.where(Y == 1, np.nan, Y)}, TableError, "50 of 150"),
        ({"y": np.where(Y == 1, np.inf, Y)}, TableError, "infinity"),
        ({"y": np.array([None] + ["a"] * 149, dtype=object)}, TableError, "missing"),
        ({"y": np.zeros(150, dtype=int)}, ChoiceError, "two classes"),
        ({"groups": np.arange(3)}, ChoiceError, "groups"),
        ({"cv": 200}, ResamplingError, "fewer folds"),
        ({"cv": PredefinedSplit(np.zeros(9))}, ResamplingError, "from 0 to 149|judge|both"),
        ({"keep": "all"}, ChoiceError, "'nothing'"),
        ({"y": np.array(["a", "b", "c"])[Y], "loss": "squared-error"}, ChoiceError, "numeric"),
    ],
    ids=stable,
)
def test_bad_input_is_refused_before_any_trial(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TableEvaluator(knn, X, options.pop("y", Y), **options)


def test_a_real_table_with_strings_as_classes() -> None:
    data = load_breast_cancer()
    y = data.target_names[data.target]
    observation, _ = TableEvaluator(knn, data.data, y, loss="roc_auc", metrics=["f1_macro"])(trial(), SEEDS)
    assert observation.is_ok, observation.error
    assert -1 < observation.loss < -0.9


def test_a_regressor_by_mistake_is_a_failure_not_a_score() -> None:
    observation, _ = evaluate(lambda config, seed: LinearRegression())
    assert observation.status == "failed"
    assert "is it a classifier?" in observation.error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "Classification"}, "'task'"),
        ({"metrics": "accuracy"}, "list"),
        ({"metrics": [lambda m, X, y: 1.0, lambda m, X, y: 2.0]}, "different names"),
        ({"metrics": [lambda m, X, y: 1.0, "accuracy"], "loss": accuracy_score}, "make_scorer"),
        ({"selection_split": 2}, "fraction"),
        ({"cv": [1, 2]}, "cv"),
        ({"cv": KFold}, "cv"),
        ({"sample_weight": ["a"] * 150}, "numbers"),
        ({"build": KNeighborsClassifier}, "lambda config"),
        ({"build": KNeighborsClassifier()}, "lambda config"),
        ({"build": "knn"}, "lambda config"),
        ({"X": np.ones(150)}, "reshape"),
        ({"y": np.array(["a", 1] * 75, dtype=object)}, "of one type"),
    ],
    ids=stable,
)
def test_mistakes_are_caught_before_any_trial(options: dict[str, Any], message: str) -> None:
    build, table, y = options.pop("build", knn), options.pop("X", X), options.pop("y", Y)
    with pytest.raises(ChoiceError, match=message):
        TableEvaluator(build, table, y, **options)


def test_lists_and_coordinate_matrices_are_tables() -> None:
    assert evaluate(X=X.tolist())[0].losses == evaluate(X=sparse.coo_matrix(X))[0].losses


def test_lazy_folds_of_a_learner_that_uses_the_global_generator_equal_the_whole() -> None:
    class Unseeded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> "Unseeded":
            self.answer = np.random.randint(3)  # noqa: NPY002 - a user's learner may
            return self

        def predict(self, X: Any) -> Any:
            return np.full(len(X), (np.arange(len(X)) + self.answer) % 3)

    whole, _ = evaluate(lambda config, seed: Unseeded(), trial=trial(repeats=2))
    parts = [evaluate(lambda config, seed: Unseeded(), trial=trial(folds=(fold,)))[0].losses for fold in range(5)]
    assert tuple(loss for part in parts for loss in part) == whole.losses[:5]


def test_scorers_that_take_no_weights_are_called_without() -> None:
    observation, _ = evaluate(loss=make_scorer(lambda y, p: 0.5), sample_weight=np.ones(150))
    assert observation.losses == (-0.5,) * 5
