"""Checks of this machine and the open model, each with its finding and what to do; saves the
diagnostics file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.background import Background
from app.engine_text import said
from engine import StopFlag

Check = Callable[[StopFlag], Sequence[Any]]


class DoctorDialog(QDialog):
    """`check` runs on a thread; `export` gets a file and the findings."""

    def __init__(
        self,
        check: Check,
        export: Callable[[Path, Sequence[Any]], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Check this computer"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(680, 560)
        self.findings: Sequence[Any] = ()
        self._check, self._export = check, export
        self._task = Background(self)
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Checking…"))
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._list = QScrollArea()
        self._list.setWidgetResizable(True)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setAccessibleName(self.tr("Findings"))
        self.again = QPushButton(self.tr("Check again"))
        self.save = QPushButton(self.tr("Save diagnostics…"))
        self.save.setToolTip(
            self.tr("A zip file for asking for help: findings, settings and logs, no chats")
        )
        self._lay_out()
        self._task.done.connect(self._show)
        self._task.failed.connect(self._failed)
        self.again.clicked.connect(self.start)
        self.save.clicked.connect(self._pick)
        self.start()

    def start(self) -> None:
        """Check everything."""
        self._busy(True)
        self._task.start(self._check)

    def done(self, result: int) -> None:
        """Whatever still runs is dropped."""
        self._task.close()
        super().done(result)

    def save_to(self, path: Path) -> None:
        """Write the diagnostics file and say so."""
        try:
            self._export(path, self.findings)
        except OSError as error:
            text = self.tr("It could not be saved: {0}").format(error.strerror or error)
        else:
            text = self.tr("Saved as {0}. Look into it before you send it.").format(path)
        self._note.setText(text)
        self._note.setVisible(True)

    def _lay_out(self) -> None:
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addWidget(self.save)
        row.addStretch(1)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 14)
        for widget in (self._bar, self._list, self._note):
            column.addWidget(widget)
        column.addLayout(row)

    def _busy(self, busy: bool) -> None:
        self._bar.setVisible(busy)
        self.again.setEnabled(not busy)
        self.save.setEnabled(not busy)
        self._note.setVisible(False)

    def _show(self, findings: Sequence[Any]) -> None:
        self._busy(False)
        order = {"fail": 0, "warn": 1, "info": 2, "ok": 3}
        self.findings = sorted(findings, key=lambda finding: order.get(finding.status, 2))
        page = QWidget()
        page.setObjectName("chatContent")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(14)
        for finding in self.findings:
            column.addWidget(self._card(finding))
        column.addStretch(1)
        self._list.setWidget(page)

    def _card(self, finding: Any) -> QWidget:
        marks = {
            "ok": self.tr("Good"),
            "info": self.tr("Note"),
            "warn": self.tr("Warning"),
            "fail": self.tr("Problem"),
        }
        kinds = {"warn": "warn", "fail": "bad"}
        card = QWidget()
        column = QVBoxLayout(card)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        title = f"{marks.get(finding.status, '')}: {said(finding.title)}"
        card.setAccessibleName(title)
        for text, kind in (
            (title, kinds.get(finding.status, "title")),
            (said(finding.evidence), "muted"),
            (said(finding.advice), ""),
        ):
            if text:
                column.addWidget(_text(text, kind))
        return card

    def _failed(self, text: str) -> None:
        self._busy(False)
        self._note.setText(text)
        self._note.setVisible(True)

    def _pick(self) -> None:
        name = str(Path.home() / "edge0-diagnostics.zip")
        kinds = "Zip (*.zip)"
        file, _ = QFileDialog.getSaveFileName(self, self.tr("Save diagnostics"), name, kinds)
        if file:
            self.save_to(Path(file))


def _text(text: str, kind: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setProperty("kind", kind)
    return label
