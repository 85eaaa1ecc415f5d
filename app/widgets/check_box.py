"""A check box that can be seen in both themes: the frame and the mark are drawn in the theme's
colours."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox

from app.resources import icon_pixmap
from app.theme import current_theme

BOX = 17
GAP = 9


class CheckBox(QCheckBox):
    """Only the drawing is ours."""

    def sizeHint(self) -> QSize:
        text = self.fontMetrics().boundingRect(self.text())
        return QSize(BOX + GAP + text.width() + 6, max(BOX + 4, self.fontMetrics().height() + 4))

    def hitButton(self, position) -> bool:  # type: ignore[no-untyped-def]
        return bool(self.rect().contains(position))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(1.5, (self.height() - BOX) / 2, BOX, BOX)
        frame = theme.accent if self.isChecked() or self.hasFocus() else theme.muted
        painter.setPen(QPen(QColor(frame), 2 if self.hasFocus() else 1))
        painter.setBrush(QColor(theme.accent if self.isChecked() else theme.raised))
        painter.drawRoundedRect(box, 4, 4)
        if self.isChecked():
            mark = icon_pixmap("check", QColor(theme.on_accent), BOX - 2, self.devicePixelRatioF())
            painter.drawPixmap(box.adjusted(1, 1, -1, -1).topLeft(), mark)
        painter.setPen(QColor(theme.text))
        area = self.rect().adjusted(BOX + GAP, 0, 0, 0)
        painter.drawText(
            area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text()
        )
