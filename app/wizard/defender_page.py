"""Last page, on Windows only: an exclusion from Defender's scanning, explained and undone."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from app import numbers
from app.background import Background
from app.engine_text import said
from app.exclusion_words import FAILURES, outcome_words
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
        self._facts, self._status = Facts(), words()
        self._stall, self._outcome = words(), words()
        self.measure = QPushButton(self.tr("Measure the pause (a few seconds)"))
        self.add = QPushButton(self.tr("Exclude (Windows asks for permission)"))
        self.remove = QPushButton(self.tr("Undo"))
        self.copy = QPushButton(self.tr("Copy the command"))
        self._task, self._asking, self._measuring = (Background(self) for _ in range(3))
        self._message, self._bad, self._known = "", False, ""
        self._lay_out()
        self.measure.clicked.connect(self._measure)
        self.add.clicked.connect(lambda: self._work("add"))
        self.remove.clicked.connect(lambda: self._work("remove"))
        self.copy.clicked.connect(self._copy)
        self._task.done.connect(self._done)
        self._task.failed.connect(lambda text: self._tell(text, True))
        self._asking.done.connect(self._explain)
        self._measuring.done.connect(self._measured)
        self._measuring.failed.connect(lambda text: say(self._stall, text, "bad"))
        say(self._stall, "")

    def enter(self) -> None:
        self._asking.start(lambda stop: self.model.machine.exclusion.status())

    def refresh(self) -> None:
        step, busy = self.model.machine.exclusion, self._task.running
        refusal = said(step.refusal)
        facts = [(self.tr("Excluded"), step.pattern), (self.tr("Command"), step.command)]
        self._facts.show_facts([] if refusal else facts)
        say(self._status, self._known, "warn")
        self.add.setVisible(not step.ours)
        self.remove.setVisible(step.ours)
        for button in (self.add, self.copy):
            button.setEnabled(not refusal and not busy)
        self.remove.setEnabled(not busy)
        self.measure.setEnabled(not self._measuring.running)
        say(self._outcome, self._message or refusal, "bad" if self._bad else "title")

    def _lay_out(self) -> None:
        measure, row = QHBoxLayout(), QHBoxLayout()
        measure.addWidget(self.measure)
        measure.addStretch(1)
        for button in (self.add, self.remove, self.copy):
            row.addWidget(button)
        row.addStretch(1)
        self.column.addWidget(self._text)
        self.column.addLayout(measure)
        for widget in (self._stall, self._status, self._facts):
            self.column.addWidget(widget)
        self.column.addLayout(row)
        self.column.addWidget(self._outcome)
        self.column.addStretch(1)

    def _explain(self, status: Any) -> None:
        self._known = self.model.machine.explain(status)
        self.refresh()

    def _measure(self) -> None:
        say(self._stall, self.tr("Writing a new file and opening it…"), "muted")
        self._measuring.start(self.model.machine.measure_stall)
        self.refresh()

    def _measured(self, stall: Any) -> None:
        times = (numbers.seconds(stall.first_s), numbers.seconds(stall.again_s))
        text = self.tr("A new file opened after {0}, the second time after {1}.").format(*times)
        quick = self.tr("Nobody holds files up here: no exclusion is needed.")
        slow = self.tr("Something scans new files first; an exclusion may help.")
        say(self._stall, f"{text} {slow if stall.noticeable else quick}", "title")
        self.refresh()

    def _work(self, action: str) -> None:
        step = self.model.machine.exclusion
        self._message = ""
        self._task.start(lambda stop: (action, getattr(step, action)()))
        self.refresh()

    def _done(self, ended: Any) -> None:
        action, outcome = ended
        self._tell(outcome_words(action, outcome), outcome in FAILURES)

    def _tell(self, text: str, bad: bool) -> None:
        self._message, self._bad = text, bad
        self.refresh()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.model.machine.exclusion.command)
