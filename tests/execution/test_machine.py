"""Processors and memory, read from files as containers have them."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from comitia.errors import ChoiceError
from comitia.execution.machine import available_memory, count_jobs, n_processors

N_BOUND = len(os.sched_getaffinity(0))
UNLIMITED = "9223372036854771712"
"""What version 1 says where there is no limit."""


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


class TestProcessors:
    def test_without_control_groups_those_that_we_are_bound_to(self, tmp_path: Path) -> None:
        assert n_processors(tmp_path, {}) == N_BOUND

    @pytest.mark.parametrize(
        ("limit", "expected"), [("100000 100000", 1), ("max 100000", N_BOUND), ("50000 100000", 1)]
    )
    def test_docker_with_version_2(self, tmp_path: Path, limit: str, expected: int) -> None:
        """The container has a view of its own: it is the root."""
        files = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": limit}
        assert n_processors(written(tmp_path, files), {}) == expected

    def test_a_quota_of_one_and_a_half_is_two(self, tmp_path: Path) -> None:
        files = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}
        assert n_processors(written(tmp_path, files), {}) == min(2, N_BOUND)

    def test_a_slice_above_us_limits_as_well(self, tmp_path: Path) -> None:
        files = {
            "proc/self/cgroup": "0::/user.slice/job.scope",
            "sys/fs/cgroup/user.slice/cpu.max": "100000 100000",
            "sys/fs/cgroup/user.slice/job.scope/cpu.max": "max 100000",
        }
        assert n_processors(written(tmp_path, files), {}) == 1

    @pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
    @pytest.mark.parametrize("path", ["", "docker/0a1b"])
    def test_docker_with_version_1(self, tmp_path: Path, mount: str, path: str) -> None:
        """The path is the host's, the mount may be the container's own."""
        files = {
            "proc/self/cgroup": "12:memory:/docker/0a1b\n4:cpu,cpuacct:/docker/0a1b\n1:name=systemd:/docker/0a1b",
            f"sys/fs/cgroup/{mount}/{path}/cpu.cfs_quota_us": "100000",
            f"sys/fs/cgroup/{mount}/{path}/cpu.cfs_period_us": "100000",
        }
        assert n_processors(written(tmp_path, files), {}) == 1

    def test_version_1_without_a_limit(self, tmp_path: Path) -> None:
        files = {
            "proc/self/cgroup": "4:cpu,cpuacct:/",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        }
        assert n_processors(written(tmp_path, files), {}) == N_BOUND

    @pytest.mark.parametrize("text", ["", "nonsense", "0::", "0:", "::"])
    def test_files_that_say_nothing(self, tmp_path: Path, text: str) -> None:
        files = {"proc/self/cgroup": text, "sys/fs/cgroup/cpu.max": "what?"}
        assert n_processors(written(tmp_path, files), {}) == N_BOUND

    def test_joblibs_limit_counts(self, tmp_path: Path) -> None:
        assert n_processors(tmp_path, {"LOKY_MAX_CPU_COUNT": "1"}) == 1


class TestMemory:
    def test_version_2_within_what_the_machine_has(self, tmp_path: Path) -> None:
        files = {
            "proc/self/cgroup": "0::/",
            "sys/fs/cgroup/memory.max": str(64 * 2**20),
            "sys/fs/cgroup/memory.current": str(48 * 2**20),
            "sys/fs/cgroup/memory.stat": f"anon 1000\nfile {20 * 2**20}\ninactive_file {8 * 2**20}",
        }
        assert available_memory(written(tmp_path, files)) == 24 * 2**20

    def test_version_1(self, tmp_path: Path) -> None:
        folder = "sys/fs/cgroup/memory/docker/0a1b"
        files = {
            "proc/self/cgroup": "12:memory:/docker/0a1b",
            f"{folder}/memory.limit_in_bytes": str(64 * 2**20),
            f"{folder}/memory.usage_in_bytes": str(48 * 2**20),
            f"{folder}/memory.stat": f"cache 5\ntotal_inactive_file {8 * 2**20}",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": UNLIMITED,
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "5",
        }
        assert available_memory(written(tmp_path, files)) == 24 * 2**20

    @pytest.mark.parametrize("limit", ["max", UNLIMITED])
    def test_without_a_limit_what_the_machine_has(self, tmp_path: Path, limit: str) -> None:
        files = {
            "proc/self/cgroup": "0::/",
            "sys/fs/cgroup/memory.max": limit,
            "sys/fs/cgroup/memory.current": "100",
        }
        here = psutil.virtual_memory().available
        assert available_memory(written(tmp_path, files)) == pytest.approx(here, rel=0.2)

    def test_a_group_over_its_limit_has_nothing_left(self, tmp_path: Path) -> None:
        files = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "10", "sys/fs/cgroup/memory.current": "20"}
        assert available_memory(written(tmp_path, files)) == 0.0


class TestJobs:
    def test_counts_as_joblib_does(self) -> None:
        everything = n_processors()
        assert count_jobs("run", "n_jobs", None) == 1
        assert count_jobs("run", "n_jobs", 3) == 3
        assert count_jobs("run", "n_jobs", -1) == everything
        assert count_jobs("run", "n_jobs", -2) == max(1, everything - 1)
        assert count_jobs("run", "n_jobs", -1000) == 1

    @pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
    def test_what_is_no_number_of_jobs_is_refused(self, n_jobs: Any) -> None:
        with pytest.raises(ChoiceError, match="-1 for all processors"):
            count_jobs("run", "n_jobs", n_jobs)
