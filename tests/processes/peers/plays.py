"""A history that grows as a study's would, and peers that misbehave."""

from pathlib import Path
from typing import Any

from comitia import History, Observation, Seeds, Space, Trial
from comitia.bench.peers.registry import Peer
from comitia.goals import MeanLoss
from comitia.seams import Ask, Optimizer

SEEDS = Seeds(7)


class Play:
    def __init__(self, space: Space) -> None:
        self.space = space
        self.history = History(len(space))

    def ask(self, optimizer: Optimizer, n: int = 1) -> list[Ask]:
        return list(optimizer.ask(self.history, MeanLoss().values(self.history, SEEDS), n, SEEDS))

    def begin(self, asks: list[Ask]) -> list[Trial]:
        trials = []
        for ask in asks:
            [config] = self.space.decode(ask.x[None])
            trials.append(Trial(len(self.history), 0, tuple(ask.x.tolist()), config))
            self.history.append(trials[-1])
        return trials

    def finish(self, trials: list[Trial], loss: Any) -> None:
        """Give every trial `loss`, or what it says of its coordinates; None is a failure."""
        for trial in trials:
            value = loss(trial.x) if callable(loss) else loss
            result = Observation(trial, "failed", error="no") if value is None else Observation(trial, "ok", (value,))
            self.history.finish(result)


def peer_of(folder: Path, code: str, **options: Any) -> Peer:
    """Return a peer whose script is this code."""
    script = folder / "peer.py"
    script.write_text(code)
    return Peer("mine", "mine", "sampler", None, str(script), "", options)
