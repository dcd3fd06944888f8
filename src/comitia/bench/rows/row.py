"""`Row`: where a search stood after an iteration. Its fields are the columns of the results of an experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Annotated, NamedTuple, get_args, get_origin, get_type_hints

from comitia.arrays import Array
from comitia.bench.plan.plan import Cell
from comitia.bench.rows.packing import packed

MOST_TEXT = 500
"""Characters of an error that are kept."""
Many = Annotated[int, "int64"]
"""A number that may be too large for 32 bits."""


class Score(NamedTuple):
    """How good something was on rows that the search never saw."""

    loss: float
    precision: float = math.nan
    recall: float = math.nan
    log_loss: float = math.nan
    losses: Array | None = None
    """The loss of each row, where it is a mean over rows."""


class Further(NamedTuple):
    """What is recorded of a whole system's predictions beside its score."""

    error: float = math.nan
    balanced_accuracy: float = math.nan
    calibration_error: float = math.nan
    rmse: float = math.nan


@dataclass(frozen=True)
class Row:
    """One iteration of one cell; NaN and None are missing values."""

    iteration: int
    """Number of trials so far; 0 in the only row of a cell that failed as a whole."""
    n_evaluations: Many = 0
    """Number of fits so far."""
    status: str = "ok"
    """Of this iteration's trial."""
    loss: str | None = None
    """What is measured: zero-one, log-loss, squared-error, value (of a black box), ..."""
    trial_loss: float = math.nan
    """Validation loss of this iteration's trial."""
    validation_loss: float = math.nan
    """The smallest validation loss so far."""
    returned_loss: float = math.nan
    """Validation loss of what would be returned now: of a committee as a whole, on the rows that its members were
    judged on. Optimistic, because they were chosen by those rows."""
    test_loss: float = math.nan
    """Of what would be returned now."""
    test_precision: float = math.nan
    """Mean over classes (Xavier-Júnior et al. 2020, §5.3)."""
    test_recall: float = math.nan
    test_log_loss: float = math.nan
    """Of averaged probabilities; a member without any gives margins or votes."""
    train_seconds: float = math.nan
    """Of all trials so far."""
    optimizer_seconds: float = math.nan
    """Everything else of the search so far."""
    learner: str | None = None
    """The one that would be returned now."""
    n_members: int | None = None
    """How many models would be returned now."""
    n_rows: int | None = None
    """For training and validation."""
    n_classes: int | None = None
    """Classes that occur in the data, the test rows included; 0 for numbers and black boxes."""
    error: str | None = None
    dataset: str | None = None
    """What the problem is a sample of: all pools of one dataset have the same."""
    test_losses: str | None = None
    """The loss of each test row, as `packing.unpacked` reads it, where the experiment says `keep_test_losses`."""
    limit_seconds: float = math.nan
    """Of whole systems, as all that follow: the seconds that it was told; NaN for none."""
    test_error: float = math.nan
    """Share of the test rows whose class was not predicted, whatever the loss is."""
    test_balanced_accuracy: float = math.nan
    """Mean over the classes of the test rows of the share that was predicted."""
    test_calibration_error: float = math.nan
    """Of the most probable class; see `report.calibration`."""
    test_rmse: float = math.nan
    """Root of the mean squared error of numbers, whatever the loss is."""
    predict_seconds: float = math.nan
    """Of predicting the test rows once; `train_seconds` are those of the fit."""
    peak_bytes: Many | None = None
    """The most memory of the system with all its processes."""
    model_bytes: Many | None = None
    """Size on disk of what it needs to predict."""
    yardstick_seconds: float = math.nan
    """How fast the machine was: the seconds of a fixed fit, `cells.yardstick`, the mean of before and after."""

    @classmethod
    def failed(cls, error: str) -> Row:
        """Return the only row of a cell that failed as a whole."""
        return cls(iteration=0, status="failed", error=one_line(error))

    @property
    def is_failed_cell(self) -> bool:
        """Whether the cell failed as a whole."""
        return self.iteration == 0

    def tested(self, score: Score, *, keep_losses: bool = False) -> Row:
        """Return the same row with a test score, and with the loss of each test row if that is to be kept."""
        return replace(
            self,
            test_loss=score.loss,
            test_precision=score.precision,
            test_recall=score.recall,
            test_log_loss=score.log_loss,
            test_losses=packed(score.losses) if keep_losses and score.losses is not None else None,
        )


@dataclass(frozen=True)
class Origin:
    """How the rows of a cell came about."""

    versions: str
    machine: str
    finished_at: str


def one_line(text: str) -> str:
    """Return an error as one line of limited length."""
    return " ".join(text.split())[:MOST_TEXT]


def _types(record: type) -> dict[str, str]:
    """Return Arrow's types of the fields of a record."""
    return {name: _type(hint) for name, hint in get_type_hints(record, include_extras=True).items()}


def _type(hint: type) -> str:
    if get_origin(hint) is Annotated:
        return str(get_args(hint)[1])
    kind, *_ = [part for part in get_args(hint) if part is not type(None)] or [hint]
    return {str: "string", int: "int32", float: "float64"}.get(kind) or _type(kind)


KEY = tuple(field.name for field in fields(Cell))
COLUMNS: dict[str, str] = {**_types(Cell), **_types(Row), **_types(Origin)}
"""All columns with their Arrow types: those of a cell, a row, and where they come from."""
