"""`PeerOptimizer`: another tool's sampler behind our optimizer seam, run by the ordinary study loop.

Everything new in the history is told before each ask, in the order of numbers, so a fresh process given the same
history continues where another one stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from comitia.arrays import Array, Json
from comitia.bench.peers.environments import python_of
from comitia.bench.peers.process import PeerProcess
from comitia.bench.peers.registry import Peer, get_peer
from comitia.bench.peers.wire import Wire, describe, from_wire, to_wire
from comitia.errors import ChoiceError, PeerError, SpaceError, UnknownName
from comitia.history import History, Observation
from comitia.methods import Method
from comitia.seams import Ask, Needs, Values
from comitia.seeds import Seeds
from comitia.space import Space

TIMEOUT_SECONDS = 600.0


class PeerOptimizer:
    """Ask another tool.

    Parameters
    ----------
    space, peer : Space, Peer
    timeout_seconds : float
        How long one answer may take before the tool is killed.

    Raises
    ------
    PeerMissing
        If the tool's environment is not built.

    Examples
    --------
    >>> from comitia import Study
    >>> from comitia.bench.peers.sampler import method_of
    >>> study = Study({"x": [1, 2, 3]}, method_of("random-peer"), seed=0)
    >>> [trial] = study.ask()
    >>> trial.config["x"] in (1, 2, 3)
    True
    """

    def __init__(self, space: Space, *, peer: Peer, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        if peer.kind != "sampler":
            raise ChoiceError(f"A peer that proposes configurations must be a sampler. Got {peer.name!r}: {peer.kind}.")
        self.needs = Needs(own_points=peer.waits_for_own_points)
        self._space = space
        self._peer = peer
        self._timeout_seconds = timeout_seconds
        self._flat = bool(peer.options.get("flat", False))
        self._python = python_of(peer.environment)
        self._process: PeerProcess | None = None
        self._seed: int | None = None
        self._told: dict[int, Observation] = {}
        self.seconds: list[float] = []
        """What each call of `ask` took inside the tool, telling included."""

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Tell the tool what is new and let it propose; how failed trials count is in `scripts/protocol.py`."""
        process = self._started(history, seeds)
        value_of = dict(zip(history.finished.tolist(), values.now.tolist(), strict=True))
        new = [number for number in value_of if number not in self._told]
        pending = [trial.number for trial in history.pending]
        answer = process.exchange(
            {
                "tell": [
                    [number, config, None if np.isnan(history.losses[number]) else value_of[number]]
                    for number, config in zip(new, self._wire(history, new), strict=True)
                ],
                "pending": list(zip(pending, self._wire(history, pending), strict=True)),
                "number": len(history),
                "ask": n,
            }
        )
        for number in new:
            observation = history.observation(number)
            assert observation is not None
            self._told[number] = observation
        return [Ask(x) for x in self._checked(answer, n)]

    def _wire(self, history: History, numbers: list[int]) -> list[Wire]:
        return to_wire(self._space, history.X[numbers], flat=self._flat)

    def _started(self, history: History, seeds: Seeds) -> PeerProcess:
        """Return a process that knows nothing but this history: the one that runs, or a new one."""
        seed = seeds.integer("peer")
        knows_this = all(history.observation(number) is seen for number, seen in self._told.items())
        if self._process is not None and (seed != self._seed or not knows_this):
            self.close()
        if self._process is None:
            self._process = PeerProcess(
                self._peer.name, self._python, self._peer.path, timeout_seconds=self._timeout_seconds
            )
            self._seed = seed
            hello = {"space": describe(self._space), "seed": seed, "options": dict(self._peer.options)}
            self._process.exchange(hello)
        return self._process

    def _checked(self, answer: Json, n: int) -> Array:
        configs, name = answer.get("configs"), self._peer.name
        if not isinstance(configs, list) or len(configs) > n or not all(isinstance(c, dict) for c in configs):
            self.close()
            raise PeerError(
                f"Peer {name!r} must answer with at most {n} configurations. Got {str(answer)[:200]} instead."
            )
        try:
            X = from_wire(self._space, configs, flat=self._flat)
        except (SpaceError, UnknownName) as error:
            self.close()
            raise PeerError(f"Peer {name!r} must propose configurations of the space. {error}") from error
        self.seconds.append(float(answer.get("seconds", 0.0)))
        return X

    def close(self) -> None:
        """End the tool's process; the next ask starts another."""
        if self._process is not None:
            self._process.close()
        self._process, self._told = None, {}

    def __enter__(self) -> PeerOptimizer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getstate__(self) -> Json:
        """Leave the process behind: a copy starts its own."""
        return self.__dict__ | {"_process": None, "_told": {}}


def method_of(peer: str | Peer, *, n_trials: int | None = None) -> Method:
    """Return a sampler as a method: its proposals, the mean loss, the best trial.

    Parameters
    ----------
    peer : str or Peer
    n_trials : int, optional
        How many trials there will be, for tools that plan by it (SMAC's initial design is a quarter of it at most).
    """
    peer = get_peer(peer)
    if n_trials is not None:
        peer = replace(peer, options={**peer.options, "n_trials": n_trials})
    return Method(peer.name, partial(PeerOptimizer, peer=peer), f"{peer.tool}: {peer.summary}")
