"""A text field for prompts: Enter sends unless an input method is composing, Shift+Enter breaks
the line."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.widgets.plain_size import plain_text_size

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Entry(QPlainTextEdit):
    """Emits `submitted`; Enter that confirms a candidate of an input method never submits."""

    submitted = Signal()
    cancelled = Signal()

    def __init__(self, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.ctrl_enter_sends = False
        self._composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        if event.preeditString():
            self._composing = True
        elif self._composing:
            # Some input methods commit and pass the Enter on together: wait one turn.
            QTimer.singleShot(0, self, self._stop_composing)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self._composing:
            self.cancelled.emit()
            event.ignore()
        elif event.key() in ENTER and self._submits(event):
            if not event.isAutoRepeat():
                self.submitted.emit()
        elif event.key() in ENTER and self._composing:
            event.accept()  # it belongs to the input method
        elif event.key() in ENTER:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Plain text only."""
        if source.hasText():
            self.insertPlainText(source.text())

    def height_for(self, most_lines: int) -> int:
        """The height that shows all text, up to so many lines."""
        most = most_lines * self.fontMetrics().lineSpacing()
        return min(plain_text_size(self).height(), most + 2 * int(self.document().documentMargin()))

    def _submits(self, event: QKeyEvent) -> bool:
        if self._composing:
            return False
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        control = held == Qt.KeyboardModifier.ControlModifier
        return control or (not self.ctrl_enter_sends and not held)

    def _stop_composing(self) -> None:
        self._composing = False
