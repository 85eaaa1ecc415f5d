"""The window without a mouse or without eyes: names, the Tab key, shortcuts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.settings_dialog import SettingsDialog
from tests.app.conftest import ENGLISH, Start, say


def every_widget(root: QWidget) -> list[QWidget]:
    return [root, *root.findChildren(QWidget)]


def nameless(root: QWidget) -> list[str]:
    """Focusable widgets a screen reader could only call by their kind."""
    found = []
    for widget in every_widget(root):
        inside = widget.objectName().startswith("qt_") or widget.parent() is None
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or inside:
            continue
        text = getattr(widget, "text", None)
        if not widget.accessibleName() and not (callable(text) and text()):
            found.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    return found


def test_everything_that_takes_the_focus_has_a_name(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "Hi")
    application.core.chat.regenerate(application.core.chat.path[-1].id)
    qtbot.waitUntil(lambda: application.core.chat.reply is None)
    assert nameless(application.window) == []


def test_everything_in_the_settings_has_a_name(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    application.window.edit_settings()
    dialog = application.window.findChild(SettingsDialog)
    assert dialog is not None and nameless(dialog) == []
    dialog.close()


def test_the_keyboard_reaches_every_control(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "Hi")
    window = application.window
    window.activateWindow()
    window.page.composer.entry.setFocus()
    reached: set[str] = set()
    for _ in range(60):
        focus = QApplication.focusWidget()
        assert focus is not None
        reached.add(focus.accessibleName() or getattr(focus, "text", lambda: "")())
        QApplication.focusWidget().parentWidget().focusNextChild()
    wanted = {
        "Message",
        "New chat",
        "Search chats",
        "Chats",
        "Settings",
        "Model: One",
        "Copy message as Markdown",
        "Write another reply",
        "Edit and send again",
        "Delete message",
        "Show or hide the live numbers (Ctrl+J)",
    }
    assert wanted <= reached


def test_shortcuts(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "Hi")
    window = application.window
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(window, Qt.Key.Key_N, control)
    assert application.core.chat.conversation == 0
    qtbot.keyClick(window, Qt.Key.Key_K, control)
    assert window.sidebar.search.hasFocus()
    qtbot.keyClick(window, Qt.Key.Key_J, control)
    assert not window.panel.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_B, control)
    assert not window.sidebar.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_L, control)
    assert window.page.composer.entry.hasFocus()
