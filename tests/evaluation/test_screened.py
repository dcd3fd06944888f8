"""Fold by fold: a trial that is rejected has what it has until then."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from comitia import Config, FunctionEvaluator, Predictions, Seeds, TableEvaluator, Trial
from comitia.seams import Screener

X, Y = load_breast_cancer(return_X_y=True)
SEEDS = Seeds(0)


@dataclass(frozen=True)
class After:
    """A bar that rejects after so many folds."""

    n_folds: int

    def rejects(self, so_far: Predictions) -> bool:
        return len(np.unique(so_far.folds)) >= self.n_folds


def evaluator(**options: Any) -> TableEvaluator:
    def build(config: Config, random_state: int) -> Any:
        return KNeighborsClassifier(config["k"])

    return TableEvaluator(build, X, Y, **{"keep": "probabilities", "loss": "log-loss", **options})


def trial(number: int, **more: Any) -> Trial:
    return Trial(number, 0, (0.5,), Config({"k": 5}), **more)


def same(one: Predictions | None, other: Predictions | None) -> bool:
    assert one is not None
    assert other is not None
    return replace(one, seconds=None).to_bytes() == replace(other, seconds=None).to_bytes()


@pytest.mark.parametrize("number", [0, 3, 7])
@pytest.mark.parametrize(
    "options",
    [{"metrics": ["accuracy"], "selection_split": 0.2}, {"loss": "roc_auc"}, {"reshuffled": True}, {"cv": 3}],
    ids=["everything", "scorer", "reshuffled", "three folds"],
)
def test_a_trial_that_is_not_rejected_is_as_any_other(number: int, options: dict[str, Any]) -> None:
    evaluate = evaluator(**options)
    whole, kept = evaluate(trial(number), SEEDS)
    screened, kept_too = evaluate.screened(trial(number), SEEDS, After(10))
    assert replace(whole, seconds=0.0) == replace(screened, seconds=0.0)
    assert same(kept, kept_too)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_trial_that_is_rejected_has_the_folds_before(n: int) -> None:
    evaluate = evaluator()
    whole, kept = evaluate(trial(3), SEEDS)
    rejected, part = evaluate.screened(trial(3), SEEDS, After(n))
    assert (rejected.status, rejected.is_ok, rejected.n_evaluations) == ("rejected", False, n)
    assert f"after {n} of 5 folds" in rejected.error
    assert np.isnan(rejected.loss)
    # the fourth trial begins with the fourth fold
    order = [3, 4, 0, 1, 2][:n]
    assert rejected.losses == tuple(whole.losses[fold] for fold in order)
    assert part is not None
    assert kept is not None
    assert part.rows.tolist() == [row for fold in order for row in kept.rows[kept.folds == fold].tolist()]


def test_trials_begin_with_different_folds() -> None:
    evaluate = evaluator()
    first = [evaluate.screened(trial(number), SEEDS, After(1))[1] for number in range(5)]
    rows = np.concatenate([part.rows for part in first if part is not None])
    assert np.sort(rows).tolist() == list(range(len(Y)))


def test_nothing_is_left_out_of_certain_folds_or_where_nothing_is_kept() -> None:
    for asked in (trial(1, folds=(0, 2)), trial(1, repeats=2)):
        observation, _ = evaluator().screened(asked, SEEDS, After(1))
        assert observation.is_ok
        assert len(observation.losses) == (2 if asked.folds else 10)
    observation, _ = evaluator(keep="nothing").screened(trial(1), SEEDS, After(1))
    assert len(observation.losses) == 5


def test_numbers_can_be_screened_and_functions_have_no_folds() -> None:
    X, y = load_diabetes(return_X_y=True)
    evaluate = TableEvaluator(lambda c, r: KNeighborsRegressor(c["k"]), X, y, keep="predictions")
    rejected, part = evaluate.screened(trial(0), SEEDS, After(2))
    assert rejected.status == "rejected"
    assert part is not None
    assert part.losses is not None
    assert isinstance(evaluate, Screener)
    assert not isinstance(FunctionEvaluator(len), Screener)
