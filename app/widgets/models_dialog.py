"""The models on this machine: open, check, lay out by use, move, convert again, delete with a way
back; and what is not finished."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import numbers
from app.theme import set_kind
from app.viewmodels.library import ModelEntry
from app.viewmodels.manage import ManageModel
from app.viewmodels.unfinished import UnfinishedModel
from app.widgets.unfinished_list import UnfinishedList


class ModelsDialog(QDialog):
    """Over the model of managing; work goes on when it is closed.

    again_wanted: with the order that makes a model anew. work_wanted: something is going on.
    """

    again_wanted = Signal(object)
    work_wanted = Signal()

    def __init__(
        self, model: ManageModel, unfinished: UnfinishedModel, parent: QWidget | None = None
    ) -> None:
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
        self.move_to = QPushButton(self.tr("Move…"))
        self.move_to.setToolTip(self.tr("Into another folder, also on another drive"))
        self.again = QPushButton(self.tr("Convert again…"))
        self.again.setToolTip(self.tr("Fetch and convert it anew, perhaps in another format"))
        self.forget = QPushButton(self.tr("Take off the list"))
        self.delete = QPushButton(self.tr("Delete"))
        self.undo = QPushButton(self.tr("Undo the deletion"))
        self.stop = QPushButton(self.tr("Stop"))
        self.unfinished = UnfinishedList(unfinished)
        self._lay_out()
        self._connect()
        model.refresh()
        self._refill()

    @property
    def chosen(self) -> ModelEntry | None:
        """The model marked in the list."""
        item = self.list.currentItem()
        path = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        return next((entry for entry in self.model.entries if entry.path == path), None)

    def _lay_out(self) -> None:
        rows = []
        for group in (
            (self.chat, self.folder, self.verify, self.compact),
            (self.move_to, self.again, self.delete, self.forget),
            (self.undo, self.stop),
        ):
            row = QHBoxLayout()
            for button in group:
                row.addWidget(button)
            row.addStretch(1)
            rows.append(row)
        close = QPushButton(self.tr("Close"))
        close.clicked.connect(self.reject)
        rows[-1].addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 18, 18, 14)
        for widget in (self.unfinished, self.list, self._about):
            column.addWidget(widget)
        for row in rows[:-1]:
            column.addLayout(row)
        column.addWidget(self._bar)
        column.addWidget(self._note)
        column.addLayout(rows[-1])

    def _connect(self) -> None:
        model = self.model
        self.list.currentRowChanged.connect(self._show)
        self.chat.clicked.connect(lambda: self._with(model.open))
        self.folder.clicked.connect(lambda: self._with(_show_folder))
        self.verify.clicked.connect(lambda: self._with(model.verify))
        self.compact.clicked.connect(lambda: self._with(model.compact))
        self.delete.clicked.connect(lambda: self._with(model.delete))
        self.move_to.clicked.connect(lambda: self._with(self._pick))
        self.again.clicked.connect(lambda: self._with(self._make_again))
        self.forget.clicked.connect(lambda: self._with(model.forget))
        self.unfinished.resumed.connect(self.work_wanted)
        self.undo.clicked.connect(model.undo)
        self.stop.clicked.connect(model.stop)
        model.changed.connect(self._show)
        model.listed.connect(self._refill)

    def _with(self, action) -> None:  # type: ignore[no-untyped-def]
        if self.chosen is not None:
            action(self.chosen.path)

    def _pick(self, path: Path) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Move it to"), str(path.parent))
        if folder:
            self.model.move(path, Path(folder))

    def _make_again(self, path: Path) -> None:
        order = self.model.made_from(path)
        if order is not None:
            self.again_wanted.emit(order)

    def _refill(self) -> None:
        item = self.list.currentItem()
        kept = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        self.list.clear()
        for entry in self.model.entries:
            item = QListWidgetItem(self._line(entry))
            item.setData(Qt.ItemDataRole.UserRole, entry.path)
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
        elif entry.damaged:
            state = self.tr("damaged: check the files again, or convert it again")
        elif entry.problem:
            state = self.tr("cannot be opened")
        return " · ".join(part for part in (entry.name, entry.about, state) if part)

    def _show(self) -> None:
        entry, model = self.chosen, self.model
        lines = (entry.problem, str(entry.path), self._speed(entry)) if entry else ()
        self._about.setText("\n".join(line for line in lines if line))
        there = entry is not None and entry.present
        usable = entry is not None and entry.usable
        self.chat.setEnabled(usable)
        self.folder.setEnabled(there)
        for button in (self.compact, self.move_to):
            button.setEnabled(usable and not model.busy)
        damaged = entry is not None and entry.present and entry.damaged
        self.verify.setEnabled((usable or damaged) and not model.busy)
        known = entry is not None and there and model.made_from(entry.path) is not None
        self.again.setEnabled(known and not model.busy)
        self.delete.setEnabled(there and not model.busy)
        self.forget.setVisible(entry is not None and not there)
        self._bar.setVisible(model.busy)
        self.stop.setVisible(model.busy)
        self._bar.setRange(0, 1000 if model.job.total else 0)
        if model.job.total:
            self._bar.setValue(1000 * model.job.done // model.job.total)
        self._note.setText(self._what_happened())
        self._note.setVisible(bool(self._note.text()))
        self.undo.setVisible(model.deleted is not None)

    def _speed(self, entry: ModelEntry) -> str:
        speed = self.model.speeds.of(entry.path)
        if speed is None:
            return self.tr("Has not replied here yet")
        rate = numbers.speed(speed.decode_tok_s or None)
        text = self.tr("Last reply: {0}, first word after {1} ({2})")
        return text.format(rate, numbers.seconds(speed.first_token_s), speed.day)

    def _what_happened(self) -> str:
        model = self.model
        name = model.subject.name if model.subject else ""
        texts = {
            "": "",
            "verifying": self.tr("Checking {0}…"),
            "compacting": self.tr("Laying out {0}…"),
            "moving": self.tr("Moving {0}…"),
            "sound": self.tr("{0}: every byte is as it was made."),
            "compacted": self.tr("{0}: the experts used most come first now."),
            "moved": self.tr("{0} is in its new place."),
            "deleted": self.tr("{0} was deleted. It is removed for good in a few minutes."),
            "restored": self.tr("{0} is back."),
            "stopped": self.tr("Stopped."),
        }
        if model.problem:
            return model.problem
        text = texts.get(model.state, "").format(name)
        return f"{text} {model.job.what}".strip() if model.busy else text


def _show_folder(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
