"""What to expect on new rows: not what the search has fitted itself to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import TimeSeriesSplit

from comitia import AutoClassifier, AutoRegressor, Serial, load
from comitia.auto import reselection
from comitia.auto.estimate import Estimate
from comitia.auto.noise import left_out, widening_by_few
from comitia.auto.reselection import Reselection, answers_of_trials
from comitia.errors import ChoiceError
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import make_scoring

X, Y = load_iris(return_X_y=True)
D, NUMBERS = load_diabetes(return_X_y=True)


QUICK: dict[str, Any] = {
    "n_trials": 6, "include": ["linear", "knn"], "executor": Serial(), "random_state": 0, "cv": 3,
}  # fmt: skip


def classifier(**options: Any) -> AutoClassifier:
    return AutoClassifier(**(QUICK | options))


def regressor(**options: Any) -> AutoRegressor:
    return AutoRegressor(**(QUICK | options))


def searched_noise(seed: int) -> AutoClassifier:
    """Return a search that finds something in labels that nothing predicts."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 120)
    options: dict[str, Any] = {"n_trials": 25, "include": ["knn", "linear", "svm"], "random_state": seed}
    return classifier(**options).fit(rng.normal(size=(120, 8)), labels)


@pytest.fixture(scope="module")
def noise() -> AutoClassifier:
    return searched_noise(0)


def known(model: AutoClassifier | AutoRegressor) -> Estimate:
    assert model.estimate_ is not None
    return model.estimate_


def test_a_search_on_noise_is_expected_to_guess(noise: AutoClassifier) -> None:
    models = [noise, *map(searched_noise, range(1, 4))]
    found = [known(model) for model in models]
    for model, one in zip(models, found, strict=True):
        assert one.optimistic == model.validation_score_ > 0.55
        assert one.score < one.optimistic
        assert one.interval[0] < 0.5 < one.interval[1]
        assert one.beats_default is False
        assert one.n_rows == 120
    assert np.mean([one.optimistic - one.score for one in found]) > 0.02


def test_the_short_way_is_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions by products of models, and by the method's own selection on a history of fewer rows."""
    study = regressor(n_trials=12, include=["knn", "linear", "svm"]).fit(D, NUMBERS).study_
    kept = answers_of_trials(study, np.arange(len(D)))
    assert kept is not None
    counts = left_out(np.arange(len(D)), NUMBERS, 10, np.random.default_rng(0))
    quick, slow = (Reselection(kept, Given(NUMBERS), make_scoring("r2", "regression"), None) for _ in range(2))
    found = quick(counts)
    assert quick.is_quick
    monkeypatch.setattr(reselection, "can_choose", lambda greedy, loss: False)
    everything = np.arange(len(D))
    for members, expected in zip(found, slow(counts), strict=True):
        # sums in single precision may break a tie between models that are alike: what is predicted hardly changes
        said, wanted = (np.asarray(kept.said(one, everything, None).values) for one in (members, expected))
        assert np.sqrt(np.mean((said - wanted) ** 2)) < 1e-3 * NUMBERS.std()
    assert not slow.is_quick


def test_what_is_learned_is_expected() -> None:
    found = known(classifier().fit(X, Y))
    assert 0.85 < found.interval[0] < found.score < found.interval[1] <= 1.0
    assert found.score <= found.optimistic + 1e-9
    assert found.metric == "accuracy"
    assert str(found).startswith("accuracy 0.9")


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss", "balanced_accuracy", "neg_brier_score"])
def test_it_is_in_the_users_metric(scoring: str) -> None:
    few = Y < 2
    model = classifier(scoring=scoring, n_trials=4).fit(X[few] + np.random.default_rng(0).normal(size=(100, 4)), Y[few])
    found = known(model)
    assert found.metric == scoring
    assert found.interval[0] <= found.score <= found.interval[1] <= (0.0 if scoring.startswith("neg") else 1.0)
    assert found.optimistic == model.validation_score_


@pytest.mark.parametrize("scoring", ["r2", "rmse", "mae"])
def test_numbers(scoring: str) -> None:
    model = regressor(scoring=scoring, n_trials=4).fit(D, NUMBERS)
    found = known(model)
    assert found.interval[0] < found.score < found.interval[1]
    assert found.score == pytest.approx(model.validation_score_, rel=0.1)


def test_a_function_of_the_users() -> None:
    def cost(model: Any, table: Any, y: Any) -> float:
        return -float(np.mean(np.abs(table[:, 0]) * (model.predict(table) != y)))

    assert known(classifier(scoring=cost, n_trials=3).fit(X, Y)).metric == "a function"


@pytest.mark.parametrize("method", ["bayes", "eo-sqm", "rs-post", "esmbo", "committee-log", "gp-sel"])
def test_every_kind_of_selection(method: str) -> None:
    found = known(classifier(method=method).fit(X, Y))
    assert 0.85 < found.score <= 1.0


def test_what_was_never_tried_has_no_estimate() -> None:
    model = classifier(method="gp-pm", n_trials=8).fit(X, Y)
    assert model.members_[0].trial is not None or model.estimate_ is None


def test_groups_make_the_interval_wider() -> None:
    """Rows of a group are alike: there is less to learn from them than from as many rows."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 10)
    table = rng.normal(size=(20, 3))[groups] + 0.01 * rng.normal(size=(200, 3))
    y = table[:, 0] + rng.normal(size=20)[groups]
    widths = []
    for given in (groups, np.arange(200)):
        low, high = known(regressor(cv=4, scoring="mse").fit(table, y, groups=given)).interval
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1]


def test_it_says_which_rows_it_is_made_of() -> None:
    timed = known(regressor(cv=TimeSeriesSplit(4)).fit(D, NUMBERS))
    assert timed.rows == "352 of 442 rows"
    assert "made of 352 of 442 rows" in str(timed)
    judged = known(regressor().fit(D[:300], NUMBERS[:300], X_val=D[300:], y_val=NUMBERS[300:]))
    assert judged.rows == "142 of 442 rows"
    assert known(regressor().fit(D, NUMBERS)).rows == "all rows"


def test_weights_count() -> None:
    """Rows that count for nothing are predicted badly, and nobody cares."""
    y = NUMBERS.copy()
    y[:100] += 1e4 * np.random.default_rng(0).choice([-1, 1], 100)
    weights = np.r_[np.zeros(100), np.ones(342)]
    options: dict[str, Any] = {"scoring": "mae", "n_trials": 2, "include": ["linear"]}
    assert known(regressor(**options).fit(D, y, sample_weight=weights)).score > -80
    assert known(regressor(**options).fit(D, y)).score < -500


def test_a_better_model_beats_the_default() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 2))
    labels = (table[:, 0] * table[:, 1] > 0).astype(int)  # no linear model, which is the first trial, sees it
    found = known(classifier(n_trials=4).fit(table, labels))
    assert found.beats_default
    assert found.against_default.startswith("It is better than the default")


def test_nested() -> None:
    model = classifier(estimate="nested", n_trials=3, include=["linear"]).fit(X, Y)
    found = known(model)
    assert found.manner == "nested"
    assert found.optimistic == model.validation_score_
    assert 0.9 < found.score <= 1.0
    numbers = known(regressor(estimate="nested", n_trials=2, include=["linear"]).fit(D, NUMBERS, np.ones(len(D))))
    assert 0.4 < numbers.score < 0.6


@pytest.mark.parametrize("options", [{"cv": [(np.arange(100), np.arange(100, 150))]}, {"cv": 0.3}])
def test_nested_needs_splits_that_can_be_made_again(options: Any) -> None:
    with pytest.raises(ChoiceError, match="split the rows again"):
        classifier(estimate="nested", **options).fit(X, Y)
    with pytest.raises(ChoiceError, match="X_val"):
        classifier(estimate="nested").fit(X, Y, X_val=X, y_val=Y)


def test_none_is_made_where_none_is_wanted() -> None:
    assert classifier(estimate=False, n_trials=2).fit(X, Y).estimate_ is None
    with pytest.raises(ChoiceError, match="'auto', 'nested' or False"):
        classifier(estimate="honest").fit(X, Y)


def test_it_is_kept_with_the_model_and_shown(noise: AutoClassifier, tmp_path: Path) -> None:
    noise.save(tmp_path / "model")
    assert load(tmp_path / "model").estimate_ == noise.estimate_
    assert str(known(noise)) in noise._repr_html_()
    board = noise.leaderboard()
    assert board["estimate"].count() == 1
    assert board.loc[board["estimate"].notna(), "estimate"].item() == known(noise).score


def test_the_same_seed_gives_the_same_estimate() -> None:
    one, other = (known(classifier(n_trials=3).fit(X, Y)) for _ in range(2))
    assert one == other


def test_a_class_of_one_row_does_not_cost_all_that_a_number_can_say() -> None:
    labels = Y[:100].copy()
    labels[50] = 2
    found = known(classifier(scoring="neg_log_loss").fit(X[:100], labels))
    assert found.score > -0.25  # one of 100 rows with a probability of 0 would cost .36
    assert found.interval[0] > -1.0


def test_the_fewer_groups_the_wider_the_interval() -> None:
    widths = {}
    for n_groups in (3, 60):
        found = known(classifier(n_trials=1, cv=3).fit(X[:120], Y[:120], groups=np.arange(120) % n_groups))
        widths[n_groups] = found.interval[1] - found.interval[0]
    assert widths[3] > widths[60]
    assert widening_by_few(2) > 5.0
    assert widening_by_few(1000) == pytest.approx(1.0, abs=0.002)
