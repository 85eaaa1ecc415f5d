"""The first page: what is said about a machine, and each warning about the models folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.core import Core
from app.i18n import Translation
from app.wizard.machine_page import MachinePage
from engine.container.files import storage_error
from engine.doctor.survey import Survey
from engine.machine.samples import CpuInfo, DriveInfo, GpuInfo, SystemMemory
from tests.app.conftest import NO_STARTER
from tests.app.fake_engine import FakeEngine

GB = 10**9
DRIVE = DriveInfo("nvme", "NTFS", free_bytes=500 * GB, total_bytes=900 * GB)
GOOD = Survey(
    Path("D:/Edge0/models"),
    SystemMemory(32 * GB, 20 * GB, 32 * GB),
    CpuInfo("A processor", 16, 8),
    DRIVE,
    isa="avx512",
)


class Machine(FakeEngine):
    """Says of itself what a test wants."""

    said = GOOD

    def survey(self, folder: Path) -> Any:
        return self.said


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def page(qtbot: QtBot, machine: Machine, folder: Path) -> Iterator[MachinePage]:
    core = Core(machine, folder, NO_STARTER)
    made = MachinePage(core.adding, core.unfinished)
    core.adding.changed.connect(made.refresh)
    qtbot.addWidget(made)
    made.show()
    yield made
    assert core.close()


def shown(qtbot: QtBot, page: MachinePage) -> str:
    page.model.machine.survey = None
    page.enter()
    qtbot.waitUntil(lambda: page.model.machine.survey is not None)
    labels = page.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ((), "none found; Edge0 computes on the processor"),
        ((GpuInfo("RTX 4090", 24 * GB),), "RTX 4090 (24.0 GB); not used"),
        ((GpuInfo("Apple GPU", 0),), "Apple GPU; not used"),
    ],
)
def test_graphics_are_named_and_not_promised(
    qtbot: QtBot, page: MachinePage, machine: Machine, gpus: tuple[GpuInfo, ...], words: str
) -> None:
    machine.said = replace(GOOD, gpus=gpus)
    assert words in shown(qtbot, page)


@pytest.mark.parametrize(
    ("drive", "limit", "words"),
    [
        (replace(DRIVE, cloud_service="OneDrive"), None, "OneDrive watches this folder"),
        (replace(DRIVE, kind="network"), None, "every token waits for the network"),
        (replace(DRIVE, kind="usb", removable=True), None, "Do not unplug"),
        (replace(DRIVE, filesystem="vfat"), (4 << 30) - 1, "no file above 4 GB"),
        (replace(DRIVE, filesystem="tmpfs"), None, "kept in memory"),
        (replace(DRIVE, free_bytes=GB), None, "Little room"),
    ],
)
def test_each_trouble_with_the_folder_is_told(
    qtbot: QtBot,
    page: MachinePage,
    machine: Machine,
    drive: DriveInfo,
    limit: int | None,
    words: str,
) -> None:
    assert words not in shown(qtbot, page)
    machine.said = replace(GOOD, drive=drive, file_limit=limit)
    assert words in shown(qtbot, page) and page.ready


def test_where_nothing_can_be_stored_one_cannot_go_on(
    qtbot: QtBot, page: MachinePage, machine: Machine
) -> None:
    machine.said = replace(GOOD, not_writable="Permission denied.")
    assert "Permission denied." in shown(qtbot, page) and not page.ready


def test_a_read_only_drive_is_told_in_the_users_language(
    qtbot: QtBot, page: MachinePage, machine: Machine
) -> None:
    error = storage_error(Path("/media/cd"), OSError(errno.EROFS, "Read-only file system"))
    machine.said = replace(GOOD, not_writable=error.message)
    assert "/media/cd cannot be written: its drive is read-only." in shown(qtbot, page)
    translation = Translation()
    translation.use("zh")
    try:
        assert "/media/cd" in shown(qtbot, page) and "只读" in shown(qtbot, page)
    finally:
        translation.remove()
    assert not page.ready
