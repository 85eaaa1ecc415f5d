"""Opens every page of the app at one scale, in both languages and themes, and tells what is wrong.

    QT_SCALE_FACTOR=2 python -m tests.helpers.page_tour WORK_FOLDER [PICTURES_FOLDER]

A process of its own: Qt reads the scale once, at its start. Prints one JSON list: windows that do
not fit on the screen, and the problems on each page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.application import Application
from app.settings import Settings, write_settings
from app.widgets.doctor_dialog import DoctorDialog
from app.widgets.downloads_page import DownloadsPage
from app.widgets.exclusions_page import ExclusionsPage
from app.widgets.models_dialog import ModelsDialog
from app.widgets.settings_dialog import SettingsDialog
from app.wizard.wizard import Wizard
from engine.doctor import DoctorOptions, run_doctor
from engine.doctor.exclusion import DefenderExclusion, our_exclusions
from engine.doctor.outlook import Outlook, outlook
from engine.doctor.survey import Survey
from engine.hub.forecast import Forecast
from engine.hub.speed import MachineSpeed
from engine.machine.defender_ledger import Exclusion, note_added
from engine.machine.defender_status import DefenderStatus, explanation
from engine.machine.samples import CpuInfo, DriveInfo, GpuInfo, SystemMemory
from engine.store.budget import MemoryNeeds
from tests.app.fake_engine import FakeEngine, installed
from tests.helpers.page_problems import problems

GB = 10**9
SCREEN = (1920, 1000)  # of a laptop, without the task bar, in real pixels


@dataclass(frozen=True)
class Shot:
    """A window in one state."""

    name: str
    window: QWidget
    too_large: str = ""


class Door(FakeEngine):
    """A Windows machine with everything to tell about it."""

    defender_explanation = staticmethod(explanation)
    our_exclusions = staticmethod(our_exclusions)

    def survey(self, folder: Path) -> Survey:
        drive = DriveInfo("usb", "vfat", "", 9 * GB, 60 * GB, True, "OneDrive")
        return Survey(
            Path("C:/Users/Somebody with a long name/AppData/Local/Edge0/models"),
            SystemMemory(16 * GB, 9 * GB, 16 * GB),
            CpuInfo("13th Gen Intel(R) Core(TM) i7-1360P", 16, 12),
            drive,
            "avx512",
            file_limit=(4 << 30) - 1,
            gpus=(GpuInfo("NVIDIA GeForce RTX 4060 Laptop GPU", 8 * GB),),
        )

    def DefenderExclusion(self, models: Path, ledger: Path) -> DefenderExclusion:
        status = DefenderStatus("Normal", tamper_protected=True, managed=True)
        folder = Path(r"C:\Users\Somebody\AppData\Local\Edge0\models")
        return DefenderExclusion(folder, ledger, Path("C:\\x"), lambda _: 0, str, lambda: status)


def main(work: Path, pictures: Path | None) -> int:
    """Visit everything; returns the exit code."""
    qt = QApplication([])
    door = Door([installed(work / "models" / "Qwen3-30B-A3B-Instruct-2507-nf4", "Qwen3-30B-A3B")])
    away = str(work / "unplugged" / "Mixtral-8x7B-Instruct-v0.1-nf4")
    (work / "models" / "OLMoE-1B-7B-0924-Instruct-nf4.partial").mkdir(parents=True)
    settings = Settings(models=(away,), models_folder=str(work / "models"))
    write_settings(work / "settings.json", settings)
    application = Application(qt, door, work, [sys.executable, "-c", ""])
    application.start()
    ledger = application.core.adding.machine.ledger
    note_added(ledger, Exclusion("E:\\m", r"E:\m\*\*.moex", "2026-11-29"))
    found: list[str] = []
    for language in ("en", "zh"):
        for theme in ("light", "dark"):
            now = application.core.settings
            application.core.keep(replace(now, language=language, theme=theme))  # type: ignore[arg-type]
            for shot in _tour(qt, application, language):
                where = f"{shot.name} {language} {theme}"
                told = [shot.too_large] if shot.too_large else []
                found += [f"{where}: {text}" for text in told + problems(shot.window)]
                if pictures is not None:
                    shot.window.grab().save(str(pictures / f"{where.replace(' ', '-')}.png"))
    print(json.dumps(found, ensure_ascii=False))
    return 0 if application.close() else 1


def _tour(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    for shots in (_main, _wizard, _manager, _doctor, _settings):
        yield from shots(qt, application, language)
        _settle(qt)


def _main(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    _wait(qt, lambda: application.core.library.status == "ready")
    application.window.page.show_starter()
    yield _shown(qt, "welcome", application.window)


def _wizard(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    core = application.core
    wizard = Wizard(core.adding, core.unfinished, language, application.window, defender=True)
    model = wizard.model
    shot = _shown(qt, "wizard-machine", wizard)
    _wait(qt, lambda: model.machine.survey is not None)
    yield shot
    for source in range(4):
        wizard.choice.where.setCurrentIndex(source)
        wizard.go(1)
        yield _shown(qt, f"wizard-model-{source}", wizard)
    wizard.choice.where.setCurrentIndex(2)
    wizard.choice.name.setText("org/model")
    wizard.choice.proxy.setText("nonsense")
    yield _shown(qt, "wizard-model-proxy", wizard)
    wizard.choice.proxy.setText("")
    model.outlook = _outlook()
    wizard.go(2)
    yield _shown(qt, "wizard-options", wizard)
    model.outlook = None
    model.look_problem, model.look_page = "Log in first. " * 8, "https://huggingface.co/org/model"
    wizard.refresh()
    yield _shown(qt, "wizard-refused", wizard)
    model.job.state, model.job.error, model.job.page = "failed", "It broke. " * 20, model.look_page
    wizard.go(3)
    yield _shown(qt, "wizard-failed", wizard)
    model.job.use([])
    wizard.go(4)
    _wait(qt, lambda: bool(wizard.pages[4]._known))  # type: ignore[attr-defined]
    yield _shown(qt, "wizard-defender", wizard)
    wizard.close()


def _manager(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    dialog = ModelsDialog(application.core.manage, application.core.unfinished, application.window)
    for row in range(dialog.list.count()):
        dialog.list.setCurrentRow(row)
        yield _shown(qt, f"manager-{row}", dialog)
    dialog.close()


def _doctor(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    dialog = DoctorDialog(
        lambda stop: run_doctor(DoctorOptions(stop=stop)), lambda *_: None, application.window
    )
    shot = _shown(qt, "doctor", dialog)
    _wait(qt, lambda: bool(dialog.findings))
    dialog.save_to(Path("/home/somebody/edge0-diagnostics.zip"))
    yield shot
    dialog.close()


def _settings(qt: QApplication, application: Application, language: str) -> Iterator[Shot]:
    core = application.core
    downloads = DownloadsPage(core.settings, core.usual_models_folder, core.adding.login)
    excluded = ExclusionsPage(core.exclusions)
    dialog = SettingsDialog(core.settings, downloads, application.window, excluded)
    for place in range(dialog.tabs.count()):
        dialog.tabs.setCurrentIndex(place)
        yield _shown(qt, f"settings-{place}", dialog)
    dialog.close()


def _outlook() -> Outlook:
    needs = MemoryNeeds(GB, GB, 100_000, 4096, GB // 2, 2_654_208, 6144, 8, 48)
    told = Forecast(
        model="Qwen/Qwen3-30B-A3B",
        model_type="qwen3_moe",
        quant="nf4",
        dense=False,
        parameters=30_500_000_000,
        active_parameters=3_300_000_000,
        download=61 * GB,
        output=17 * GB,
        needs=needs,
        disk_peak=78 * GB,
        disk_peak_by_shard=25 * GB,
        notes=(),
    )
    machine = MachineSpeed(40.0, 600.0, 2500.0, 9 * GB)
    return outlook(told, SystemMemory(16 * GB, 9 * GB, 16 * GB), machine)


def _shown(qt: QApplication, name: str, window: QWidget) -> Shot:
    """Show it no larger than the screen is at this scale."""
    ratio = window.devicePixelRatioF()
    limit = [int(side / ratio) for side in SCREEN]
    window.show()
    window.resize(min(window.width(), limit[0]), min(window.height(), limit[1]))
    _settle(qt)
    fits = window.width() <= limit[0] and window.height() <= limit[1]
    size = f"{window.width()}×{window.height()}"
    return Shot(name, window, "" if fits else f"does not fit on the screen: {size}")


def _settle(qt: QApplication) -> None:
    for _ in range(3):
        qt.processEvents()
        qt.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _wait(qt: QApplication, ready: Callable[[], bool]) -> None:
    for _ in range(3000):
        if ready():
            break
        QTest.qWait(20)
    _settle(qt)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
