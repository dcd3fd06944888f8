"""Committees end to end: kept predictions become members, after a resume too."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from comitia import (
    METHODS,
    AutoClassifier,
    Method,
    Reshuffled,
    SearchCV,
    Seeds,
    Study,
    TableEvaluator,
    get_method,
    minimize,
)
from comitia.committees import Ensemble
from comitia.committees.bootstraps import Bootstraps
from comitia.committees.greedy import Greedy
from comitia.committees.losses import BRIER, LOG_LOSS
from comitia.committees.slots import SlotRules
from comitia.errors import ChoiceError, NothingFound
from comitia.goals import BootstrapRisk, EnsembleLoss
from comitia.methods import kept_by
from comitia.optimizers import RandomSearch
from comitia.selections.committees import AgnosticBayes, GreedyCommittee, SlotCommittee
from tests.committees.histories import SEARCH, played

X, Y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(size=X.shape)  # else everybody is right
SPACE = {"depth": list(range(1, 7)), "leaf": list(range(1, 15))}
COMMITTEES = sorted(name for name, method in METHODS.items() if method.compares_rows)
BY_SECONDS = ("-per-second", "-cooled")


def tree(config: Any, seed: int) -> Any:
    return DecisionTreeClassifier(max_depth=config["depth"], min_samples_leaf=config["leaf"], random_state=seed)


def regression_tree(config: Any, seed: int) -> Any:
    return DecisionTreeRegressor(max_depth=config["depth"], min_samples_leaf=config["leaf"], random_state=seed)


def evaluator_for(method: Method, **options: Any) -> TableEvaluator:
    options = {"cv": 3, **options}
    return TableEvaluator(tree, X, Y, keep=kept_by(method, options.get("loss", "zero-one")), **options)


def run(name: str, n_trials: int = 9, storage: Any = None, **options: Any) -> Study:
    study = Study(SPACE, name, seed=0, storage=storage)
    return study.run(evaluator_for(study.method, **options), n_trials=n_trials)


def shares(study: Study) -> dict[Any, float]:
    return {member.trial: member.weight for member in study.members()}


def values_of(study: Study, number: int) -> Any:
    """What a trial's models said, by ascending row."""
    predictions = study.history.predictions(number)
    assert predictions is not None
    return np.asarray(predictions.values)[np.argsort(predictions.rows)]


@pytest.mark.parametrize("name", COMMITTEES)
def test_every_committee_is_a_function_of_the_record(name: str, tmp_path: Path) -> None:
    """A study that was closed and resumed continues and ends as one that was not."""
    if name.endswith(BY_SECONDS):
        pytest.skip("its suggestions depend on recorded seconds, which no two runs share")
    whole = run(name)
    run(name, 5, tmp_path / "study.db").close()
    with Study.open(tmp_path / "study.db") as parted:
        shares(parted)  # nothing but the file is needed
        parted.run(evaluator_for(parted.method), n_trials=9)
        assert parted.history.X.tolist() == whole.history.X.tolist()
        assert shares(parted) == shares(whole) == shares(parted.in_memory())
    assert sum(shares(whole).values()) == pytest.approx(1)


def of_first(study: Study, n: int) -> Any:
    """What the goal said of the first trials when there were no others."""
    return study.method.goal.values(study.history, study.seeds).of_first(n)


@pytest.mark.parametrize("name", ["committee", "eo-sqm"])
def test_a_goal_remembers_the_values_that_it_had(name: str) -> None:
    """What it says now of the first trials is what it said when there were no others; failures count as the worst."""
    method = METHODS[name]
    assert isinstance(method.goal, EnsembleLoss)
    study = Study(SPACE, name, seed=0)
    then = {}
    for n in range(1, 15):
        if n == 6:
            study.tell(study.ask(1)[0], error="it failed")
        else:
            study.run(evaluator_for(method), n_trials=n)
        then[n] = method.goal.values(study.history, study.seeds).now
        for early in (3, 3, 5):  # also when it is asked again, and when there are more
            if early in then:
                assert np.array_equal(of_first(study, early), then[early])
    for n, values in then.items():
        assert np.array_equal(of_first(study, n), values)
    assert len({values[0] for values in then.values()}) > 2  # they did move


@pytest.mark.parametrize("cv", [0.4, Reshuffled(KFold(3)), 2], ids=["hold-out", "reshuffled k-fold", "k-fold"])
@pytest.mark.parametrize("name", ["eo-sig", "esmbo"])
def test_folds_and_a_hold_out_that_stays_give_committees(name: str, cv: Any) -> None:
    assert len(run(name, cv=cv).members()) >= 1


@pytest.mark.parametrize("name", ["eo-c", "rs-post", "ers"])
def test_a_reshuffled_hold_out_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ChoiceError, match="judges each trial on other rows"):
        run(name, cv=Reshuffled(ShuffleSplit(1, test_size=0.3)))


@pytest.mark.parametrize("name", ["eo-sqm", "rs-post", "esmbo"])
def test_weights_and_the_log_loss_are_respected(name: str) -> None:
    weights = np.where(Y == 2, 0.0, 1.0)
    assert run(name, loss="log-loss", sample_weight=weights).members()


def test_numbers_have_committees_too() -> None:
    rows, y = load_diabetes(return_X_y=True)
    for name in ("rs-post", "ers", "eo-sqm"):
        study = Study(SPACE, name, seed=0)
        study.run(TableEvaluator(regression_tree, rows, y, cv=3, keep="predictions"), n_trials=8)
        mean = sum(weight * values_of(study, number) for number, weight in shares(study).items())
        alone = study.best_trial.loss
        assert float(np.mean((np.asarray(mean) - y) ** 2)) < alone


NUMBERS: list[Any] = [GreedyCommittee(Greedy(n_warm=3)), SlotCommittee(SlotRules(None)), AgnosticBayes(Bootstraps(30))]
GOALS: list[Any] = [EnsembleLoss(SlotRules(None, n_slots=2)), BootstrapRisk(Bootstraps(30))]


def named(choice: Any) -> str:
    return type(choice).__name__


@pytest.mark.parametrize("selection", NUMBERS, ids=named)
@pytest.mark.parametrize("scale", [1e-5, 2.0**-100, 2.0**60])
def test_the_scale_of_numbers_changes_no_committee(selection: Any, scale: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    answers = y + rng.normal(size=(15, 60)) * np.linspace(2.0, 1.0, 15)[:, None]
    members = [selection.members(played(factor * answers, factor * y, 0), SEARCH, Seeds(0)) for factor in (1.0, scale)]
    assert members[0] == members[1]
    assert len(members[0]) > 1


@pytest.mark.parametrize("large", [1e19, 1e30, 1e150])
def test_predictions_beyond_all_bounds_are_bad_and_nothing_else(large: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    answers = y + rng.normal(size=(6, 40))
    answers[[0, 3]] = large
    history = played(answers, y, 0)
    for goal in GOALS:
        values = goal.values(history, Seeds(0)).now
        assert np.isfinite(values).all()
        assert values[[0, 3]].min() > values[[1, 2, 4, 5]].max()
    for selection in NUMBERS[::2]:  # twelve slots have room for all six
        assert {member.trial for member in selection.members(history, SEARCH, Seeds(0))} <= {1, 2, 4, 5}
    assert SlotCommittee(SlotRules(None, n_slots=2)).members(history, SEARCH, Seeds(0))[0].trial in {1, 2, 4, 5}
    alone = played(np.full((2, 40), large), y, 0)
    for selection in NUMBERS:
        assert selection.members(alone, SEARCH, Seeds(0))


def test_what_was_kept_with_weights_is_what_the_fitted_ensemble_predicts() -> None:
    """On a hold-out without refit, the members' kept probabilities average to the ensemble's."""
    method = Method(
        "post", RandomSearch, "x.", selection=GreedyCommittee(Greedy(most_members=4), wants_probabilities=True)
    )
    study = Study(SPACE, method, seed=1)
    evaluator = evaluator_for(method, cv=0.4)
    assert evaluator.keep == "probabilities"
    study.run(evaluator, n_trials=12)
    members = study.members()
    assert len(members) > 1
    models, kept = [], 0.0
    for member in members:
        assert member.trial is not None
        [(train, test)] = evaluator.splits(member.trial, 0, study.seeds)
        seed = study.seeds.integer("learner", member.trial, 0, 0)
        models.append(tree(member.config, seed).fit(X[train], Y[train]))
        kept = kept + member.weight * values_of(study, member.trial)[np.argsort(np.argsort(test))]
    ensemble = Ensemble(models, [member.weight for member in members], 3)
    assert np.allclose(ensemble.predict_proba(X[test]), kept, atol=1e-6)


def test_an_ensemble_can_vote() -> None:
    models = [DecisionTreeClassifier(max_depth=d, random_state=0).fit(X, Y) for d in (1, 2, 3)]
    votes = np.stack([model.predict(X) for model in models])
    expected = [np.bincount(votes[:, i], weights=[0.4, 0.3, 0.3], minlength=3).argmax() for i in range(len(X))]
    assert Ensemble(models, [0.4, 0.3, 0.3], 3, votes=True).predict(X).tolist() == expected


def test_learners_without_probabilities_give_margins_to_a_committee_of_probabilities() -> None:
    evaluator = TableEvaluator(lambda config, seed: LinearSVC(C=config["C"]), X, Y, cv=2, keep="probabilities")
    study = Study({"C": [0.1, 1.0]}, get_method("grid"), seed=0).run(evaluator, n_trials=2)
    predictions = study.history.predictions(0)
    assert predictions is not None
    assert predictions.values.shape == (len(Y), 3)
    assert np.allclose(predictions.values.sum(axis=1), 1, atol=1e-5)


def test_a_loss_of_averages_asks_for_probabilities() -> None:
    goal = EnsembleLoss(SlotRules(LOG_LOSS, LOG_LOSS, n_slots=None))
    assert kept_by(Method("m", RandomSearch, "x.", goal=goal), "zero-one") == "probabilities"
    selection = GreedyCommittee(loss=BRIER)
    assert kept_by(Method("m", RandomSearch, "x.", selection=selection), "zero-one") == "probabilities"
    assert kept_by(METHODS["eo-sqm"], "zero-one") == kept_by(METHODS["rs-post"], "zero-one") == "predictions"
    assert kept_by(METHODS["eo-sqm"], "log-loss") == "probabilities"


@pytest.mark.parametrize("name", ["eo-sqm", "ers", "bo-post"])
def test_who_keeps_no_predictions_is_told_so(name: str) -> None:
    with pytest.raises(ChoiceError, match="keep='predictions'"):
        Study(SPACE, name, seed=0).run(TableEvaluator(tree, X, Y), n_trials=2)
    with pytest.raises(ChoiceError, match="keeps predictions"):
        minimize(lambda config: 0.0, SPACE, method=name, n_trials=2)
    with pytest.raises(ChoiceError, match="AutoClassifier"):
        SearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, method=name, n_trials=2).fit(X, Y)


def test_an_estimator_hands_over_the_committee_that_was_found() -> None:
    model = AutoClassifier(method="rs-post", n_trials=6, include=["knn", "linear"], random_state=0, cv=3).fit(X, Y)
    assert len(model.members_) > 1
    votes = np.stack([member.pipeline.predict(model.cleaner_.transform(X)) for member in model.members_])
    weights = [member.weight for member in model.members_]
    counts = [np.bincount(votes[:, i], weights=weights, minlength=3).argmax() for i in range(len(X))]
    assert (model.predict(X) == np.asarray(counts)).all()


def test_an_estimator_that_found_a_committee_can_be_pickled() -> None:
    model = AutoClassifier(method="eo-sqm", n_trials=3, include=["linear"], random_state=0, cv=2).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.study_.members() == model.study_.members()


@pytest.mark.parametrize(
    ("scoring", "by_row", "keep"),
    [
        ("accuracy", "zero-one", "predictions"),
        ("accuracy", "log-loss", "probabilities"),
        ("r2", "squared-error", "predictions"),
    ],
)
def test_scorers_of_whole_folds_leave_agnostic_bayes_its_rows(scoring: str, by_row: str, keep: Any) -> None:
    """They keep no losses by row: those that follow from what was predicted stand in for them."""
    rows, y = load_diabetes(return_X_y=True) if scoring == "r2" else (X, Y)
    build = regression_tree if scoring == "r2" else tree
    studies = [
        Study(SPACE, "ers", seed=0).run(TableEvaluator(build, rows, y, cv=3, loss=loss, keep=keep), n_trials=30)
        for loss in (scoring, by_row)
    ]
    assert shares(studies[0]) == shares(studies[1])
    values = [BootstrapRisk().values(study.history, Seeds(0)).now for study in studies]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        (SlotRules, {"loss": None, "n_slots": 0}),
        (SlotRules, {"loss": None, "n_slots": 2.5}),
        (Bootstraps, {"n": 0}),
        (AgnosticBayes, {"most_members": 0}),
        (Greedy, {"n_steps": 0}),
        (Greedy, {"n_warm": -1}),
        (Greedy, {"n_bags": -2}),
        (Greedy, {"most_members": 0}),
        (Greedy, {"bag": 0.0}),
        (Greedy, {"bag": 1.5}),
        (Greedy, {"bag": np.nan}),
        (Greedy, {"per_second": -1.0}),
    ],
)
def test_sizes_that_make_no_sense_are_refused(choice: Any, options: dict[str, Any]) -> None:
    [*_, name] = options
    with pytest.raises(ChoiceError, match=f"The '{name}' parameter of {choice.__name__} must be .* Got "):
        choice(**options)


def test_all_trials_failing_is_said_plainly() -> None:
    def broken(config: Any, seed: int) -> Any:
        raise ValueError("no")

    for name in COMMITTEES:
        study = Study(SPACE, name, seed=0)
        keep = kept_by(study.method, "zero-one")
        study.run(TableEvaluator(broken, X, Y, cv=2, keep=keep), n_trials=7)
        with pytest.raises(NothingFound, match="At least one trial must succeed"):
            study.members()
        assert np.isfinite(study.method.goal.values(study.history, Seeds(0)).now).all()


def members_of(probabilities: Any, y: Any, share: float) -> dict[int | None, float]:
    """Choose among models that say these probabilities; the first is the default configuration."""
    history = played(probabilities, y, 2)
    chosen = GreedyCommittee(Greedy(most_members=8), loss=BRIER, first_share=share).members(history, SEARCH, Seeds(0))
    return {member.trial: member.weight for member in chosen}


def test_the_first_trial_keeps_a_share_unless_it_is_beaten_beyond_noise() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    right, default = np.eye(2)[y] * 0.8 + 0.1, np.full((40, 2), 0.5)
    assert members_of([default, right], y, 1 / 3) == {1: 1.0}
    slightly = np.where(rng.random((40, 1)) < 0.55, right, right[:, ::-1]) * 0.1 + 0.45
    assert members_of([default, slightly], y, 0.0)[1] > 0.5
    mixed = members_of([default, slightly], y, 1 / 3)
    assert mixed[0] >= 1 / 3
    assert sum(mixed.values()) == pytest.approx(1.0)


def test_without_the_first_trial_there_is_nothing_to_keep() -> None:
    y = np.array([0, 1] * 10)
    history = played([None, np.full((20, 2), 0.5), np.full((20, 2), 0.5)], y, 2)
    chosen = GreedyCommittee(loss=BRIER, first_share=0.5).members(history, SEARCH, Seeds(0))
    assert 0 not in {member.trial for member in chosen}
