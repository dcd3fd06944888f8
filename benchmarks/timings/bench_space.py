"""Sampling, decoding and the structure of `sklearn-cash`, 1,000 rows at a time."""

import numpy as np
from yardstick import forest_seconds, report, seconds_of

from comitia import get_space


def main() -> None:
    forest = forest_seconds()
    space = get_space("sklearn-cash").space
    rng = np.random.default_rng(0)
    X = space.sample(1000, rng)
    configs = space.decode(X)
    report("sample 1,000 and decode", seconds_of(lambda: space.decode(space.sample(1000, rng))), forest, 50e-3)
    report("sample 1,000", seconds_of(lambda: space.sample(1000, rng)), forest)
    report("decode 1,000", seconds_of(lambda: space.decode(X)), forest)
    report("encode 1,000", seconds_of(lambda: space.encode(configs)), forest)
    report("branches of 1,000", seconds_of(lambda: space.branches(X)), forest)
    report("neighbours of 1,000", seconds_of(lambda: space.neighbours(X)), forest)
    theirs = space.configspace
    theirs.seed(0)
    slow = seconds_of(lambda: [dict(c) for c in theirs.sample_configuration(1000)])
    ours = seconds_of(lambda: space.decode(space.sample(1000, rng)))
    print(f"ConfigSpace's own sampling of 1,000: {1000 * slow:.1f} ms, {slow / ours:.1f} times ours")


if __name__ == "__main__":
    main()
