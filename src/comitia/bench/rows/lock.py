"""One program at a time writes a rows file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from comitia.errors import ExperimentError


class Lock:
    """Hold a file beside the rows for as long as the program lives; the system lets go if it is killed."""

    def __init__(self, path: Path) -> None:
        self.file = path.with_name(path.name + ".lock").open("a+b")
        try:
            _hold(self.file)
        except OSError as error:
            self.file.close()
            raise ExperimentError(
                f"One experiment at a time may write a file. {str(path)!r} is held by another program. "
                "Wait until it ends, or use another --output."
            ) from error

    def release(self) -> None:
        """Let go. The file stays: removing it would let two programs hold two files of one name."""
        self.file.close()


def _hold(file: BinaryIO) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
