"""Collects the texts of app and engine into edge0_zh_CN.ts and compiles it: python3
resources/i18n/update.py."""

from __future__ import annotations

import ast
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import PySide6

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = (ROOT / "engine", ROOT / "app")
TOOLS = Path(PySide6.__file__).parent
_PLACE = re.compile(r"\{\d\}")


def tool(name: str) -> str:
    """The path of one of Qt's translation tools in the PySide6 package."""
    for place in (TOOLS / name, TOOLS / f"{name}.exe", TOOLS / "Qt" / "libexec" / name):
        if place.exists():
            return str(place)
    raise FileNotFoundError(f"{name} is not in {TOOLS}")


def engine_templates() -> list[str]:
    """The template of every `Text(…)`: the engine, and what of the app is like it, know no Qt."""
    files = (file for folder in SOURCES for file in folder.rglob("*.py") if file.name != "text.py")
    found = {text for file in files for text in _templates(file)}
    return sorted(text for text in found if _PLACE.sub("", text).strip())  # marks differ, too


def _templates(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Text":
            first = node.args[0]
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                raise ValueError(f"{file}:{node.lineno}: a template must be written out")
            yield first.value


def collect(target: Path) -> None:
    """Bring a .ts file up to date with the sources; new texts are marked unfinished."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Path(folder, "engine_texts.py")
        lines = [f'QCoreApplication.translate("Engine", {_quoted(t)})' for t in engine_templates()]
        engine.write_text("\n".join(lines), encoding="utf-8")
        sources = [*sorted(str(path) for path in (ROOT / "app").rglob("*.py")), str(engine)]
        options = ["-silent", "-no-obsolete", "-locations", "none"]
        subprocess.run([tool("lupdate"), *options, *sources, "-ts", str(target)], check=True)


def _quoted(text: str) -> str:
    """A literal as lupdate reads it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def compile_to(source: Path, target: Path) -> None:
    """Compile a .ts file to what Qt reads."""
    subprocess.run([tool("lrelease"), "-silent", str(source), "-qm", str(target)], check=True)


if __name__ == "__main__":
    collect(HERE / "edge0_zh_CN.ts")
    compile_to(HERE / "edge0_zh_CN.ts", HERE / "edge0_zh_CN.qm")
