"""Portfolios: which one a table gets, what of it a space can try, and that it changes nothing else."""

import pytest

from comitia import Space, Study
from comitia.evaluation.scoring import Task
from comitia.learners.default import default_space, first_trials, portfolio
from comitia.learners.default.learners import default_learners
from comitia.learners.default.portfolio import PORTFOLIOS, Portfolio
from comitia.tables.cleaner import Columns

NUMBERS = Columns(3)
WITH_CODES = Columns(3, codes=(0,), n_levels=(4,))
SMALL = Portfolio(
    name="small",
    task="classification",
    trials=(
        {"learner": "knn", "knn:n_neighbors": 3, "knn:weights": "uniform"},
        {"learner": "lda", "lda:shrinkage": 0.5},
        {"learner": "linear", "linear:C": 10.0},
        {"learner": "linear", "linear:C": 0.1},
    ),
    most_rows=1_000,
)
MIXED = Portfolio(
    name="mixed",
    task="classification",
    trials=({"learner": "lda", "lda:shrinkage": 0.1},),
    least_rows=1_001,
    has_categories=True,
    needs=frozenset({"lda"}),
)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "PORTFOLIOS", (SMALL, MIXED))


def names(space: Space) -> list[object]:
    return [trial["learner"] for trial in first_trials(space)]


def test_the_first_that_suits_the_table_is_taken(known: None) -> None:
    task: Task = "classification"
    named = ["linear", "lda"]
    assert portfolio.portfolio_for(NUMBERS, task, 1_000, named) is SMALL
    assert portfolio.portfolio_for(WITH_CODES, task, 1_000, named) is SMALL
    assert portfolio.portfolio_for(WITH_CODES, task, 1_001, named) is MIXED
    assert portfolio.portfolio_for(NUMBERS, task, 1_001, named) is None
    assert portfolio.portfolio_for(WITH_CODES, task, 1_001, ["linear"]) is None
    assert portfolio.portfolio_for(NUMBERS, "regression", 1_000, named) is None


def test_a_portfolio_comes_before_the_defaults_of_other_learners(known: None) -> None:
    space = default_space(NUMBERS, "classification", 500, include=["linear", "knn", "lda", "lightgbm"])
    assert space.first == first_trials(space.space)
    assert names(space.space) == ["knn", "lda", "linear", "linear", "lightgbm"]
    assert space.first[2]["linear:C"] == 10.0


def test_what_a_space_does_not_have_is_left_out(known: None) -> None:
    default = default_space(NUMBERS, "classification", 500, exclude=["knn"])
    assert names(default.space)[:2] == ["linear", "linear"]
    assert set(names(default.space)) == {learner.name for learner in default_learners("classification")} - {"knn"}


def test_a_space_that_was_stored_has_its_portfolio(known: None) -> None:
    space = default_space(NUMBERS, "classification", 500).space
    assert first_trials(Space.from_json(space.to_json())) == first_trials(space)
    assert [ask.config["learner"] for ask in Study(space, "auto", seed=0).ask(3)] == ["knn", "linear", "linear"]


def test_without_a_portfolio_a_space_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "PORTFOLIOS", ())
    default = default_space(NUMBERS, "classification", 500)
    assert not default.space.configspace["learner"].meta
    assert names(default.space) == [learner.name for learner in default_learners("classification")]


@pytest.mark.parametrize("one", PORTFOLIOS, ids=lambda one: one.name)
def test_every_trial_of_a_portfolio_is_a_point_of_the_space(one: Portfolio) -> None:
    learners = sorted({str(trial["learner"]) for trial in one.trials})
    space = default_space(NUMBERS, one.task, 100, include=learners).space
    decoded = space.decode(space.encode(one.trials))
    assert [dict(config) for config in decoded] == [pytest.approx(trial) for trial in one.trials]
