"""Models behind a licence: the page that helps, the token's ways, a proxy; nothing leaks."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app import commands
from app.application import Application
from app.widgets.settings_dialog import SettingsDialog
from app.wizard.model_page import HUB
from app.wizard.wizard import Wizard
from engine.prepare.prepare import prepare
from tests.helpers.fake_hub import FakeHub
from tests.helpers.fake_keyring import Breaks, Works

SLOW = 60_000
TOKEN = "hf_abcdefghijklmnop"
CHILD = """
import json, sys
from pathlib import Path
from engine.cli import output
from engine.hub.access import Access
from engine.hub.refusals import refusal
token = sys.stdin.readline().strip() if "--token-stdin" in sys.argv else ""
Path(sys.argv[1]).write_text(json.dumps([token, sys.argv[3:]]), encoding="utf-8")
if not token:
    url = "https://huggingface.co/org/model/resolve/x/model.safetensors"
    sys.exit(output.say_json_error(refusal(401, {}, url, "org/model", Access())))
output.say_json({"finished": sys.argv[2]})
"""


@pytest.fixture(autouse=True)
def keyring(monkeypatch: pytest.MonkeyPatch) -> Works:
    """The system's key store."""
    store = Works()
    monkeypatch.setattr("keyring.get_keyring", lambda: store)
    return store


def enter(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.setFocus()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def choose_hub(wizard: Wizard, endpoint: str = commands.OFFICIAL_HUB) -> None:
    wizard.go(1)
    wizard.choice.where.setCurrentIndex(HUB)
    wizard.choice.name.setText("org/model")
    wizard.choice.endpoint.setEditText(endpoint)


def test_a_licence_is_accepted_a_token_kept_and_the_download_goes_on(
    qtbot: QtBot,
    wizard: Wizard,
    real_app: Application,
    tiny_model: Path,
    folder: Path,
    keyring: Works,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ready = prepare(tiny_model, folder / "models" / "model-nf4").path
    seen, script, opened = folder / "seen.json", folder / "child.py", list[str]()
    script.write_text(CHILD, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    monkeypatch.setattr(
        commands, "engine_command", lambda: [sys.executable, str(script), str(seen), str(ready)]
    )
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).url()))
    choose_hub(wizard)
    wizard.go(2)
    wizard.next.click()
    job, page = wizard.model.job, wizard.work
    qtbot.waitUntil(lambda: job.state == "failed", timeout=SLOW)
    assert "only to people who log in" in shown(page) and page.refusal.isVisible()
    page.refusal.open.click()
    assert opened == ["https://huggingface.co/org/model"]
    page.refusal.login.keep.setChecked(True)
    enter(qtbot, page.refusal.login.token, TOKEN)
    qtbot.waitUntil(lambda: real_app.core.settings.hub_token_kept)
    assert list(keyring.kept.values()) == [TOKEN]
    page.go_on.click()
    qtbot.waitUntil(lambda: job.state == "done", timeout=SLOW)
    token, command = json.loads(seen.read_text(encoding="utf-8"))
    assert token == TOKEN and TOKEN not in command
    for file in (folder / "settings.json", folder / "orders.json"):
        assert TOKEN not in file.read_text(encoding="utf-8")
    assert TOKEN not in caplog.text
    wizard.choice.login.forget.click()
    qtbot.waitUntil(lambda: not keyring.kept)
    assert wizard.model.login.token == "" and not real_app.core.settings.hub_token_kept
    qtbot.waitUntil(lambda: real_app.core.library.status == "ready", timeout=SLOW)


def test_a_token_that_the_system_does_not_keep_is_used_until_the_end(
    qtbot: QtBot, wizard: Wizard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyring.get_keyring", Breaks)
    choose_hub(wizard)
    box = wizard.choice.login
    box.keep.setChecked(True)
    enter(qtbot, box.token, TOKEN)
    qtbot.waitUntil(lambda: "until Edge0 ends" in shown(box))
    assert not wizard.model.login.kept and wizard.model.order.with_token


def test_a_token_goes_to_no_mirror(qtbot: QtBot, wizard: Wizard) -> None:
    choose_hub(wizard, "https://hf-mirror.com")
    enter(qtbot, wizard.choice.login.token, TOKEN)
    assert not wizard.model.order.with_token
    wizard.choice.endpoint.setEditText("nonsense")
    assert not wizard.choice.ready and "needs an address" in shown(wizard.choice)


def test_everything_goes_through_the_proxy(
    qtbot: QtBot, wizard: Wizard, real_app: Application, tiny_model: Path
) -> None:
    files = {path.name: path.read_bytes() for path in tiny_model.iterdir()}
    with FakeHub({"org/model": files}) as proxy:
        choose_hub(wizard, "http://hub.invalid")
        wizard.choice.proxy.setText("somewhere")
        assert not wizard.choice.ready and "A proxy is an address" in shown(wizard.choice)
        wizard.choice.proxy.setText(proxy.url)
        wizard.go(2)
        wizard.options.look.click()
        qtbot.waitUntil(lambda: not wizard.model.looking, timeout=SLOW)
        assert wizard.model.outlook is not None, wizard.model.look_problem
        assert all(r.path.startswith("http://hub.invalid/") for r in proxy.requests)
        assert real_app.core.settings.hub_proxy == proxy.url


def test_the_settings_have_the_same_fields(
    qtbot: QtBot, real_app: Application, folder: Path, keyring: Works
) -> None:
    core = real_app.core
    core.keep(replace(core.settings, hub_token_kept=True))
    keyring.kept["Edge0", "huggingface.co"] = TOKEN
    real_app.window.edit_settings()
    dialog = real_app.window.findChild(SettingsDialog)
    assert dialog is not None and dialog.result_settings() == core.settings
    page = dialog.downloads
    page.endpoint.setEditText("https://hf-mirror.com/")
    page.proxy.setText("nonsense")
    page.folder.setText(str(folder / "elsewhere"))
    page.login.forget.click()
    dialog._save()
    settings = core.settings
    assert (settings.hub_endpoint, settings.hub_proxy) == ("https://hf-mirror.com", "")
    assert not settings.hub_token_kept
    qtbot.waitUntil(lambda: not keyring.kept)
    assert core.adding.order.models == folder / "elsewhere"
    assert str(folder / "elsewhere") in core.adding.order.command()
    assert str(folder / "elsewhere") in shown(real_app.window.page.welcome.card)
