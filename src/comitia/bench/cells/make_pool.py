"""Make a pool: let searches propose configurations, evaluate each on every partition, save what came of them.

Each evaluation is a file in a folder beside the pool until the pool is whole. To resume after an interrupt, run the
same command again: what is there is not trained again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from comitia.arrays import Array, Estimator, Table
from comitia.bench.cells.arenas import TableArena, answers_of
from comitia.bench.cells.pool_cells import check_splits
from comitia.bench.files import replacing
from comitia.bench.plan.experiment_file import checked_cv
from comitia.bench.plan.plan import Cell, Experiment, HoldOutTest, Validation
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.tabulated import Entry, Partition, Tabulated, write_pool
from comitia.bench.rows.parquet import check_pyarrow
from comitia.bench.rows.row import one_line
from comitia.committees.combine import Answers
from comitia.errors import ExperimentError, check_int
from comitia.evaluation.fitting import take
from comitia.evaluation.measured import KeptSplit, Measured
from comitia.evaluation.scoring import Scorer
from comitia.execution import Serial, Workers
from comitia.history import Observation, Predictions, Trial
from comitia.methods import get_method, kept_by
from comitia.seams import Judging, Keep, Member
from comitia.seeds import Seeds
from comitia.space import Config
from comitia.study.budget import Budget
from comitia.study.study import Study


@dataclass(frozen=True)
class PoolPlan:
    """What a pool is made of."""

    problem: str
    space: str
    n_trials: int
    """Configurations of each search."""
    methods: tuple[str, ...] = ("rs",)
    """Searches whose trials are pooled; they run on the first partition."""
    cv: float | int = 5
    """How a configuration is validated: a hold-out fraction or a number of folds."""
    loss: str | None = None
    """By default zero-one for classes, squared error for numbers."""
    test: float = 1 / 3
    """Fraction of the rows for the test."""
    most_train_rows: int | None = None
    """Rows that a fit may see."""
    refit: bool = True
    """Test a model fitted on all rows but the test's; else the one of the training part, which needs a hold-out
    (Lacoste et al. 2014: 40 % for training, 30 % for validation, 30 % for the test)."""
    n_partitions: int = 1
    """Splits of the data; repetition r of an experiment runs on partition r."""
    n_shuffles: int = 1
    """Divisions into folds of the rows of one partition: every configuration is evaluated on each, for methods that
    reshuffle."""
    seed: int = 0
    """Decides the test rows, the folds and the configurations."""

    def __post_init__(self) -> None:
        check_int("PoolPlan", "n_partitions", self.n_partitions)
        check_int("PoolPlan", "n_shuffles", self.n_shuffles)
        if checked_cv(self.cv) >= 1 and not self.refit:
            raise ExperimentError(
                f"Without a refit the model of the training part is tested, so 'cv' must be a fraction. Got {self.cv} "
                "folds. Use a hold-out, such as 0.3."
            )
        for name in self.methods:
            check_splits(get_method(name), 1)

    def arena(self, partition: int, data: Path | None) -> TableArena:
        """Return the table of a partition."""
        experiment = Experiment(
            name="pool",
            problems=(self.problem,),
            methods=("rs",),
            repetitions=1,
            budget=Budget(n_trials=self.n_trials),
            spaces=(self.space,),
            validations=(Validation("validation", self.cv),),
            split=HoldOutTest(test=self.test, most_train_rows=self.most_train_rows),
            loss=self.loss,
            refit=self.refit,
        )
        cell = Cell(self.problem, self.space, "validation", "rs", self.seed + partition)
        return TableArena(experiment, cell, find_table(self.problem, data, "A pool"), get_method("rs"))


def make_pool(
    plan: PoolPlan,
    output: Path,
    *,
    data: Path | None = None,
    jobs: int = 1,
    on_trial: Callable[[int], None] = lambda n: None,
) -> Tabulated:
    """Make a pool and save it as a new Parquet file.

    `jobs` evaluations run at a time; `on_trial` hears how many are done.
    """
    check_pyarrow()
    if output.exists():
        raise ExperimentError(
            f"A pool must be a new file. {str(output)!r} is there already. Remove it or name another."
        )
    folder = output.with_name(output.name + ".parts")
    tabulators = [
        Tabulator(plan.arena(partition, data), plan.seed + partition, folder / str(partition))
        for partition in range(plan.n_partitions)
    ]
    shuffled = [[tabulator.shuffled(k) for k in range(plan.n_shuffles)] for tabulator in tabulators]
    _begin(folder, plan, tabulators)
    points = search(plan, tabulators[0], jobs, on_trial)
    evaluate([tabulator for shuffles in shuffled for tabulator in shuffles], points, jobs, on_trial)
    first = tabulators[0].arena
    pool = Tabulated(
        name=f"pool:{output}",
        dataset=plan.problem,
        space=first.space,
        task=first.table.task,
        loss=first.table.loss.name,
        X=np.array(list(points.values())),
        partitions=[
            replace(shuffles[0].partition(points), shuffles=[one.entries(points) for one in shuffles[1:]])
            for shuffles in shuffled
        ],
    )
    write_pool(pool, output)
    shutil.rmtree(folder)
    return pool


def search(plan: PoolPlan, tabulator: Tabulator, jobs: int, on_trial: Callable[[int], None]) -> dict[Config, Array]:
    """Let every search propose configurations; return the different ones with their coordinates."""
    found: dict[Config, Array] = {}
    n_done = itertools.count(1)
    for method in map(get_method, plan.methods):
        study = Study(tabulator.arena.space, method, seed=plan.seed)
        study.run(
            replace(tabulator, keep=kept_by(method, tabulator.loss)),
            n_trials=plan.n_trials,
            n_jobs=jobs if jobs > 1 else None,
            callbacks=[lambda study, observation: on_trial(next(n_done))],
        )
        if study.stop_reason == "interrupted":
            raise KeyboardInterrupt
        for observation, x in zip(study.history.observations(), study.history.X, strict=True):
            found.setdefault(observation.config, x)
    return found


def evaluate(
    tabulators: list[Tabulator], points: dict[Config, Array], jobs: int, on_trial: Callable[[int], None]
) -> None:
    """Evaluate on all partitions what is not evaluated there yet."""
    trials = [
        Trial(number=number, batch=0, x=tuple(x.tolist()), config=config)
        for number, (config, x) in enumerate(points.items())
    ]
    missing = [(t, trial) for t in tabulators for trial in trials if not t.path_of(trial.config).exists()]
    with Workers(jobs) if jobs > 1 else Serial() as executor:
        futures = [executor.submit(tabulator.evaluate, trial) for tabulator, trial in missing]
        for n, future in enumerate(as_completed(futures), start=1):
            future.result()
            on_trial(len(points) + n)


def _begin(folder: Path, plan: PoolPlan, tabulators: list[Tabulator]) -> None:
    """Make the folder of what is evaluated, or refuse one of another pool."""
    for tabulator in tabulators:
        for k in range(plan.n_shuffles):
            tabulator.shuffled(k).folder.mkdir(parents=True, exist_ok=True)
    judged = [tabulator.arena.table.fingerprint() for tabulator in tabulators]
    here = json.dumps([judged, plan.space, plan.refit, plan.seed])
    mark = folder / "made_of.json"
    if not mark.exists():
        with replacing(mark) as beside:
            beside.write_text(here, encoding="utf-8")
    elif mark.read_text(encoding="utf-8") != here:
        raise ExperimentError(
            f"A pool must be continued with the same table, splits, loss and seed. {str(folder)!r} was begun with "
            "others. Use the same, or remove it."
        )


@dataclass(frozen=True, eq=False)
class Tabulator:
    """An evaluator that also answers the test rows; what it finds is kept in a folder, one file per configuration."""

    arena: TableArena
    seed: int
    folder: Path
    keep: Keep = "nothing"
    shuffle: int = 0
    """Which division into folds; those after the first have no answers for the test, which do not depend on it."""

    def __post_init__(self) -> None:
        if isinstance(self.arena.table.loss, Scorer):
            raise ExperimentError(f"A pool must have a loss on rows. Got {self.loss!r}. Use zero-one or log-loss.")

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self.arena.table.loss.name

    def shuffled(self, shuffle: int) -> Tabulator:
        """Return it for another division into folds of the same rows."""
        return replace(self, shuffle=shuffle, folder=self.folder / f"shuffle-{shuffle}") if shuffle else self

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        if not self.path_of(trial.config).exists():
            self.evaluate(trial)
        entry = self.read(trial.config)
        observation = Observation(
            trial=trial,
            status=entry.status,
            losses=entry.losses,
            seconds=entry.seconds,
            n_evaluations=max(len(entry.losses), 1),
            error=entry.error,
        )
        return observation, entry.kept(self.keep)

    @property
    def judging(self) -> Judging:
        return replace(self.arena.table.judging, keep=self.keep)

    def n_fits(self, trial: Trial) -> int:
        return self.arena.table.n_fits(trial) + self.arena.tester.refit

    def path_of(self, config: Config) -> Path:
        """Return the file of a configuration."""
        text = json.dumps(dict(config), default=str, sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"

    def read(self, config: Config) -> Entry:
        """Return what came of a configuration."""
        return Entry.from_bytes(self.path_of(config).read_bytes())

    def partition(self, configs: Iterable[Config]) -> Partition:
        """Return what came of all configurations."""
        return Partition(self.arena.table.y, self.arena.tester.draw.y_test, self.entries(configs))

    def entries(self, configs: Iterable[Config]) -> list[Entry]:
        """Return what came of each configuration."""
        return [self.read(config) for config in configs]

    def evaluate(self, trial: Trial) -> None:
        """Fit a configuration on the folds and for the test, and keep what came of it."""
        started = time.perf_counter()
        try:
            entry = self._entry(trial, Seeds(self.seed), started)
        except Exception as error:  # a learner may raise anything
            text = one_line(f"{type(error).__name__}: {error}")
            entry = Entry(status="failed", seconds=time.perf_counter() - started, error=text)
        with replacing(self.path_of(trial.config)) as beside:
            beside.write_bytes(entry.to_bytes())

    def _entry(self, trial: Trial, seeds: Seeds, started: float) -> Entry:
        table, tester = self.arena.table, self.arena.tester
        truth = table.y if table.codes is None else table.codes
        loss = table.loss
        assert not isinstance(loss, Scorer)
        measured = Measured()
        ps: list[Array] = []
        test: Answers | None = None
        for number, (train, rows) in enumerate(table.splits(trial.number, self.shuffle, seeds)):
            model = table.fit(trial.config, train, seeds, (trial.number, self.shuffle, number))
            answers = self._answers(model, take(table.X, rows))
            p = answers.probabilities
            losses = loss.rows(truth[rows], p if p is not None and loss.needs_probabilities else answers.values)
            measured.losses.append(float(np.average(losses)))
            measured.kept.append(KeptSplit(rows=rows, values=answers.values, losses=losses, seconds=math.nan))
            if p is not None:
                ps.append(p)
            if not tester.refit:
                test = self._answers(model, tester.draw.X_test)
        seconds = time.perf_counter() - started
        if test is None and not self.shuffle:
            test = self._answers(tester.fitted(Member(trial.config, 1.0, trial.number), seeds), tester.draw.X_test)
        return Entry(
            status="ok",
            losses=tuple(measured.losses),
            seconds=seconds,
            predictions=replace(measured.predictions(), seconds=None),
            probabilities=np.concatenate(ps).astype(np.float32) if ps else None,
            test=test,
        )

    def _answers(self, model: Estimator, X: Table) -> Answers:
        return answers_of(self.arena.table, model, X, needs_probabilities=True)
