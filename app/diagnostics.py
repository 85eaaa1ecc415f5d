"""The diagnostics file for asking for help: a zip of findings, settings and logs, without secrets.

Chats, prompts and drafts are never in it; the user's name in paths becomes "~".
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.logs import redact
from app.settings import Settings

LARGEST_LOG = 2_000_000
_PRIVATE = ("system_prompt", "geometry", "hub_proxy")


def write_diagnostics(
    target: Path, findings: Sequence[Any], settings: Settings, data: Path, home: Path | None = None
) -> None:
    """Make the file in one step. Raises OSError."""
    home = home or Path.home()
    parts = {
        "doctor.json": _json([asdict(finding) for finding in findings]),
        "settings.json": _json(public_settings(settings)),
        **_logs(data / "logs"),
    }
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in parts.items():
                archive.writestr(name, clean(text, home))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def public_settings(settings: Settings) -> dict[str, Any]:
    """Settings without what is the user's own business."""
    values = asdict(settings)
    return {k: v for k, v in values.items() if k not in _PRIVATE}


def clean(text: str, home: Path) -> str:
    """`text` without secrets and without the user's name in paths, also inside JSON."""
    for form in (str(home), json.dumps(str(home))[1:-1], str(home).replace("\\", "/")):
        if len(form) > 1:
            text = text.replace(form, "~")
    return redact(text)


def _logs(folder: Path) -> dict[str, str]:
    found = {}
    for name in ("edge0.log", "edge0.log.1", "crash.log"):
        try:
            data = (folder / name).read_bytes()[-LARGEST_LOG:]
        except OSError:
            continue
        found[f"logs/{name}"] = data.decode("utf-8", errors="replace")
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
