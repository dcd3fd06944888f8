"""Model folders: how large they are and how fast they load, beside a compressed pickle of the same members.

The members are all seven learners of the default space with their defaults, forests, boosting, a support vector machine
and a neural network among them. Times are of the processor, the least of several, with the libraries imported.
"""

import pickle
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sklearn import datasets

from comitia import AutoClassifier, AutoRegressor, History, Method, Seeds, load
from comitia.auto.folder import STUDY
from comitia.learners.default.learners import default_learners
from comitia.optimizers import RandomSearch
from comitia.seams import Member, Needs, Optimizer

MOST_BYTES = 2.0
"""Of a folder without its study, in units of the compressed pickle."""
MOST_SECONDS, MOST_TIMES = 0.1, 5.0
"""Of loading: seconds, and beside them times of unpickling."""


class EveryTrial:
    """All trials with equal weights."""

    needs = Needs()

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        """Return every trial."""
        return [Member(o.config, 1 / history.n_finished, o.number) for o in history.observations()]


def cpu_seconds(action: Callable[[], object]) -> float:
    """Return the least processor time of some calls: others on the machine only add to it."""
    times = []
    for _ in range(7):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    """Print one line per table."""
    method = Method("every-trial", RandomSearch, "All trials.", selection=EveryTrial())
    for name in ("iris", "wine", "breast_cancer", "digits", "diabetes"):
        X, y = vars(datasets)[f"load_{name}"](return_X_y=True)
        if name == "digits":
            X, y = X[::4], y[::4]
        kind = AutoRegressor if name == "diabetes" else AutoClassifier
        model = kind(method=method, n_trials=len(default_learners("classification")), cv=2, random_state=0).fit(X, y)
        assert len(model.members_) == len(default_learners("classification"))
        pickled = pickle.dumps([member.pipeline for member in model.members_])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.save(path)
            n_bytes = sum(file.stat().st_size for file in path.iterdir() if file.name != STUDY)
            assert np.array_equal(load(path).predict(X), model.predict(X))
            loading, unpickling = cpu_seconds(partial(load, path)), cpu_seconds(partial(pickle.loads, pickled))
        size, limit = n_bytes / len(zlib.compress(pickled)), MOST_SECONDS + MOST_TIMES * unpickling
        print(f"{name:<14} {n_bytes / 1e6:.2f} MB: {size:.2f} of a compressed pickle, {verdict(size, MOST_BYTES)}")
        print(f"{'':14} loads in {loading:.3f} s, unpickling {unpickling:.3f} s, {verdict(loading, limit)}")


def verdict(value: float, target: float) -> str:
    return f"target {target:.3g}: {'met' if value <= target else 'MISSED'}"


if __name__ == "__main__":
    main()
