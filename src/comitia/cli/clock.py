"""What is left of a time limit that counts from the start of the command: Python and the libraries take seconds."""

import os
import time
from pathlib import Path

AFTERWARDS = 0.2
"""What saving and the end of the process take, as a share of what came before the fit."""
LEAST = 0.3
"""Share of the limit that a fit has in any case."""


def seconds_of_process() -> float:
    """Return how long ago this process was started."""
    try:  # to a hundredth of a second, where psutil's clock has whole seconds
        ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # not Linux
        import psutil

        return float(time.time() - psutil.Process().create_time())


def seconds_left(time_limit: float, began: float) -> float:
    """Return what a fit may take if the command began at `began`, by `time.monotonic`."""
    before = time.monotonic() - began
    return max(time_limit - (1 + AFTERWARDS) * before, LEAST * time_limit)
