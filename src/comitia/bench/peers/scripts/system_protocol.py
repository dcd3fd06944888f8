"""What the system scripts share: tables and a request in files of the current folder, answers in others.

`request.json` holds `task`, `n_classes`, `metric` (a name of `systems.METRICS`), `time_limit`, `seed`, `n_jobs` and
`options`; `X_train.parquet`, `y_train.parquet` (classes as whole numbers from 0) and `X_test.parquet` are the tables.
The answers are `predictions.parquet` and, written last, `answer.json`.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd


def serve(tool, run):
    """Answer the request of the current folder.

    `run(request, X_train, y_train, X_test)` returns predictions, probabilities or None, the name of the learner that
    was chosen, and a dict of further details.
    """
    threading.Thread(target=_watch, daemon=True).start()
    request = json.loads(Path("request.json").read_text())
    X_train, X_test = pd.read_parquet("X_train.parquet"), pd.read_parquet("X_test.parquet")
    y_train = pd.read_parquet("y_train.parquet")["y"]
    random.seed(request["seed"])
    np.random.seed(request["seed"])  # noqa: NPY002 - for tools that draw from it
    began = time.perf_counter()
    predictions, probabilities, learner, details = run(request, X_train, y_train, X_test)
    seconds = time.perf_counter() - began
    answer = pd.DataFrame({"prediction": np.asarray(predictions).ravel()})
    if probabilities is not None:
        probabilities = np.asarray(probabilities, dtype=np.float64)
        for code in range(request["n_classes"]):
            answer[f"p{code}"] = probabilities[:, code]
    answer.to_parquet("predictions.parquet", index=False)
    details = {"version": version(tool), **details}
    text = json.dumps({"seconds": seconds, "learner": str(learner), "details": details}, default=str)
    Path("answer.json.new").write_text(text)
    Path("answer.json.new").replace("answer.json")


def _watch():
    """End everything at once when the parent dies: its end of the pipe is closed then."""
    sys.stdin.read()
    if sys.platform != "win32":
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)
