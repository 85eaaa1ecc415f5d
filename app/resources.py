"""Where the files of `resources/` are, and icons made from its line drawings in a palette's colour."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


def resource(name: str) -> Path:
    """A file below `resources/`, in a checkout, a wheel or a frozen app."""
    here = Path(__file__).resolve().parent
    inside = here / "resources" / name
    return inside if inside.exists() else here.parent / "resources" / name


class _LineIcon(QIconEngine):
    """Draws at the size asked for, so icons stay sharp at every scale."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source

    def paint(self, painter: QPainter, rect, mode, state) -> None:  # type: ignore[no-untyped-def]
        if mode == QIcon.Mode.Disabled:
            painter.setOpacity(0.5)
        QSvgRenderer(QByteArray(self._source.encode())).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode, state) -> QPixmap:  # type: ignore[no-untyped-def]
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, pixmap.rect(), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _LineIcon(self._source)


def icon(name: str, colour: QColor) -> QIcon:
    """The icon `name`, drawn in one colour."""
    source = resource(f"icons/{name}.svg").read_text(encoding="utf-8")
    return QIcon(_LineIcon(source.replace("currentColor", colour.name())))


def app_icon() -> QIcon:
    """The application's own icon."""
    source = resource("icons/edge0.svg").read_text(encoding="utf-8")
    return QIcon(_LineIcon(source))
