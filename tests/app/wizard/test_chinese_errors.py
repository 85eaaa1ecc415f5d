"""A source that cannot be used is refused in Chinese, in the wizard, on the real engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.wizard.model_page import LOCAL
from app.wizard.wizard import Wizard
from tests.helpers.gguf_bytes import STRING, build, pair, text

SLOW = 60_000


def shown(widget: QWidget) -> str:
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


@pytest.fixture
def in_chinese(real_app: Application) -> Application:
    core = real_app.core
    core.keep(replace(core.settings, language="zh"))
    return real_app


def unsupported(folder: Path) -> Path:
    path = folder / "falcon.gguf"
    path.write_bytes(build(pair("general.architecture", STRING, text("falcon")), keys=1))
    return path


def wrong_json(folder: Path, tiny_model: Path) -> Path:
    source = folder / "config"
    source.mkdir()
    config = json.loads((tiny_model / "config.json").read_text(encoding="utf-8"))
    config["num_attention_heads"] = "many"
    (source / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return source


def cut_short(folder: Path, tiny_model: Path) -> Path:
    source = folder / "cut"
    source.mkdir()
    for file in tiny_model.iterdir():
        data = file.read_bytes()
        cut = len(data) // 2 if file.suffix == ".safetensors" else len(data)
        (source / file.name).write_bytes(data[:cut])
    return source


CASES = {
    "unsupported": (lambda folder, _: unsupported(folder), "不支持 'falcon' 类型的模型"),
    "json": (wrong_json, "num_attention_heads 的值是 'many'，应为介于 1 到"),
    "cut": (cut_short, "而文件头声明为"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_source_that_cannot_be_used(
    qtbot: QtBot, in_chinese: Application, folder: Path, tiny_model: Path, case: str
) -> None:
    make, words = CASES[case]
    in_chinese.window.add_model()
    wizard = in_chinese.window.findChild(Wizard)
    assert wizard is not None
    qtbot.waitUntil(wizard.next.isEnabled, timeout=SLOW)
    wizard.next.click()
    wizard.choice.where.setCurrentIndex(LOCAL)
    wizard.choice.path.setText(str(make(folder, tiny_model)))
    wizard.next.click()
    qtbot.waitUntil(lambda: words in shown(wizard), timeout=SLOW)
