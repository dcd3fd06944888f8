"""A worker as a program of its own, where there is no safe fork (macOS, Windows).

`python fresh.py` reads one line of JSON from standard input: Python's path, and the descriptor of a socket, or, on
Windows, where to connect and with which key.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from multiprocessing.connection import Client, Connection


def main() -> None:
    """Connect to the parent, then serve."""
    order = json.loads(sys.stdin.readline())
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = order["path"]
    spec = importlib.util.spec_from_file_location("_comitia_worker", os.path.join(here, "worker.py"))
    assert spec is not None
    assert spec.loader is not None
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    worker.settle_in()
    if "socket" in order:
        worker.serve(Connection(order["socket"]))
    else:
        worker.serve(Client(order["address"], authkey=bytes.fromhex(order["key"])))


if __name__ == "__main__":
    main()
