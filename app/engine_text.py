"""The engine's texts in the interface's language: templates are translated, values put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication

from engine import Text, text_from_record

CONTEXT = "Engine"


def said(text: str) -> str:
    """A text of the engine as people read it here; any other text as it is."""
    if not isinstance(text, Text):
        return text
    template = QCoreApplication.translate(CONTEXT, text.template)
    return template.format(*(said(value) for value in text.values))


def read_text(record: Mapping[str, Any], name: str) -> str:
    """A text of a JSON line, as people read it here."""
    try:
        return said(text_from_record(record[f"{name}_text"]))
    except (KeyError, ValueError, IndexError):
        return str(record.get(name, ""))


def read_texts(record: Mapping[str, Any], name: str) -> list[str]:
    """A list of them."""
    try:
        return [said(text_from_record(item)) for item in record[f"{name}_text"]]
    except (KeyError, ValueError, IndexError, TypeError):
        return [str(item) for item in record.get(name, ())]
