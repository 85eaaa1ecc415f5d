"""A small line of the last two minutes, painted only while it can be seen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import current_theme


class Sparkline(QWidget):
    """`show_values` takes the newest value last; `span` values fill the width."""

    def __init__(self, span: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._span = span
        self._values: Sequence[float] = ()
        self._top = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(80, 34)

    def show_values(self, values: Sequence[float], at_least: float) -> None:
        """Draw `values` on a scale that starts at 0 and reaches `at_least` or their maximum."""
        self._values = values
        self._top = max([at_least, *values])
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.border), 1))
        base = self.height() - 0.5
        painter.drawLine(QPointF(0, base), QPointF(self.width(), base))
        if len(self._values) < 2 or self._top <= 0:
            return
        line = self._line()
        self._fill(painter, line, QColor(theme.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.accent), 1.5))
        painter.drawPath(line)

    def _line(self) -> QPainterPath:
        step = self.width() / (self._span - 1)
        high = self.height() - 4
        count = len(self._values)
        path = QPainterPath()
        for i, value in enumerate(self._values):
            x = self.width() - (count - 1 - i) * step
            y = self.height() - 2 - high * min(value / self._top, 1.0)
            path.lineTo(x, y) if i else path.moveTo(x, y)
        return path

    def _fill(self, painter: QPainter, line: QPainterPath, colour: QColor) -> None:
        area = QPainterPath(line)
        area.lineTo(self.width(), self.height())
        area.lineTo(line.elementAt(0).x, self.height())
        shade = QLinearGradient(0, 0, 0, self.height())
        colour.setAlpha(60)
        shade.setColorAt(0, colour)
        colour.setAlpha(0)
        shade.setColorAt(1, colour)
        painter.fillPath(area, shade)
