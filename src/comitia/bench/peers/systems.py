"""Run a whole system, from a table to predictions, in its own environment: tables and answers travel in files."""

import json
import math
import shutil
import subprocess
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import sparse

from comitia.arrays import AnyArray, Array, Json, Table
from comitia.bench.peers.environments import python_of, tail
from comitia.bench.peers.memory import PeakMemory
from comitia.bench.peers.process import environment_variables
from comitia.bench.peers.registry import Peer, get_peer
from comitia.errors import ChoiceError, PeerError, TableError, UnknownName
from comitia.evaluation.scoring import Task
from comitia.execution.starters import kill_group

METRICS = {
    "accuracy": "accuracy",
    "zero-one": "accuracy",
    "neg_log_loss": "log_loss",
    "log-loss": "log_loss",
    "roc_auc": "roc_auc",
    "roc_auc_ovr": "roc_auc",
    "neg_mean_squared_error": "mse",
    "squared-error": "rmse",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "absolute-error": "mae",
    "r2": "r2",
}
"""Our losses and scikit-learn's scorers, and what the scripts call them. Of squared errors the root is shown, so that
is what systems are told."""
GRACE_SECONDS = 60.0
GRACE_FACTOR = 1.5
"""A system is killed after `GRACE_FACTOR` times its limit and `GRACE_SECONDS`: most stop late."""
UNLIMITED_SECONDS = 1800.0
"""A system that has no limit is killed after so long."""
ROOT = Path(__file__).parents[3]
"""From which comitia is imported."""
MODELS = "models"
"""Folder in which systems keep what they fitted; deleted at the end."""


@dataclass(frozen=True)
class SystemAnswer:
    """What a system predicted for the rows of the test table."""

    predictions: AnyArray
    """Classes or numbers, (n_test,)."""
    probabilities: Array | None
    """In the order of `classes`, (n_test, n_classes)."""
    classes: AnyArray | None
    """The sorted classes of the training table; None for numbers."""
    seconds: float
    """For fitting, without starting and reading."""
    learner: str
    """What it chose, in its own words."""
    details: Json = field(default_factory=dict)
    """Its version, the models it fitted and their validation scores, as far as it says."""
    n_members: int = 1
    """How many models vote, where it says so."""
    predict_seconds: float = math.nan
    """For predicting the rows of the test table once."""
    limit_seconds: float | None = None
    """What it was told; None for no limit."""
    peak_bytes: int | None = None
    """The most memory that the system had with all its processes, until its predictions were there."""
    model_bytes: int | None = None
    """Size on disk of what it needs to predict."""


def run_system(
    peer: str | Peer,
    X_train: Table,
    y_train: AnyArray,
    X_test: Table,
    *,
    task: Task,
    metric: str,
    time_limit: float | None,
    seed: int,
    n_jobs: int = 1,
    folder: Path | None = None,
) -> SystemAnswer:
    """Let a system fit one table and predict another.

    Parameters
    ----------
    peer : str or Peer
    X_train, X_test : array or DataFrame of shape (n_rows, n_columns)
        Strings and missing values are left to the system.
    y_train : array of shape (n_rows,)
    task : {"classification", "regression"}
    metric : str
        What the system shall optimise: a key of `METRICS`.
    time_limit : float or None
        Seconds that the system is told; it is killed some time later. None for a system that has no limit.
    seed, n_jobs : int
        `n_jobs` is how many processors it may use.
    folder : Path, optional
        Where request, answer and log are kept; a temporary folder if not given.

    Raises
    ------
    PeerMissing
        If its environment is not built.
    PeerError
        If it ends without an answer, with the end of its log.
    """
    peer = get_peer(peer)
    if peer.kind != "system":
        raise ChoiceError(
            f"A peer that goes from tables to predictions must be a system. Got {peer.name!r}: {peer.kind}."
        )
    if metric not in METRICS:
        raise UnknownName("metric of a system", metric, METRICS)
    python = python_of(peer.environment)
    y: AnyArray = np.asarray(y_train, dtype=None if task == "classification" else np.float64)
    classes = None
    if task == "classification":  # every tool takes whole numbers from 0 for classes
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise TableError(f"There must be at least two classes to learn. Got {len(classes)}.")
    request = {
        "task": task,
        "n_classes": 0 if classes is None else len(classes),
        "metric": METRICS[metric],
        "time_limit": time_limit,
        "seed": seed,
        "n_jobs": n_jobs,
        "options": dict(peer.options),
    }
    temporary = TemporaryDirectory(prefix="comitia-system-", ignore_cleanup_errors=True) if folder is None else None
    with temporary or nullcontext(str(folder)) as place:
        folder = Path(place).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for written in ("answer.json", "predictions.parquet"):
            (folder / written).unlink(missing_ok=True)
        _frame(X_train).to_parquet(folder / "X_train.parquet", index=False)
        _frame(X_test).to_parquet(folder / "X_test.parquet", index=False)
        pd.DataFrame({"y": y}).to_parquet(folder / "y_train.parquet", index=False)
        (folder / "request.json").write_text(json.dumps(request, indent=1))
        timeout_seconds = UNLIMITED_SECONDS if time_limit is None else time_limit * GRACE_FACTOR + GRACE_SECONDS
        peak_bytes = _run(peer, python, folder, n_jobs, timeout_seconds)
        answer = _read(peer, folder, classes, X_test.shape[0])
        return replace(answer, limit_seconds=time_limit, peak_bytes=peak_bytes)


def _run(peer: Peer, python: str, folder: Path, n_jobs: int, timeout_seconds: float) -> int:
    """Run the script in the folder, kill it with all that it started, and return the most memory that it had."""
    log = folder / "log.txt"
    variables = environment_variables(n_jobs=n_jobs)
    if peer.environment is None:  # the comitia that runs this, wherever it was imported from
        variables["PYTHONPATH"] = str(ROOT)
    with log.open("wb") as file:
        process = subprocess.Popen(
            [python, str(peer.path.absolute())],
            stdin=subprocess.PIPE,  # closed when we die, on which the script ends
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=variables,
            start_new_session=True,
        )
        memory = PeakMemory(process.pid, is_over=(folder / "predictions.parquet").exists)
        try:
            with memory:
                status = process.wait(timeout_seconds)
            what = f"It ended with {status}"
        except subprocess.TimeoutExpired:
            status, what = -1, f"It was killed after {timeout_seconds:g} s"
        finally:
            kill_group(process.pid)
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
            shutil.rmtree(folder / MODELS, ignore_errors=True)
    if status or not (folder / "answer.json").is_file():
        raise PeerError(
            f"Peer {peer.name!r} must answer. {what} without an answer. Its log ends:\n{tail(log) or '(nothing)'}"
        )
    return memory.peak_bytes


def _read(peer: Peer, folder: Path, classes: AnyArray | None, n_test: int) -> SystemAnswer:
    answer = json.loads((folder / "answer.json").read_text())
    table = pd.read_parquet(folder / "predictions.parquet")
    if len(table) != n_test:
        raise PeerError(f"Peer {peer.name!r} must predict {n_test} rows. Got {len(table)} instead.")
    predictions = table["prediction"].to_numpy()
    probabilities = None
    if classes is not None:
        predictions = classes[predictions.astype(np.intp)]
        if table.shape[1] > 1:
            probabilities = table.drop(columns="prediction").to_numpy(dtype=np.float64)
    return SystemAnswer(
        predictions,
        probabilities,
        classes,
        float(answer["seconds"]),
        answer["learner"],
        answer["details"],
        int(answer["n_members"]),
        float(answer["predict_seconds"]),
        model_bytes=answer["model_bytes"],
    )


def _frame(X: Table) -> pd.DataFrame:
    """Return a table that every version of pandas reads alike: numbers, dates and plain strings."""
    if not isinstance(X, pd.DataFrame):
        X = np.asarray(sparse.csr_matrix(X).toarray() if sparse.issparse(X) else X)
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return pd.DataFrame({str(name): _column(X[name]) for name in X.columns})


def _column(column: pd.Series) -> AnyArray | pd.Series:
    if pd.api.types.is_numeric_dtype(column):
        is_nullable = pd.api.types.is_extension_array_dtype(column.dtype)
        return column.to_numpy(dtype=np.float64, na_value=np.nan) if is_nullable else column.to_numpy()
    if pd.api.types.is_datetime64_any_dtype(column):
        return np.asarray(column.dt.tz_localize(None))
    values = [None if is_missing else str(value) for value, is_missing in zip(column, column.isna(), strict=True)]
    return pd.Series(values, dtype=object)
