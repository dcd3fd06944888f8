"""Trials that continue others, and generations: how asks become trials."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from comitia import (
    FunctionEvaluator,
    History,
    Method,
    Seeds,
    Study,
    TableEvaluator,
    Trial,
    get_space,
)
from comitia.seams import Ask, Values
from tests.study.examples import Continuing, Pairs


class Repeating(Continuing):
    """An optimizer that averages repeats and goes on with more of them."""

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        if not len(history):
            return [Ask(np.full(len(self.space), 0.4), repeats=2)]
        return [Ask(np.full(len(self.space), 0.4), repeats=3, continues=len(history) - 1)] if n else []


@pytest.fixture
def table() -> TableEvaluator:
    X, y = load_iris(return_X_y=True)
    return TableEvaluator(get_space("random-forest").build, X, y, cv=3, reshuffled=True, loss="log-loss")


def test_a_trial_can_go_on_with_the_folds_of_another(table: TableEvaluator) -> None:
    study = Study("random-forest", Method("lazy", Continuing, "one fold, then the others"), seed=1)
    study.run(table, n_trials=4)
    first = study.history.trial(0)
    whole, _ = table(Trial(0, 0, first.x, first.config), study.seeds)
    assert study.history.losses[1] == pytest.approx(whole.loss)
    assert study.history.trial(1).root == 0
    assert study.history.is_superseded.tolist() == [True, False, True, False]


def test_a_trial_can_go_on_with_more_repeats(table: TableEvaluator) -> None:
    study = Study("random-forest", Method("more", Repeating, "more repeats"), seed=1)
    study.run(table, n_trials=3)
    first = study.history.trial(0)
    whole, _ = table(Trial(0, 0, first.x, first.config, repeats=8), study.seeds)
    assert study.history.losses[2] == pytest.approx(whole.loss)
    assert study.history.n_evaluations == 24
    assert study.history.trial(2).first_repeat == 5


def test_a_generation_is_one_batch_however_few_are_asked_for_at_a_time() -> None:
    study = Study({"x": stats.uniform(0, 1)}, Method("pairs", Pairs, "two at a time"), seed=0)
    study.run(FunctionEvaluator(lambda config: config["x"]), n_trials=5)
    assert [study.history.trial(number).batch for number in range(len(study.history))] == [0, 0, 1, 1, 2, 2]
    assert study.history.n_finished == 5
    [left] = study.ask()
    assert left.number == 5
    assert study.ask() == []
