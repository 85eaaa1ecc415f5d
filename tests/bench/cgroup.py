"""A control group with a memory limit, for one child at a time; removed afterwards. Linux, root.

The group is made at the top of the hierarchy and holds what the child's page cache takes as well.
Sources: kernel docs admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from engine.machine import cgroup

_REMOVE_S = 5.0


@dataclass(frozen=True)
class Files:
    """What a version of control groups calls things."""

    limit: str
    swap: str
    peak: str
    events: str


VERSION_1 = Files(
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.max_usage_in_bytes",
    "memory.oom_control",
)
VERSION_2 = Files("memory.max", "memory.swap.max", "memory.peak", "memory.events")


class NoCgroup(Exception):
    """No group can be made here; the text says why."""


class MemoryGroup:
    """A group of its own with a hard limit and no swap. Use as a context manager."""

    def __init__(self, limit_bytes: int, root: Path | None = None) -> None:
        self._path = (root or _root()) / f"edge0-bench-{os.getpid()}"
        self._limit = limit_bytes
        self._files = VERSION_2

    def __enter__(self) -> MemoryGroup:
        try:
            self._path.mkdir()
        except OSError as error:
            raise NoCgroup(f"no control group can be made: {error}") from error
        try:
            self._set_limit()
        except OSError as error:
            self._remove()
            raise NoCgroup(f"no memory limit can be set: {error}") from error
        return self

    def _set_limit(self) -> None:
        self._files = VERSION_1 if (self._path / VERSION_1.limit).exists() else VERSION_2
        (self._path / self._files.limit).write_text(str(self._limit), encoding="ascii")
        swap = self._limit if self._files is VERSION_1 else 0  # version 1 limits memory + swap
        with contextlib.suppress(OSError):  # kernels without swap accounting
            (self._path / self._files.swap).write_text(str(swap), encoding="ascii")

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, run inside the group from its first page on."""
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["sh", "-c", enter, str(self._path / "cgroup.procs"), *command]

    @property
    def oom_kills(self) -> int:
        """Processes the kernel has killed for want of memory."""
        lines = _read(self._path / self._files.events).splitlines()
        found = dict(line.split() for line in lines if len(line.split()) == 2)
        return int(found.get("oom_kill", 0))

    @property
    def peak_bytes(self) -> int:
        """The most the group has held, page cache included; 0 where not counted."""
        text = _read(self._path / self._files.peak).strip()
        return int(text) if text.isdigit() else 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        """Kill what is left inside, then remove the group; its page cache goes to the parent."""
        deadline = time.monotonic() + _REMOVE_S
        while True:
            for pid in _read(self._path / "cgroup.procs").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            try:
                self._path.rmdir()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def _root() -> Path:
    """The topmost group under which memory groups can be made. Raises NoCgroup."""
    found = [group for group in cgroup.groups("memory") if _serves_memory(group)]
    if not found:
        raise NoCgroup("this system has no memory control groups")
    _refuse_inner_limit()
    return found[-1]


def _serves_memory(group: Path) -> bool:
    version_2 = "memory" in _read(group / "cgroup.subtree_control").split()
    return version_2 or (group / VERSION_1.limit).exists()


def _refuse_inner_limit() -> None:
    """A limit set on us from outside is not ours to leave by entering a group at the top."""
    outer = cgroup.memory_limit()
    if outer is not None:
        raise NoCgroup(f"this process is limited to {outer.limit / 2**30:.1f} GiB already")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
