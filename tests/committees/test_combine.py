"""The same members with the same weights give the same answer, wherever a committee is asked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from comitia import Config
from comitia.arrays import AnyArray
from comitia.bench.cells.scores import score_members
from comitia.committees import Ensemble
from comitia.committees.combine import Answers, argmax_in_order, codes_of, combined, kept_answers, probabilities
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.seams import Member
from comitia.selections.committees import validation_loss
from tests.committees.histories import played

N = 23


class Known:
    """A fitted model whose answers to the rows are known."""

    def __init__(self, answers: AnyArray, n_classes: int) -> None:
        self.answers = answers
        if n_classes:
            self.classes_ = np.arange(n_classes)
        if answers.ndim == 2:
            self.predict_proba = lambda X: answers[np.asarray(X)]

    def predict(self, X: Any) -> AnyArray:
        return (self.answers.argmax(axis=1) if self.answers.ndim == 2 else self.answers)[np.asarray(X)]


@st.composite
def committees(draw: Any) -> dict[str, Any]:
    """Draw a committee of one to five members with what each says about the rows, and the truth."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kind = draw(st.sampled_from(["numbers", "votes", "probabilities"]))
    n, n_classes = draw(st.integers(1, 5)), 0 if kind == "numbers" else draw(st.integers(2, 4))
    shares = rng.integers(1, 4, n)
    answers: AnyArray
    y: AnyArray
    if kind == "numbers":
        answers, y = rng.normal(size=(n, N)), rng.normal(size=N)
    else:
        y = rng.integers(0, n_classes, N)
        # single precision, as answers are kept
        p = rng.dirichlet(np.ones(n_classes), (n, N)).astype(np.float32)
        answers = p if kind == "probabilities" else p.argmax(axis=2)
    return {
        "y": y,
        "n_classes": n_classes,
        "answers": list(answers),
        "weights": (shares / shares.sum()).tolist(),
        "temperatures": rng.choice([1.0, 0.5, 3.0], n).tolist() if kind == "probabilities" else [1.0] * n,
        "votes": kind == "votes",
        "order": rng.permutation(n_classes).tolist() if draw(st.booleans()) and n_classes else None,
    }


@settings(max_examples=100, deadline=None)
@given(committees())
def test_weights_applied_to_kept_predictions_equal_the_ensembles_predictions_everywhere(case: dict[str, Any]) -> None:
    y, n_classes, answers, weights, order = (case[key] for key in ("y", "n_classes", "answers", "weights", "order"))
    votes, temperatures = case["votes"], case["temperatures"]
    together = combined(
        [kept_answers(answer, n_classes) for answer in answers],
        weights,
        n_classes=n_classes,
        votes=votes,
        order=order,
        temperatures=temperatures,
    )
    models = [Known(answer, n_classes) for answer in answers]
    ensemble = Ensemble(models, weights, n_classes or None, votes, order, temperatures)
    rows = np.arange(N)
    assert np.array_equal(ensemble.predict(rows), together.values)
    if together.probabilities is not None:
        assert np.allclose(ensemble.predict_proba(rows), together.probabilities)
    assert (together.probabilities is not None) == (n_classes > 0)

    loss = ROW_LOSSES["zero-one" if n_classes else "squared-error"]
    expected = float(np.mean(loss.rows(y, ensemble.predict(rows))))
    members = [Member(Config({}), w, i, t) for i, (w, t) in enumerate(zip(weights, temperatures, strict=True))]
    history = played(answers, y, n_classes)
    assert validation_loss(history, members, loss, order) == pytest.approx(expected)
    if order is None:
        classes = np.arange(n_classes) if n_classes else None
        kept = [kept_answers(answer, 0) for answer in answers]
        score = score_members(members, kept, y, loss=loss, classes=classes, averages=not votes)
        assert score.loss == pytest.approx(expected)


def test_a_committee_of_one_answers_as_its_member_does() -> None:
    """What a model predicts need not be its most probable class."""
    answers = Answers(np.array([0, 1]), np.array([[0.2, 0.8], [0.4, 0.6]]))
    one = combined([answers], [1.0], n_classes=2)
    assert one.values.tolist() == [0, 1]
    two = combined([answers, answers], [0.5, 0.5], n_classes=2)
    assert two.values.tolist() == [1, 1]


def test_probabilities_are_answered_only_where_all_members_have_them() -> None:
    with_them, without = Answers(np.array([0]), np.array([[0.9, 0.1]])), Answers(np.array([1]))
    mixed = combined([with_them, without], [0.3, 0.7], n_classes=2)
    assert mixed.probabilities is None
    assert mixed.values.tolist() == [1]


def test_of_equals_the_first_in_the_order_wins_although_thirds_do_not_add_up() -> None:
    scores = np.array([[0.1 + 0.2, 0.3, 0.4 - 0.1]])
    assert argmax_in_order(scores).tolist() == [0]
    assert argmax_in_order(scores, [2, 1, 0]).tolist() == [2]


def test_labels_are_found_among_the_classes_and_strange_ones_are_an_error() -> None:
    classes = np.array(["a", "b", "c"])
    assert codes_of(np.array(["c", "a"]), classes).tolist() == [2, 0]
    with pytest.raises(ValueError, match="'z', which is not a class"):
        codes_of(np.array(["z"]), classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pipeline_without_probabilities_gives_its_margins(n_classes: int) -> None:
    """Its class has `predict_proba`, which is there only where the last step has it."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    p = probabilities(model, X, np.arange(4))
    assert np.allclose(p.sum(axis=1), 1)
    assert not p[:, n_classes:].any()
    assert (p.argmax(axis=1) == model.predict(X)).mean() > 0.95
