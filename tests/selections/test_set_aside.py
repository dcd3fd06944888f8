"""Choosing by rows set aside: the best of all trials, or by generations."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

from comitia import (
    Config,
    FunctionEvaluator,
    History,
    Observation,
    Seeds,
    Space,
    Study,
    TableEvaluator,
    Trial,
)
from comitia.errors import ChoiceError
from comitia.methods import Method
from comitia.optimizers import RandomSearch
from comitia.seams import Ask, Judging, Needs, Selection, Values
from comitia.selections.set_aside import (
    Backwarding,
    GlobalValidation,
    PartialValidation,
    SelectionSplit,
    populations,
)
from comitia.selections.single import Argmin
from tests.optimizers.observed import observed

SEARCH = RandomSearch(Space({"x": stats.uniform(0, 1)}))


class Pairs(RandomSearch):
    """Two points at a time, the next two when both are back."""

    needs = Needs(generations=True, fixed_values=True)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        left = 2 - len(history) % 2
        return [] if left == 2 and history.n_pending else super().ask(history, values, min(n, left), seeds)


class Continuing(RandomSearch):
    """The first fold of a point, then its other folds."""

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        if len(history) % 2 == 0:
            return [replace(super().ask(history, values, 1, seeds)[0], folds=(0,))]
        last = history.trial(len(history) - 1)
        return [Ask(np.array(last.x), folds=(1, 2), continues=last.number)]


Row = tuple[float, float] | None
"""A trial's loss on the validation and on the selection split; None is a failure."""


def generations_of(*generations: Sequence[Row], pending: int = 0) -> History:
    """Return a history of generations, the last of which has so many more trials without a result."""
    history = History(1)
    for batch, rows in enumerate(generations):
        n_more = pending if batch == len(generations) - 1 else 0
        for number in range(len(history), len(history) + len(rows) + n_more):
            history.append(Trial(number, batch, (0.5,), Config({"number": number})))
        for trial, row in zip(history.pending, rows, strict=False):
            if row is None:
                history.finish(Observation(trial, "failed", error="no"))
            else:
                history.finish(Observation(trial, "ok", row[:1], selection_losses=row[1:]))
    return history


def chosen(selection: Selection, history: History) -> int:
    [member] = selection.members(history, SEARCH, Seeds(0))
    assert member.weight == 1
    assert member.trial is not None
    assert member.config == history.trial(member.trial).config
    return member.trial


THREE = (
    [(0.30, 0.40), (0.20, 0.50), (0.25, 0.35)],  # b_V = 1, b_S = 2
    [(0.10, 0.45), (0.15, 0.20), (0.40, 0.60)],  # b_V = 3, b_S = 4
    [(0.12, 0.30), (0.11, 0.25), (0.50, 0.22)],  # b_V = 7, b_S = 8
)


@pytest.mark.parametrize(
    ("selection", "after"),
    [
        (Argmin(), [1, 3, 3]),
        (SelectionSplit(), [2, 4, 4]),
        (PartialValidation(), [2, 4, 8]),  # eq. 3.6: b_S
        (Backwarding(), [1, 3, 7]),  # eq. 3.7: 0.50, then 0.45 < 0.50, then 0.25 < 0.45
        (GlobalValidation(), [2, 4, 4]),  # eq. 3.8: 0.35, then 0.20 < 0.35, then 0.22 > 0.20
    ],
    ids=lambda value: type(value).__name__,
)
def test_three_generations_by_hand(selection: Selection, after: list[int]) -> None:
    assert [chosen(selection, generations_of(*THREE[: t + 1])) for t in range(3)] == after


def test_the_archive_keeps_an_older_solution_that_is_as_good() -> None:
    """Lévesque 2018, eq. 3.7 and 3.8 have a strict inequality; among equals of a generation the earliest counts."""
    history = generations_of([(0.2, 0.3), (0.2, 0.3)], [(0.1, 0.3), (0.1, 0.3)])
    assert chosen(Backwarding(), history) == 0
    assert chosen(GlobalValidation(), history) == 0
    assert chosen(SelectionSplit(), history) == 0
    assert chosen(PartialValidation(), history) == 2


def test_backwarding_goes_back_where_the_best_so_far_was_overfitted() -> None:
    history = generations_of([(0.3, 0.30), (0.4, 0.20)], [(0.1, 0.50), (0.2, 0.10)])
    assert chosen(Backwarding(), history) == 0  # b_V of the second is worse on the selection split
    assert chosen(GlobalValidation(), history) == 3


STRATEGIES = [SelectionSplit(), PartialValidation(), Backwarding(), GlobalValidation()]


@pytest.mark.parametrize("selection", STRATEGIES, ids=lambda value: type(value).__name__)
def test_failed_trials_and_generations_are_not_chosen_from(selection: Selection) -> None:
    history = generations_of([None, (0.2, 0.3)], [None, None])
    assert chosen(selection, history) == 1
    assert [p.tolist() for p in populations(history)] == [[1]]


@pytest.mark.parametrize("selection", STRATEGIES, ids=lambda value: type(value).__name__)
def test_a_superseded_trial_is_not_chosen(selection: Selection) -> None:
    """The trial that continues it knows more of the same configuration."""
    history = generations_of([(0.1, 0.1), (0.3, 0.3)])
    trial = Trial(2, 1, (0.5,), Config({"number": 0}), continues=0, root=0)
    history.append(trial)
    history.finish(Observation(trial, "ok", (0.1, 0.7), selection_losses=(0.1, 0.7)))
    other = Trial(3, 1, (0.5,), Config({"number": 3}))
    history.append(other)
    history.finish(Observation(other, "ok", (0.9,), selection_losses=(0.9,)))
    assert chosen(selection, history) == (2 if isinstance(selection, PartialValidation) else 1)


@pytest.mark.parametrize(
    ("selection", "complete", "only"),
    [(PartialValidation(), 0, 1), (Backwarding(), 1, 0), (GlobalValidation(), 0, 1), (SelectionSplit(), 3, 1)],
    ids=lambda value: type(value).__name__,
)
def test_a_generation_in_whose_middle_the_budget_ended_is_no_population(
    selection: Selection, complete: int, only: int
) -> None:
    history = generations_of([(0.2, 0.2), (0.1, 0.3)], [(0.1, 0.3), (0.05, 0.1)], pending=1)
    assert chosen(selection, history) == complete
    first = generations_of([(0.1, 0.3), (0.2, 0.1)], pending=2)  # there is nothing else: what is finished counts
    assert chosen(selection, first) == only


def test_an_enqueued_configuration_enters_the_archive_but_is_not_the_last_generation() -> None:
    history = generations_of([(0.4, 0.4), (0.3, 0.3)], [(0.1, 0.1)])
    assert chosen(PartialValidation(), history) == 1
    assert chosen(Backwarding(), history) == chosen(GlobalValidation(), history) == 2
    alone = generations_of([(0.4, 0.2)], [(0.1, 0.5)])
    assert chosen(PartialValidation(), alone) == 0


LOSSES = st.sampled_from([0.1, 0.2, 0.3, 0.4])  # ties are common: a selection split has few rows
GENERATIONS = st.lists(
    st.lists(st.none() | st.tuples(LOSSES, LOSSES), min_size=2, max_size=4), min_size=1, max_size=6
).filter(lambda generations: any(row for rows in generations for row in rows))


@given(GENERATIONS)
def test_the_strategies_follow_the_equations_word_for_word(generations: list[list[Row]]) -> None:
    history = generations_of(*generations)
    numbered, first = [], 0
    for rows in generations:
        P = [(number, *row) for number, row in enumerate(rows, first) if row is not None]
        first += len(rows)
        if P:
            numbered.append(P)
    a_bw = a_gv = None
    for P in numbered:
        b_V = min(P, key=lambda h: h[1])  # eq. 3.5
        b_S = min(P, key=lambda h: h[2])  # eq. 3.6
        a_bw = b_V if a_bw is None or b_V[2] < a_bw[2] else a_bw  # eq. 3.7
        a_gv = b_S if a_gv is None or b_S[2] < a_gv[2] else a_gv  # eq. 3.8
    assert a_bw is not None
    assert a_gv is not None
    assert chosen(PartialValidation(), history) == b_S[0]
    assert chosen(Backwarding(), history) == a_bw[0]
    assert chosen(GlobalValidation(), history) == a_gv[0]
    assert chosen(SelectionSplit(), history) == a_gv[0]


@pytest.mark.parametrize("selection", STRATEGIES, ids=lambda value: type(value).__name__)
def test_trials_that_were_not_judged_on_a_selection_split_are_refused(selection: Selection) -> None:
    space = Space({"x": stats.uniform(0, 1)})
    history = observed(space, np.linspace(0, 1, 40)[:, None], np.zeros(40))
    with pytest.raises(ChoiceError, match=r"Got 40 of 40 that were not, such as trial 0.*selection_split=0.2"):
        selection.members(history, SEARCH, Seeds(0))


def test_choosing_among_many_trials_needs_no_predictions() -> None:
    rng = np.random.default_rng(0)
    history = generations_of(*[[(v, s) for v, s in rng.random((6, 2))] for _ in range(2000)])
    assert chosen(GlobalValidation(), history) == np.argmin(history.selection_losses)


class Aside(FunctionEvaluator):
    """A function whose value on the rows set aside is told by another function."""

    judging = Judging(selection_split=0.2)

    def __init__(self, function: Any, aside: Any) -> None:
        super().__init__(function)
        self.aside = aside

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, None]:
        observation, _ = super().__call__(trial, seeds)
        return replace(observation, selection_losses=(self.aside(trial.config),)), None


def test_the_search_is_blind_to_the_selection_split() -> None:
    """It is looked at only at the end (Lévesque 2018, §3.2.2): whatever is there, the same points are proposed."""
    studies = []
    for aside in (lambda config: config["x"], lambda config: -config["x"]):
        study = Study({"x": stats.uniform(0, 1)}, "gp-sel", seed=0)
        studies.append(study.run(Aside(lambda config: (config["x"] - 0.4) ** 2, aside), n_trials=10))
    one, two = studies
    assert (one.history.X == two.history.X).all()
    assert one.best_trial.number == two.best_trial.number
    x = one.history.X[:, 0]
    assert [study.members()[0].trial for study in studies] == [x.argmin(), x.argmax()]
    assert "selection" not in " ".join(one.to_frame().columns)


def knn(config: Config, random_state: int) -> Any:
    return KNeighborsClassifier(config["k"])


@pytest.mark.parametrize("is_reshuffled", [False, True])
def test_a_resumed_study_chooses_as_one_that_was_never_closed(tmp_path: Path, is_reshuffled: bool) -> None:
    X, y = load_iris(return_X_y=True)
    evaluator = TableEvaluator(knn, X, y, cv=0.4, reshuffled=is_reshuffled, selection_split=0.3)
    for strategy in (Backwarding(), GlobalValidation()):
        name = type(strategy).__name__
        method = Method(name, Pairs, "x", selection=strategy, is_reshuffled=is_reshuffled, has_selection_split=True)
        space = {"k": list(range(1, 50))}
        whole = Study(space, method, seed=3).run(evaluator, n_trials=9)
        path = tmp_path / f"{method.name}.db"
        with Study(space, method, seed=3, storage=path) as study:
            study.run(evaluator, n_trials=5)
        with Study(space, method, storage=path) as study:
            study.run(evaluator, n_trials=9)
            assert (study.history.selection_losses == whole.history.selection_losses)[study.history.finished].all()
            assert study.members() == whole.members() == study.in_memory().members()
        assert len(set(whole.history.selection_losses[whole.history.finished])) > 2


@pytest.mark.parametrize("suffix", ["", "-r"])
def test_the_methods_of_the_thesis_search_alike_and_choose_by_their_strategy(suffix: str) -> None:
    X, y = load_iris(return_X_y=True)
    y = (y + (np.arange(150) % 5 == 0)) % 3  # a fifth of the labels are wrong
    evaluator = TableEvaluator(smooth, X, y, cv=0.4, reshuffled=suffix == "-r", selection_split=0.3)
    studies = {
        name: Study({"radius": stats.loguniform(1e-2, 1e2)}, f"cma-{name}{suffix}", seed=2).run(evaluator, n_trials=20)
        for name in ("pv", "bw", "gv")
    }
    history = studies["pv"].history
    assert all((study.history.X == history.X).all() for study in studies.values())
    assert [history.trial(number).batch for number in range(len(history))] == sorted([0, 1, 2, 3] * 6)
    validation, aside = history.losses[:18].reshape(3, 6), history.selection_losses[:18].reshape(3, 6)
    b_V = np.arange(3) * 6 + validation.argmin(axis=1)
    expected = {
        "pv": 12 + aside[2].argmin(),
        "bw": b_V[history.selection_losses[b_V].argmin()],
        "gv": aside.argmin(),
    }
    assert {name: study.members()[0].trial for name, study in studies.items()} == expected


def smooth(config: Config, random_state: int) -> Any:
    return RadiusNeighborsClassifier(config["radius"], outlier_label="most_frequent")


def test_a_continued_trial_has_the_models_of_both_on_the_selection_split() -> None:
    X, y = load_iris(return_X_y=True)
    evaluator = TableEvaluator(knn, X, y, cv=3, selection_split=0.3)
    study = Study({"k": [1, 40]}, Method("continuing", Continuing, "x"), seed=0).run(evaluator, n_trials=2)
    last = study.history.observation(1)
    whole, _ = evaluator(replace(study.history.trial(0), folds=None), study.seeds)
    assert last is not None
    assert last.selection_losses == whole.selection_losses
    assert study.history.selection_losses[1] == pytest.approx(np.mean(whole.selection_losses))


def test_an_evaluator_of_ones_own_must_give_finite_selection_losses() -> None:
    study = Study({"x": [1, 2]}, "gp-sel", seed=0).run(Aside(lambda c: 1.0, lambda c: float("nan")), n_trials=1)
    observation = study.history.observation(0)
    assert observation is not None
    assert "finite selection losses" in observation.error
