"""The limits a container or a systemd scope sets on us, in trees laid out as the kernel does."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.machine import cgroup

GIB = 1 << 30


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def proc_of(tmp_path: Path, groups: str, mounts: str) -> Path:
    write(tmp_path / "proc/cgroup", groups)
    write(tmp_path / "proc/mountinfo", mounts)
    return tmp_path / "proc"


def v2(tmp_path: Path, path: str = "/user.slice/app.scope") -> Path:
    mounts = f"31 23 0:28 / {tmp_path}/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    return proc_of(tmp_path, f"0::{path}\n", mounts)


def test_version_2_takes_the_tightest_limit_of_the_chain(tmp_path: Path) -> None:
    proc, scope = v2(tmp_path), tmp_path / "cg/user.slice/app.scope"
    write(scope / "memory.max", "max\n")
    write(scope / "memory.high", f"{4 * GIB}\n")
    write(scope / "memory.current", f"{GIB}\n")
    write(tmp_path / "cg/user.slice/memory.max", f"{3 * GIB}\n")
    write(tmp_path / "cg/user.slice/memory.current", f"{2 * GIB}\n")
    assert cgroup.memory_limit(proc) == cgroup.CgroupMemory(limit=3 * GIB, available=GIB)


def test_page_cache_charged_to_the_group_counts_as_available(tmp_path: Path) -> None:
    proc, scope = v2(tmp_path), tmp_path / "cg/user.slice/app.scope"
    write(scope / "memory.max", f"{4 * GIB}\n")
    write(scope / "memory.current", f"{4 * GIB}\n")
    write(scope / "memory.stat", f"anon {GIB}\ninactive_file {2 * GIB}\nactive_file {GIB}\n")
    assert cgroup.memory_limit(proc) == cgroup.CgroupMemory(limit=4 * GIB, available=3 * GIB)


def test_version_1_hierarchy_with_its_own_mount(tmp_path: Path) -> None:
    mounts = (
        f"34 31 0:31 / {tmp_path}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        f"35 31 0:32 / {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
    )
    proc = proc_of(tmp_path, "4:memory:/box\n2:cpu,cpuacct:/box\n0::/\n", mounts)
    write(tmp_path / "memory/memory.limit_in_bytes", "9223372036854771712\n")
    write(tmp_path / "memory/box/memory.limit_in_bytes", f"{2 * GIB}\n")
    write(tmp_path / "memory/box/memory.usage_in_bytes", f"{GIB}\n")
    write(tmp_path / "memory/box/memory.stat", f"active_file 0\ntotal_inactive_file {GIB // 2}\n")
    write(tmp_path / "cpu/box/cpu.cfs_quota_us", "150000\n")
    write(tmp_path / "cpu/box/cpu.cfs_period_us", "100000\n")
    limit = cgroup.memory_limit(proc)
    assert limit == cgroup.CgroupMemory(limit=2 * GIB, available=GIB + GIB // 2)
    assert cgroup.cpu_quota(proc) == 1.5


def test_a_container_sees_its_group_at_the_mount_point(tmp_path: Path) -> None:
    """Docker with version 1: /proc/self/cgroup has the host's path, the mount shows only us."""
    mounts = f"35 31 0:32 /docker/4f {tmp_path}/memory rw - cgroup cgroup rw,memory\n"
    proc = proc_of(tmp_path, "4:memory:/docker/4f\n", mounts)
    write(tmp_path / "memory/memory.limit_in_bytes", f"{GIB}\n")
    assert cgroup.memory_limit(proc) == cgroup.CgroupMemory(GIB, GIB)


@pytest.mark.parametrize("path", ["/../../other", "/gone/away"])
def test_a_group_outside_the_mount_falls_back_to_the_mount(tmp_path: Path, path: str) -> None:
    proc = v2(tmp_path, path)
    write(tmp_path / "cg/memory.max", f"{GIB}\n")
    assert cgroup.memory_limit(proc) == cgroup.CgroupMemory(GIB, GIB)


def test_no_limit_is_none(tmp_path: Path) -> None:
    proc = v2(tmp_path)
    write(tmp_path / "cg/user.slice/app.scope/memory.max", "max\n")
    write(tmp_path / "cg/user.slice/app.scope/cpu.max", "max 100000\n")
    assert cgroup.memory_limit(proc) is None
    assert cgroup.cpu_quota(proc) is None
    assert cgroup.memory_limit(tmp_path / "no proc") is None


def test_cpu_quota_of_a_parent_counts(tmp_path: Path) -> None:
    proc = v2(tmp_path)
    write(tmp_path / "cg/user.slice/app.scope/cpu.max", "400000 100000\n")
    write(tmp_path / "cg/user.slice/cpu.max", "200000 100000\n")
    assert cgroup.cpu_quota(proc) == 2.0


def test_mount_points_with_spaces_are_unescaped() -> None:
    assert cgroup.unescape(r"/mnt/my\040disk\134x") == "/mnt/my disk\\x"
    assert cgroup.unescape("/测试") == "/测试"
