"""Small parts that the pages of the wizard share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.theme import resized, set_kind
from app.viewmodels.add_model import AddModel


def words(text: str = "", kind: str = "") -> QLabel:
    """A wrapping text, never read as HTML, that can be copied."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if kind:
        label.setProperty("kind", kind)
    return label


def say(label: QLabel, text: str, kind: str = "") -> None:
    """Show a text, or hide the label when there is none."""
    label.setText(text)
    label.setVisible(bool(text))
    if label.property("kind") != kind:
        set_kind(label, kind)


class Facts(QWidget):
    """Names with values."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(7)
        self._grid.setColumnStretch(1, 1)
        self._cells: list[QLabel] = []
        self._shown: list[tuple[str, str]] = []

    def show_facts(self, facts: list[tuple[str, str]]) -> None:
        """Replace what is shown; facts without a value are left out."""
        if facts == self._shown:
            return
        self._shown = facts
        for cell in self._cells:
            cell.hide()
            cell.deleteLater()
        self._cells = []
        for row, (name, value) in enumerate((n, v) for n, v in facts if v):
            label, shown = words(name, "muted"), words(value)
            label.setWordWrap(False)
            shown.setAccessibleName(f"{name}: {value}")
            self._cells += [label, shown]
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(shown, row, 1)


class Page(QWidget):
    """A page of the wizard over the model of adding. `refresh` shows the state as it is.

    first: what the keyboard is at when the page opens; None where one usually just goes on.
    """

    first: QWidget | None = None

    def __init__(self, model: AddModel) -> None:
        super().__init__()
        self.model = model
        self.heading = QLabel()
        self.heading.setFont(resized(self.font(), 1.4, QFont.Weight.DemiBold))
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(26, 22, 26, 10)
        self.column.setSpacing(12)
        self.column.addWidget(self.heading)

    def enter(self) -> None:
        """The page is about to be shown."""

    def refresh(self) -> None:
        """Show the state."""

    @property
    def ready(self) -> bool:
        """Whether one may go on from here."""
        return True
