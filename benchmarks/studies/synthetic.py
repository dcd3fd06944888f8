"""A conditional function with a known optimum, another for each seed, shaped like the error of a choice of learners.

Six branches with 0 to 5 hyperparameters, one of them with a nested choice. In each the loss falls from about 0.5 on a
plateau to the branch's own floor, around an optimum of its own, steeper in some directions than in others and with a
shallow ripple. Branches' floors are 0.01 to 0.2 apart; the least is the optimum, 0.1.
"""

from typing import Any

import ConfigSpace as CS
import numpy as np

from comitia import Config, Space

OPTIMUM = 0.1
BRANCHES = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 3}


def make_space() -> Space:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", list(BRANCHES))
    definition.add(kind)
    for name, n in BRANCHES.items():
        for j in range(n):
            label = f"{name}:{j}"
            h: Any
            if name == "d" and j == 0:
                h = CS.UniformIntegerHyperparameter(label, 1, 30)
            elif name == "d" and j == 1:
                h = CS.CategoricalHyperparameter(label, ["p", "q", "r"])
            else:
                h = CS.UniformFloatHyperparameter(label, 1e-5, 1e5, log=True)
            definition.add(h, CS.EqualsCondition(h, kind, name))
    inner = CS.CategoricalHyperparameter("f:inner", ["u", "v"])
    extra = [CS.UniformFloatHyperparameter(f"f:v:{j}", 0.0, 1.0) for j in range(2)]
    definition.add(inner, CS.EqualsCondition(inner, kind, "f"), *extra)
    definition.add(*(CS.EqualsCondition(h, inner, "v") for h in extra))
    return Space(definition)


class Function:
    """The loss of a configuration; `regret` is how far it is above the optimum."""

    def __init__(self, seed: int, noise: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        self.space = make_space()
        d = len(self.space)
        gaps = np.concatenate([[0.0], rng.permutation([0.01, 0.03, 0.06, 0.1, 0.2])])
        rich = ["c", "d", "e", "f"][seed % 4]  # the best branch is one that needs tuning
        order = [rich, *(name for name in BRANCHES if name != rich)]
        self.floor = dict(zip(order, OPTIMUM + gaps, strict=True))
        self.at = rng.uniform(0.15, 0.85, d)
        self.width = rng.uniform(0.15, 0.6, d)
        self.phase = rng.uniform(0, 2 * np.pi, d)
        self.at = np.where(self.space.is_categorical, self.space.snap(self.at[None])[0], self.at)
        integer = np.array([column.size < np.inf for column in self.space.columns])
        self.at = np.where(integer, self.space.snap(self.at[None])[0], self.at)
        self.noise, self.rng = noise, np.random.default_rng(seed + 1000)

    def regret(self, config: Config) -> float:
        x = self.space.encode([config])[0]
        active = self.space.active(x[None])[0]
        active[0] = False  # the choice itself has its floor
        difference = np.where(self.space.is_categorical, (x != self.at) * 0.3, x - self.at)
        z = (difference / self.width)[active]
        ripple = 0.02 * np.mean(1 - np.cos(9 * z)) if len(z) else 0.0
        inside = 0.4 * (1 - np.exp(-0.5 * float(z @ z))) + ripple
        nested = 0.02 if config.get("f:inner") == "u" else 0.0
        return float(self.floor[config["kind"]] - OPTIMUM + inside + nested)

    def __call__(self, config: Config) -> float:
        return OPTIMUM + self.regret(config) + self.noise * float(self.rng.standard_normal())
