"""Write beside and rename: a kill at any moment leaves the old file or the new one, never half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write; the file takes the place of `path` at the end, if all went well."""
    beside = path.with_name(path.name + ".new")
    yield beside
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(beside, path)
