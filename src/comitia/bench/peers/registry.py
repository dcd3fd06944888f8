"""The registry of other tools: one entry each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from comitia.arrays import Json
from comitia.bench.peers.environments import is_built
from comitia.errors import UnknownName

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Peer:
    """Another tool, and how it is run."""

    name: str
    tool: str
    """The tool's own name, as in its publications."""
    kind: Literal["sampler", "system", "search"]
    """A sampler proposes configurations to our loop, a system goes from a table to predictions, a search is
    scikit-learn's own loop over our learners."""
    environment: str | None
    """Its entry in `environments.ENVIRONMENTS`; None is our own environment."""
    script: str | None
    """File in `scripts/`; None where no other process is needed."""
    summary: str
    options: Json = field(default_factory=dict)
    """What the script is told beside the request."""
    waits_for_own_points: bool = False
    """Whether a sampler waits for the very configurations that it proposed, so that they must not be moved."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be run here: its environment is built."""
        return self.environment is None or is_built(self.environment)

    @property
    def path(self) -> Path:
        """The script's file."""
        assert self.script is not None
        return SCRIPTS / self.script


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in [
        Peer(
            "optuna-tpe",
            "Optuna",
            "sampler",
            "optuna",
            "optuna_peer.py",
            "Parzen estimators over groups of hyperparameters that are active together.",
            {"sampler": "tpe", "multivariate": True, "group": True},
        ),
        Peer(
            "optuna-tpe-plain",
            "Optuna",
            "sampler",
            "optuna",
            "optuna_peer.py",
            "Parzen estimators, one hyperparameter at a time: Optuna's default before version 5.",
            {"sampler": "tpe"},
        ),
        Peer(
            "optuna-gp",
            "Optuna",
            "sampler",
            "optuna",
            "optuna_peer.py",
            "A Gaussian process over all hyperparameters, active or not.",
            {"sampler": "gp", "flat": True},
        ),
        Peer(
            "optuna-cma",
            "Optuna",
            "sampler",
            "optuna",
            "optuna_peer.py",
            "CMA-ES over all numbers, choices at random.",
            {"sampler": "cma", "flat": True},
        ),
        Peer(
            "smac",
            "SMAC3",
            "sampler",
            "smac",
            "smac_peer.py",
            "A random forest and expected improvement: SMAC's facade for hyperparameters.",
            {"facade": "forest"},
            waits_for_own_points=True,
        ),
        Peer(
            "smac-gp",
            "SMAC3",
            "sampler",
            "smac",
            "smac_peer.py",
            "A Gaussian process and expected improvement: SMAC's facade for black boxes.",
            {"facade": "gp", "flat": True},
            waits_for_own_points=True,
        ),
        Peer(
            "random-peer",
            "standard library",
            "sampler",
            None,
            "random_peer.py",
            "Uniform draws: an example of how to write a peer.",
        ),
        Peer(
            "sklearn-random",
            "scikit-learn",
            "search",
            None,
            None,
            "RandomizedSearchCV.",
            {"halving": False},
        ),
        Peer(
            "sklearn-halving",
            "scikit-learn",
            "search",
            None,
            None,
            "HalvingRandomSearchCV: three rounds over rows, the best third goes to the next.",
            {"halving": True},
        ),
        Peer("flaml", "FLAML", "system", "flaml", "flaml_peer.py", "Cost-frugal search, mostly over boosted trees."),
        Peer(
            "autogluon",
            "AutoGluon",
            "system",
            "autogluon",
            "autogluon_peer.py",
            "A portfolio of learners, bagged and stacked: what its authors say to compare with.",
            {"presets": "best_quality"},
        ),
        Peer(
            "autogluon-medium",
            "AutoGluon",
            "system",
            "autogluon",
            "autogluon_peer.py",
            "A fixed list of learners and a weighted ensemble: its default.",
            {"presets": "medium_quality"},
        ),
        Peer(
            "mljar",
            "mljar-supervised",
            "system",
            "mljar",
            "mljar_peer.py",
            "Random search, hill climbing and an ensemble, in its mode for competitions.",
            {"mode": "Compete"},
        ),
    ]
}


def get_peer(peer: str | Peer) -> Peer:
    """Look a peer up by name; one that is a peer already is returned as it is."""
    if isinstance(peer, Peer):
        return peer
    if peer not in PEERS:
        raise UnknownName("peer", peer, PEERS)
    return PEERS[peer]
