"""Linux control groups, versions 1 and 2: the memory and CPU limits set on this process.

A limit may be set on our own group or on any group above it; the tightest one counts.
Sources: kernel docs admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.machine.kernel_file import text_of

PROC_SELF = Path("/proc/self")
_NO_LIMIT = 1 << 60  # version 1 writes "no limit" as a huge number


@dataclass(frozen=True)
class CgroupMemory:
    """The tightest limit and how much of it is still free (page cache counts as free)."""

    limit: int
    available: int


@dataclass(frozen=True)
class _Mount:
    kind: str  # "cgroup" or "cgroup2"
    controllers: frozenset[str]
    root: PurePosixPath
    point: Path


def memory_limit(proc: Path = PROC_SELF) -> CgroupMemory | None:
    """The memory limit over this process, or None when there is none."""
    found = [limit for group in groups("memory", proc) if (limit := _group_memory(group))]
    if not found:
        return None
    return CgroupMemory(min(f.limit for f in found), min(f.available for f in found))


def cpu_quota(proc: Path = PROC_SELF) -> float | None:
    """CPUs' worth of time this process may use, or None when unlimited."""
    quotas = [quota for group in groups("cpu", proc) if (quota := _group_quota(group))]
    return min(quotas, default=None)


def groups(controller: str, proc: Path = PROC_SELF) -> Iterator[Path]:
    """Folders of the groups that may limit `controller`: ours first, then its parents."""
    mounts = _mounts(proc)
    for line in text_of(proc / "cgroup").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        for mount in mounts:
            if _serves(mount, number, names, controller):
                yield from _up(mount, PurePosixPath(path))


def _serves(mount: _Mount, number: str, names: str, controller: str) -> bool:
    if mount.kind == "cgroup2":
        return number == "0" and not names
    return controller in names.split(",") and controller in mount.controllers


def _up(mount: _Mount, path: PurePosixPath) -> Iterator[Path]:
    inside = path.is_relative_to(mount.root) and ".." not in path.parts
    below = path.relative_to(mount.root) if inside else PurePosixPath()
    group = mount.point / below
    if not group.is_dir():  # a container sees its own group as the mount's root
        group = mount.point
    while group != mount.point:
        yield group
        group = group.parent
    yield mount.point


def _mounts(proc: Path) -> list[_Mount]:
    found = []
    for line in text_of(proc / "mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, tail = before.split(), after.split()
        if len(fields) >= 5 and len(tail) >= 3 and tail[0] in ("cgroup", "cgroup2"):
            root, point = PurePosixPath(unescape(fields[3])), Path(unescape(fields[4]))
            found.append(_Mount(tail[0], frozenset(tail[2].split(",")), root, point))
    return found


def unescape(field: str) -> str:
    r"""A mountinfo field with its octal escapes (\040 is a space) undone."""
    parts = field.split("\\")
    return parts[0] + "".join(chr(int(part[:3], 8)) + part[3:] for part in parts[1:])


def _group_memory(group: Path) -> CgroupMemory | None:
    names = ("memory.max", "memory.high", "memory.limit_in_bytes")
    limits = [value for name in names if (value := _number(group / name)) is not None]
    limit = min(limits, default=_NO_LIMIT)
    if limit >= _NO_LIMIT:
        return None
    used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes") or 0
    held = max(0, used - _page_cache(group))
    return CgroupMemory(limit, max(0, limit - held))


def _page_cache(group: Path) -> int:
    """Bytes of file pages charged to the group: the kernel drops them before it refuses memory."""
    stat = dict(_pairs(text_of(group / "memory.stat")))
    prefix = "total_" if "total_inactive_file" in stat else ""
    return stat.get(f"{prefix}inactive_file", 0) + stat.get(f"{prefix}active_file", 0)


def _pairs(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if value.isdigit():
            yield name, int(value)


def _group_quota(group: Path) -> float | None:
    quota, _, period = text_of(group / "cpu.max").partition(" ")
    if not period:
        quota = text_of(group / "cpu.cfs_quota_us")
        period = text_of(group / "cpu.cfs_period_us")
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None  # "max" in version 2, -1 in version 1
    return int(quota) / int(period)


def _number(file: Path) -> int | None:
    text = text_of(file)
    return int(text) if text.isdigit() else None
