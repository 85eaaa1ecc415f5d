"""How experts are held now, in the live panel; its tooltip says why, and what memory changed."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app import numbers
from app.widgets.stat_row import StatRow
from engine import IoChoice, MemoryChange


class IoRow(StatRow):
    """ "mapped" or "direct"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("IoRow", "Held"), "", 0, parent)

    def show_choice(self, choice: IoChoice | None, change: MemoryChange | None) -> None:
        """Show how experts are held, and explain it."""
        names = {"mapped": self.tr("mapped"), "direct": self.tr("direct")}
        self.set_value(names[choice.mode] if choice else "–")
        parts = [
            self.tr(
                "Mapped: experts are used where the system caches the model's files. Direct: they"
                " are read past that cache into this app's own memory."
            )
        ]
        if choice:
            parts.append(self._why(choice))
        if change:
            parts.append(self._changed(change))
        self.setToolTip("\n\n".join(parts))

    def _why(self, choice: IoChoice) -> str:
        return {
            "asked": self.tr("Chosen in the settings."),
            "whole": self.tr("Chosen because the whole model fits into the memory budget."),
            "fleeting": self.tr(
                "Chosen because this drive can be unplugged: that then costs one reply only."
            ),
            "room": self.tr("Chosen because free memory keeps most of what the budget misses."),
            "short": self.tr("Chosen because there is little free memory beside the budget."),
            "measured": self.tr("Chosen because it was measured to be faster here."),
            "guessed": self.tr("Chosen by the free memory there is."),
        }[choice.rule]

    def _changed(self, change: MemoryChange) -> str:
        if change.kind == "shrunk":
            sizes = numbers.size(change.before), numbers.size(change.after)
            return self.tr("Memory got short: the budget went from {0} to {1}.").format(*sizes)
        return self.tr("This was changed while the model was open, because memory changed.")
