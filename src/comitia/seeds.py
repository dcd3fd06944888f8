"""One seed in, independent named random streams out.

A stream is addressed by a name and non-negative integers, so that trial 37 draws the same numbers whether it
runs first, last or on another machine, and a new draw in one place moves nothing elsewhere.
"""

import hashlib
import secrets
from dataclasses import dataclass
from functools import cache

import numpy as np

from comitia.errors import check_int


@cache
def _words(name: str) -> tuple[int, int]:
    """Turn a stream's name into two 32-bit words: the same on every machine, unlike `hash`."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")


@dataclass(frozen=True)
class Seeds:
    """The named random streams of one study.

    Parameters
    ----------
    seed : int
        Any non-negative integer. The same seed gives the same streams on every machine.

    Examples
    --------
    >>> from comitia.seeds import Seeds
    >>> seeds = Seeds(0)
    >>> bool(seeds("splits", 37).random() == seeds("splits", 37).random())
    True
    """

    seed: int

    def __post_init__(self) -> None:
        check_int("a study", "seed", self.seed, least=0)
        object.__setattr__(self, "seed", int(self.seed))

    def __call__(self, name: str, *keys: int) -> np.random.Generator:
        """Return the stream called `name` with these integer keys, always from its beginning."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*_words(name), *keys)))

    def integer(self, name: str, *keys: int) -> int:
        """Return one 31-bit integer: what scikit-learn takes as `random_state`.

        A hash of the address instead of a draw from its stream: as random, and twenty times as fast.
        """
        address = repr((self.seed, name, *map(int, keys)))
        return int.from_bytes(hashlib.blake2b(address.encode(), digest_size=4).digest(), "little") >> 1


def seed_of(random_state: int | np.random.RandomState | None) -> int | None:
    """Return the seed that scikit-learn's `random_state` stands for: a draw from it, if it is a generator."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return None if random_state is None else int(random_state)
    return int(random_state.randint(2**31 - 1))


def fresh_seed() -> int:
    """Draw a seed from the operating system, small enough to be typed again by hand."""
    return secrets.randbelow(2**32)
