"""Names of test cases that are the same in every process, which pytest-xdist needs."""

import re


def stable(value: object) -> str:
    """Return what `repr` says without addresses in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
