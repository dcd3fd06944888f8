"""Cells on a pool: trials are looked up, and what a method proposes is moved to a tabulated configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from comitia.bench.cells.scores import score_members
from comitia.bench.problems.tabulated import Entry, Partition, Tabulated
from comitia.bench.rows.row import Score
from comitia.committees.combine import Answers
from comitia.errors import ChoiceError, ExperimentError
from comitia.evaluation.measured import rejection, turned
from comitia.evaluation.scoring import Scorer, make_loss
from comitia.history import History, Observation, Predictions, Status, Trial, Truth
from comitia.methods import Method, kept_by
from comitia.seams import Ask, Bar, Judging, Keep, Member, Optimizer, Values
from comitia.seeds import Seeds
from comitia.space import Config


class PoolArena:
    """A partition of a pool as the arena of a cell.

    Each trial of a method that reshuffles is judged on one of the pool's divisions into folds, drawn by its number; all
    trials of others on the same one, drawn by the study's seed. With `holds_out` a trial is judged on one of the folds.

    Raises
    ------
    ExperimentError
        If the pool cannot serve the method, or was made for another loss.
    """

    def __init__(
        self,
        pool: Tabulated,
        method: Method,
        *,
        repetition: int = 0,
        loss: str | None = None,
        holds_out: bool = False,
    ) -> None:
        partition = pool.partition_of(repetition)
        check_splits(method, len(partition.divisions), holds_out=holds_out)
        if loss is not None and loss != pool.loss:
            pool, partition = rejudged(pool, partition, loss)
        self.pool, self.partition = pool, partition
        self.space = pool.space
        self.dataset = pool.dataset
        self.loss = pool.loss
        self.n_rows = len(self.partition.y_train)
        targets = np.union1d(self.partition.y_train, self.partition.y_test)
        self.n_classes = len(targets) if pool.task == "classification" else 0
        self.evaluator = PoolEvaluator(
            pool, self.partition, kept_by(method, pool.loss), is_reshuffled=method.is_reshuffled, holds_out=holds_out
        )
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


def check_splits(method: Method, n_shuffles: int, *, holds_out: bool = False) -> None:
    """Refuse a method that a pool with so many divisions into folds cannot serve."""
    if method.has_selection_split or (method.is_reshuffled and n_shuffles == 1 and not holds_out):
        raise ExperimentError(
            f"The method {method.name!r} draws splits of its own, which a pool does not have: its models were fitted "
            "on one set of splits. Run it on the table itself, or make a pool with --shuffles 5 for methods that "
            "reshuffle."
        )


def rejudged(pool: Tabulated, partition: Partition, loss: str) -> tuple[Tabulated, Partition]:
    """Return a pool of classes, and one of its partitions, as if it had been made for another loss on rows."""
    judged = make_loss(loss)
    if isinstance(judged, Scorer) or pool.task != "classification" or judged.task != "classification":
        raise ExperimentError(
            f"A pool must have been made for the experiment's loss. {pool.name!r} has {pool.loss!r}, got {loss!r}. "
            f"Leave 'loss' out, or make a pool with --loss {loss}."
        )
    codes = np.unique(partition.y_train, return_inverse=True)[1]

    def of(entry: Entry) -> Entry:
        found = entry.predictions
        if found is None or (judged.needs_probabilities and entry.probabilities is None):
            return replace(entry, status="failed", predictions=None, error=entry.error or "it has no probabilities")
        answers = entry.probabilities if judged.needs_probabilities else found.values
        losses = judged.rows(codes[found.rows], np.asarray(answers))
        by_fold = [float(losses[found.folds == fold].mean()) for fold in range(len(entry.losses))]
        return replace(entry, losses=tuple(by_fold), predictions=replace(found, losses=losses))

    first, *others = [[of(entry) for entry in division] for division in partition.divisions]
    changed = replace(partition, entries=first, shuffles=others)
    return replace(pool, loss=loss, partitions=[changed]), changed


@dataclass(eq=False)
class PoolEvaluator:
    """Look a trial up instead of fitting it."""

    pool: Tabulated
    partition: Partition
    keep: Keep
    is_reshuffled: bool = False
    holds_out: bool = False
    """Whether a trial is judged on one fold, else on all."""

    def __post_init__(self) -> None:
        self.index = {config: i for i, config in enumerate(self.pool.space.decode(self.pool.X))}
        y = self.partition.y_train
        self.classes = np.unique(y) if self.pool.task == "classification" else None

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        entry, folds = self._looked_up(trial, seeds)
        return self._observed(trial, entry, folds, "ok", entry.error)

    def screened(self, trial: Trial, seeds: Seeds, bar: Bar) -> tuple[Observation, Predictions | None]:
        """Look up fold by fold, in the order in which `TableEvaluator` would fit them."""
        entry, folds = self._looked_up(trial, seeds)
        found = entry.kept(self.keep)
        if found is None or len(folds) == 1:
            return self(trial, seeds)
        order = turned(len(folds), trial.root % len(folds))
        for n in range(1, len(order)):
            if bar.rejects(_of_folds(found, order[:n])):
                return self._observed(trial, entry, order[:n], "rejected", rejection(n, len(order)))
        return self(trial, seeds)

    def _looked_up(self, trial: Trial, seeds: Seeds) -> tuple[Entry, list[int]]:
        """Return what came of a configuration, and the folds that count."""
        if trial.repeats > 1 or trial.folds is not None or trial.continues is not None:
            raise ChoiceError("A pool has one evaluation of each configuration. The method asked for more of one.")
        divisions, place = self.partition.divisions, self.index[trial.config]
        key = (trial.root,) if self.is_reshuffled else ()
        n_folds = max(len(self.partition.entries[place].losses), 1)
        n_draws = len(divisions) * (n_folds if self.holds_out else 1)
        drawn = seeds.integer("pool-splits", *key) % n_draws if n_draws > 1 else 0
        entry = divisions[drawn % len(divisions)][place]
        return entry, [drawn // len(divisions)] if self.holds_out else list(range(len(entry.losses)))

    def _observed(
        self, trial: Trial, entry: Entry, folds: list[int], status: Status, error: str
    ) -> tuple[Observation, Predictions | None]:
        """Return what some folds of a configuration say; its seconds are shared by all folds."""
        is_ok = entry.status == "ok"
        kept = entry.kept(self.keep)
        observation = Observation(
            trial=trial,
            status=status if is_ok else entry.status,
            losses=tuple(entry.losses[fold] for fold in folds) if is_ok else entry.losses,
            seconds=entry.seconds * (len(folds) / len(entry.losses) if is_ok else 1.0),
            n_evaluations=len(folds) if is_ok else self.n_fits(trial),
            error=error,
        )
        return observation, kept if kept is None or len(folds) == len(entry.losses) else _of_folds(kept, folds)

    @property
    def judging(self) -> Judging:
        y = self.partition.y_train
        truth = Truth(y, 0) if self.classes is None else Truth(np.searchsorted(self.classes, y), len(self.classes))
        return Judging(keep=self.keep, truth=truth)

    def n_fits(self, trial: Trial) -> int:
        return 1 if self.holds_out else max(len(self.partition.entries[self.index[trial.config]].losses), 1)


def _of_folds(found: Predictions, folds: Sequence[int]) -> Predictions:
    """Return what was predicted in some folds."""
    return replace(found.of(np.isin(found.folds, folds)), seconds=None)


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
