"""Collects the interface's texts into edge0_zh_CN.ts and compiles it: python3
resources/i18n/update.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

import PySide6

HERE = Path(__file__).resolve().parent
TOOLS = Path(PySide6.__file__).parent


def tool(name: str) -> str:
    """The path of one of Qt's translation tools in the PySide6 package."""
    for place in (TOOLS / name, TOOLS / f"{name}.exe", TOOLS / "Qt" / "libexec" / name):
        if place.exists():
            return str(place)
    raise FileNotFoundError(f"{name} is not in {TOOLS}")


def collect(target: Path) -> None:
    """Bring a .ts file up to date with the sources; new texts are marked unfinished."""
    sources = sorted(str(path) for path in (HERE.parent.parent / "app").rglob("*.py"))
    options = ["-silent", "-no-obsolete", "-locations", "none"]
    subprocess.run([tool("lupdate"), *options, *sources, "-ts", str(target)], check=True)


def compile_to(source: Path, target: Path) -> None:
    """Compile a .ts file to what Qt reads."""
    subprocess.run([tool("lrelease"), "-silent", str(source), "-qm", str(target)], check=True)


if __name__ == "__main__":
    collect(HERE / "edge0_zh_CN.ts")
    compile_to(HERE / "edge0_zh_CN.ts", HERE / "edge0_zh_CN.qm")
