"""How a conversation looks in the list: one line, a pin if it is pinned, a rounded highlight."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.resources import icon_pixmap
from app.theme import current_theme
from app.viewmodels.conversations import PinnedRole

HEIGHT = 36
PIN = 14


class ConversationDelegate(QStyledItemDelegate):
    """Paints from the palette's theme, so that both themes work."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(80, max(HEIGHT, option.fontMetrics.height() + 16))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme = current_theme()
        area: QRect = option.rect.adjusted(0, 1, 0, -1)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed if selected else theme.hover))
            painter.drawRoundedRect(area, 8, 8)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 7, 7)
        text = area.adjusted(10, 0, -10, 0)
        if index.data(PinnedRole):
            spot = QRect(text.right() - PIN, area.center().y() - PIN // 2, PIN, PIN)
            scale = painter.device().devicePixelRatioF()
            painter.drawPixmap(spot, icon_pixmap("pin", QColor(theme.muted), PIN, scale))
            text.setRight(spot.left() - 6)
        painter.setPen(QColor(theme.text))
        title = option.fontMetrics.elidedText(
            str(index.data()), Qt.TextElideMode.ElideRight, text.width()
        )
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, title)
        painter.restore()
