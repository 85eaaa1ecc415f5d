"""The system-neutral side: memory under a control group, threads under a quota, cloud folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import pytest

from engine.machine import cgroup, cpu, disk, memory
from engine.machine.cgroup import CgroupMemory
from engine.machine.samples import DriveInfo, MemorySample

GB = 10**9


@pytest.fixture
def no_cgroup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "memory_limit", lambda: None)
    monkeypatch.setattr(cgroup, "cpu_quota", lambda: None)


@pytest.mark.usefixtures("no_cgroup")
def test_without_a_limit_the_machine_counts() -> None:
    found = memory.system_memory()
    assert found.total == found.physical > found.available > 0
    assert found.cgroup_limit is None


def test_a_limit_below_the_machine_is_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "memory_limit", lambda: CgroupMemory(GB // 2, GB // 4))
    found = memory.system_memory()
    assert (found.total, found.available, found.cgroup_limit) == (GB // 2, GB // 4, GB // 2)
    assert found.physical > found.total


def test_a_limit_above_the_machine_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "memory_limit", lambda: CgroupMemory(1 << 50, 1))
    found = memory.system_memory()
    assert found.cgroup_limit is None and found.available > 1


@pytest.mark.parametrize(("quota", "threads"), [(None, 6), (2.0, 2), (1.5, 1), (0.3, 1), (64.0, 6)])
def test_threads_stay_within_the_quota(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, threads: int
) -> None:
    monkeypatch.setattr(cpu.system, "performance_cores", lambda: 6)
    monkeypatch.setattr(cgroup, "cpu_quota", lambda: quota)
    assert cpu.compute_threads() == threads


def test_a_folder_takes_what_its_files_take(tmp_path: Path) -> None:
    """Not what they will be: an unfinished file is long and mostly holes."""
    (tmp_path / "a.part").write_bytes(b"x" * 5000)
    (tmp_path / "pip-1").mkdir()
    (tmp_path / "pip-1" / "wheel").write_bytes(b"x" * 7000)
    assert disk.folder_bytes(tmp_path) == 5000
    assert disk.folder_bytes(tmp_path, "**/*") == 12_000
    assert disk.folder_bytes(tmp_path, "*.whl") == disk.folder_bytes(tmp_path / "gone") == 0
    if sys.platform != "win32":
        (tmp_path / "link").symlink_to(tmp_path / "pip-1" / "wheel")
        os.truncate(tmp_path / "a.part", 1 << 30)
        assert 0 < disk.folder_bytes(tmp_path) < 1 << 20


def test_this_process_has_plausible_numbers() -> None:
    now = memory.memory_now()
    assert 0 < now.working_set < memory.system_memory().physical
    assert now.virtual >= now.working_set
    resident, committed = memory.resident_and_committed()
    assert resident > 0 and committed > 0
    assert cpu.cpu_info().name
    assert 1 <= cpu.compute_threads() <= cpu.cpu_info().logical


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        (PurePosixPath("/Users/an/Library/Mobile Documents/com~apple~CloudDocs"), "iCloud"),
        (PurePosixPath("/Users/an/Library/CloudStorage/Box/models"), "a cloud drive"),
        (PureWindowsPath(r"C:\Users\An\OneDrive - Contoso\models"), "OneDrive"),
        (PureWindowsPath(r"D:\Dropbox (Personal)\m"), "Dropbox"),
        (PurePosixPath("/home/an/Nextcloud/m"), "Nextcloud"),
        (PurePosixPath("/home/an/坚果云/m"), "Nutstore"),
        (PurePosixPath("/home/an/clouds/one/drive"), ""),
    ],
)
def test_cloud_folders_by_name(folder: PurePath, service: str) -> None:
    assert disk.cloud_service(folder, {}) == service  # type: ignore[arg-type]


def test_windows_names_its_own_onedrive_folder() -> None:
    documents: object = PureWindowsPath(r"C:\Users\An\Arbeit\models")
    environ = {"OneDriveCommercial": r"C:\Users\An\Arbeit"}
    assert disk.cloud_service(documents, environ) == "OneDrive"  # type: ignore[arg-type]


def test_drive_of_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    wanted = tmp_path / "测试 用户　é'&#%" / "models"
    found = disk.drive_info(wanted)
    assert found.total_bytes >= found.free_bytes > 0
    assert not wanted.parent.exists()


def test_a_link_is_followed_to_the_cloud(tmp_path: Path) -> None:
    (tmp_path / "OneDrive").mkdir()
    (tmp_path / "models").symlink_to(tmp_path / "OneDrive")
    assert disk.drive_info(tmp_path / "models").cloud_synced


def test_a_system_that_will_not_answer_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> DriveInfo:
        raise PermissionError("no")

    monkeypatch.setattr(disk, "system_drive", refuse)
    found = disk.drive_info(tmp_path)
    assert found.kind == "unknown" and found.free_bytes > 0


@pytest.mark.skipif(sys.platform == "win32", reason="counted differently there")
def test_whole_disk_counters_only_grow() -> None:
    first, second = disk.system_disk_now(), disk.system_disk_now()
    if first is not None and second is not None:
        assert second.read_bytes >= first.read_bytes >= 0


def test_what_we_occupy_is_what_available_leaves_out() -> None:
    """Linux counts mapped pages as available, Windows and macOS do not: never count them twice."""
    sample = MemorySample(working_set=7, anon=5, file_resident=2)
    assert memory.occupied(sample, counts_mapped=True) == 5
    assert memory.occupied(sample, counts_mapped=False) == 7
