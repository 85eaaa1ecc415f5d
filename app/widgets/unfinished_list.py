"""Downloads and conversions that were not finished: go on, or delete what is there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app import numbers
from app.theme import set_kind
from app.viewmodels.unfinished import UnfinishedModel, Work


class UnfinishedList(QWidget):
    """Hidden while there is nothing; `resumed` after one was told to go on."""

    resumed = Signal()

    def __init__(self, model: UnfinishedModel) -> None:
        super().__init__()
        self._model = model
        self._shown: list[Work] = []
        self.rows: list[UnfinishedRow] = []
        self._title = QLabel(self.tr("Not finished"))
        self._title.setProperty("kind", "title")
        self._problem = QLabel()
        self._problem.setProperty("kind", "bad")
        self._problem.setWordWrap(True)
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._title)
        self._column.addWidget(self._problem)
        model.changed.connect(self._show)
        model.refresh()

    def _show(self) -> None:
        model = self._model
        if model.works != self._shown:
            self._fill()
        for row in self.rows:
            row.setEnabled(not model.busy)
        self._problem.setText(model.problem)
        self._problem.setVisible(bool(model.problem))
        self.setVisible(bool(model.works))

    def _fill(self) -> None:
        self._shown = self._model.works
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = [UnfinishedRow(work) for work in self._shown]
        for row in self.rows:
            row.resumed.connect(self._resume)
            row.dropped.connect(self._model.drop)
            self._column.addWidget(row)

    def _resume(self, work: Work) -> None:
        self._model.go_on(work)
        self.resumed.emit()


class UnfinishedRow(QWidget):
    """One of them. Deleting asks again on the button itself."""

    resumed = Signal(object)
    dropped = Signal(object)

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work, self._sure = work, False
        text = QLabel(f"{work.name} · {self._state()}")
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        self.go_on = QPushButton(self.tr("Go on"))
        self.go_on.setAccessibleName(self.tr("Go on with {0}").format(work.name))
        self.go_on.setVisible(work.order is not None and not work.running)
        self.drop = QPushButton(self.tr("Delete what is there"))
        self.drop.setAccessibleName(self.tr("Delete what is there of {0}").format(work.name))
        self.drop.setVisible(not work.running)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(text, 1)
        row.addWidget(self.go_on)
        row.addWidget(self.drop)
        self.go_on.clicked.connect(lambda: self.resumed.emit(work))
        self.drop.clicked.connect(self._drop)

    def _state(self) -> str:
        work = self._work
        if work.running:
            return self.tr("at work now")
        if work.total:
            told = self.tr("{0} of {1} fetched")
            return told.format(numbers.size(work.done), numbers.size(work.total))
        size = self.tr("{0} converted").format(numbers.size(work.done))
        if work.order is None:
            return self.tr("{0}; convert the same files again to go on").format(size)
        return size

    def _drop(self) -> None:
        if self._sure:
            self.dropped.emit(self._work)
            return
        self._sure = True
        self.drop.setText(self.tr("Really delete?"))
        set_kind(self.drop, "danger")
