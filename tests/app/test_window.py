"""The whole window on a fake engine: talking, numbers, settings, models, state."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.settings import read_settings
from app.widgets.prose_view import ProseView
from app.widgets.settings_dialog import SettingsDialog
from engine import BudgetError
from tests.app.conftest import ENGLISH, Start, button, reply_to, say, views
from tests.app.fake_engine import FakeEngine, Script, installed


def test_a_prompt_is_answered_on_screen(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    assert application.window.windowTitle().startswith("Edge0")
    say(qtbot, application, "Hi")
    prompt, reply = views(application)
    (shown,) = reply.findChildren(ProseView)
    assert shown.toPlainText() == "Hello there."
    assert "first token 0.42 s" in " ".join(label.text() for label in reply.findChildren(QLabel))
    assert application.window.page.composer.entry.toPlainText() == ""
    assert application.window.sidebar.list.currentIndex().data() == "Hi"
    button(reply, "Copy message as Markdown").click()
    assert QGuiApplication.clipboard().text() == "Hello there."
    assert prompt.message.text == "Hi"


def test_a_prompt_may_be_sent_while_the_model_still_opens(
    qtbot: QtBot, start: Start, script: Script
) -> None:
    application = start(ENGLISH)
    script.load_s = 0.3
    application.core.library.reopen()
    say(qtbot, application, "early")
    assert [m.state for m in application.core.chat.path] == ["complete", "complete"]


def test_edit_again_delete_from_the_message_itself(
    qtbot: QtBot, start: Start, script: Script
) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "first")
    button(views(application)[1], "Write another reply").click()
    qtbot.waitUntil(lambda: application.core.chat.reply is None)
    assert not button(views(application)[1], "Previous variant").isHidden()
    button(views(application)[0], "Edit and send again").click()
    editor = views(application)[0]._editor
    assert editor is not None and editor.entry.hasFocus()
    editor.entry.selectAll()
    qtbot.keyClicks(editor.entry, "second")
    qtbot.keyClick(editor.entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: application.core.chat.reply is None)
    assert [m.text for m in application.core.chat.path] == ["second", "Hello there."]
    button(views(application)[0], "Edit and send again").click()
    editor = views(application)[0]._editor
    assert editor is not None
    qtbot.keyClick(editor.entry, Qt.Key.Key_Escape)
    assert views(application)[0]._editor is None
    button(views(application)[0], "Delete message").click()
    assert application.core.chat.path == []


def test_errors_stand_where_the_reply_would(qtbot: QtBot, start: Start, script: Script) -> None:
    application = start(ENGLISH)
    script.fail_reply = BudgetError("It does not fit.", "Raise the budget.", 5.0)
    say(qtbot, application, "hello")
    texts = [label.text() for label in views(application)[1].findChildren(QLabel)]
    assert "It does not fit. Raise the budget." in texts


def test_what_is_typed_survives_switching_and_a_restart(
    qtbot: QtBot, start: Start, folder: Path
) -> None:
    application = start(ENGLISH)
    entry = application.window.page.composer.entry
    say(qtbot, application, "one")
    qtbot.keyClicks(entry, "half a thou")
    application.window.new_chat()
    assert entry.toPlainText() == ""
    qtbot.keyClicks(entry, "new idea")
    application.window.sidebar.opened.emit(application.core.conversations.conversation(0).id)
    assert entry.toPlainText() == "half a thou"
    application.window.new_chat()
    assert entry.toPlainText() == "new idea"
    qtbot.keyClicks(entry, " 2")
    application.window.close()
    assert application.core.archive.fetch(lambda history: history.draft(0)) == "new idea 2"


def test_a_deleted_chat_can_be_brought_back(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    say(qtbot, application, "precious")
    sidebar = application.window.sidebar
    sidebar.list.setFocus()
    qtbot.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert application.core.conversations.rowCount() == 0
    assert application.core.chat.conversation == 0
    notice = application.window.page.notice
    assert notice.isVisible()
    next(b for b in notice.findChildren(QPushButton) if b.text() == "Undo").click()
    assert application.core.conversations.rowCount() == 1


def test_search_rename_and_pin_in_the_list(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    for text in ("apples", "pears"):
        application.window.new_chat()
        say(qtbot, application, text)
    sidebar, model = application.window.sidebar, application.core.conversations
    qtbot.keyClicks(sidebar.search, "appl")
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    assert model.index(0).data() == "apples"
    sidebar.search.clear()
    model.toggle_pin(1)
    assert model.index(0).data() == "apples"
    assert model.setData(model.index(0), "  green\napples ")
    assert model.index(0).data() == "green apples"
    assert not model.setData(model.index(0), "   ")


def test_numbers_are_sampled_only_while_they_are_seen(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    window, stats = application.window, application.core.stats
    say(qtbot, application, "Hi")
    assert window.panel.row("hit_rate").value == "79.2 %"
    assert window.panel.row("first_token_s").value == "0.42 s"
    assert window.panel.row("kv_bytes").value == "201 MB"
    stats.take()
    assert "/ 3.00 GB" in window.panel.row("working_set").value
    assert stats._timer.isActive()
    window._panel_button.click()
    assert not stats._timer.isActive()
    before = list(stats.series["working_set"])
    say(qtbot, application, "again")
    assert list(stats.series["working_set"]) == before
    window._panel_button.click()
    assert stats._timer.isActive()
    window.hide()
    assert not stats._timer.isActive()


def test_memory_words_are_explained(qtbot: QtBot, start: Start) -> None:
    panel = start(ENGLISH).window.panel
    tips = {name: panel.row(name).toolTip() for name in ("working_set", "committed", "virtual")}
    assert "budget" in tips["working_set"] and "do not count" in tips["committed"]
    assert "Address space" in tips["virtual"]


def test_how_experts_are_held_is_said_with_its_reason(qtbot: QtBot, start: Start) -> None:
    application = start(ENGLISH)
    row = application.window.panel.row("io")
    assert row.value == "–"
    say(qtbot, application, "Hi")
    application.core.stats.take()
    assert row.value == "mapped"
    assert "free memory keeps most of what the budget misses" in row.toolTip()
    assert "the budget went from 4.00 GB to 3.00 GB" in row.toolTip()


def test_settings_are_applied_and_kept(
    qtbot: QtBot, start: Start, folder: Path, script: Script
) -> None:
    application = start(ENGLISH)
    script.loads.clear()
    application.window.edit_settings()
    dialog = application.window.findChild(SettingsDialog)
    assert dialog is not None
    assert dialog.result_settings() == application.core.settings
    assert dialog._temperature.text() == "Model's own"
    qtbot.keyClick(dialog._temperature, Qt.Key.Key_Up)
    dialog._budget.setValue(4.5)
    dialog._system.setPlainText("Be brief.")
    dialog._ctrl_enter.setChecked(True)
    dialog._save()
    qtbot.waitUntil(lambda: len(script.loads) == 1)  # the budget changed: opened again
    stored, problems = read_settings(folder / "settings.json")
    assert problems == []
    assert (stored.sampling.temperature, stored.memory_budget_gb) == (0.0, 4.5)
    assert stored.system_prompt == "Be brief."
    assert application.window.page.composer.entry.ctrl_enter_sends
    qtbot.waitUntil(lambda: application.core.library.status == "ready")


def test_the_first_start_offers_the_starter_and_asks_first(
    qtbot: QtBot, start: Start, folder: Path
) -> None:
    application = start(ENGLISH, FakeEngine())
    card = application.window.page.welcome.card
    assert card.isVisible() and card.start.isVisible()
    assert application.core.starter.state == "idle"
    assert not application.window.page.composer.button.isEnabled()
    ready = installed(folder / "models" / "starter", "Starter")
    script = f"import json; print(json.dumps({{'finished': {str(ready.path)!r}}}))"
    application.core._starter_command = [sys.executable, "-c", script]
    card.start.click()
    qtbot.waitUntil(lambda: application.core.library.status == "ready", timeout=8000)
    assert not card.isVisible()
    say(qtbot, application, "Hi")
    assert application.core.chat.path[-1].text == "Hello there."


def test_the_picker_lists_models_and_marks_missing_ones(
    qtbot: QtBot, start: Start, folder: Path
) -> None:
    gone = str(folder / "gone")
    application = start(replace(ENGLISH, models=(gone,)))
    picker = application.window.picker
    assert picker.text() == "One"
    menu = picker.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts[:2] == ["One", "gone (missing: take off the list)"]
    actions: list[QAction] = menu.actions()
    actions[1].trigger()
    assert gone not in application.core.settings.models


def test_damaged_chats_and_settings_are_told(qtbot: QtBot, start: Start, folder: Path) -> None:
    (folder / "chats.sqlite3").write_bytes(b"not a database at all" * 300)
    application = start(ENGLISH)
    assert "chats.damaged-" in application.window.page.notice.text
    say(qtbot, application, "still works")
    assert application.core.conversations.rowCount() == 1


def test_hostile_replies_do_no_harm(qtbot: QtBot, start: Start, script: Script) -> None:
    application = start(ENGLISH)
    replies = [
        "<script>alert(1)</script><img src='http://x/y.png'><style>*{color:red}</style>",
        "![x](http://example.org/x.png) [y](javascript:alert(1))",
        "```\n" * 50,
        "> " * 200 + "deep",
        "- " * 100 + "deep",
        "|" * 500 + "\n" + "|-" * 200,
        "\u202e\u0000\ufeff" + "a" * 5000,
        "**" * 3000,
        "\r\n\r\n\t\x0b\x0c\u2028\u2029",
    ]
    for text in replies:
        script.pieces = lambda messages, text=text: [text]  # type: ignore[misc]
        reply_to(qtbot, application.core, "again")
    qtbot.wait(10)
    assert len(application.core.chat.path) == 2 * len(replies)
