"""What the system scripts share: tables and a request in files of the current folder, answers in others.

`request.json` holds `task`, `n_classes`, `metric` (a name of `systems.METRICS`), `time_limit` (null for none), `seed`,
`n_jobs` and `options`; `X_train.parquet`, `y_train.parquet` (classes as whole numbers from 0) and `X_test.parquet` are
the tables. The answers are `predictions.parquet` and, written last, `answer.json`.
"""

import json
import os
import pickle
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SAVED = Path("models") / "saved"
"""Where a system keeps what it needs to predict; its size is that of the model."""


@dataclass
class Fitted:
    """What a system has made of a table."""

    model: Any
    """Has `predict` and, for classes, `predict_proba` with one column for each class."""
    learner: str
    """What it chose, in its own words."""
    details: dict = field(default_factory=dict)
    n_members: int = 1
    """How many models vote, where it says so."""
    save: Any = None
    """`save(folder)` writes what is needed to predict; else the model is pickled."""


def serve(tool, fit):
    """Answer the request of the current folder; `fit(request, X_train, y_train)` returns a `Fitted`.

    Everything that a script imports at its top is there before the clock starts.
    """
    threading.Thread(target=_watch, daemon=True).start()
    request = json.loads(Path("request.json").read_text())
    X_train, X_test = pd.read_parquet("X_train.parquet"), pd.read_parquet("X_test.parquet")
    y_train = pd.read_parquet("y_train.parquet")["y"]
    random.seed(request["seed"])
    np.random.seed(request["seed"])  # noqa: NPY002 - for tools that draw from it
    began = time.perf_counter()
    fitted = fit(request, X_train, y_train)
    fit_seconds = time.perf_counter() - began
    began = time.perf_counter()
    predictions = fitted.model.predict(X_test)
    predict_seconds = time.perf_counter() - began
    answer = pd.DataFrame({"prediction": np.asarray(predictions).ravel()})
    if request["task"] == "classification":
        probabilities = np.asarray(fitted.model.predict_proba(X_test), dtype=np.float64)
        for code in range(request["n_classes"]):
            answer[f"p{code}"] = probabilities[:, code]
    answer.to_parquet("predictions.new", index=False)
    Path("predictions.new").replace("predictions.parquet")  # until here memory is watched
    details = {"version": version(tool), **fitted.details}
    told = {"seconds": fit_seconds, "predict_seconds": predict_seconds, "model_bytes": model_bytes(fitted, details)}
    told |= {"learner": str(fitted.learner), "n_members": fitted.n_members, "details": details}
    Path("answer.json.new").write_text(json.dumps(told, default=str))
    Path("answer.json.new").replace("answer.json")


def model_bytes(fitted, details):
    """Save the model and return its size on disk; None where it cannot be saved, and `details` say why."""
    SAVED.parent.mkdir(exist_ok=True)
    try:
        if fitted.save is None:
            SAVED.mkdir()
            with (SAVED / "model.pickle").open("wb") as file:
                pickle.dump(fitted.model, file, protocol=pickle.HIGHEST_PROTOCOL)
        else:
            fitted.save(SAVED)
    except Exception as error:  # whatever a tool may raise: the predictions are worth having without it
        details["not saved"] = repr(error)
        return None
    files = [SAVED, *SAVED.rglob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())


def numbers_and_levels(X, X_train):
    """Return a table as boosted trees take it: dates as numbers, what is not a number as the categories of training.

    Columns are named by their places: not every tool takes every name.
    """
    columns = {}
    for place, name in enumerate(X_train.columns):
        column, known = X[name], X_train[name]
        if pd.api.types.is_datetime64_any_dtype(known):
            column = (column - pd.Timestamp(0)).dt.total_seconds()
        elif not pd.api.types.is_numeric_dtype(known):
            column = pd.Categorical(column, categories=sorted(known.dropna().unique()))
        columns[f"x{place}"] = column
    return pd.DataFrame(columns, index=X.index)


def _watch():
    """End everything at once when the parent dies: its end of the pipe is closed then."""
    sys.stdin.read()
    if sys.platform != "win32":
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)
