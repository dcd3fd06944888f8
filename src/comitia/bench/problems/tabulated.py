"""Pools: saved tables of evaluated configurations, on which any method runs without training.

A pool is one dataset, one space, one split and one set of folds: every configuration was fitted on each fold, and once
more on all training rows for the test. A method then chooses among the tabulated configurations: what it proposes is
moved to the nearest one that is left. Hundreds of seeded repetitions take minutes.

Where that misleads: nothing between the tabulated points can be found, so methods that refine (local search, CMA-ES)
look worse than they are, and everybody is stuck at the best of the pool; near the end few points are left, so all
methods become alike; all repetitions share one split, so differences between them say nothing about other splits of the
data; a method that asks for fresh splits cannot run at all. Use pools to compare selections and committees, and as a
first look at searches.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from comitia.arrays import AnyArray, Array
from comitia.bench.cells.arenas import Score, Tester, score_members
from comitia.bench.files import replacing
from comitia.bench.peers.registry import PEERS
from comitia.bench.plan.plan import Cell, Experiment
from comitia.bench.problems.problems import FunctionProblem, find_problem
from comitia.committees.combine import kept_answers
from comitia.errors import ChoiceError, ExperimentError
from comitia.evaluation.scoring import ROW_LOSSES, Scorer
from comitia.evaluation.table import TableEvaluator
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.methods import Method, kept_by
from comitia.seams import Ask, Judging, Keep, Member, Optimizer, Values
from comitia.seeds import Seeds
from comitia.space import Space
from comitia.study.study import Study

VERSION = 1
CAVEAT = (
    "From a pool: only tabulated configurations could be chosen and all repetitions share one split of the data. Good "
    "for comparing selections and committees; searches that refine look worse than they are, late iterations alike."
)


@dataclass(frozen=True, eq=False)
class Pool:
    """Evaluated configurations of one dataset and space."""

    name: str
    space: Space
    task: str
    loss: str
    X: Array
    """Coordinates.  # (n, d)"""
    statuses: list[str]
    losses: list[tuple[float, ...]]
    """On each fold."""
    seconds: Array
    errors: list[str]
    predictions: list[Predictions | None]
    """Out of fold."""
    test_answers: list[AnyArray | None]
    """Of the model fitted on all training rows."""
    y_train: AnyArray
    y_test: AnyArray

    def __len__(self) -> int:
        return len(self.X)


# ---- running on a pool ----------------------------------------------------------------------------------------------


class PoolArena:
    """A pool as the arena of a cell; see `Arena`."""

    is_tabulated = True

    def __init__(self, pool: Pool, method: Method) -> None:
        if method.is_reshuffled or method.has_selection_split:
            raise ExperimentError(
                f"The method {method.name!r} draws splits of its own, which a pool does not have: its models were "
                "fitted on one set of folds. Run it on the table itself."
            )
        if method.name == "grid":
            raise ExperimentError(
                "A grid's points are not among the tabulated ones, and it would go on proposing its first. Got 'grid' "
                "on a pool. Use rs or sobol there."
            )
        if method.name.startswith("smac") and method.name in PEERS:
            raise ExperimentError(
                "SMAC waits for the configurations that it proposed itself, and a pool moves them. Got "
                f"{method.name!r} on a pool. Run it on the table, or use smac-rf."
            )
        self.pool = pool
        self.space = pool.space
        self.loss = pool.loss
        self.n_rows = len(pool.y_train)
        self.evaluator = PoolEvaluator(pool, keep=kept_by(method, pool.loss))
        self._classes = np.unique(pool.y_train) if pool.task == "classification" else None

    def adapted(self, method: Method) -> Method:
        """Move what the method proposes to tabulated configurations."""
        make = method.optimizer
        return replace(method, optimizer=lambda space: Snapped(make(space), self.pool))

    def test(self, members: Sequence[Member], seeds: Seeds) -> Score:
        """Score the tabulated answers; a configuration that is not in the table is replaced by the nearest."""
        answers = []
        for member in members:
            index = self.evaluator.index.get(member.config)
            if index is None or self.pool.test_answers[index] is None:
                distances = distances_to(self.pool, self.space.encode([member.config])[0])
                has_answer = np.array([answer is not None for answer in self.pool.test_answers])
                index = int(np.where(has_answer, distances, np.inf).argmin())
            answers.append(np.asarray(self.pool.test_answers[index]))
        return score_members(
            members,
            [kept_answers(answer, 0) for answer in answers],
            self.pool.y_test,
            loss=ROW_LOSSES[self.pool.loss],
            classes=self._classes,
            votes=answers[0].ndim == 1,
        )


class PoolEvaluator:
    """Look a trial up instead of fitting it; see `Evaluator`."""

    def __init__(self, pool: Pool, *, keep: Keep) -> None:
        self.pool = pool
        self.keep = keep
        self.index = {config: i for i, config in enumerate(pool.space.decode(pool.X))}

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        """Return what the table says."""
        if trial.repeats > 1 or trial.folds is not None or trial.continues is not None:
            raise ChoiceError("A pool has one evaluation of each configuration. The method asked for more of one.")
        i = self.index[trial.config]
        if self.pool.statuses[i] != "ok":
            return Observation.failed(trial, self.pool.errors[i], seconds=float(self.pool.seconds[i])), None
        observation = Observation(
            trial, "ok", self.pool.losses[i], {}, float(self.pool.seconds[i]), len(self.pool.losses[i])
        )
        return observation, self.pool.predictions[i] if self.keep != "nothing" else None

    @property
    def judging(self) -> Judging:
        y = self.pool.y_train
        if self.pool.task == "regression":
            return Judging(keep=self.keep, truth=Truth(y, 0))
        classes, codes = np.unique(y, return_inverse=True)
        return Judging(keep=self.keep, truth=Truth(codes, len(classes)))

    def n_fits(self, trial: Trial) -> int:
        """Return how many fits the trial took when the pool was made."""
        return max(len(self.pool.losses[self.index[trial.config]]), 1)


class Snapped:
    """Another optimizer's proposals, each moved to the nearest tabulated configuration that was not asked yet."""

    def __init__(self, optimizer: Optimizer, pool: Pool) -> None:
        self.optimizer = optimizer
        self.pool = pool
        self.configs = pool.space.decode(pool.X)
        self.needs = optimizer.needs

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> list[Ask]:
        """See `Optimizer`."""
        is_left = np.array([not history.was_asked(config) for config in self.configs])
        found: list[Ask] = []
        for ask in self.optimizer.ask(history, values, n, seeds):
            if not is_left.any():
                break
            distances = np.where(is_left, distances_to(self.pool, ask.x), np.inf)
            nearest = int(distances.argmin())
            is_left[nearest] = False
            found.append(replace(ask, x=self.pool.X[nearest]))
        return found


def distances_to(pool: Pool, x: Array) -> Array:
    """Return distances to every tabulated configuration: another branch is further than anything inside one."""
    space = pool.space
    x = space.snap(x[None])  # relaxed searches propose categories between two values
    Z, z = space.impute(pool.X), space.impute(x)
    labels = space.branches(np.vstack([pool.X, x]))
    is_categorical = np.asarray(space.is_categorical)
    numbers = ((Z - z)[:, ~is_categorical] ** 2).sum(axis=1)
    categories = ((Z - z)[:, is_categorical] != 0).sum(axis=1)
    return np.asarray(numbers + categories + len(space) * (labels[:-1] != labels[-1]))


# ---- making a pool --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WithTest:
    """An evaluator that also fits on all training rows and keeps the answers for the test rows."""

    evaluator: TableEvaluator
    tester: Tester

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        """See `Evaluator`; the test answers travel where those for a selection split would."""
        observation, predictions = self.evaluator(trial, seeds)
        if predictions is None:
            return observation, None
        try:
            answers = self.tester.answers(Member(trial.config, 1.0, trial.number), seeds)
            answer = np.asarray(answers.probabilities if self.tester.averages else answers.values)
        except Exception as error:  # what fits on the folds may fail on all rows
            text = f"fit on all rows: {type(error).__name__}: {error}"
            return replace(observation, status="failed", error=text), None
        self.tester.known.clear()
        return observation, replace(predictions, selection=answer[None])

    def n_fits(self, trial: Trial) -> int:
        """See `Evaluator`."""
        return self.evaluator.n_fits(trial) + 1

    @property
    def judging(self) -> Judging:
        return self.evaluator.judging


def make_pool(
    problem: str,
    space: str,
    output: Path,
    *,
    n_trials: int,
    cv: float | int = 5,
    loss: str | None = None,
    test: float = 1 / 3,
    most_train_rows: int | None = None,
    seed: int = 0,
    data: Path | None = None,
    jobs: int = 1,
    on_trial: Callable[[int], None] = lambda n: None,
) -> Pool:
    """Evaluate random configurations and save them; a pool that was interrupted goes on where it stopped."""
    from comitia.bench.cells.arenas import TableArena
    from comitia.bench.plan.plan import Split, Validation
    from comitia.methods import get_method
    from comitia.study.budget import Budget

    if output.exists():
        raise ExperimentError(
            f"A pool must be a new file. {str(output)!r} is there already. Remove it or name another."
        )
    method = get_method("rs")
    experiment = Experiment(
        "pool",
        (problem,),
        (method.name,),
        1,
        Budget(n_trials=n_trials),
        (space,),
        (Validation("validation", cv),),
        Split(test, None, most_train_rows),
        loss=loss,
    )
    found = find_problem(problem, data)
    if isinstance(found, FunctionProblem | Pool):
        raise ExperimentError(f"A pool must be made of a table. Got {problem!r}, which is not one.")
    arena = TableArena(experiment, Cell(problem, space, "validation", method.name, seed), found, method)
    evaluator = arena.evaluator
    loss_name = evaluator.loss.name
    if isinstance(evaluator.loss, Scorer):
        raise ExperimentError(f"A pool must have a loss on rows. Got {loss_name!r}. Use zero-one or log-loss.")
    evaluator.keep = "probabilities" if loss_name == "log-loss" else "predictions"
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = output.with_name(output.name + ".db")
    with Study(arena.space, method, seed=seed, storage=unfinished) as study:
        tester = Tester(evaluator, arena.tester.draw, most_train_rows, refit=True)
        study.run(
            WithTest(evaluator, tester),
            n_trials=n_trials,
            n_jobs=jobs if jobs > 1 else None,
            callbacks=[lambda study, observation: on_trial(study.history.n_finished)],
        )
        if study.stop_reason == "interrupted":
            raise KeyboardInterrupt
        pool = _pool_of(study, f"pool:{output}", found.task, loss_name, arena.tester)
    write_pool(pool, output)
    for ending in ("", "-wal", "-shm"):
        unfinished.with_name(unfinished.name + ending).unlink(missing_ok=True)
    return pool


def _pool_of(study: Study, name: str, task: str, loss: str, tester: Tester) -> Pool:
    # random search may draw a learner without hyperparameters twice
    observations = [o for o in study.history.observations() if study.history.number_of(o.config) == o.number]
    kept = [study.history.predictions(o.number) for o in observations]
    return Pool(
        name,
        study.space,
        task,
        loss,
        study.history.X[[o.number for o in observations]],
        [o.status for o in observations],
        [o.losses for o in observations],
        np.array([o.seconds for o in observations]),
        [o.error for o in observations],
        [None if p is None else replace(p, selection=None) for p in kept],
        [None if p is None or p.selection is None else p.selection[0] for p in kept],
        tester.evaluator.y,
        tester.draw.y_test,
    )


# ---- files ----------------------------------------------------------------------------------------------------------


def write_pool(pool: Pool, path: Path) -> None:
    """Write a pool as one Parquet file: a row for each configuration."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "x": pool.X.tolist(),
        "config": [json.dumps(dict(config), default=str) for config in pool.space.decode(pool.X)],
        "status": pool.statuses,
        "losses": [list(losses) for losses in pool.losses],
        "loss": [_mean(losses, status) for losses, status in zip(pool.losses, pool.statuses, strict=True)],
        "seconds": pool.seconds,
        "error": pool.errors,
        "predictions": [None if p is None else p.to_bytes() for p in pool.predictions],
        "test_answers": [None if a is None else _bytes(a) for a in pool.test_answers],
    }
    types = {"predictions": pa.binary(), "test_answers": pa.binary(), "losses": pa.list_(pa.float64())}
    table = pa.table({name: pa.array(values, type=types.get(name)) for name, values in columns.items()})
    header = {"space": pool.space.to_json(), "task": pool.task, "loss": pool.loss}
    header |= {name: base64.b64encode(_bytes(getattr(pool, name))).decode() for name in ("y_train", "y_test")}
    metadata = {"comitia.pool": str(VERSION), "comitia.header": json.dumps(header)}
    with replacing(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")


def read_pool(path: Path) -> Pool:
    """Read a pool."""
    import pyarrow.parquet as pq

    if not path.is_file():
        raise ExperimentError(f"A pool must be a file. There is no {str(path)!r}. Make it with comitia bench pool.")
    try:
        table = pq.read_table(path)
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{str(path)!r} must be a Parquet file. It could not be read: {error}.") from error
    metadata = table.schema.metadata or {}
    if metadata.get(b"comitia.pool") != str(VERSION).encode():
        raise ExperimentError(f"{str(path)!r} must be a pool of version {VERSION}. It is another file. Make it again.")
    header = json.loads(metadata[b"comitia.header"])
    rows = table.to_pydict()
    return Pool(
        f"pool:{path}",
        Space.from_json(header["space"]),
        header["task"],
        header["loss"],
        np.array(rows["x"], dtype=np.float64),
        rows["status"],
        [tuple(losses) for losses in rows["losses"]],
        np.array(rows["seconds"], dtype=np.float64),
        rows["error"],
        [None if data is None else Predictions.from_bytes(data) for data in rows["predictions"]],
        [None if data is None else _array(data) for data in rows["test_answers"]],
        *(_array(base64.b64decode(header[name])) for name in ("y_train", "y_test")),
    )


def _mean(losses: tuple[float, ...], status: str) -> float | None:
    return float(np.mean(losses)) if status == "ok" else None


def _bytes(array: AnyArray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(data: bytes) -> AnyArray:
    return np.asarray(np.load(io.BytesIO(data), allow_pickle=False))
