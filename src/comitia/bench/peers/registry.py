"""The registry of peers: one row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

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
    """Its row in `environments.ENVIRONMENTS`; None is our own environment."""
    script: str | None
    """File in `scripts/`; None where no other process is needed."""
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the script is told beside the request; JSON."""

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
        ),
        Peer(
            "smac-gp",
            "SMAC3",
            "sampler",
            "smac",
            "smac_peer.py",
            "A Gaussian process and expected improvement: SMAC's facade for black boxes.",
            {"facade": "gp", "flat": True},
        ),
        Peer(
            "random-peer",
            "standard library",
            "sampler",
            None,
            "random_peer.py",
            "Uniform draws: an example of how to write a peer.",
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
