"""Whole systems: tables there, predictions back, nothing left running."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest

from comitia.bench.peers import systems
from comitia.bench.peers.registry import PEERS, SCRIPTS, Peer
from comitia.bench.peers.systems import METRICS, run_system
from comitia.errors import ChoiceError, PeerError, TableError, UnknownName

RNG = np.random.default_rng(0)
N = 200
TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
        "town": pd.Series(RNG.choice(["a", "b"], N)).mask(RNG.random(N) < 0.1),
        "kind": pd.Categorical(RNG.choice(["x", "y"], N)),
        "count": pd.array(RNG.integers(0, 9, N), dtype="Int64"),
        "day": pd.date_range("2020-01-01", periods=N, tz="UTC"),
        "mixed": [1, "b"] * (N // 2),
    }
)
CLASSES = np.where(TABLE["age"].fillna(0) + (TABLE["town"] == "a") > 0.5, "high", "low")
NUMBERS = TABLE["age"].fillna(0).to_numpy() * 3 + TABLE["count"].to_numpy(dtype=float)

MAJORITY = f"""
import sys; sys.path.insert(0, {str(SCRIPTS)!r})
import numpy as np
from system_protocol import Fitted, serve

class Constant:
    def __init__(self, value, shares=None):
        self.value, self.shares = value, shares

    def predict(self, X):
        return np.full(len(X), self.value)

    def predict_proba(self, X):
        return np.tile(self.shares, (len(X), 1))

def fit(request, X_train, y_train):
    print("noise")
    if request["task"] == "regression":
        return Fitted(Constant(y_train.mean()), "mean", {{"request": request}})
    shares = np.bincount(y_train) / len(y_train)
    return Fitted(Constant(shares.argmax(), shares), "majority", {{"dtypes": X_train.dtypes.astype(str).to_dict()}})

serve("numpy", fit)
"""


def system_of(folder: Path, code: str, **options: Any) -> Peer:
    script = folder / "system.py"
    script.write_text(code)
    return Peer("mine", "mine", "system", None, str(script), "", options)


classify = partial(run_system, task="classification", metric="accuracy", time_limit=1.0, seed=0)
regress = partial(run_system, task="regression", metric="squared-error", time_limit=1.0, seed=0)


def test_classes_and_probabilities_come_back(tmp_path: Path) -> None:
    answer = classify(system_of(tmp_path, MAJORITY), TABLE[:150], CLASSES[:150], TABLE[150:])
    assert answer.classes is not None
    assert answer.classes.tolist() == ["high", "low"]
    most = "high" if np.mean(CLASSES[:150] == "high") > 0.5 else "low"
    assert answer.predictions.tolist() == [most] * 50
    assert answer.probabilities is not None
    assert answer.probabilities.shape == (50, 2)
    assert answer.probabilities[0, 0] == pytest.approx(np.mean(CLASSES[:150] == "high"))
    assert answer.learner == "majority"
    assert answer.seconds > 0
    assert answer.predict_seconds > 0
    assert answer.model_bytes is not None
    assert 50 < answer.model_bytes < 10_000  # two numbers and a name
    assert answer.peak_bytes is not None
    assert 1e6 < answer.peak_bytes < 2e9
    assert answer.limit_seconds == 1.0
    assert answer.details["version"] == np.__version__
    kinds = answer.details["dtypes"]
    assert kinds["age"] == kinds["count"] == "float64"
    assert kinds["day"].startswith("datetime64")


def test_numbers_come_back_and_files_are_kept_where_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    X = RNG.normal(size=(60, 3))
    answer = regress(system_of(tmp_path, MAJORITY, depth=3), X[:40], X[:40, 0], X[40:], folder=folder, n_jobs=2)
    assert np.allclose(answer.predictions, X[:40, 0].mean())
    assert answer.probabilities is answer.classes is None
    request = answer.details["request"]
    assert request["metric"] == "rmse"
    assert request["n_jobs"] == 2
    assert request["options"] == {"depth": 3}
    assert (folder / "log.txt").read_text() == "noise\n"


def test_a_system_that_fails_shows_its_log(tmp_path: Path) -> None:
    broken = system_of(tmp_path, "raise RuntimeError('out of luck')")
    with pytest.raises(PeerError, match=r"(?s)'mine' must answer. It ended with 1 .*out of luck"):
        regress(broken, NUMBERS[:, None], NUMBERS, NUMBERS[:, None])
    silent = system_of(tmp_path, "pass")
    with pytest.raises(PeerError, match=r"It ended with 0 without an answer"):
        regress(silent, NUMBERS[:, None], NUMBERS, NUMBERS[:, None])


def test_a_system_that_goes_on_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "GRACE_SECONDS", 0.7)
    child = tmp_path / "child"
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(child)!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    with pytest.raises(PeerError, match=r"killed after 0\.85 s"):
        run_system(
            system_of(tmp_path, code), NUMBERS[:, None], NUMBERS, NUMBERS[:, None],
            task="regression", metric="r2", time_limit=0.1, seed=0,
        )  # fmt: skip
    pid = int(child.read_text())
    time.sleep(0.1)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    mine = system_of(tmp_path, MAJORITY)
    with pytest.raises(ChoiceError, match="must be a system"):
        classify("random-peer", TABLE, CLASSES, TABLE)
    with pytest.raises(UnknownName, match="roc_auc"):
        run_system(mine, TABLE, CLASSES, TABLE, task="classification", metric="rocauc", time_limit=1, seed=0)
    with pytest.raises(TableError, match="two classes"):
        classify(mine, TABLE, np.array(["a"] * N), TABLE)


def test_a_model_that_cannot_be_saved_has_no_size_and_its_predictions_count(tmp_path: Path) -> None:
    code = MAJORITY.replace("self.value, self.shares = value, shares", "self.value, self.f = value, lambda: 0")
    answer = regress(system_of(tmp_path, code), NUMBERS[:, None], NUMBERS, NUMBERS[:, None])
    assert answer.model_bytes is None
    assert "pickle" in answer.details["not saved"]
    assert np.allclose(answer.predictions, NUMBERS.mean())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_default_booster_takes_the_raw_table_and_has_no_limit(task: Any) -> None:
    y = CLASSES if task == "classification" else NUMBERS
    metric = "log-loss" if task == "classification" else "squared-error"
    table = TABLE.rename(columns={"age": 'odd "[name]", {of: it}'})
    answer = run_system(
        "default-lightgbm", table[:150], y[:150], table[150:], task=task, metric=metric, time_limit=None, seed=0
    )
    assert answer.limit_seconds is None
    if task == "classification":
        assert np.mean(answer.predictions == y[150:]) > 0.7
    else:
        assert np.mean((answer.predictions - y[150:]) ** 2) < 0.5 * np.var(y[150:])


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [peer.name for peer in PEERS.values() if peer.kind == "system"])
def test_the_real_ones_learn_from_a_raw_table(name: str, task: Any) -> None:
    if not PEERS[name].is_ready:
        pytest.skip("its environment is not built")
    y = CLASSES if task == "classification" else NUMBERS
    metric = "neg_log_loss" if task == "classification" else "neg_root_mean_squared_error"
    assert metric in METRICS
    limit = 20.0 if PEERS[name].searches else None
    answer = run_system(name, TABLE[:150], y[:150], TABLE[150:], task=task, metric=metric, time_limit=limit, seed=0)
    assert answer.model_bytes
    assert answer.peak_bytes
    assert answer.predict_seconds > 0
    if task == "classification":
        assert np.mean(answer.predictions == y[150:]) > 0.7
        assert answer.probabilities is not None
        assert np.allclose(answer.probabilities.sum(axis=1), 1)
    else:
        assert np.mean((answer.predictions - y[150:]) ** 2) < 0.5 * np.var(y[150:])
