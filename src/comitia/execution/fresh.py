"""A worker as a program of its own, where there is no safe fork (macOS, Windows).

`python fresh.py` reads one line of JSON from standard input: where to connect, the key, and Python's path.
"""

from __future__ import annotations

import json
import os
import sys
from multiprocessing.connection import Client


def main() -> None:
    """Connect to the parent, then serve."""
    order = json.loads(sys.stdin.readline())
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [here, *order["path"]]
    import worker  # type: ignore[import-not-found]  # beside this file, which runs as a script

    sys.path.remove(here)
    address = order["address"]
    connection = Client(tuple(address) if isinstance(address, list) else address, authkey=bytes.fromhex(order["key"]))
    worker.settle_in()
    worker.serve(connection)


if __name__ == "__main__":
    main()
