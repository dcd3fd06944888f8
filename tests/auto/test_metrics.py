"""Every number that is shown is scikit-learn's own, in the user's metric and of the user's labels."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification, make_regression

from comitia import AutoClassifier, AutoRegressor
from comitia.errors import ChoiceError, ComitiaWarning, TableError
from comitia.evaluation.metrics import OF_CLUSTERS
from comitia.execution import Serial

QUICK: dict[str, Any] = {"n_trials": 3, "include": ["linear", "knn"], "cv": 3, "random_state": 0, "executor": Serial()}


def _imbalanced() -> tuple[Any, Any]:
    X, y = make_classification(400, 8, n_informative=4, weights=[0.92], random_state=1)
    return X, np.where(y == 1, "fraud", "ok")


def _numbers() -> tuple[Any, Any]:
    X, y = make_regression(200, 6, noise=20.0, random_state=0)
    return X, y - y.min() + 1.0


TABLES: dict[str, tuple[Any, Any]] = {
    "binary": load_breast_cancer(return_X_y=True),
    "texts": _imbalanced(),
    "multiclass": load_iris(return_X_y=True),
    "multiclass texts": (load_iris().data, np.array(["setosa", "virginica", "other"])[load_iris().target]),
    "numbers": load_diabetes(return_X_y=True),
    "synthetic": _numbers(),
}
OF_LABELS = ["accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "matthews_corrcoef", "recall_macro"]
OF_TWO = ["f1", "precision", "jaccard", "average_precision", "roc_auc"]
OF_CLASSES = ["neg_log_loss", "neg_brier_score", "roc_auc_ovr"]
OF_NUMBERS = [
    "r2",
    "neg_mean_absolute_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_percentage_error",
    "neg_root_mean_squared_log_error",
    "neg_median_absolute_error",
    "neg_mean_poisson_deviance",
    "explained_variance",
    "neg_max_error",
]
PINBALL = metrics.make_scorer(metrics.mean_pinball_loss, alpha=0.9, greater_is_better=False)
QUICK_CASES = {("texts", name) for name in ("f1", "balanced_accuracy", "roc_auc", "neg_log_loss")} | {
    ("synthetic", "neg_mean_absolute_error"),
    ("synthetic", "neg_root_mean_squared_log_error"),
}


def _cases() -> list[Any]:
    found = []
    for table, (_, y) in TABLES.items():
        n_classes = 0 if table in ("numbers", "synthetic") else len(np.unique(y))
        names: list[Any] = OF_NUMBERS if not n_classes else OF_LABELS + OF_CLASSES + (OF_TWO if n_classes == 2 else [])
        for name in names:
            marks = [] if (table, name) in QUICK_CASES else [pytest.mark.slow]
            found.append(pytest.param(table, name, id=f"{table}-{name}", marks=marks))
    found.append(pytest.param("synthetic", PINBALL, id="synthetic-pinball"))
    return found


def _fitted(scoring: Any, X: Any, y: Any, **options: Any) -> Any:
    kind = AutoRegressor if y.dtype.kind == "f" else AutoClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ComitiaWarning)
        return kind(scoring=scoring, **{**QUICK, **options}).fit(X, y)


def scikit_learns(scoring: Any, predictions: Any, positive: Any, weights: Any = None) -> float:
    """Compute a metric by scikit-learn's functions alone."""
    y, predicted, p = predictions.y, predictions.predictions, predictions.probabilities
    options: dict[str, Any] = {"sample_weight": weights}
    if not isinstance(scoring, str):
        return -metrics.mean_pinball_loss(y, predicted, alpha=0.9)
    name = scoring.removeprefix("neg_")
    if name in ("roc_auc", "average_precision"):
        of_positive = p[:, predictions.classes.tolist().index(positive)]
        function = metrics.roc_auc_score if name == "roc_auc" else metrics.average_precision_score
        return float(function(y == positive, of_positive, **options))
    if name == "roc_auc_ovr":
        return float(metrics.roc_auc_score(y, p if p.shape[1] > 2 else p[:, 1], multi_class="ovr", **options))
    if name == "log_loss":
        return -float(metrics.log_loss(y, p, labels=predictions.classes, **options))
    if name == "brier_score":
        one_hot = y[:, None] == predictions.classes
        scale = 0.5 if p.shape[1] == 2 else 1.0
        return -float(np.average(((p - one_hot) ** 2).sum(axis=1), weights=weights)) * scale
    if name in ("f1", "precision", "jaccard"):
        return float(getattr(metrics, f"{name}_score")(y, predicted, pos_label=positive, zero_division=0, **options))
    for ending in ("_macro", "_weighted"):
        if name.endswith(ending):
            function = getattr(metrics, f"{name.removesuffix(ending)}_score")
            return float(function(y, predicted, average=ending[1:], zero_division=0, **options))
    if name == "max_error":
        return -float(metrics.max_error(y, predicted))
    scorer: Any = metrics.get_scorer(scoring)
    return float(scorer._sign * scorer._score_func(y, predicted, **options))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # as scikit-learn's own score
@pytest.mark.parametrize(("table", "scoring"), _cases())
def test_validation_and_test_scores_are_scikit_learns(table: str, scoring: Any) -> None:
    X, y = TABLES[table]
    train, test = np.arange(len(y)) % 3 != 0, np.arange(len(y)) % 3 == 0
    y = y.astype(float) if table in ("numbers", "synthetic") else y
    model = _fitted(scoring, X[train], y[train])
    found = model.validation_predictions_
    positive = getattr(model, "pos_label_", None)
    assert (found.y == y[train][found.rows]).all()
    assert model.validation_score_ == pytest.approx(scikit_learns(scoring, found, positive), abs=1e-12, rel=1e-12)
    told = type(found)(
        np.flatnonzero(test),
        np.zeros(test.sum(), dtype=int),
        y[test],
        model.predict(X[test]),
        model.predict_proba(X[test]) if hasattr(model, "classes_") else None,
        getattr(model, "classes_", None),
    )
    assert model.score(X[test], y[test]) == pytest.approx(scikit_learns(scoring, told, positive), abs=1e-12, rel=1e-12)


LABELS = [("no", "yes"), (False, True), (7, 9), (1, 2), (2, 1), (-1, 1), ("zebra", "ant"), (0, 1)]


@settings(max_examples=8, deadline=None)
@given(
    pair=st.sampled_from(LABELS),
    scoring=st.sampled_from(["f1", "balanced_accuracy", "roc_auc", "neg_log_loss", "average_precision"]),
)
def test_scores_are_of_the_users_labels_whatever_they_are(pair: tuple[Any, Any], scoring: str) -> None:
    X, codes = make_classification(90, 4, weights=[0.7], flip_y=0.1, random_state=0)
    y = np.array(pair)[codes]
    model = _fitted(scoring, X, y, n_trials=1, include=["linear"])
    found = model.validation_predictions_
    assert found.y.dtype == y.dtype
    assert set(found.predictions.tolist()) <= set(y.tolist())
    assert model.validation_score_ == pytest.approx(scikit_learns(scoring, found, model.pos_label_), abs=1e-12)
    assert model.pos_label_ == (1 if 1 in y.tolist() and y.dtype.kind != "U" else pair[1])


def test_a_cost_of_the_users_sees_labels_and_the_frame() -> None:
    X, y = _imbalanced()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)]).assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    seen = []

    def cost(model: Any, table: Any, truth: Any) -> float:
        seen.append((list(table.columns), set(truth.tolist())))
        decided = model.predict(table)
        assert (model.predict(table.copy()) == decided).all()  # what is not the table itself is asked of the model
        missed = (truth == "fraud") & (decided == "ok")
        alarms = (truth == "ok") & (decided == "fraud")
        return -float((20 * missed + alarms).mean())

    model = _fitted(cost, frame, y)
    assert seen[0] == ([*frame.columns], {"fraud", "ok"})
    found = model.validation_predictions_
    missed = (found.y == "fraud") & (found.predictions == "ok")
    alarms = (found.y == "ok") & (found.predictions == "fraud")
    assert model.validation_score_ == -float((20 * missed + alarms).mean())
    # a rule that is tuned for it costs less than the most probable class
    plain = _fitted(cost, frame, y, decision_rule="argmax")
    assert model.validation_score_ > plain.validation_score_
    assert (plain.predict(frame) == plain.classes_[plain.predict_proba(frame).argmax(axis=1)]).all()


@pytest.mark.parametrize(
    ("scoring", "y", "message"),
    [
        ("f1", [0, 1, 2], "'f1_macro'"),
        ("roc_auc", [0, 1, 2], "'roc_auc_ovr'"),
        ("r2", [0, 1, 0], "'scoring' must be a metric for classification"),
        ("rand_score", [0, 1, 0], "for a clustering"),
        ("neg_root_mean_squared_log_error", [-5.0, 1.0, 2.0], "cannot work for this target"),
        ("accuracy", [0.5, 1.0, 2.0], "'scoring' must be a metric for regression"),
    ],
)
def test_a_metric_that_cannot_work_is_refused_before_the_search(scoring: str, y: Any, message: str) -> None:
    target = np.tile(y, 20)
    with pytest.raises(ChoiceError, match=message):
        _fitted(scoring, np.arange(60.0)[:, None], target)


class TestPositiveClass:
    def test_the_rarer_one_is_taken_with_a_message(self) -> None:
        X, y = _imbalanced()
        with pytest.warns(ComitiaWarning, match="'fraud', the rarer one, is taken as the positive class of f1"):
            model = AutoClassifier(scoring="f1", **QUICK).fit(X, y)
        assert model.pos_label_ == "fraud"

    def test_it_can_be_named(self) -> None:
        X, y = _imbalanced()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = AutoClassifier(scoring="f1", pos_label="ok", **QUICK).fit(X, y)
        assert model.score(X, y) == metrics.f1_score(y, model.predict(X), pos_label="ok")
        with pytest.raises(ChoiceError, match=r"must be one of the classes \['fraud', 'ok'\]. Got 'okay'"):
            AutoClassifier(scoring="f1", pos_label="okay", **QUICK).fit(X, y)


def test_further_metrics_cost_no_fit() -> None:
    X, y = TABLES["binary"]
    plain = _fitted("accuracy", X, y)
    more = _fitted("accuracy", X, y, metrics=["roc_auc", "log-loss"])
    assert more.study_.history.n_evaluations == plain.study_.history.n_evaluations
    assert more.validation_score_ == plain.validation_score_
    board = more.leaderboard()
    assert {"score", "roc_auc", "neg_log_loss", "fit_seconds", "predict_seconds", "weight", "learner"} <= set(board)
    committee = board.set_index("learner").loc["committee"]
    found = more.validation_predictions_
    assert committee["roc_auc"] == metrics.roc_auc_score(found.y, found.probabilities[:, 1])
    assert more.validation_scores_ == {
        "score": committee["score"],
        "roc_auc": committee["roc_auc"],
        "neg_log_loss": committee["neg_log_loss"],
    }


def test_the_leaderboard_has_scores_of_labelled_rows() -> None:
    X, y = _imbalanced()
    model = _fitted("roc_auc", X[::2], y[::2], n_trials=6, metrics=["neg_log_loss"])
    X_new, y_new = X[1::2], y[1::2]
    board = model.leaderboard(X_new, y_new)
    committee = board.drop_duplicates("learner").set_index("learner").loc["committee"]
    assert committee["test_score"] == model.score(X_new, y_new)
    expected = -metrics.log_loss(y_new, model.predict_proba(X_new))
    assert committee["test_neg_log_loss"] == pytest.approx(expected, abs=1e-12)
    inside = board["weight"] > 0
    assert board.loc[board["weight"] == 0, "test_score"].isna().all()
    assert board.loc[inside, "test_score"].notna().all()
    assert board["score"].is_monotonic_decreasing
    for name in ("fit_seconds", "predict_seconds"):
        assert committee[name] == pytest.approx(board.loc[inside & board["number"].notna(), name].sum())
    weights = np.where(y_new == "fraud", 5.0, 1.0)
    weighted = model.leaderboard(X_new, y_new, weights).set_index("learner")
    assert weighted.loc["committee", "test_score"] == model.score(X_new, y_new, weights)
    with pytest.raises(ChoiceError, match="X and y together"):
        model.leaderboard(X_new)


def _of_the_only_member(model: AutoClassifier, X: Any) -> Any:
    """Return its probabilities before the committee's temperature, which is found on rows as they are scored."""
    [member] = model.members_
    pipeline: Any = member.pipeline
    return pipeline.predict_proba(model.cleaner_.transform(X))


class TestWeights:
    def test_classes_count_in_fits_and_not_in_scores(self) -> None:
        X, y = _imbalanced()
        model, plain = _fitted("accuracy", X, y, class_weight="balanced"), _fitted("accuracy", X, y)
        found = model.validation_predictions_
        assert model.validation_score_ == metrics.accuracy_score(found.y, found.predictions)
        assert (model.predict(X) == "fraud").sum() > (plain.predict(X) == "fraud").sum()

    def test_rows_count_in_both(self) -> None:
        X, y = _imbalanced()
        weights = np.where(y == "fraud", 3.0, 1.0)
        model = AutoClassifier(scoring="neg_log_loss", **QUICK).fit(X, y, sample_weight=weights)
        found: Any = model.validation_predictions_
        expected = -metrics.log_loss(found.y, found.probabilities, sample_weight=weights[found.rows])
        assert model.validation_score_ == pytest.approx(expected, abs=1e-12)
        one: dict[str, Any] = {**QUICK, "n_trials": 1, "include": ["linear"]}
        one["scoring"] = "neg_log_loss"
        rows = _of_the_only_member(AutoClassifier(**one).fit(X, y, sample_weight=weights), X)
        classes = _of_the_only_member(AutoClassifier(class_weight={"fraud": 3.0}, **one).fit(X, y), X)
        assert (classes == rows).all()
        assert (_of_the_only_member(AutoClassifier(**one).fit(X, y), X) != rows).any()

    @pytest.mark.parametrize("weights", [{"frod": 2.0}, "even", {"fraud": -1.0}])
    def test_strange_ones_are_refused(self, weights: Any) -> None:
        X, y = _imbalanced()
        with pytest.raises(ChoiceError, match="class_weight"):
            _fitted("accuracy", X, y, class_weight=weights)


def test_decisions_of_a_fold_are_made_by_a_rule_of_the_others() -> None:
    """Answers of a fold do not depend on how its own rows would be decided best."""
    X, y = _imbalanced()
    model = _fitted("balanced_accuracy", X, y)
    found = model.validation_predictions_
    assert model.decision_rule_.threshold != 0.5
    whole = model.classes_[model.decision_rule_(found.probabilities)]
    for fold in range(3):
        part = found.folds == fold
        p = found.probabilities[part][:, 0]
        is_fraud = found.predictions[part] == "fraud"
        assert p[is_fraud].min() > p[~is_fraud].max()  # one threshold for the fold
    assert (whole == "fraud").any()
    plain = _fitted("balanced_accuracy", X, y, decision_rule="argmax")
    assert (plain.predict_proba(X) == model.predict_proba(X)).all()  # probabilities are not touched


def test_a_metric_without_a_number_for_one_fold_is_of_all_folds_together() -> None:
    """ROC AUC needs two classes among the rows that it is of."""
    X, y = make_classification(60, 4, random_state=0)
    order = np.argsort(y, kind="stable")
    splits = [(np.setdiff1d(np.arange(60), part), part) for part in np.array_split(order, 3)]
    model = _fitted("roc_auc", X, y, cv=splits)
    assert model.study_.history.n_failed == 0
    assert 0 < model.best_score_ <= 1


def test_permutation_importance_finds_the_column_that_matters() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": rng.normal(size=300), "signal": rng.normal(size=300), "text": ["a", "b", "c"] * 100})
    y = np.where(frame["signal"] + 0.1 * rng.normal(size=300) > 0, "yes", "no")
    model = _fitted("roc_auc", frame[:200], y[:200])
    found = model.feature_importance(frame[200:], y[200:]).set_index("column")
    assert set(found.index) == {"noise", "signal", "text"}
    assert found.index[0] == "signal"
    assert found.loc["signal", "low"] > 0.2
    assert found.loc["noise", "low"] <= 0 <= found.loc["noise", "high"]


def test_importance_knows_the_models_columns_and_the_weights_of_rows() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "unused": rng.normal(size=200)})
    is_first = np.arange(200) < 100
    y = np.where(np.where(is_first, frame["a"], frame["b"]) > 0, "yes", "no")
    model = _fitted("accuracy", frame[["a", "b"]], y)
    found = {
        part: model.feature_importance(frame, y, weights.astype(float)).set_index("column")["importance"]
        for part, weights in (("first", is_first), ("second", ~is_first))
    }
    assert set(found["first"].index) == {"a", "b"}
    assert found["first"]["a"] > found["second"]["a"]
    assert found["first"]["b"] < found["second"]["b"]


def test_a_class_that_accuracy_hardly_counts_is_named() -> None:
    X, y = _imbalanced()
    with pytest.warns(ComitiaWarning, match="of the rows are 'fraud', which accuracy hardly counts"):
        AutoClassifier(**QUICK).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AutoClassifier(scoring="balanced_accuracy", **QUICK).fit(X, y)
        AutoClassifier(**QUICK).fit(*TABLES["binary"])


def _broken(model: Any, X: Any, y: Any) -> float:
    raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (_broken, "KeyError: 'no such thing'"),
        (lambda truth, predicted: 1.0, "must be a callable"),
        (lambda model, X, y: np.nan, "must return a finite number"),
        (lambda model, X, y: np.ones(3), "must be a callable"),
    ],
)
def test_a_function_that_cannot_work_is_refused_before_the_search(scoring: Any, message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        _fitted(scoring, *_imbalanced())


def test_a_further_metric_that_fails_costs_no_trial() -> None:
    def on_few(model: Any, X: Any, y: Any) -> float:
        return 1.0 / (len(y) > 150)  # fails on a fold, not where it is tried

    model = _fitted("accuracy", *_imbalanced(), metrics=[on_few])
    assert model.study_.history.n_failed == 0
    assert np.isnan(model.leaderboard()["on_few"].iloc[-1])


def test_the_threshold_is_of_the_positive_class() -> None:
    X, y = _imbalanced()
    model = _fitted("f1", X, y, pos_label="fraud")
    p = model.predict_proba(X)[:, model.classes_.tolist().index("fraud")]
    is_near = np.abs(p - model.threshold_) < 1e-9
    assert ((p > model.threshold_) == (model.predict(X) == "fraud"))[~is_near].all()


def test_rows_without_a_target_are_not_scored() -> None:
    X, y = _imbalanced()
    model = _fitted("accuracy", X, y, n_trials=1)
    with pytest.raises(TableError, match="missing in 1 of 400"):
        model.score(X, np.where(np.arange(400) == 3, None, y))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", sorted(metrics.get_scorer_names()))
def test_every_scorer_of_scikit_learns_works_or_is_refused_before_the_search(name: str) -> None:
    n_refused = 0
    for table in ("texts", "multiclass", "synthetic"):
        X, y = TABLES[table]
        try:
            model = _fitted(name, X, y, n_trials=2)
        except ChoiceError:
            n_refused += 1
            continue
        assert np.isfinite([model.validation_score_, model.best_score_]).all()
        assert np.isfinite(model.score(X, y)) or name == "positive_likelihood_ratio"  # nothing found that is wrong
        assert model.study_.history.n_failed == 0
    assert n_refused < 3 or name.endswith("_samples") or name in OF_CLUSTERS
