"""Cells on a pool: trials are looked up, and what a method proposes is moved to a tabulated configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from comitia.bench.cells.scores import score_members
from comitia.bench.problems.tabulated import Partition, Tabulated
from comitia.bench.rows.row import Score
from comitia.committees.combine import Answers
from comitia.errors import ChoiceError, ExperimentError
from comitia.evaluation.scoring import Scorer, make_loss
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.methods import Method, kept_by
from comitia.seams import Ask, Judging, Keep, Member, Optimizer, Values
from comitia.seeds import Seeds
from comitia.space import Config


class PoolArena:
    """A partition of a pool as the arena of a cell.

    Raises
    ------
    ExperimentError
        If the pool cannot serve the method, or was made for another loss.
    """

    def __init__(self, pool: Tabulated, method: Method, *, repetition: int = 0, loss: str | None = None) -> None:
        self.partition = pool.partition_of(repetition)
        check_splits(method, len(self.partition.divisions))
        if loss is not None and loss != pool.loss:
            raise ExperimentError(
                f"A pool must have been made for the experiment's loss. {pool.name!r} has {pool.loss!r}, got {loss!r}. "
                f"Leave 'loss' out, or make a pool with --loss {loss}."
            )
        self.pool = pool
        self.space = pool.space
        self.dataset = pool.dataset
        self.loss = pool.loss
        self.n_rows = len(self.partition.y_train)
        targets = np.union1d(self.partition.y_train, self.partition.y_test)
        self.n_classes = len(targets) if pool.task == "classification" else 0
        self.evaluator = PoolEvaluator(pool, self.partition, kept_by(method, pool.loss))
        Snapped(method.optimizer(pool.space), pool, method.name)  # refuses a method that cannot be served

    def adapted(self, method: Method) -> Method:
        make = method.optimizer
        return replace(method, optimizer=lambda space: Snapped(make(space), self.pool, method.name))

    def was_looked_up(self, number: int) -> bool:
        return True

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        loss = make_loss(self.loss)
        assert not isinstance(loss, Scorer)  # no pool has one
        return score_members(
            members,
            [self._answers(member.config) for member in members],
            self.partition.y_test,
            loss=loss,
            classes=self.evaluator.classes,
            averages=self.evaluator.keep == "probabilities" or loss.needs_probabilities,
        )

    def _answers(self, config: Config) -> Answers:
        """Return the tabulated answers; a configuration that is not in the table is replaced by the nearest."""
        entries = self.partition.entries
        index = self.evaluator.index.get(config)
        if index is None or entries[index].test is None:
            distances = self.pool.distances_to(self.space.encode([config])[0])
            is_tested = np.array([entry.test is not None for entry in entries])
            index = int(np.where(is_tested, distances, np.inf).argmin())
        answers = entries[index].test
        assert answers is not None
        return answers


def check_splits(method: Method, n_shuffles: int) -> None:
    """Refuse a method that a pool with so many divisions into folds cannot serve."""
    if method.has_selection_split or (method.is_reshuffled and n_shuffles == 1):
        raise ExperimentError(
            f"The method {method.name!r} draws splits of its own, which a pool does not have: its models were fitted "
            "on one set of splits. Run it on the table itself."
        )


@dataclass(eq=False)
class PoolEvaluator:
    """Look a trial up instead of fitting it."""

    pool: Tabulated
    partition: Partition
    keep: Keep

    def __post_init__(self) -> None:
        self.index = {config: i for i, config in enumerate(self.pool.space.decode(self.pool.X))}
        y = self.partition.y_train
        self.classes = np.unique(y) if self.pool.task == "classification" else None

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        if trial.repeats > 1 or trial.folds is not None or trial.continues is not None:
            raise ChoiceError("A pool has one evaluation of each configuration. The method asked for more of one.")
        entry = self.partition.entries[self.index[trial.config]]
        observation = Observation(
            trial=trial,
            status=entry.status,
            losses=entry.losses,
            seconds=entry.seconds,
            n_evaluations=self.n_fits(trial),
            error=entry.error,
        )
        return observation, entry.kept(self.keep)

    @property
    def judging(self) -> Judging:
        y = self.partition.y_train
        truth = Truth(y, 0) if self.classes is None else Truth(np.searchsorted(self.classes, y), len(self.classes))
        return Judging(keep=self.keep, truth=truth)

    def n_fits(self, trial: Trial) -> int:
        return max(len(self.partition.entries[self.index[trial.config]].losses), 1)


class Snapped:
    """Another optimizer's proposals, each moved to the nearest tabulated configuration that was not asked yet.

    Raises
    ------
    ExperimentError
        If the optimizer waits for the very points that it proposed.
    """

    def __init__(self, optimizer: Optimizer, pool: Tabulated, name: str) -> None:
        if optimizer.needs.own_points:
            raise ExperimentError(
                f"The method {name!r} waits for the very points that it proposes, and a pool moves them to tabulated "
                "ones. Run it on the table itself, or use another method, such as rs or sobol."
            )
        self.optimizer = optimizer
        self.pool = pool
        self.configs = pool.space.decode(pool.X)
        self.needs = optimizer.needs

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        is_left = np.array([not history.was_asked(config) for config in self.configs])
        found: list[Ask] = []
        for ask in self.optimizer.ask(history, values, n, seeds):
            if not is_left.any():
                break
            distances = np.where(is_left, self.pool.distances_to(ask.x), np.inf)
            nearest = int(distances.argmin())
            is_left[nearest] = False
            found.append(replace(ask, x=self.pool.X[nearest]))
        return found
