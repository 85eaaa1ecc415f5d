"""The only place with colours: two themes, the palette and the style sheet made from them, and
font families."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QWidget

from app.markdown.highlight import TokenStyle


@dataclass(frozen=True)
class Theme:
    """Colours by what they are for; code holds one per token style."""

    window: str
    side: str
    raised: str
    border: str
    text: str
    muted: str
    accent: str
    accent_strong: str
    on_accent: str
    bubble: str
    hover: str
    pressed: str
    code: str
    warn: str
    warn_soft: str
    bad: str
    selection: str
    tokens: dict[TokenStyle, str] = field(default_factory=dict)


LIGHT = Theme(
    window="#ffffff",
    side="#f6f7f8",
    raised="#ffffff",
    border="#e3e5e8",
    text="#1d2127",
    muted="#646b75",
    accent="#2f5fd0",
    accent_strong="#2751b5",
    on_accent="#ffffff",
    bubble="#edf2fb",
    hover="#eaecef",
    pressed="#dfe2e7",
    code="#f6f7f9",
    warn="#8a5a00",
    warn_soft="#fdf4e0",
    bad="#b3261e",
    selection="#c9dafc",
    tokens={
        "keyword": "#8a2ba8",
        "name": "#1f57b8",
        "string": "#1a7337",
        "number": "#a04b00",
        "comment": "#6b7280",
        "operator": "#1d2127",
        "builtin": "#0b6e75",
    },
)

DARK = Theme(
    window="#1c1d20",
    side="#161719",
    raised="#25272b",
    border="#32353a",
    text="#e6e8eb",
    muted="#9ba1ab",
    accent="#84a5ff",
    accent_strong="#a3bcff",
    on_accent="#10131a",
    bubble="#2a2f3a",
    hover="#2a2c31",
    pressed="#34373d",
    code="#141518",
    warn="#f0c36b",
    warn_soft="#332b1a",
    bad="#ff8a80",
    selection="#36476f",
    tokens={
        "keyword": "#d6a0f0",
        "name": "#8db4ff",
        "string": "#8fd19e",
        "number": "#f2b47e",
        "comment": "#8b919c",
        "operator": "#e6e8eb",
        "builtin": "#74cdd4",
    },
)


def current_theme() -> Theme:
    """The theme in use, read from the application: style sheets change widgets' palettes."""
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if window.lightness() < 128 else LIGHT


def make_palette(theme: Theme) -> QPalette:
    """Every role a standard widget uses, so Fusion draws in our colours."""
    role = QPalette.ColorRole
    palette = QPalette()
    for target, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.raised),
        (role.AlternateBase, theme.side),
        (role.Text, theme.text),
        (role.PlaceholderText, theme.muted),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.bad),
        (role.Highlight, theme.selection),
        (role.HighlightedText, theme.text),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.ToolTipBase, theme.raised),
        (role.ToolTipText, theme.text),
        (role.Light, theme.raised),
        (role.Midlight, theme.hover),
        (role.Mid, theme.border),
        (role.Dark, theme.border),
        (role.Shadow, theme.border),
        (role.Accent, theme.accent),
    ):
        palette.setColor(target, QColor(colour))
    for dim in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, dim, QColor(theme.muted))
    return palette


def follow_system(choice: str) -> None:
    """Ask Qt for "light", "dark", or the system's own choice ("auto")."""
    schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
    QGuiApplication.styleHints().setColorScheme(schemes.get(choice, Qt.ColorScheme.Unknown))


def wanted_theme(choice: str) -> Theme:
    """The theme for a setting; "auto" reads the system's."""
    if choice == "auto":
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT
    return DARK if choice == "dark" else LIGHT


def set_kind(widget: QWidget, kind: str) -> None:
    """Choose one of the style sheet's looks for a widget, now or when it is shown."""
    widget.setProperty("kind", kind)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


_UI = {
    "win32": ["Segoe UI", "Microsoft YaHei UI", "Segoe UI Emoji"],
    "darwin": [".AppleSystemUIFont", "PingFang SC", "Apple Color Emoji"],
}
_UI_OTHER = ["Noto Sans", "DejaVu Sans", "Noto Sans CJK SC", "Noto Color Emoji"]
_MONO = {
    "win32": ["Cascadia Mono", "Consolas", "Microsoft YaHei UI", "Segoe UI Emoji"],
    "darwin": ["SF Mono", "Menlo", "PingFang SC", "Apple Color Emoji"],
}
_MONO_OTHER = ["Noto Sans Mono", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", "Noto Color Emoji"]


def ui_families() -> list[str]:
    """Families for text, with Chinese and emoji fallbacks."""
    return _UI.get(sys.platform, _UI_OTHER)


def mono_families() -> list[str]:
    """Families for code, with Chinese and emoji fallbacks."""
    return _MONO.get(sys.platform, _MONO_OTHER)


def ui_font() -> QFont:
    """The application's font; sizes are in points so that scaling works."""
    font = QFont(ui_families())
    font.setPointSizeF(13.0 if sys.platform == "darwin" else 10.5)
    return font


def resized(font: QFont, factor: float, weight: QFont.Weight | None = None) -> QFont:
    """A copy of `font`, larger or smaller."""
    copy = QFont(font)
    copy.setPointSizeF(font.pointSizeF() * factor)
    if weight is not None:
        copy.setWeight(weight)
    return copy


def mono_font(like: QFont, factor: float = 0.95) -> QFont:
    """A code font to stand beside `like`."""
    font = QFont(mono_families())
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(like.pointSizeF() * factor)
    return font
