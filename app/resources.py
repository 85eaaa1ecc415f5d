"""Where the files of `resources/` are, and icons made from its line drawings in a theme's
colour."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


def resource(name: str) -> Path:
    """A file below `resources/`, in a checkout, a wheel or a frozen app."""
    return Path(__file__).resolve().parent.parent / "resources" / name


def icon(name: str, colour: QColor, side: int, scale: float) -> QIcon:
    """The icon `name` in one colour, drawn for `side` points on a screen of that scale."""
    found = QIcon(icon_pixmap(name, colour, side, scale))
    faint = icon_pixmap(name, colour, side, scale, opacity=0.45)
    found.addPixmap(faint, QIcon.Mode.Disabled)
    return found


def icon_pixmap(
    name: str, colour: QColor, side: int, scale: float, opacity: float = 1.0
) -> QPixmap:
    """One drawing of an icon; sharp because it is drawn at the pixels it will have."""
    source = resource(f"icons/{name}.svg").read_text(encoding="utf-8")
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour.name()).encode()))
    pixels = round(side * scale)
    pixmap = QPixmap(pixels, pixels)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setOpacity(opacity)
    renderer.render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def app_icon() -> QIcon:
    """The application's own icon, in the sizes systems ask for."""
    found = QIcon()
    for side in (16, 24, 32, 48, 64, 128, 256):
        found.addPixmap(icon_pixmap("edge0", QColor(), side, 1.0))
    return found
