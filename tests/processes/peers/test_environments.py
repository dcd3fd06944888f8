"""Environments of peers: what is missing is said, what fails is shown, what was cut is not taken for whole."""

import json
from pathlib import Path

import pytest

from comitia.bench.peers import __main__ as command
from comitia.bench.peers import environments
from comitia.bench.peers.environments import ENVIRONMENTS, Environment, build, is_built, python_of, version_of
from comitia.bench.peers.registry import PEERS, SCRIPTS
from comitia.bench.peers.sampler import method_of
from comitia.errors import PeerError, PeerMissing, UnknownName


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMITIA_PEERS", str(tmp_path / "peers"))
    return tmp_path / "peers"


def test_a_missing_environment_says_how_to_build_it(folder: Path) -> None:
    message = (
        f"Peer 'optuna' must be installed in an environment of its own. There is none in {folder / 'optuna'}. "
        "Run: make peer NAME=optuna"
    )
    with pytest.raises(PeerMissing) as caught:
        python_of("optuna")
    assert str(caught.value) == message
    with pytest.raises(PeerMissing):
        method_of("optuna-tpe").optimizer(None)  # type: ignore[arg-type]


def test_a_build_that_fails_shows_the_end_of_its_log(folder: Path, tmp_path: Path) -> None:
    nonsense = Environment("nonsense", ((str(tmp_path / "no-such-package"),),), "nonsense")
    with pytest.raises(PeerError, match=r"(?s)ended with 1; the whole log is in .*nonsense.log.*no-such-package"):
        build(nonsense)
    assert "no-such-package" in (folder / "nonsense.log").read_text()
    assert not is_built(nonsense)


def test_an_environment_is_built_anew_and_known_by_its_stamp(folder: Path) -> None:
    empty = Environment("empty", (), "nothing")
    build(empty)
    assert is_built(empty)
    assert version_of(empty) is None
    assert Path(python_of(empty)).is_file()
    stamp = folder / "empty" / environments.STAMP
    text = stamp.read_text()
    stamp.write_text(text[:-5])  # cut short
    assert not is_built(empty)
    stamp.write_text(json.dumps(json.loads(text) | {"steps": [["older"]]}))
    with pytest.raises(PeerMissing, match="There is one for other requirements"):
        python_of(empty)


def test_every_peer_has_a_script_and_an_environment() -> None:
    for peer in PEERS.values():
        assert peer.environment is None or peer.environment in ENVIRONMENTS
        assert peer.script is None or (SCRIPTS / peer.script).is_file()
    with pytest.raises(UnknownName, match="autogluon"):
        python_of("autoglue")


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    out = capsys.readouterr().out
    assert "make peer NAME=optuna" in out
    assert all(name in out for name in PEERS)
    assert command.main(["optunna"]) == 1
    assert "Did you mean 'optuna'?" in capsys.readouterr().err
