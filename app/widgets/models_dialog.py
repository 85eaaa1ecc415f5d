"""The models on this machine: open, show the folder, check, lay out by use, delete with a way
back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.theme import set_kind
from app.viewmodels.library import ModelEntry
from app.viewmodels.manage import ManageModel


class ModelsDialog(QDialog):
    """Over the model of managing; work goes on when it is closed."""

    def __init__(self, model: ManageModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Models"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(680, 480)
        self.model = model
        self.list = QListWidget()
        self.list.setProperty("kind", "framed")
        self.list.setAccessibleName(self.tr("Models on this computer"))
        self._about, self._note = QLabel(), QLabel()
        for label in (self._about, self._note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress"))
        self.chat = QPushButton(self.tr("Chat with it"))
        set_kind(self.chat, "primary")
        self.folder = QPushButton(self.tr("Show folder"))
        self.verify = QPushButton(self.tr("Check the files"))
        self.compact = QPushButton(self.tr("Lay out by use"))
        self.compact.setToolTip(self.tr("Put the experts used most first: a faster cold start"))
        self.delete = QPushButton(self.tr("Delete"))
        self.undo = QPushButton(self.tr("Undo the deletion"))
        self.stop = QPushButton(self.tr("Stop"))
        self._lay_out()
        self._connect()
        self._refill()

    @property
    def chosen(self) -> ModelEntry | None:
        """The model marked in the list."""
        item = self.list.currentItem()
        return None if item is None else self.model.entries[self.list.row(item)]

    def _lay_out(self) -> None:
        rows = []
        for group in (
            (self.chat, self.folder, self.verify, self.compact, self.delete),
            (self.undo, self.stop),
        ):
            row = QHBoxLayout()
            for button in group:
                row.addWidget(button)
            row.addStretch(1)
            rows.append(row)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.reject)
        rows[1].addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 14)
        for widget in (self.list, self._about):
            column.addWidget(widget)
        column.addLayout(rows[0])
        column.addWidget(self._bar)
        column.addWidget(self._note)
        column.addLayout(rows[1])

    def _connect(self) -> None:
        model = self.model
        self.list.currentRowChanged.connect(self._show)
        self.chat.clicked.connect(lambda: self._with(model.open))
        self.folder.clicked.connect(lambda: self._with(_show_folder))
        self.verify.clicked.connect(lambda: self._with(model.verify))
        self.compact.clicked.connect(lambda: self._with(model.compact))
        self.delete.clicked.connect(lambda: self._with(model.delete))
        self.undo.clicked.connect(model.undo)
        self.stop.clicked.connect(model.stop)
        model.changed.connect(self._show)
        model.listed.connect(self._refill)

    def _with(self, action) -> None:  # type: ignore[no-untyped-def]
        if self.chosen is not None:
            action(self.chosen.path)

    def _refill(self) -> None:
        kept = self.chosen.path if self.chosen else None
        self.list.clear()
        for entry in self.model.entries:
            item = QListWidgetItem(self._line(entry))
            self.list.addItem(item)
            if entry.path == kept:
                self.list.setCurrentItem(item)
        if self.list.currentRow() < 0:
            self.list.setCurrentRow(0)
        self._show()

    def _line(self, entry: ModelEntry) -> str:
        state = ""
        if not entry.present:
            state = self.tr("not there: is its drive connected?")
        elif entry.problem:
            state = self.tr("cannot be opened")
        return " · ".join(part for part in (entry.name, entry.about, state) if part)

    def _show(self) -> None:
        entry, model = self.chosen, self.model
        lines = (entry.problem, str(entry.path)) if entry else ()
        self._about.setText("\n".join(line for line in lines if line))
        there = entry is not None and entry.present
        usable = entry is not None and entry.usable
        self.chat.setEnabled(usable)
        self.folder.setEnabled(there)
        for button in (self.verify, self.compact):
            button.setEnabled(usable and not model.busy)
        self.delete.setEnabled(there and not model.busy)
        self._bar.setVisible(model.busy)
        self.stop.setVisible(model.busy)
        self._bar.setRange(0, 1000 if model.job.total else 0)
        if model.job.total:
            self._bar.setValue(1000 * model.job.done // model.job.total)
        self._note.setText(self._what_happened())
        self._note.setVisible(bool(self._note.text()))
        self.undo.setVisible(model.deleted is not None)

    def _what_happened(self) -> str:
        model = self.model
        name = model.subject.name if model.subject else ""
        texts = {
            "": "",
            "verifying": self.tr("Checking {0}…"),
            "compacting": self.tr("Laying out {0}…"),
            "sound": self.tr("{0}: every byte is as it was made."),
            "compacted": self.tr("{0}: the experts used most come first now."),
            "deleted": self.tr("{0} was deleted. It is removed for good in a few minutes."),
            "restored": self.tr("{0} is back."),
            "stopped": self.tr("Stopped."),
        }
        if model.problem:
            return model.problem
        return texts.get(model.state, "").format(name)


def _show_folder(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
