"""The Auto classes with lazy folds."""

from typing import Any

from sklearn.datasets import load_wine

from comitia import AutoClassifier, Serial


def test_an_auto_class_leaves_out_folds_and_estimates_what_it_returns() -> None:
    X, y = load_wine(return_X_y=True)
    options: dict[str, Any] = {"include": ["linear", "knn", "svm"], "cv": 5, "executor": Serial(), "random_state": 0}
    model = AutoClassifier(method="committee-lazy", n_trials=14, **options).fit(X, y)
    history = model.study_.history
    assert history.n_rejected > 0
    rejected = {o.number for o in history.observations() if o.status == "rejected"}
    assert not {member.trial for member in model.members_} & rejected
    assert model.estimate_ is not None
    assert 0.8 < model.estimate_.score <= 1.0
    board = model.leaderboard()
    assert (board["status"] == "rejected").sum() == len(rejected)
    assert board["score"][board["status"] == "rejected"].isna().all()
