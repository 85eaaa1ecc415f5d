"""First page: what this machine is, where models go, how fast the drive really is; a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QProgressBar, QPushButton

from app import numbers
from app.engine_text import said
from app.viewmodels.add_model import AddModel
from app.viewmodels.unfinished import UnfinishedModel
from app.widgets.unfinished_list import UnfinishedList
from app.wizard.parts import Facts, Page, say, words

LITTLE_MEMORY = 7_500_000_000
LITTLE_SPACE = 20_000_000_000
SATA_CLASS_MB_S = 600


class MachinePage(Page):
    """Measuring is asked for: it reads and writes for some seconds."""

    def __init__(self, model: AddModel, unfinished: UnfinishedModel) -> None:
        super().__init__(model)
        self.unfinished = UnfinishedList(unfinished)
        self.heading.setText(self.tr("This computer"))
        self._facts = Facts()
        self._warnings = words()
        self._verdict = words()
        self._step = words(kind="muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress of measuring"))
        self.folder = QPushButton(self.tr("Another folder…"))
        self.folder.clicked.connect(self._pick)
        self.measure = QPushButton()
        self.measure.clicked.connect(self._measure)
        row = QHBoxLayout()
        row.addWidget(self.measure)
        row.addWidget(self.folder)
        row.addStretch(1)
        for widget in (self.unfinished, self._facts, self._warnings, self._verdict):
            self.column.addWidget(widget)
        self.column.addLayout(row)
        self.column.addWidget(self._bar)
        self.column.addWidget(self._step)
        self.column.addStretch(1)

    def enter(self) -> None:
        self.model.machine.look_around()

    def refresh(self) -> None:
        machine, survey = self.model.machine, self.model.machine.survey
        if survey is not None:
            self._facts.show_facts(self._machine(survey))
            say(self._warnings, "\n".join(self._concerns(survey)), "warn")
            say(self._verdict, self._judge(survey), "title")
        self.measure.setText(
            self.tr("Stop measuring") if machine.measuring else self.tr("Measure speed (5 s)")
        )
        self._bar.setVisible(machine.measuring)
        step = machine.measure_step
        self._bar.setRange(0, step.total if step else 0)
        self._bar.setValue(step.done if step else 0)
        say(self._step, self._step_text(), "bad" if machine.measure_problem else "muted")

    @property
    def ready(self) -> bool:
        survey = self.model.machine.survey
        return survey is not None and not survey.not_writable and not survey.kernel_problem

    def _machine(self, survey: Any) -> list[tuple[str, str]]:
        memory, cpu, drive = survey.memory, survey.cpu, survey.drive
        free = self.tr("{0}, {1} of it free now")
        threads = self.tr("{0}, {1} threads, {2}")
        room = self.tr("{0} ({1}), {2} free")
        return [
            (
                self.tr("Memory"),
                free.format(numbers.size(memory.total), numbers.size(memory.available)),
            ),
            (self.tr("Processor"), threads.format(cpu.name, cpu.threads, survey.isa or "–")),
            (self.tr("Graphics"), self._graphics(survey.gpus)),
            (self.tr("Models folder"), str(survey.folder)),
            (
                self.tr("Drive"),
                room.format(
                    self._kind(drive.kind), drive.filesystem or "–", numbers.size(drive.free_bytes)
                ),
            ),
            (self.tr("Measured"), self._speed()),
        ]

    def _graphics(self, gpus: Sequence[Any]) -> str:
        """Honest: what is there, and that it is not used."""
        if not gpus:
            return self.tr("none found; Edge0 computes on the processor")
        names = [f"{g.name} ({numbers.size(g.memory)})" if g.memory else g.name for g in gpus]
        return self.tr("{0}; not used: Edge0 computes on the processor").format(", ".join(names))

    def _speed(self) -> str:
        measured = self.model.machine.measured
        if measured is None:
            return self.tr("not yet")
        drive = numbers.rate(measured.speed.drive_mb_s * 1e6)
        memory = numbers.rate(measured.speed.weights_gb_s * 1e9)
        text = self.tr("drive {0} in random reads, weights from memory {1}").format(drive, memory)
        if not measured.unbuffered:
            text += " " + self.tr("(a cache helped the drive)")
        return text

    def _kind(self, kind: str) -> str:
        return {
            "nvme": self.tr("NVMe SSD"),
            "sata_ssd": self.tr("SATA SSD"),
            "hdd": self.tr("hard disk"),
            "usb": self.tr("USB drive or memory card"),
            "network": self.tr("network drive"),
            "virtual": self.tr("virtual drive"),
        }.get(kind, self.tr("unknown drive"))

    def _concerns(self, survey: Any) -> list[str]:
        drive, found = survey.drive, []
        if drive.cloud_service:
            text = self.tr("{0} watches this folder and would upload every model: choose another.")
            found.append(text.format(said(drive.cloud_service)))
        if drive.kind == "network":
            found.append(self.tr("On a network drive every token waits for the network."))
        if drive.removable or drive.kind == "usb":
            found.append(self.tr("Do not unplug this drive while a model is open."))
        if survey.file_limit is not None:
            found.append(self.tr("This file system holds no file above 4 GB: large models fail."))
        if drive.filesystem in ("tmpfs", "ramfs"):
            found.append(self.tr("This folder is kept in memory, which the model needs itself."))
        if drive.free_bytes < LITTLE_SPACE:
            found.append(
                self.tr("Little room: a 30B model takes 18 GB, and 79 GB while it is made.")
            )
        return found

    def _judge(self, survey: Any) -> str:
        if survey.kernel_problem:
            return self.tr("Edge0 cannot compute here. {0}").format(survey.kernel_problem)
        if survey.not_writable:
            reason = said(survey.not_writable)
            return self.tr("Nothing can be stored in this folder. {0}").format(reason)
        measured = self.model.machine.measured
        slow = survey.drive.kind in ("hdd", "usb", "network")
        if measured is not None:
            slow = measured.speed.drive_mb_s < SATA_CLASS_MB_S
        if survey.memory.total < LITTLE_MEMORY:
            return self.tr("With less than 8 GB of memory, small models run well here.")
        if slow:
            return self.tr("Models that fit into memory run well; larger ones wait for this drive.")
        if measured is None:
            return self.tr("Good so far. Measure the speed to learn how fast a model will be.")
        return self.tr("A good machine: models larger than its memory run well from this drive.")

    def _step_text(self) -> str:
        if self.model.machine.measure_problem:
            return self.model.machine.measure_problem
        step = self.model.machine.measure_step
        if step is None:
            return "" if self.model.machine.survey else self.tr("Looking at this computer…")
        return said(step.what)

    def _measure(self) -> None:
        if self.model.machine.measuring:
            self.model.machine.cancel_measuring()
        else:
            self.model.machine.measure()

    def _pick(self) -> None:
        start = str(self.model.order.models)
        folder = QFileDialog.getExistingDirectory(self, self.tr("Keep models in"), start)
        if folder:
            self.model.use_folder(Path(folder))
