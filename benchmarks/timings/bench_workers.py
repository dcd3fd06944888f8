"""What worker processes cost: the start, a task, a replacement after a kill; and data that travels once."""

import time

import numpy as np
from yardstick import forest_seconds, report, seconds_of

from comitia import Workers


class Carrier:
    """A task that carries 80 MB of data."""

    def __init__(self) -> None:
        self.data = np.zeros((100_000, 100))

    def __call__(self, x: int) -> int:
        return x


def main() -> None:
    forest = forest_seconds()
    began = time.perf_counter()
    pool = Workers(2, trial_time_limit=0.3)
    pool.submit(abs, 1).result()
    report("start the workers and run a first task", time.perf_counter() - began, forest)
    report("a task", seconds_of(lambda: pool.submit(abs, 1).result(), 200), forest)

    def kill_and_replace() -> None:
        killed = [pool.submit(time.sleep, 60) for _ in range(2)]
        [future.exception() for future in killed]
        pool.submit(abs, 1).result()

    report("kill two workers at a limit of 300 ms, run the next task", seconds_of(kill_and_replace), forest)
    carrier = Carrier()
    pool.shutdown()
    with Workers(2) as pool:
        report(
            "first task with 80 MB of data, start included",
            seconds_of(lambda: pool.submit(carrier, 1).result(), 1),
            forest,
        )
        report("the next with the same data", seconds_of(lambda: pool.submit(carrier, 1).result(), 50), forest)


if __name__ == "__main__":
    main()
