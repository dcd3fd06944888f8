"""Networks per second in a stack against one by one, for the network of Lévesque 2018, §4.4.3; needs PyTorch.

python benchmarks/timings/bench_networks.py [N_NETWORKS [N_IMAGES [SIDE [DEVICE]]]]
"""

import statistics
import sys
import time
from importlib.util import find_spec

import numpy as np

from comitia import Networks, Seeds, get_space

REPETITIONS = 3


def main(n_networks: int = 20, n_images: int = 512, side: int = 32, device: str | None = None) -> None:
    if find_spec("torch") is None:
        print("PyTorch is not installed: nothing is timed. `make test-images` makes an environment with it.")
        return
    import torch

    networks = Networks(epochs=1, device=device)  # `train` takes them all side by side, also on a processor
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, size=(n_images, side, side, 3), dtype=np.uint8)
    codes = rng.integers(0, 10, size=n_images)
    space = get_space("cnn").space
    configs = space.decode(space.sample(n_networks, Seeds(0)("networks")))
    seeds = list(range(n_networks))

    def seconds(size: int) -> float:
        """Train all networks, so many at a time."""
        began = time.perf_counter()
        for k in range(0, n_networks, size):
            networks.train(configs[k : k + size], seeds[k : k + size], X, codes, 10)
        return time.perf_counter() - began

    seconds(n_networks)  # what PyTorch does the first time
    pairs = [(seconds(1), seconds(n_networks)) for _ in range(REPETITIONS)]
    alone, together = (statistics.median(times) for times in zip(*pairs, strict=True))
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    where += f", {torch.get_num_threads()} threads" if where == "cpu" else ""
    print(f"{n_networks} networks, {n_images} images of {side} x {side}, one epoch; {where}; median of {REPETITIONS}")
    for what, duration in (("one by one", alone), ("in a stack", together)):
        print(
            f"{what}: {n_networks / duration:8.2f} networks a second, {n_networks * n_images / duration:10,.0f} images"
        )
    print(f"ratio: {statistics.median(a / b for a, b in pairs):.2f}; the target of 10 is for a GPU")


if __name__ == "__main__":
    sizes = dict(zip(("n_networks", "n_images", "side"), map(int, sys.argv[1:4]), strict=False))
    main(**sizes, device=sys.argv[4] if len(sys.argv) > 4 else None)
