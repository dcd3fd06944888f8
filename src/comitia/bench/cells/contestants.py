"""Who takes part: methods of comitia's registry, other tools, whole systems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from comitia.bench.cells.known_results import KnownResults
from comitia.bench.cells.search_cells import SearchContestant
from comitia.bench.cells.study_cells import MethodContestant, SamplerContestant
from comitia.bench.cells.system_cells import SYSTEMS, peer_system
from comitia.bench.peers.registry import PEERS
from comitia.bench.plan.plan import OWN_SPACE, Job
from comitia.bench.rows.row import Row
from comitia.errors import UnknownName
from comitia.learners import SPACES
from comitia.methods import METHODS, get_method


class Contestant(Protocol):
    """What can be compared."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be run here: another tool must be installed."""

    def run(self, job: Job, known: KnownResults | None) -> list[Row]:
        """Run a cell and return its rows; trials that are known need not be trained again."""


def find_contestant(name: str) -> Contestant:
    """Look a contestant up by name."""
    if name.lower() in METHODS:
        return MethodContestant(get_method(name))
    if name in SYSTEMS:
        return SYSTEMS[name]
    if name not in PEERS:
        raise UnknownName("method", name, [*METHODS, *PEERS, *SYSTEMS])
    match PEERS[name].kind:
        case "sampler":
            return SamplerContestant(PEERS[name])
        case "search":
            return SearchContestant(PEERS[name])
        case "system":
            return peer_system(PEERS[name])


def missing_of(methods: Iterable[str], spaces: Iterable[str]) -> list[str]:
    """Return the methods that cannot be run here because a tool is not installed; refuse unknown names."""
    for name in spaces:
        if name != OWN_SPACE and name not in SPACES:
            raise UnknownName("space", name, SPACES)
    return [name for name in methods if not find_contestant(name).is_ready]
