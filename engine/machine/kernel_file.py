"""Small files that Linux answers questions with."""

from __future__ import annotations

from pathlib import Path


def text_of(file: Path) -> str:
    """What it says, without spaces around; nothing when it is not there or not for us."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
