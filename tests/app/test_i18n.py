"""The interface speaks two languages: nothing untranslated, nothing out of date."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "resources" / "i18n"
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
