"""What this process may use of its machine: processors and memory, also inside containers and batch systems.

A container sees all processors and all memory of its host. What it may use stands in the files of its control group
(Linux, version 1 and 2), and every group above it sets limits, too. All functions take the root of the file system, so
that they can be read against files that look like those of a container.
"""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from typing import Literal

import psutil

from comitia.errors import ChoiceError

ROOT = Path("/")
Controller = Literal["cpu", "memory"]


def count_jobs(of: str, name: str, n_jobs: int | None) -> int:
    """Return how many processes a user means: None is 1, -1 all processors, -2 all but one, as for joblib.

    `of` is the class or function, and `name` the parameter, that it was given to.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ChoiceError(
            f"The {name!r} parameter of {of} must be an int >= 1, or -1 for all processors. Got {n_jobs!r} instead."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, n_processors() + 1 + int(n_jobs))


def n_processors(root: Path = ROOT, environment: Mapping[str, str] = os.environ) -> int:
    """Return how many processors this process may use: those it is bound to, and the quota of its control group.

    A quota of one and a half counts as two, as for joblib. LOKY_MAX_CPU_COUNT, joblib's own limit, counts as well:
    our workers have their share in it.
    """
    found = [float(_n_bound())]
    found += [quota for folder in _groups(root, "cpu") if (quota := _quota(folder)) is not None]
    with suppress(KeyError, ValueError):
        found.append(float(environment["LOKY_MAX_CPU_COUNT"]))
    return max(1, math.ceil(min(found)))


def available_memory(root: Path = ROOT) -> float:
    """Return the bytes that this process may still take: what the machine has, within what its control group has."""
    left = [float(psutil.virtual_memory().available)]
    left += [room for folder in _groups(root, "memory") if (room := _room(folder)) is not None]
    return max(0.0, min(left))


def _n_bound() -> int:
    """Return the processors that the scheduler may run us on."""
    with suppress(AttributeError):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---- control groups --------------------------------------------------------------------------------------------------


def _groups(root: Path, controller: Controller) -> Iterator[Path]:
    """Yield the folders of our control groups, from the innermost to the mount.

    In a container the path of /proc/self/cgroup may be the host's, which is not mounted: the mount itself is then ours.
    """
    mounts = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if names == "":  # version 2
            mount = mounts
        elif controller in names.split(","):
            mount = next((mounts / name for name in (names, controller) if (mounts / name).is_dir()), mounts / names)
        else:
            continue
        inner = mount / path.strip("/")
        yield from (folder for folder in (inner, *inner.parents) if folder.is_relative_to(mount))


def _quota(folder: Path) -> float | None:
    """Return how many processors a group may keep busy; None without a limit."""
    quota, _, period = _text(folder / "cpu.max").partition(" ")  # version 2: "150000 100000" or "max 100000"
    if not period:
        quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
    limit, of = _number(quota), _number(period)
    return limit / of if limit is not None and of is not None and limit > 0 and of > 0 else None


def _room(folder: Path) -> float | None:
    """Return how many bytes are left to a group; None without a limit."""
    version_2 = (folder / "memory.max", folder / "memory.current", "inactive_file")
    version_1 = (folder / "memory.limit_in_bytes", folder / "memory.usage_in_bytes", "total_inactive_file")
    for limit_file, used_file, cache in (version_2, version_1):
        limit, used = _number(_text(limit_file)), _number(_text(used_file))
        if limit is not None and used is not None:
            stat = dict(line.split() for line in _text(folder / "memory.stat").splitlines() if len(line.split()) == 2)
            # files that were read and may be dropped do not keep anybody from taking memory
            return limit - used + (_number(stat.get(cache, "0")) or 0.0)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def _number(text: str) -> float | None:
    """Read a number; None for "max", nothing, and anything else."""
    try:
        return float(text)
    except ValueError:
        return None
