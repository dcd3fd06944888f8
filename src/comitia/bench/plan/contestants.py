"""Who takes part: rows of comitia's registry, other tools, whole systems."""

from __future__ import annotations

from collections.abc import Iterable

from comitia.bench.cells.own_systems import SYSTEMS, System
from comitia.bench.peers.environments import is_built
from comitia.bench.peers.registry import PEERS, Peer
from comitia.bench.plan.plan import OWN_SPACE
from comitia.errors import UnknownName
from comitia.learners import SPACES
from comitia.methods import METHODS, Method, get_method

PLANNED_SPACES = ("cnn",)
"""Spaces of the papers that are to come: an experiment may name one, it is left out, and the run says so."""

Contestant = Method | Peer | System


def find_contestant(name: str) -> Contestant:
    """Look a contestant up by name."""
    if name.lower() in METHODS:
        return get_method(name)
    if name in PEERS:
        return PEERS[name]
    if name in SYSTEMS:
        return SYSTEMS[name]
    raise UnknownName("method", name, [*METHODS, *PEERS, *SYSTEMS])


def missing_of(methods: Iterable[str], spaces: Iterable[str]) -> list[str]:
    """Return the methods and spaces that cannot be run here; raise for names that nobody knows.

    Those are spaces that are to come, and other tools that are not installed.
    """
    missing = [name for name in spaces if name in PLANNED_SPACES and name not in SPACES]
    for name in spaces:
        if name not in missing and name != OWN_SPACE and name not in SPACES:
            raise UnknownName("space", name, [*SPACES, *PLANNED_SPACES])
    for name in methods:
        contestant = find_contestant(name)
        if isinstance(contestant, Peer) and contestant.environment and not is_built(contestant.environment):
            missing.append(name)
    return missing
