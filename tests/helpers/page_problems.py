"""What is wrong with a window as it stands: text that does not fit its widget, controls that the
Tab key does not reach, controls without a name."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QScrollArea,
    QWidget,
)

SLACK = 2  # pixels of rounding


def problems(window: QWidget) -> list[str]:
    """What a person would stumble over."""
    seen = [w for w in window.findChildren(QWidget) if w.isVisibleTo(window) and _is_ours(w)]
    found = [text for widget in seen if (text := _clipped(widget))]
    return found + _out_of_reach(window, seen) if isinstance(window, QDialog) else found


def _is_ours(widget: QWidget) -> bool:
    return not widget.objectName().startswith("qt_") and widget.isVisible()


def _clipped(widget: QWidget) -> str:
    """The text of a widget that is too small for it."""
    wanted, given = widget.sizeHint(), widget.size()
    if isinstance(widget, QLabel) and widget.text():
        return _clipped_label(widget)
    small = wanted.width() > given.width() + SLACK or wanted.height() > given.height() + SLACK
    if isinstance(widget, QAbstractButton) and widget.text() and small:
        return f"“{widget.text()}” is cut off"
    if isinstance(widget, QLineEdit) and not isinstance(widget.parent(), QComboBox):
        text = widget.text() or widget.placeholderText()
        room = widget.width() - 2 * 10
        if not widget.text() and widget.fontMetrics().horizontalAdvance(text) > room + SLACK:
            return f"the hint “{text}” is cut off"
    if isinstance(widget, QScrollArea) and widget.horizontalScrollBar().isVisible():
        return "scrolls sideways"
    return ""


def _clipped_label(label: QLabel) -> str:
    text, given = label.text(), label.size()
    if label.wordWrap():
        too_small = label.heightForWidth(given.width()) > given.height() + SLACK
    else:
        wanted = label.sizeHint()
        too_small = wanted.width() > given.width() + SLACK
        too_small = too_small or wanted.height() > given.height() + SLACK
    return f"“{text[:60]}” is cut off" if too_small else ""


def _out_of_reach(window: QWidget, seen: list[QWidget]) -> list[str]:
    """Controls that pressing Tab all around does not come to, and nameless ones."""
    controls = [w for w in seen if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isEnabled()]
    controls = [w for w in controls if not isinstance(w, QLabel) and w.focusProxy() is None]
    reached: list[QWidget] = []
    for _ in range(3 * len(controls) + 3):
        QTest.keyClick(window.focusWidget() or window, Qt.Key.Key_Tab)
        at = window.focusWidget()
        if at is not None:
            reached.append(at)
    found = [f"Tab does not reach {_name(w)}" for w in controls if not _among(w, reached)]
    return found + [f"{w} has no name" for w in controls if not _name(w)]


def _among(widget: QWidget, reached: list[QWidget]) -> bool:
    return any(at is widget or widget.isAncestorOf(at) or at.isAncestorOf(widget) for at in reached)


def _name(widget: QWidget) -> str:
    if isinstance(widget, QListWidget | QLineEdit | QComboBox):
        parent = widget.parent()
        own = widget.accessibleName()
        return own or (parent.accessibleName() if isinstance(parent, QWidget) else "")
    return widget.accessibleName() or str(getattr(widget, "text", str)())
