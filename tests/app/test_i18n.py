"""The interface speaks two languages: nothing untranslated, nothing out of date."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from app.engine_text import read_text, said
from app.i18n import Translation
from engine import DownloadError
from engine.hub.access import Access
from engine.hub.refusals import refusal
from engine.text import with_records

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "resources" / "i18n"
SHOWN = {"Progress": (2,), "DownloadProgress": (2,), "Finding": (2, 3, 4)}
HOW = "run: python resources/i18n/update.py, translate what is unfinished, run it again"


def update_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("i18n_update", FOLDER / "update.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(file: Path) -> dict[tuple[str, str], str]:
    root = ElementTree.parse(file).getroot()
    found = {}
    for context in root.iter("context"):
        name = context.findtext("name", "")
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation is not None
            done = translation.get("type") is None
            found[name, message.findtext("source", "")] = (translation.text or "") if done else ""
    return found


def test_every_text_is_collected_and_translated(tmp_path: Path) -> None:
    fresh = tmp_path / "edge0_zh_CN.ts"
    update_tool().collect(fresh)
    kept = texts(FOLDER / "edge0_zh_CN.ts")
    assert set(texts(fresh)) == set(kept), HOW
    assert [source for source, text in kept.items() if not text] == [], HOW


def test_the_compiled_file_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "edge0_zh_CN.qm"
    update_tool().compile_to(FOLDER / "edge0_zh_CN.ts", fresh)
    assert fresh.read_bytes() == (FOLDER / "edge0_zh_CN.qm").read_bytes(), HOW


def test_placeholders_are_kept() -> None:
    for (_, source), text in texts(FOLDER / "edge0_zh_CN.ts").items():
        assert sorted(re.findall(r"\{\d\}", source)) == sorted(re.findall(r"\{\d\}", text)), source


@pytest.mark.parametrize("path", sorted((ROOT / "app").rglob("*.py")), ids=lambda p: p.stem)
def test_no_formatted_text_is_translated(path: Path) -> None:
    """An f-string in tr() can never be found in the translation."""
    assert not re.search(r"(\.tr|translate)\(\s*f[\"']", path.read_text(encoding="utf-8"))


def test_the_engine_speaks_chinese_too(qapp: object) -> None:
    """Templates that the engine made, also in another process, and values within values."""
    translation = Translation()
    translation.use("zh")
    try:
        access = Access()
        url = "https://huggingface.co/a/b/resolve/x/y"
        error = refusal(401, {}, url, "a/b", access)
        assert isinstance(error, DownloadError)
        assert said(error.message) == "a/b 只提供给已登录的用户。"
        line = json.loads(json.dumps(with_records({"next_step": error.next_step})))
        told = read_text(line, "next_step")
        assert "创建只读令牌" in told and "https://huggingface.co/a/b" in told
        assert said("as it is {0}") == "as it is {0}"
    finally:
        translation.remove()
    assert read_text({"what": "x", "what_text": ["{9}", []]}, "what") == "x"


def test_a_progress_or_finding_of_the_engine_is_a_text() -> None:
    """Only a `Text` can be translated: no plain or formatted string reaches a person."""
    bare = []
    files = (ROOT / "engine").rglob("*.py")
    for file in sorted(file for file in files if file.parent.name != "cli"):  # for terminals
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            shown = SHOWN.get(name, ())
            for place, value in enumerate(getattr(node, "args", ()) if shown else ()):
                if place in shown and _bare(value):
                    bare.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert bare == []


def _bare(value: ast.expr) -> bool:
    plain = isinstance(value, ast.Constant) and bool(value.value)
    return plain or isinstance(value, ast.JoinedStr)
