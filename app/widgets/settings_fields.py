"""Form fields for the settings dialog: a choice, a number, a number that may be left to the
engine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QWidget

from app.resources import icon_pixmap
from app.theme import current_theme

ARROW = 16


class Choice(QComboBox):
    """Values with their texts."""

    def __init__(self, items: Sequence[tuple[str, str]], value: str) -> None:
        super().__init__()
        for key, text in items:
            self.addItem(text, key)
        self.setCurrentIndex(max(self.findData(value), 0))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def value(self) -> str:
        """The chosen key."""
        return str(self.currentData())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling the page must not change a choice."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        colour = QColor(current_theme().muted)
        arrow = icon_pixmap("chevron-down", colour, ARROW, self.devicePixelRatioF())
        spot = QPoint(self.width() - ARROW - 8, (self.height() - ARROW) // 2)
        QPainter(self).drawPixmap(spot, arrow)


class Number(QDoubleSpinBox):
    """A number; with `automatic`, the lowest value stands for "not given" and shows that text."""

    def __init__(
        self,
        value: float | None,
        low: float,
        high: float,
        decimals: int = 0,
        automatic: str = "",
        suffix: str = "",
    ) -> None:
        super().__init__()
        self._automatic = bool(automatic)
        step = 10.0**-decimals if decimals else 1.0
        self.setDecimals(decimals)
        self.setRange(low - step if automatic else low, high)
        self.setSingleStep(step if not decimals else 0.05 if decimals > 1 else 0.5)
        self.lineEdit().setTextMargins(6, 0, 6, 0)
        self.setSpecialValueText(automatic)
        self.setSuffix(suffix)
        self.setValue(self.minimum() if value is None else value)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def number(self) -> float | None:
        """The number, or None for automatic."""
        return (
            None if self._automatic and self.value() == self.minimum() else round(self.value(), 4)
        )

    @property
    def whole(self) -> int | None:
        """The number as a whole one, or None for automatic."""
        return None if self.number is None else int(self.number)

    def stepBy(self, steps: int) -> None:
        """The first step away from "not given" lands on the lowest number."""
        if self._automatic and steps > 0 and self.value() == self.minimum():
            self.setValue(self.minimum() + 10.0 ** -self.decimals())
        else:
            super().stepBy(steps)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling the page must not change a number."""
        event.ignore()


def add_field(form: QFormLayout, name: str, field: QWidget, tip: str = "") -> None:
    """A row with a label that belongs to the field, also for screen readers."""
    label = QLabel(name)
    label.setBuddy(field)
    field.setAccessibleName(name)
    if isinstance(field, QComboBox):
        field.view().setAccessibleName(name)
    for widget in (label, field):
        widget.setToolTip(tip)
    form.addRow(label, field)


def settings_form(page: QWidget) -> QFormLayout:
    """The layout of a page of settings."""
    form = QFormLayout(page)
    form.setContentsMargins(12, 18, 12, 12)
    form.setHorizontalSpacing(20)
    form.setVerticalSpacing(11)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form
