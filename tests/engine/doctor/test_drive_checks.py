"""What the doctor says of the place models are kept in."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.doctor import drive_checks as checks
from engine.machine.samples import DriveInfo, DriveKind
from engine.store.probe import ProbePoint, ProbeResult

GB = 10**9
FOLDER = Path("/data/模型")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("nvme", "ok"),
        ("sata_ssd", "warn"),
        ("hdd", "warn"),
        ("usb", "warn"),
        ("network", "warn"),
        ("virtual", "info"),
        ("unknown", "info"),
    ],
)
def test_kinds(kind: DriveKind, status: str) -> None:
    finding = checks.kind(DriveInfo(kind, "ext4", "sda"), FOLDER)
    assert finding.status == status
    assert str(FOLDER) in finding.evidence and "sda" in finding.evidence
    assert bool(finding.advice) == (status != "ok")


def test_models_in_memory() -> None:
    assert checks.kind(DriveInfo("virtual", "tmpfs"), FOLDER).status == "warn"


@pytest.mark.parametrize(
    ("free", "status"), [(100 * GB, "ok"), (5 * GB, "warn"), (GB // 2, "fail"), (0, "fail")]
)
def test_space(free: int, status: str) -> None:
    assert checks.space(DriveInfo(free_bytes=free), FOLDER).status == status


@pytest.mark.parametrize(("celsius", "status"), [(48.0, "ok"), (70.0, "ok"), (71.5, "warn")])
def test_temperature(celsius: float, status: str) -> None:
    assert checks.temperature(celsius).status == status


@pytest.mark.parametrize(
    ("mb_s", "status"), [(3000.0, "ok"), (601.0, "ok"), (480.0, "warn"), (90.0, "fail")]
)
def test_measured_speed_beats_the_label(mb_s: float, status: str) -> None:
    points = (ProbePoint(1, mb_s / 2, 1), ProbePoint(4, mb_s, 1))
    finding = checks.measured_drive(ProbeResult(2_600_000, True, points))
    assert finding.status == status
    assert f"{mb_s:.0f} MB/s at depth 4" in finding.evidence
    cached = checks.measured_drive(ProbeResult(2_600_000, False, points))
    assert "through its cache" in cached.evidence


def test_place_names_what_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    drive = DriveInfo("unknown", "exfat", "sdb", GB, GB, True, "OneDrive", 80.0)
    monkeypatch.setattr(checks, "drive_info", lambda _: drive)
    found = {finding.id: finding for finding in checks.check_place(FOLDER)}
    assert list(found) == ["drive", "cloud-folder", "removable", "drive-temperature"]
    assert "OneDrive" in found["cloud-folder"].evidence
    monkeypatch.setattr(checks, "drive_info", lambda _: DriveInfo("nvme"))
    assert [finding.id for finding in checks.check_place(FOLDER)] == ["drive"]


def test_writing_is_tried_and_leaves_nothing(tmp_path: Path) -> None:
    assert checks.writable(tmp_path / "not yet" / "models").status == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_refuses_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checks.tempfile, "TemporaryFile", refuse)
    finding = checks.writable(tmp_path)
    assert finding.status == "fail" and "Permission denied" in finding.evidence
