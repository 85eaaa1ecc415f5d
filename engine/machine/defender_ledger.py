"""What we added to Windows Defender's exclusions, so that it can be undone: one JSON file.

A damaged file counts as empty: the exclusions themselves are in Windows' own list.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Exclusion:
    """An exclusion of ours. added: a date for people."""

    models: str
    pattern: str
    added: str


def read_ledger(path: Path) -> list[Exclusion]:
    """Every exclusion that is still there as far as we know."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["exclusions"]
        found = [Exclusion(**entry) for entry in entries]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [e for e in found if all(isinstance(value, str) for value in vars(e).values())]


def note_added(path: Path, exclusion: Exclusion) -> None:
    """Remember one; written down before anyone is told that it worked. Raises OSError."""
    others = [e for e in read_ledger(path) if e.pattern != exclusion.pattern]
    _write(path, [*others, exclusion])


def note_removed(path: Path, pattern: str) -> None:
    """Forget one. Raises OSError."""
    _write(path, [e for e in read_ledger(path) if e.pattern != pattern])


def _write(path: Path, exclusions: list[Exclusion]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        entries = [asdict(exclusion) for exclusion in exclusions]
        json.dump({"version": 1, "exclusions": entries}, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
