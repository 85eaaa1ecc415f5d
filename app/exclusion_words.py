"""What became of an exclusion from Windows Defender, in words."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

translate = QCoreApplication.translate
FAILURES = ("failed", "ineffective", "timeout", "forbidden")


def outcome_words(action: str, outcome: str) -> str:
    """`action` is "add" or "remove"; `outcome` the engine's word for its end."""
    added = translate("Exclusion", "It is excluded now.")
    texts = {
        "done": added if action == "add" else translate("Exclusion", "It is scanned again."),
        "already": translate("Exclusion", "Nothing had to be changed."),
        "cancelled": translate("Exclusion", "You said no; nothing was changed. That is fine."),
        "forbidden": translate(
            "Exclusion",
            "This account may not act as administrator. Somebody who may can type the command.",
        ),
        "refused": translate("Exclusion", "The folder is not one that may be excluded."),
        "ineffective": translate(
            "Exclusion",
            "Windows took it but does not use it: your organisation manages Defender. Ask its"
            " administrators.",
        ),
        "timeout": translate(
            "Exclusion", "Windows did not answer in time. Nothing is certain; look again."
        ),
        "failed": translate(
            "Exclusion", "Defender refused. It may be off, or another antivirus may be in charge."
        ),
    }
    return texts.get(outcome, texts["failed"])
