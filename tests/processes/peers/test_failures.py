"""Failed trials count for every tool as they do for comitia's own methods: as bad as the worst so far."""

import runpy
from collections.abc import Callable

import ConfigSpace as CS
import pytest

from comitia import Config, FunctionEvaluator, Study
from comitia.bench.peers.registry import PEERS, SCRIPTS
from comitia.bench.peers.sampler import method_of
from comitia.goals import ALL_FAILED

worst_of: Callable[[list[float | None]], float] = runpy.run_path(str(SCRIPTS / "protocol.py"))["worst_of"]


@pytest.mark.parametrize(
    ("losses", "expected"), [([], ALL_FAILED), ([None], ALL_FAILED), ([None, 7.0, 0.5], 7.0), ([-3.0, None], -3.0)]
)
def test_a_failed_trial_counts_as_the_worst_so_far(losses: list[float | None], expected: float) -> None:
    assert worst_of(losses) == expected


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(not PEERS[name].is_ready, reason="its environment is not built"))
        for name in ("optuna-tpe", "optuna-tpe-plain", "smac")
    ],
)
def test_what_always_fails_is_not_proposed_again_and_again(name: str) -> None:
    """Told as failures, Optuna's TPE left them out and asked for a learner that fails in four of five trials."""

    def loss(config: Config) -> float:
        if config["learner"] == "fails":
            raise ValueError("y has only 1 sample in class 2")
        return float((config["x"] - 0.3) ** 2)

    space = CS.ConfigurationSpace({"learner": ["fails", "works", "works too"], "x": (0.0, 1.0)})
    study = Study(space, method_of(name, n_trials=60), seed=0).run(FunctionEvaluator(loss), n_trials=60)
    late = [trial.status for trial in study.history.observations()[20:]]
    assert len(late) == 40
    assert late.count("failed") < 16  # 37 to 40 before
