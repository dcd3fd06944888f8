"""What the study of one cell needs: a space, an evaluator, and a test of what it would hand over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from comitia.arrays import AnyArray
from comitia.bench.plan.plan import OWN_SPACE, Cell, Experiment
from comitia.bench.plan.splits import capped_rows, make_validation
from comitia.bench.problems.problems import Draw, FunctionProblem, Problem, TableProblem, WithImputer
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.committees.ensemble import of_most
from comitia.committees.tempering import tempered
from comitia.errors import ExperimentError
from comitia.evaluation.scoring import LogLoss, Scorer, Task
from comitia.evaluation.silence import quiet
from comitia.evaluation.table import FunctionEvaluator, TableEvaluator
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
    return "zero-one" if task == "classification" else "squared-error"


@dataclass(eq=False)
class Tester:
    """Fit what would be handed over and score it on the test rows; each configuration is fitted once."""

    evaluator: TableEvaluator
    draw: Draw
    most_rows: int | None
    refit: bool
    answers: dict[tuple[Config, int | None], tuple[AnyArray, AnyArray | None]] = field(default_factory=dict)

    def score(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """Return the score of some members with their weights."""
        loss = self.evaluator.loss
        if isinstance(loss, Scorer):
            if len(members) > 1:
                raise ExperimentError(f"A committee must be tested by a loss on rows. Got {loss.name!r}. Use log-loss.")
            return Score(-loss(self.fitted(members[0], seeds), self.draw.X_test, self.draw.y_test))
        found = [self._tempered(member, seeds) for member in members]
        weights = [m.weight for m in members]
        score = score_answers([answer for answer, _ in found], weights, self.draw.y_test, self.evaluator)
        ps = [p for _, p in found if p is not None]
        if self.evaluator.classes is None or len(ps) < len(found):
            return score
        p = np.average(ps, axis=0, weights=weights)
        return score._replace(log_loss=log_loss_of(p, self.evaluator.classes, self.draw.y_test))

    def _tempered(self, member: Member, seeds: Seeds) -> tuple[AnyArray, AnyArray | None]:
        """Return what counts and probabilities, both as the committee averages them."""
        answer, p = self._both(member, seeds)
        if p is None or self.evaluator.classes is None:
            return answer, p
        p = tempered(p, member.temperature)
        return (p if answer.ndim == 2 else answer), p

    def answer(self, member: Member, seeds: Seeds) -> AnyArray:
        """Return what counts on the test rows: codes, probabilities where those are averaged, or numbers."""
        return self._both(member, seeds)[0]

    def _both(self, member: Member, seeds: Seeds) -> tuple[AnyArray, AnyArray | None]:
        """Return what counts, and the probabilities of classes; see `TableEvaluator.answer` for who has none."""
        # a model that is not refitted is the trial's own; one that is refitted depends on its configuration alone
        key = (member.config, None if self.refit else member.trial)
        if key not in self.answers:
            e, X = self.evaluator, self.draw.X_test
            averages = e.keep == "probabilities" or getattr(e.loss, "needs_probabilities", False)
            if len(self.answers) >= MOST_ANSWERS:
                del self.answers[next(iter(self.answers))]
            with quiet():
                model = self.fitted(member, seeds)
                answer = e.answer(model, X, averages)
                self.answers[key] = (answer, answer if averages else self._probabilities(model))
        return self.answers[key]

    def _probabilities(self, model: Any) -> AnyArray | None:
        """Return probabilities of classes where only votes count: without them there is no log loss, but an error."""
        if self.evaluator.classes is None:
            return None
        try:
            return self.evaluator.answer(model, self.draw.X_test, True)
        except Exception:  # a learner may raise anything
            return None

    def fitted(self, member: Member, seeds: Seeds) -> Any:
        """Return the model: fitted on everything but the test rows, or the trial's own."""
        e = self.evaluator
        if self.refit:
            rows, random_state = capped_rows(len(e.y), self.most_rows, seeds), seeds.integer("refit")
        else:
            number = member.trial or 0
            rows, random_state = e.splits(number, 0, seeds)[0][0], seeds.integer("learner", number, 0, 0)
        model = e.build(member.config, random_state)
        with quiet():
            return model.fit(e.X[rows], e.y[rows])


def score_answers(
    answers: Sequence[AnyArray], weights: Sequence[float], y_test: AnyArray, evaluator: TableEvaluator
) -> Score:
    """Score a committee: most votes for class codes, ties to the first; means of probabilities or numbers."""
    loss, classes = evaluator.loss, evaluator.classes
    assert not isinstance(loss, Scorer)
    if classes is None:
        return Score(float(np.mean(loss.rows(y_test, np.average(answers, axis=0, weights=weights)))))
    if answers[0].ndim == 2:
        p = np.average(answers, axis=0, weights=weights)
        predicted = classes[of_most(p)]
        rows = loss.rows(*over_all_classes(p, classes, y_test)) if loss.needs_probabilities else predicted != y_test
    else:
        votes = sum(w * (a[:, None] == np.arange(len(classes))) for a, w in zip(answers, weights, strict=True))
        predicted = classes[of_most(np.asarray(votes))]
        rows = predicted != y_test
    precision, recall, _ = macro_precision_recall_f(y_test, predicted)
    return Score(float(np.mean(rows)), precision, recall)


def log_loss_of(p: AnyArray, classes: AnyArray | None, y_test: AnyArray) -> float:
    """Return the log loss of probabilities."""
    assert classes is not None
    return float(np.mean(LogLoss().rows(*over_all_classes(p, classes, y_test))))


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
