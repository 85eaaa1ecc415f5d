"""The way to a hub: its address or a mirror's, and a proxy. For the wizard and the settings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QComboBox, QLineEdit

from app.commands import OFFICIAL_HUB

MIRRORS = (OFFICIAL_HUB, "https://hf-mirror.com")


def hub_field(endpoint: str) -> QComboBox:
    """A hub to choose or to type."""
    field = QComboBox()
    field.setEditable(True)
    field.addItems(list(MIRRORS))
    field.setCurrentText(endpoint)
    return field


def proxy_field(proxy: str) -> QLineEdit:
    """A proxy's address; nothing means the system's own settings."""
    field = QLineEdit(proxy)
    field.setPlaceholderText(
        QCoreApplication.translate("Network", "as the system; or e.g. http://proxy:8080")
    )
    return field
