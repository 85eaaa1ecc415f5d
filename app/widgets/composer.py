"""Where prompts are typed: a field that grows with its text, and one button that sends or stops."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.widgets.entry import Entry
from app.widgets.icon_button import IconButton

MOST_LINES = 9
DRAFT_MS = 400


class Composer(QFrame):
    """`set_writing(True)` turns the button into Stop; what is typed stays typed."""

    sent = Signal(str)
    stopped = Signal()
    draft_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._writing = False
        self._allowed = True
        self.entry = Entry(self.tr("Message"), self)
        self.entry.setObjectName("composerText")
        self.entry.setPlaceholderText(self.tr("Write a message"))
        self.button = IconButton("send", self.tr("Send"), self, tone="on_accent", side=20)
        self.button.setProperty("kind", "send")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addWidget(self.entry, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self._draft_timer = QTimer(self, interval=DRAFT_MS, singleShot=True)
        self._draft_timer.timeout.connect(self.keep_draft)
        self.entry.textChanged.connect(self._text_changed)
        self.entry.submitted.connect(self._submit)
        self.entry.cancelled.connect(self._escape)
        self.button.clicked.connect(self._press)
        self.entry.installEventFilter(self)
        self._text_changed()

    def set_writing(self, writing: bool) -> None:
        """Whether a reply is being written, so that the button stops it."""
        self._writing = writing
        self.button.set_icon("stop" if writing else "send")
        self.button.set_label(self.tr("Stop") if writing else self.tr("Send"))
        self._enable()

    def set_allowed(self, allowed: bool) -> None:
        """Whether there is a model to send to."""
        self._allowed = allowed
        self._enable()

    def set_draft(self, text: str) -> None:
        """Show what was typed before, without reporting it as typed."""
        self.entry.setPlainText(text)
        self._draft_timer.stop()
        self.entry.moveCursor(self.entry.textCursor().MoveOperation.End)

    def keep_draft(self) -> None:
        """Report what is typed now."""
        self._draft_timer.stop()
        self.draft_changed.emit(self.entry.toPlainText())

    def keep_pending_draft(self) -> None:
        """Report what is typed if that has not been done yet."""
        if self._draft_timer.isActive():
            self.keep_draft()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("active", event.type() == QEvent.Type.FocusIn)
            self.style().unpolish(self)
            self.style().polish(self)
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.entry.setFocus()
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _text_changed(self) -> None:
        self._draft_timer.start()
        self._fit()
        self._enable()

    def _fit(self) -> None:
        self.entry.setFixedHeight(max(self.entry.height_for(MOST_LINES), 32))

    def _enable(self) -> None:
        ready = self._allowed and bool(self.entry.toPlainText().strip())
        self.button.setEnabled(self._writing or ready)

    def _press(self) -> None:
        self.stopped.emit() if self._writing else self._submit()

    def _submit(self) -> None:
        if self.button.isEnabled() and not self._writing:
            self.sent.emit(self.entry.toPlainText())

    def _escape(self) -> None:
        if self._writing:
            self.stopped.emit()
