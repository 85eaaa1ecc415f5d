"""The first start: offers the small starter model and shows how getting it goes on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.prepare_job import PrepareJob
from app.theme import resized


class StarterCard(QFrame):
    """Follows a PrepareJob; asks before anything is downloaded."""

    start_wanted = Signal()
    folder_wanted = Signal()
    more_wanted = Signal()

    def __init__(self, job: PrepareJob, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setMaximumWidth(520)
        self._job = job
        self._title = QLabel(self.tr("Welcome to Edge0"), self)
        self._title.setFont(resized(self.font(), 1.5, QFont.Weight.DemiBold))
        self._text = _wrapped(self)
        self._place = _wrapped(self)
        self._place.setProperty("kind", "muted")
        self._place.hide()
        self._step = _wrapped(self)
        self._step.setProperty("kind", "muted")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress of the starter model"))
        self.start = QPushButton(self)
        self.start.setProperty("kind", "primary")
        self.stop = QPushButton(self.tr("Cancel"), self)
        self.more = QPushButton(self.tr("Another model…"), self)
        self.folder = QPushButton(self.tr("Open a model folder…"), self)
        self._lay_out()
        self.start.clicked.connect(self.start_wanted)
        self.stop.clicked.connect(job.cancel)
        self.folder.clicked.connect(self.folder_wanted)
        self.more.clicked.connect(self.more_wanted)
        job.changed.connect(self._show)
        self._show()

    def show_place(self, folder: str) -> None:
        """Say where the model goes."""
        self._place.setText(self.tr("It goes into {0}").format(folder))
        self._place.show()

    def _lay_out(self) -> None:
        rows = QVBoxLayout()
        for group in ((self.start, self.stop), (self.more,), (self.folder,)):
            row = QHBoxLayout()
            for button in group:
                row.addWidget(button)
            row.addStretch(1)
            rows.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 26, 28, 26)
        column.setSpacing(12)
        for widget in (self._title, self._text, self._place, self._bar, self._step):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addLayout(rows)

    def _show(self) -> None:
        state = self._job.state
        running = state == "running"
        self._text.setText(self._explanation())
        self._bar.setVisible(running)
        self._bar.setRange(0, 1000 if self._job.total else 0)
        if self._job.total:
            self._bar.setValue(1000 * self._job.done // self._job.total)
        self._step.setText(self._progress_text())
        self._step.setVisible(bool(self._step.text()))
        self.start.setText(self._start_text())
        self.start.setVisible(not running)
        self.stop.setVisible(running)
        self.folder.setVisible(not running)
        self.more.setVisible(not running)

    def _explanation(self) -> str:
        return self.tr(
            "To try it out, Edge0 can fetch a small starter model (SmolLM2 135M, about 93 MB,"
            " Apache-2.0) and convert it for your SSD. It is a small dense model: good for a first"
            " try, not for hard questions. Nothing is downloaded before you press the button."
        )

    def _start_text(self) -> str:
        if self._job.state in ("cancelled", "failed"):
            return self.tr("Go on")
        return self.tr("Get the starter model")

    def _progress_text(self) -> str:
        if self._job.state == "failed":
            parts = [self.tr("It did not work:"), self._job.error, self._job.next_step]
            return " ".join(part for part in parts if part)
        if self._job.state == "cancelled":
            return self.tr("Stopped. What is there is kept; it goes on from there.")
        if self._job.state == "running":
            return self._job.what or self.tr("Starting…")
        return ""


def _wrapped(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
