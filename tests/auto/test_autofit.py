"""What a fit chooses where the user does not: a method."""

from typing import Any

import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import ShuffleSplit

from comitia import METHODS, AutoClassifier, AutoRegressor, Study, TableEvaluator, get_space
from comitia.auto.autofit import stacked
from comitia.auto.methods_for import default_method, method_for
from comitia.evaluation.resampling import Reshuffled
from comitia.evaluation.scoring import make_scoring
from comitia.learners.default import first_trials
from comitia.learners.default.learners import default_learners
from comitia.methods import kept_by

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("cv", "expected"),
    [(5, "committee"), (ShuffleSplit(3), "committee"), (Reshuffled(ShuffleSplit(1, test_size=0.4)), "bayes")],
)
def test_a_committee_is_chosen_where_one_can_be(cv: Any, expected: str) -> None:
    assert default_method("classification", cv, is_grouped=False).name == expected


def test_rows_to_judge_on_are_one_split() -> None:
    table, target, [(train, test)] = stacked(X[:4], Y[:4], X[4:6], Y[4:6])  # type: ignore[misc]
    assert (table == X[:6]).all()
    assert (target == Y[:6]).all()
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5])


# ---- `auto`: the same search under a name ---------------------------------------------------------------------------


def test_auto_is_the_default_method_but_for_its_first_trials() -> None:
    default = method_for(
        default_method("classification", 5, is_grouped=False), make_scoring("accuracy", "classification")
    )
    auto = METHODS["auto"]
    assert (auto.goal, auto.selection) == (default.goal, default.selection)
    assert (auto.is_reshuffled, auto.has_selection_split) == (default.is_reshuffled, default.has_selection_split)


@pytest.mark.parametrize("kind", [pytest.param(AutoClassifier, marks=pytest.mark.slow), AutoRegressor])
def test_a_study_by_auto_tries_what_the_auto_classes_try(kind: Any) -> None:
    """With the same rows, folds and seed: the defaults of all learners, then the same suggestions; the same members."""
    is_classes = kind is AutoClassifier
    names = [learner.name for learner in default_learners("classification" if is_classes else "regression")]
    n_trials = len(names) + 3
    table, target = (X[::2], Y[::2]) if is_classes else (load_diabetes().data[:60], load_diabetes().target[:60])
    model = kind(n_trials=n_trials, cv=2, n_jobs=1, random_state=3).fit(table, target)
    ready = get_space("default" if is_classes else "default-regression")
    scoring = make_scoring(None, ready.task)
    keep = kept_by(METHODS["auto"], scoring.loss)
    study = Study(ready.space, "auto", seed=3)
    study.run(
        TableEvaluator(ready.build, table, target, task=ready.task, loss=scoring.loss, cv=2, keep=keep),
        n_trials=n_trials,
    )
    theirs, ours = (s.to_frame().drop(columns="seconds") for s in (model.study_, study))
    assert [trial["learner"] for trial in first_trials(ready.space)] == names
    assert ours["config.learner"].tolist()[: len(names)] == names
    assert ours.equals(theirs)
    assert study.members() == model.study_.members()


def test_auto_begins_like_its_optimizer_over_a_space_of_other_learners() -> None:
    assert first_trials(get_space("sklearn-cash").space) == ()
    assert Study("sklearn-cash", "auto", seed=0).ask(4) == Study("sklearn-cash", "committee", seed=0).ask(4)
