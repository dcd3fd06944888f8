"""An experiment: problems, spaces, methods, repetitions, a budget, and one scale that shrinks it; and its cells.

`experiment_file.py` reads one from a TOML file, `cells/run.py` runs it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from comitia.arrays import Json
from comitia.errors import ExperimentError, UnknownName
from comitia.seeds import Seeds
from comitia.study.budget import Budget

OWN_SPACE = "own"
"""The space of a problem that brings its own: a black box or a pool."""
LEAST_TRIALS = 10
"""A budget is not scaled below this."""


@dataclass(frozen=True)
class Validation:
    """How a trial is judged: `cv` is a hold-out fraction or a number of folds."""

    name: str
    cv: float | int
    stratified: bool = True
    """Keep the proportions of the classes; Glasmachers and Igel 2008 draw subsets without regard to them."""
    methods: tuple[str, ...] = ()
    """Only these are judged in this way; all if empty."""


@dataclass(frozen=True)
class HoldOutTest:
    """How the test rows are set aside, and how many rows a model may be trained on."""

    test: float | None = None
    """Fraction of the rows for the test."""
    folds: int | None = None
    """Instead of a fraction: repetition r tests on fold `r % folds` of shuffle `r // folds`, as in the nested
    cross-validation of Xavier-Júnior et al. 2020."""
    most_train_rows: int | None = None
    """Every fit, the last one included, sees at most this many rows."""
    own: Mapping[str, int] = field(default_factory=dict)
    """Tables that have test rows (Lévesque 2018, §3.3, §4.4): all but the first so many, in every repetition."""


@dataclass(frozen=True)
class NetworkRecipe:
    """How the networks of an experiment on images are trained, beside their hyperparameters."""

    epochs: int = 30
    batch: int = 128
    filters: tuple[int, int, int] = (32, 32, 64)


@dataclass(frozen=True)
class Cell:
    """One study of an experiment: what makes a row of results unique, beside its iteration."""

    problem: str
    space: str
    validation: str
    method: str
    repetition: int

    @property
    def seed(self) -> int:
        """Seed of its study: the same for every method, hence the same splits and the same first random draws."""
        return Seeds(self.repetition).integer(f"study/{self.problem}/{self.space}/{self.validation}")


@dataclass(frozen=True)
class Experiment:
    """What is compared, on what, how often and within which budget."""

    name: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    budget: Budget
    spaces: tuple[str, ...] = (OWN_SPACE,)
    validations: tuple[Validation, ...] = (Validation("5-fold", 5),)
    split: HoldOutTest = field(default_factory=HoldOutTest)
    title: str = ""
    paper: str = ""
    loss: str | None = None
    refit: bool = True
    """Fit what is returned on all rows but the test's; else keep the model of the training part (hold-out only)."""
    selection_split: float = 0.2
    """Fraction for the methods that set rows aside for the final selection."""
    test_every: int = 1
    """Iterations between two tests of what would be returned; the last is always tested."""
    rows_every: int = 1
    """Iterations between two rows; the last always has one."""
    jobs: int = 1
    """Cores that one cell may use; more than one only for whole systems."""
    average_last: int = 1
    """Iterations at the end whose test losses the tables average (Lacoste et al. 2014: 15)."""
    keep_test_losses: bool = False
    """Keep the loss of each test row: the Poisson-binomial test of Lacoste et al. 2014 counts them."""
    tables: tuple[str, ...] = ("summary", "wins", "errors", "wilcoxon")
    method_cv: Mapping[str, float | int] = field(default_factory=dict)
    """Methods that are judged in another way than the validation says, such as `cma-cv` by fixed folds."""
    networks: NetworkRecipe | None = None
    """For experiments on images, whose studies run in lockstep; see `cells/stacked_cells.py`."""
    scale: float = 1.0

    def cells(self, missing: Collection[str] = ()) -> list[Cell]:
        """List the cells but those of missing methods and spaces.

        Repetition by repetition, so that a run that is cut short has a bit of everything.
        """
        return [
            Cell(problem, space, validation.name, method, repetition)
            for repetition in range(self.repetitions)
            for problem in self.problems
            for space in ((OWN_SPACE,) if brings_its_own_space(problem) else self.spaces)
            for validation in self.validations
            for method in self.methods
            if method not in missing and space not in missing
            if not validation.methods or method in validation.methods
        ]

    def validation_of(self, cell: Cell) -> Validation:
        """Return how the trials of a cell are judged."""
        found = next(validation for validation in self.validations if validation.name == cell.validation)
        return replace(found, cv=self.method_cv.get(cell.method, found.cv))

    def protocol(self) -> Json:
        """Return what must be the same for two cells to be compared: rows of another protocol are not mixed in.

        Problems, methods, spaces and repetitions are not part of it: more of them may be added later.
        """
        validations = {v.name: v.cv if v.stratified else [v.cv, "not stratified"] for v in self.validations}
        split = {name: value for name, value in asdict(self.split).items() if name != "own" or value}
        parts = asdict(self) | {"validations": validations, "tables": list(self.tables), "split": split}
        names = ["name", "title", "paper", "loss", "refit", "selection_split", "test_every", "jobs", "split", "budget"]
        names += ["validations", "method_cv", "average_last", "tables", "scale"]
        names += ["keep_test_losses"] if self.keep_test_losses else []  # rows from before there was one have none
        names += ["networks"] if self.networks is not None else []
        return {name: parts[name] for name in names}

    def scaled(self, scale: float, sizes: Mapping[str, int] | None = None) -> Experiment:
        """Shrink problems, repetitions and budget together, each to its share rounded up.

        The problems with the fewest rows are kept where sizes are known: a scaled run is a quick look, and it says so.
        """
        if not 0 < scale <= 1:
            raise ExperimentError(f"The scale must be a number in (0, 1]. Got {scale!r} instead.")
        if scale == 1:
            return self
        order = sorted(self.problems, key=lambda name: (sizes or {}).get(name, math.inf))
        kept = set(order[: _share(len(order), scale)])
        budget = Budget(
            None if self.budget.time_limit is None else self.budget.time_limit * scale,
            _least(self.budget.n_trials, scale),
            _least(self.budget.n_evaluations, scale),
        )
        return replace(
            self,
            problems=tuple(name for name in self.problems if name in kept),
            repetitions=_share(self.repetitions, scale),
            budget=budget,
            average_last=_share(self.average_last, scale),
            scale=scale,
        )

    def only(self, *, problems: Collection[str] = (), methods: Collection[str] = ()) -> Experiment:
        """Keep some problems and methods by name."""
        for what, wanted, known in (("problem", problems, self.problems), ("method", methods, self.methods)):
            for name in wanted:
                if name not in known:
                    raise UnknownName(f"{what} of the experiment", name, known)
        return replace(
            self,
            problems=tuple(p for p in self.problems if not problems or p in problems),
            methods=tuple(m for m in self.methods if not methods or m in methods),
        )


def brings_its_own_space(problem: str) -> bool:
    """Tell whether a problem has a space of its own: black boxes and pools."""
    return problem.split(":")[0] in ("pool", "function", "coco", "hpo")


def _share(n: int, scale: float) -> int:
    return max(1, math.ceil(n * scale - 1e-9))


def _least(n: int | None, scale: float) -> int | None:
    return None if n is None else max(_share(n, scale), min(n, LEAST_TRIALS))


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to run a cell; it finds the data again by itself."""

    experiment: Experiment
    cell: Cell
    data: Path | None
    """Folder of tables."""
