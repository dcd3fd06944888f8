"""Uniform draws: the shortest peer, to start your own from. Standard library only.

Trial `k` is drawn from a generator of its own, so a fresh process given the same history answers alike.
"""

import math
import random

from protocol import serve

MOST_DRAWS = 1000
"""Draws before forbidden clauses are said to leave nothing."""


class RandomPeer:
    """Draw every active hyperparameter uniformly, in the logarithm where the space says so."""

    def __init__(self, space, seed, options):
        self.space = space
        self.seed = seed

    def tell(self, number, config, loss):
        """Learn nothing."""

    def ask(self, number, n, pending):
        """Return `n` configurations."""
        found = [self.draw(random.Random(f"{self.seed} {k}")) for k in range(number, number + n)]
        return [config for config in found if config is not None]

    def draw(self, rng):
        """Return one configuration that is not forbidden; None if there seems to be none."""
        for _ in range(MOST_DRAWS):
            config = self.space.configure(lambda h: draw_value(h, rng))
            if not self.space.is_forbidden(config):
                return config
        return None


def draw_value(h, rng):
    """Return a value of one hyperparameter."""
    lower, upper = h["lower"], h["upper"]
    if h["type"] == "real":
        if h["log"]:
            return min(max(math.exp(rng.uniform(math.log(lower), math.log(upper))), lower), upper)
        return rng.uniform(lower, upper)
    if h["log"]:
        value = math.exp(rng.uniform(math.log(lower - 0.5), math.log(upper + 0.5)))
        return min(max(round(value), lower), upper)
    return rng.randint(lower, upper)


if __name__ == "__main__":
    serve(RandomPeer)
