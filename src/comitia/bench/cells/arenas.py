"""What the study of one cell needs: a space, an evaluator, and a test of what it would hand over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from comitia.arrays import AnyArray, Estimator
from comitia.bench.plan.plan import OWN_SPACE, Cell, Experiment
from comitia.bench.plan.splits import capped_rows, make_validation
from comitia.bench.problems.problems import Draw, FunctionProblem, Problem, TableProblem, WithImputer
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.committees.combine import Answers, combined
from comitia.errors import ExperimentError
from comitia.evaluation.function import FunctionEvaluator
from comitia.evaluation.isolation import quiet
from comitia.evaluation.scoring import DEFAULT_LOSSES, ROW_LOSSES, RowLoss, Scorer, Task
from comitia.evaluation.table import TableEvaluator
from comitia.learners import get_space
from comitia.methods import Method, kept_by
from comitia.seams import Evaluator, Member
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Choice

MOST_ANSWERS = 256
"""Configurations whose test answers are kept, so that a committee's members are not fitted again and again."""


class Score(NamedTuple):
    """How good something was on rows that the search never saw."""

    loss: float
    precision: float = np.nan
    recall: float = np.nan
    log_loss: float = np.nan


class Arena(Protocol):
    """One problem of one repetition, ready to be searched."""

    @property
    def space(self) -> Space:
        """What is searched."""

    @property
    def evaluator(self) -> Evaluator:
        """How a trial is judged."""

    @property
    def n_rows(self) -> int:
        """Rows for training and validation; 0 for a black box."""

    @property
    def loss(self) -> str:
        """Name of what is measured."""

    @property
    def is_tabulated(self) -> bool:
        """Whether trials are looked up: their seconds passed when they were trained, not now."""

    def adapted(self, method: Method) -> Method:
        """Return the method as it runs here."""

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """Return the test score of what would be handed over."""


def make_arena(experiment: Experiment, cell: Cell, problem: Problem, method: Method) -> Arena:
    """Make the arena of a cell."""
    from comitia.bench.problems.tabulated import Pool, PoolArena

    if isinstance(problem, FunctionProblem):
        return FunctionArena(problem)
    if isinstance(problem, Pool):
        return PoolArena(problem, method)
    return TableArena(experiment, cell, problem, method)


@dataclass(eq=False)
class FunctionArena:
    """A black box; the test is its value without noise."""

    problem: FunctionProblem
    n_rows: int = 0
    loss: str = "value"
    is_tabulated = False

    def __post_init__(self) -> None:
        self.space = self.problem.space
        self.evaluator = FunctionEvaluator(self.problem.function)

    def adapted(self, method: Method) -> Method:
        """See `Arena`."""
        return method

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """See `Arena`."""
        return Score(float(sum(member.weight * self.problem.truth(member.config) for member in members)))


class TableArena:
    """A table with its test rows set aside."""

    is_tabulated = False

    def __init__(self, experiment: Experiment, cell: Cell, problem: TableProblem, method: Method) -> None:
        if cell.space == OWN_SPACE:
            raise ExperimentError(f"The table {cell.problem!r} must be searched over a space. Got none. Add 'spaces'.")
        draw = problem.draw(experiment.split, cell.repetition)
        learner = get_space(cell.space, n_features=draw.X_train.shape[1])
        if learner.task != problem.task:
            raise ExperimentError(
                f"The space {cell.space!r} is for {learner.task}. {cell.problem!r} is a problem of {problem.task}. "
                "Leave one of them out."
            )
        self.space = learner.space
        self.n_rows = len(draw.y_train)
        loss = experiment.loss or default_loss(problem.task)
        most = experiment.split.most_train_rows
        has_missing = np.isnan(draw.X_train).any() or np.isnan(draw.X_test).any()
        build = WithImputer(learner.build) if has_missing else learner.build
        selection_split = experiment.selection_split if method.has_selection_split else None
        judged = experiment.validation_of(cell)
        validation = make_validation(
            judged.cv,
            draw.y_train,
            is_classes=problem.task == "classification",
            reshuffled=method.is_reshuffled,
            most=most,
            selection_split=selection_split,
            stratified=judged.stratified,
        )
        self.evaluator = TableEvaluator(
            build,
            draw.X_train,
            draw.y_train,
            task=problem.task,
            loss=loss,
            cv=validation,
            selection_split=selection_split,
            keep=kept_by(method, loss),
        )
        self.loss = self.evaluator.loss.name
        self.tester = Tester(self.evaluator, draw, most, experiment.refit)

    def adapted(self, method: Method) -> Method:
        """See `Arena`."""
        return method

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """See `Arena`."""
        return self.tester.score(members, seeds)


def default_loss(task: Task) -> str:
    """Return what the papers report: the error rate, or the squared error."""
    return DEFAULT_LOSSES[task]


@dataclass(eq=False)
class Tester:
    """Fit what would be handed over and score it on the test rows; each configuration is fitted once."""

    evaluator: TableEvaluator
    draw: Draw
    most_rows: int | None
    refit: bool
    known: dict[tuple[Config, int | None], Answers] = field(default_factory=dict)

    def score(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """Return the score of some members with their weights."""
        loss = self.evaluator.loss
        if isinstance(loss, Scorer):
            if len(members) > 1:
                raise ExperimentError(f"A committee must be tested by a loss on rows. Got {loss.name!r}. Use log-loss.")
            return Score(-loss(self.fitted(members[0], seeds), self.draw.X_test, self.draw.y_test))
        answers = [self.answers(member, seeds) for member in members]
        votes = not self.averages
        return score_members(members, answers, self.draw.y_test, loss=loss, classes=self.evaluator.classes, votes=votes)

    @property
    def averages(self) -> bool:
        """Whether probabilities are averaged instead of votes counted."""
        return self.evaluator.keep == "probabilities" or self.evaluator.loss.needs_probabilities

    def answers(self, member: Member, seeds: Seeds) -> Answers:
        """Return what a member says about the test rows; see `TableEvaluator.answer` for who has no probabilities."""
        # a model that is not refitted is the trial's own; one that is refitted depends on its configuration alone
        key = (member.config, None if self.refit else member.trial)
        if key not in self.known:
            if len(self.known) >= MOST_ANSWERS:
                del self.known[next(iter(self.known))]
            with quiet():
                self.known[key] = self._answers(self.fitted(member, seeds))
        return self.known[key]

    def _answers(self, model: Estimator) -> Answers:
        e, X = self.evaluator, self.draw.X_test
        values = e.answer(model, X, False)
        if e.classes is None:
            return Answers(values)
        try:
            return Answers(values, e.answer(model, X, True))
        except Exception:  # a learner may raise anything
            if self.averages:
                raise
            return Answers(values)  # then there is an error rate, but no log loss

    def fitted(self, member: Member, seeds: Seeds) -> Estimator:
        """Return the model: fitted on everything but the test rows, or the trial's own."""
        e = self.evaluator
        if self.refit:
            return e.fit(member.config, capped_rows(len(e.y), self.most_rows, seeds), seeds)
        number = member.trial or 0
        return e.fit(member.config, e.splits(number, 0, seeds)[0][0], seeds, (number, 0, 0))


def score_members(
    members: Sequence[Member],
    answers: Sequence[Answers],
    y_test: AnyArray,
    *,
    loss: RowLoss,
    classes: AnyArray | None,
    votes: bool,
) -> Score:
    """Score what members say about the test rows, put together as an `Ensemble` does; ties go to the first class."""
    weights, temperatures = [m.weight for m in members], [m.temperature for m in members]
    n_classes = 0 if classes is None else len(classes)
    found = combined(answers, weights, n_classes=n_classes, votes=votes, temperatures=temperatures)
    assert found.values is not None
    if classes is None:
        return Score(float(np.mean(loss.rows(y_test, found.values))))
    predicted = classes[found.values]
    precision, recall, _ = macro_precision_recall_f(y_test, predicted)
    log_loss = np.nan if found.probabilities is None else log_loss_of(found.probabilities, classes, y_test)
    error = log_loss if loss.needs_probabilities else float(np.mean(predicted != y_test))
    return Score(error, precision, recall, log_loss)


def log_loss_of(p: AnyArray, classes: AnyArray, y_test: AnyArray) -> float:
    """Return the log loss of probabilities."""
    return float(np.mean(ROW_LOSSES["log-loss"].rows(*over_all_classes(p, classes, y_test))))


def over_all_classes(p: AnyArray, classes: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return codes and probabilities over the classes of both parts: one that was never trained on has 0."""
    every = np.union1d(classes, y)
    full = np.zeros((len(p), len(every)))
    full[:, np.searchsorted(every, classes)] = p
    return np.searchsorted(every, y), full


def learner_of(space: Space, config: Config) -> str:
    """Return the choice at the root of a conditional space: the learner, the kernel, the kind of ensemble.

    Where that is "none" (no ensemble) and opens another choice, the name is that of the other: P Fig. 4.
    """
    parents = {
        condition.child.name: [c.parent.name for c in getattr(condition, "components", [condition])]
        for condition in space.configspace.conditions
    }
    root = next((p for above in parents.values() for p in above if p not in parents and p in config), None)
    if root is None:
        return ""
    if config[root] == "none":
        for child, above in parents.items():
            if root in above and child in config and isinstance(space.columns[space.names.index(child)], Choice):
                return str(config[child])
    return str(config[root])
