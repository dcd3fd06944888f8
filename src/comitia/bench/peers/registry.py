"""The registry of other tools: one entry each."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from comitia.arrays import Json
from comitia.bench.peers.environments import is_built
from comitia.errors import ChoiceError, UnknownName
from comitia.methods.options import split_name

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
    searches: bool = True
    """Whether it uses the seconds it is given; a model with its defaults takes what it takes."""
    seconds: float | None = None
    """Its time limit, if that is not the experiment's."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be run here: its environment is built."""
        return self.environment is None or is_built(self.environment)

    @property
    def path(self) -> Path:
        """The script's file."""
        assert self.script is not None
        return SCRIPTS / self.script


_OPTUNA = partial(Peer, tool="Optuna", kind="sampler", environment="optuna", script="optuna_peer.py")
_SMAC = partial(
    Peer, tool="SMAC3", kind="sampler", environment="smac", script="smac_peer.py", waits_for_own_points=True
)
_SKLEARN = partial(Peer, tool="scikit-learn", kind="search", environment=None, script=None)
_DEFAULTS = partial(Peer, kind="system", searches=False)
_AUTOGLUON = partial(Peer, tool="AutoGluon", kind="system", environment="autogluon", script="autogluon_peer.py")
PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in [
        _OPTUNA(
            "optuna-tpe",
            summary="Parzen estimators over groups of hyperparameters that are active together.",
            options={"sampler": "tpe", "multivariate": True, "group": True},
        ),
        _OPTUNA(
            "optuna-tpe-plain",
            summary="Parzen estimators, one hyperparameter at a time: Optuna's default before version 5.",
            options={"sampler": "tpe"},
        ),
        _OPTUNA(
            "optuna-gp",
            summary="A Gaussian process over all hyperparameters, active or not.",
            options={"sampler": "gp", "flat": True},
        ),
        _OPTUNA(
            "optuna-cma",
            summary="CMA-ES over all numbers, choices at random.",
            options={"sampler": "cma", "flat": True},
        ),
        _SMAC(
            "smac",
            summary="A random forest and expected improvement: SMAC's facade for hyperparameters.",
            options={"facade": "forest"},
        ),
        _SMAC(
            "smac-gp",
            summary="A Gaussian process and expected improvement: SMAC's facade for black boxes.",
            options={"facade": "gp", "flat": True},
        ),
        Peer(
            "random-peer",
            tool="standard library",
            kind="sampler",
            environment=None,
            script="random_peer.py",
            summary="Uniform draws: an example of how to write a peer.",
        ),
        _SKLEARN("sklearn-random", summary="RandomizedSearchCV.", options={"halving": False}),
        _SKLEARN(
            "sklearn-halving",
            summary="HalvingRandomSearchCV: three rounds over rows, the best third goes to the next.",
            options={"halving": True},
        ),
        Peer(
            "comitia",
            tool="comitia",
            kind="system",
            environment=None,
            script="comitia_peer.py",
            summary="AutoClassifier or AutoRegressor as they come, within the time limit.",
        ),
        _DEFAULTS(
            "default-lightgbm",
            tool="LightGBM",
            environment=None,
            script="lightgbm_peer.py",
            summary="LightGBM with its defaults, no search.",
        ),
        _DEFAULTS(
            "default-catboost",
            tool="CatBoost",
            environment="catboost",
            script="catboost_peer.py",
            summary="CatBoost with its defaults, no search.",
        ),
        Peer(
            "flaml",
            tool="FLAML",
            kind="system",
            environment="flaml",
            script="flaml_peer.py",
            summary="Cost-frugal search, mostly over boosted trees.",
        ),
        _AUTOGLUON(
            "autogluon",
            summary="A portfolio of learners, bagged and stacked: what its authors say to compare with.",
            options={"presets": "best_quality"},
        ),
        _AUTOGLUON(
            "autogluon-medium",
            summary="A fixed list of learners and a weighted ensemble: its default.",
            options={"presets": "medium_quality"},
        ),
        Peer(
            "mljar",
            tool="mljar-supervised",
            kind="system",
            environment="mljar",
            script="mljar_peer.py",
            summary="Random search, hill climbing and an ensemble, in its mode for competitions.",
            options={"mode": "Compete"},
        ),
    ]
}


def get_peer(peer: str | Peer) -> Peer:
    """Look a peer up by name; one that is a peer already is returned as it is.

    A system may be given other seconds than the experiment's: `flaml[seconds=10]`.
    """
    if isinstance(peer, Peer):
        return peer
    name, options = split_name(peer)
    if name not in PEERS:
        raise UnknownName("peer", name, PEERS)
    found = PEERS[name]
    for option, value in options.items():
        if option != "seconds":
            raise UnknownName("option of a peer", option, ["seconds"])
        if found.kind != "system" or not found.searches or not isinstance(value, int) or value < 1:
            raise ChoiceError(
                f"'seconds' must be a whole number, of a system that searches. Got {peer!r} instead. "
                "Write it as flaml[seconds=10]."
            )
        found = replace(found, name=peer, seconds=float(value))
    return found


def is_peer(name: str) -> bool:
    """Tell whether a name, with options or without, is a peer's."""
    return split_name(name)[0] in PEERS


def is_system(name: str) -> bool:
    """Tell whether a name is that of a whole system, which needs no space of ours."""
    return is_peer(name) and get_peer(name).kind == "system"
