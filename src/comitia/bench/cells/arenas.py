"""What the study of one cell needs: a space, an evaluator, and a test of what it would hand over."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from ConfigSpace.conditions import Conjunction

from comitia.arrays import Estimator, Table
from comitia.bench.cells.known_results import KnownResults, SharedEvaluator
from comitia.bench.cells.scores import score_members
from comitia.bench.plan.plan import OWN_SPACE, Cell, Experiment
from comitia.bench.plan.splits import capped_rows, make_validation
from comitia.bench.problems.problems import Draw, FunctionProblem, TableProblem, WithImputer
from comitia.bench.rows.row import Score
from comitia.committees.combine import Answers
from comitia.errors import ExperimentError
from comitia.evaluation.function import FunctionEvaluator
from comitia.evaluation.isolation import quiet
from comitia.evaluation.scoring import DEFAULT_LOSSES, Scorer
from comitia.evaluation.table import TableEvaluator
from comitia.learners import get_space
from comitia.methods import Method, kept_by
from comitia.seams import Evaluator, Member
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.space.hyperparameters import Choice

MOST_ANSWERS = 256
"""Configurations whose test answers are kept, so that a committee's members are not fitted again and again."""


class Arena(Protocol):
    """One problem of one repetition, ready to be searched."""

    space: Space
    dataset: str
    """What the problem is a sample of."""
    n_rows: int
    """For training and validation; 0 for a black box."""
    n_classes: int
    """That occur in the data; 0 for numbers and black boxes."""
    loss: str
    """Name of what is measured."""

    @property
    def evaluator(self) -> Evaluator:
        """How a trial is judged."""

    def adapted(self, method: Method) -> Method:
        """Return the method as it runs here."""

    def was_looked_up(self, number: int) -> bool:
        """Tell whether a trial was looked up instead of trained now, so that its seconds have not passed."""

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """Return the test score of what would be handed over."""


@dataclass(eq=False)
class FunctionArena:
    """A black box; the test is its value without noise."""

    problem: FunctionProblem
    n_rows: int = 0
    n_classes: int = 0
    loss: str = "value"

    def __post_init__(self) -> None:
        self.space = self.problem.space
        self.dataset = self.problem.name
        self.evaluator = FunctionEvaluator(self.problem.function)

    def adapted(self, method: Method) -> Method:
        return method

    def was_looked_up(self, number: int) -> bool:
        return False

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        return Score(float(sum(member.weight * self.problem.truth(member.config) for member in members)))


class TableArena:
    """A table with its test rows set aside.

    The method decides about reshuffling, rows set aside for the selection, and what is kept of the models' answers;
    `known` has the results of trials that other cells trained before.
    """

    def __init__(
        self,
        experiment: Experiment,
        cell: Cell,
        problem: TableProblem,
        method: Method,
        known: KnownResults | None = None,
    ) -> None:
        if cell.space == OWN_SPACE:
            raise ExperimentError(f"The table {cell.problem!r} must be searched over a space. Got none. Add 'spaces'.")
        draw = problem.draw(experiment.split, cell.repetition)
        learner = get_space(cell.space, n_features=draw.X_train.shape[1])
        if learner.learns_from != "tables":
            raise ExperimentError(f"The space {cell.space!r} is for images. {cell.problem!r} is a table.")
        if learner.task != problem.task:
            raise ExperimentError(
                f"The space {cell.space!r} is for {learner.task}. {cell.problem!r} is a problem of {problem.task}. "
                "Leave one of them out."
            )
        self.space = learner.space
        self.dataset = cell.problem
        self.n_rows = len(draw.y_train)
        self.n_classes = draw.n_classes(problem.task)
        loss = experiment.loss or DEFAULT_LOSSES[problem.task]
        most = experiment.split.most_train_rows
        has_missing = np.isnan(draw.X_train).any() or np.isnan(draw.X_test).any()
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
        self.table = TableEvaluator(
            WithImputer(learner.build) if has_missing else learner.build,
            draw.X_train,
            draw.y_train,
            task=problem.task,
            loss=loss,
            cv=validation,
            selection_split=selection_split,
            keep=kept_by(method, loss),
        )
        self.evaluator = self.table if known is None else SharedEvaluator(self.table, cell.space, known)
        self.loss = self.table.loss.name
        self.tester = Tester(self.table, draw, most, experiment.refit)

    def adapted(self, method: Method) -> Method:
        return method

    def was_looked_up(self, number: int) -> bool:
        return isinstance(self.evaluator, SharedEvaluator) and self.evaluator.was_looked_up(number)

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        return self.tester.score(members, seeds)


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
        averages = self.evaluator.keep == "probabilities" or loss.needs_probabilities
        return score_members(
            members,
            [self.answers(member, seeds, averages=averages) for member in members],
            self.draw.y_test,
            loss=loss,
            classes=self.evaluator.classes,
            averages=averages,
        )

    def answers(self, member: Member, seeds: Seeds, *, averages: bool) -> Answers:
        """Return what a member says about the test rows; without probabilities it is an error where those count."""
        # a model that is not refitted is the trial's own; one that is refitted depends on its configuration alone
        key = (member.config, None if self.refit else member.trial)
        if key not in self.known:
            if len(self.known) >= MOST_ANSWERS:
                del self.known[next(iter(self.known))]
            model = self.fitted(member, seeds)
            self.known[key] = answers_of(self.evaluator, model, self.draw.X_test, needs_probabilities=averages)
        return self.known[key]

    def fitted(self, member: Member, seeds: Seeds) -> Estimator:
        """Return the model: fitted on everything but the test rows, or the trial's own."""
        e = self.evaluator
        if self.refit:
            return e.fit(member.config, capped_rows(len(e.y), self.most_rows, seeds), seeds)
        number = member.trial or 0
        return e.fit(member.config, e.splits(number, 0, seeds)[0][0], seeds, (number, 0, 0))


def answers_of(evaluator: TableEvaluator, model: Estimator, X: Table, *, needs_probabilities: bool) -> Answers:
    """Return classes and probabilities, or numbers; see `TableEvaluator.answer` for who has no probabilities."""
    with quiet():
        values = evaluator.answer(model, X, False)
        if evaluator.classes is None:
            return Answers(values)
        try:
            return Answers(values, evaluator.answer(model, X, True))
        except Exception:  # a learner may raise anything
            if needs_probabilities:
                raise
            return Answers(values)  # then it has an error, but no log loss


def learner_of(space: Space, config: Config) -> str:
    """Return the choice at the root of a conditional space: the learner, the kernel, the kind of ensemble.

    Where that is "none" (no ensemble) and opens another choice, the name is that of the other, as in Xavier-Júnior et
    al. 2020, Fig. 4.
    """
    parents: dict[str, list[str]] = {}
    for condition in space.configspace.conditions:
        above = condition.parents if isinstance(condition, Conjunction) else [condition.parent]
        parents[condition.child.name] = [parent.name for parent in above]
    root = next((p for names in parents.values() for p in names if p not in parents and p in config), None)
    if root is None:
        return ""
    if config[root] == "none":
        for child, names in parents.items():
            if root in names and child in config and isinstance(space.columns[space.names.index(child)], Choice):
                return str(config[child])
    return str(config[root])
