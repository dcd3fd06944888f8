"""Another process proposes, the ordinary loop evaluates."""

import gc
import json
import pickle
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from comitia import Config, FunctionEvaluator, Seeds, Space, Study, get_space
from comitia.bench.peers.environments import is_built
from comitia.bench.peers.registry import PEERS
from comitia.bench.peers.sampler import PeerOptimizer, method_of
from comitia.errors import ChoiceError, PeerError, UnknownName
from comitia.seams import Values
from tests import warm
from tests.contracts.test_optimizers import SPACES
from tests.processes.peers.plays import SEEDS, Play, peer_of

make = partial(PeerOptimizer, peer=PEERS["random-peer"])
SAMPLERS = [
    pytest.param(
        peer.name,
        marks=pytest.mark.skipif(
            peer.environment is not None and not is_built(peer.environment), reason="its environment is not built"
        ),
    )
    for peer in PEERS.values()
    if peer.kind == "sampler"
]


def bowl(x: tuple[float, ...]) -> float:
    return float(np.sum((np.array(x) - 0.3) ** 2))


def is_gone(pid: int, within_seconds: float = 5.0) -> bool:
    end = time.monotonic() + within_seconds
    while time.monotonic() < end:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("space", sorted(SPACES))
def test_stays_inside_the_space_and_its_conditions(name: str, space: str) -> None:
    play = Play(SPACES[space]())
    with PeerOptimizer(play.space, peer=PEERS[name]) as optimizer:
        for step in range(5):
            asks = play.ask(optimizer, 1 + 2 * (step == 3))
            X = np.array([ask.x for ask in asks]).reshape(-1, len(play.space))
            assert play.space.is_allowed(X).all()
            configs = play.space.decode(X)
            assert play.space.decode(play.space.encode(configs)) == configs
            play.finish(play.begin(asks), None if step == 1 else 0.5)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_fresh_one_goes_on_where_another_stopped(name: str) -> None:
    """Exactly, for those that are a function of the history; SMAC goes on, but not with the same point."""
    play = Play(get_space("svm-kernels").space)
    with PeerOptimizer(play.space, peer=PEERS[name]) as old, PeerOptimizer(play.space, peer=PEERS[name]) as new:
        for step in range(14):
            play.finish(play.begin(play.ask(old)), None if step == 4 else bowl)
        asks, again = play.ask(old), play.ask(new)
        assert len(again) == 1
        if PEERS[name].tool != "SMAC3":
            assert asks[0].x.tolist() == again[0].x.tolist()


@pytest.mark.parametrize("name", SAMPLERS)
def test_asking_twice_without_a_change_gives_the_same(name: str) -> None:
    play = Play(get_space("svm-kernels").space)
    with PeerOptimizer(play.space, peer=PEERS[name]) as optimizer:
        first, second = play.ask(optimizer, 2), play.ask(optimizer, 2)
        assert [ask.x.tolist() for ask in first] == [ask.x.tolist() for ask in second]


@pytest.mark.parametrize("name", SAMPLERS)
def test_an_ordinary_study_runs_it(name: str) -> None:
    def loss(config: Config) -> float:
        if config["kernel"] == "sigmoid":
            raise ValueError("no")
        return abs(np.log10(config["C"]) - 1)

    study = Study(get_space("svm-kernels").space, method_of(name, n_trials=12), seed=0)
    study.run(FunctionEvaluator(loss), n_trials=12)
    assert study.history.n_finished == 12
    assert study.best_trial.loss < 3


def test_everything_new_is_told_once_in_the_order_of_numbers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        f"    open({str(log)!r}, 'a').write(line)\n"
        "    print(json.dumps({'configs': [{'x': 1}]}), flush=True)\n"
    )
    play = Play(Space({"x": [1, 2, 3]}))
    with PeerOptimizer(play.space, peer=peer_of(tmp_path, code)) as optimizer:
        first = play.begin(play.ask(optimizer))
        second = play.begin(play.ask(optimizer))
        play.finish(second, 0.25)
        third = play.begin(play.ask(optimizer))
        play.finish(first, None)
        play.finish(third, 0.5)
        play.ask(optimizer)
    hello, *messages = map(json.loads, log.read_text().splitlines())
    assert set(hello) == {"space", "seed", "options"}
    x = {"x": 1}
    assert [message["tell"] for message in messages] == [
        [],
        [],
        [[1, x, 0.25]],
        [[0, x, None], [2, x, 0.5]],
    ]
    assert [message["pending"] for message in messages] == [[], [[0, x]], [[0, x]], []]
    assert [message["number"] for message in messages] == [0, 1, 2, 3]


def test_another_history_or_seed_starts_another_process() -> None:
    space = get_space("svm-rbf").space
    play, other = Play(space), Play(space)
    with make(space) as optimizer:
        play.finish(play.begin(play.ask(optimizer)), 0.5)
        here = play.ask(optimizer)[0].x.tolist()
        other.finish(other.begin(other.ask(optimizer)), 0.7)
        other.ask(optimizer)
        assert play.ask(optimizer)[0].x.tolist() == here
        [ask] = optimizer.ask(play.history, Values(np.array([0.5])), 1, Seeds(8))
        assert ask.x.tolist() != here


FAULTS = {
    "dies": ("import sys; sys.exit('out of luck')", r"(?s)must answer in JSON. It ended instead .*out of luck"),
    "dies later": (
        "print('{}', flush=True); input(); input(); raise RuntimeError('out of luck')",
        r"(?s)It ended instead \(exit status 1\).*out of luck",
    ),
    "hangs": ("import time; time.sleep(60)", "Nothing came for 0.3 s, so it was killed"),
    "prints": ("print('Welcome!', flush=True); input()", "Got 'Welcome!' instead"),
    "prints a list": ("print('[1]', flush=True); input()", "Got '\\[1\\]' instead"),
    "forgets": ("input(); print('{}', flush=True); input(); print('{}', flush=True)", "at most 1 conf.* Got {}"),
    "leaves the space": (
        "input(); print('{}', flush=True); input(); print('{\"configs\": [{\"x\": 9}]}', flush=True)",
        "must propose configurations of the space. .*'x' must be one of 1, 2",
    ),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_peer_that_fails_is_a_clear_error_and_leaves_no_process(fault: str, tmp_path: Path) -> None:
    code, message = FAULTS[fault]
    play = Play(Space({"x": [1, 2]}))
    timeout = 0.3 if fault == "hangs" else 20.0
    optimizer = PeerOptimizer(play.space, peer=peer_of(tmp_path, code), timeout_seconds=timeout)
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(PeerError, match=message):
        play.ask(optimizer)
    assert {child.pid for child in psutil.Process().children()} <= before
    optimizer.close()


def test_the_process_ends_with_close_and_with_the_object() -> None:
    play = Play(get_space("svm-rbf").space)
    optimizer = make(play.space)
    play.ask(optimizer)
    assert optimizer._process is not None
    pid = optimizer._process.pid
    optimizer.close()
    optimizer.close()
    assert is_gone(pid)
    play.ask(optimizer)
    pid = optimizer._process.pid
    del optimizer
    gc.collect()
    assert is_gone(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_the_process_ends_when_the_parent_is_killed() -> None:
    code = (
        "import time; from comitia import Study; from comitia.bench.peers.sampler import method_of\n"
        "study = Study({'x': [1, 2]}, method_of('random-peer'), seed=0); study.ask()\n"
        "print(study._optimizer._process.pid, flush=True); time.sleep(60)"
    )
    parent = warm.begin("-c", code, cwd=Path.cwd(), is_read=True)
    assert parent.stdout is not None
    with parent.stdout as out:
        pid = int(out.readline())
    assert psutil.pid_exists(pid)
    parent.kill()
    parent.wait(5)
    assert is_gone(pid)


def test_a_copy_starts_a_process_of_its_own() -> None:
    play = Play(get_space("svm-rbf").space)
    with make(play.space) as optimizer:
        asks = play.ask(optimizer)
        with pickle.loads(pickle.dumps(optimizer)) as copy:
            assert play.ask(copy)[0].x.tolist() == asks[0].x.tolist()


def test_seconds_are_kept() -> None:
    play = Play(get_space("svm-rbf").space)
    with make(play.space) as optimizer:
        play.ask(optimizer, 2)
        play.ask(optimizer, 2)
        assert len(optimizer.seconds) == 2
        assert min(optimizer.seconds) > 0


def test_what_is_not_a_sampler_is_refused() -> None:
    with pytest.raises(ChoiceError, match=r"must be a sampler\. Got 'flaml': system"):
        PeerOptimizer(Space({"x": [1, 2]}), peer=PEERS["flaml"])
    with pytest.raises(UnknownName, match="optuna-tpe"):
        method_of("optuna-tp")


def test_other_seeds_give_other_points() -> None:
    space = get_space("svm-rbf").space

    def points(seed: int) -> Any:
        study = Study(space, method_of("random-peer"), seed=seed)
        return [trial.x for trial in study.ask(3)]

    assert points(1) != points(2)
    assert SEEDS.integer("peer") != Seeds(1).integer("peer")
