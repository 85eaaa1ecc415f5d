"""Last page, on Windows only: an exclusion from Defender's scanning, explained and undone."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton

from app.background import Background
from app.viewmodels.add_model import AddModel
from app.wizard.parts import Facts, Page, say, words


class DefenderPage(Page):
    """Going on without it is the usual way; nothing happens before the button is pressed."""

    def __init__(self, model: AddModel) -> None:
        super().__init__(model)
        self.heading.setText(self.tr("Windows Defender (optional)"))
        self._text = words(
            self.tr(
                "Defender may scan the files of experts when they are read, and replies then stall"
                " for a second or three. You can exclude these files, and only these, from"
                " scanning. It costs some protection: a file with this ending in this place is no"
                " longer looked at. Programs are still scanned. Everything works without it."
            )
        )
        self._facts = Facts()
        self._outcome: QLabel = words()
        self.add = QPushButton(self.tr("Exclude (Windows asks for permission)"))
        self.remove = QPushButton(self.tr("Undo"))
        self.copy = QPushButton(self.tr("Copy the command"))
        self._task = Background(self)
        row = QHBoxLayout()
        for button in (self.add, self.remove, self.copy):
            row.addWidget(button)
        row.addStretch(1)
        for widget in (self._text, self._facts):
            self.column.addWidget(widget)
        self.column.addLayout(row)
        self.column.addWidget(self._outcome)
        self.column.addStretch(1)
        self._message, self._bad = "", False
        self.add.clicked.connect(lambda: self._work("add"))
        self.remove.clicked.connect(lambda: self._work("remove"))
        self.copy.clicked.connect(self._copy)
        self._task.done.connect(self._done)
        self._task.failed.connect(lambda text: self._tell(text, True))

    def refresh(self) -> None:
        step, busy = self.model.exclusion, self._task.running
        refusal = step.refusal
        facts = [(self.tr("Excluded"), step.pattern), (self.tr("Command"), step.command)]
        self._facts.show_facts([] if refusal else facts)
        self.add.setVisible(not step.ours)
        self.remove.setVisible(step.ours)
        for button in (self.add, self.copy):
            button.setEnabled(not refusal and not busy)
        self.remove.setEnabled(not busy)
        say(self._outcome, self._message or refusal, "bad" if self._bad else "title")

    def _work(self, action: str) -> None:
        step = self.model.exclusion
        self._message = ""
        self._task.start(lambda stop: (action, getattr(step, action)()))
        self.refresh()

    def _done(self, ended: Any) -> None:
        action, outcome = ended
        removed = self.tr("It is scanned again.")
        texts = {
            "done": self.tr("It is excluded now.") if action == "add" else removed,
            "already": self.tr("Nothing had to be changed."),
            "cancelled": self.tr("You said no; nothing was changed. That is fine."),
            "refused": self.tr("The folder is not one that may be excluded."),
            "ineffective": self.tr(
                "Windows took it but does not use it: your organisation manages Defender. Ask its"
                " administrators."
            ),
            "timeout": self.tr("Windows did not answer in time. Nothing is certain; look again."),
        }
        failed = self.tr("Defender refused. It may be off, or another antivirus may be in charge.")
        self._tell(texts.get(outcome, failed), outcome in ("failed", "ineffective", "timeout"))

    def _tell(self, text: str, bad: bool) -> None:
        self._message, self._bad = text, bad
        self.refresh()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.model.exclusion.command)
