"""From a data folder to a running window: theme, language, one instance, and an orderly end."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QStandardPaths, Qt
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.core import Core
from app.engine_text import said
from app.i18n import Translation, language_for
from app.main_window import MainWindow
from app.resources import app_icon
from app.settings import Settings
from app.style_sheet import style_sheet
from app.theme import follow_system, make_palette, ui_font, wanted_theme

log = logging.getLogger(__name__)


def data_folder() -> Path:
    """Where chats, settings and logs are kept: the user's local (not roaming) application data."""
    location = QStandardPaths.StandardLocation.AppLocalDataLocation
    return Path(QStandardPaths.writableLocation(location))


def set_names() -> None:
    """The names that decide the data folder; set before it is asked for."""
    QCoreApplication.setApplicationName("Edge0")
    QApplication.setApplicationDisplayName("Edge0")
    QApplication.setDesktopFileName("edge0")


class Application(QObject):
    """Holds the core and the window; makes the window anew for another language."""

    def __init__(
        self, qt: QApplication, door: Any, folder: Path, command: list[str] | None = None
    ) -> None:
        super().__init__()
        self._qt = qt
        self._translation = Translation()
        qt.setStyle(QStyleFactory.create("Fusion"))
        qt.setFont(ui_font())
        qt.setWindowIcon(app_icon())
        qt.styleHints().colorSchemeChanged.connect(lambda scheme: self._use_theme())
        self.core = Core(door, folder, command)
        self._use_theme()
        self._translation.use(self.core.settings.language)
        self.window = self._make_window()
        self.core.settings_changed.connect(self._settings_changed)
        self._tell_what_was_repaired()

    def start(self) -> None:
        """Show the window and open the last model."""
        self.window.show()
        self.core.library.open_last()

    def raise_window(self) -> None:
        """Bring the window to the front, for a second start."""
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()

    def close(self) -> bool:
        """End everything; False when the engine did not end in time.

        The window goes first and at once: Python code must not run in it while Python shuts down.
        """
        self.window.keep_draft()
        self._drop(self.window)
        self._translation.remove()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        return self.core.close()

    def _make_window(self) -> MainWindow:
        window = MainWindow(self.core)
        window.closed.connect(self._qt.quit)
        return window

    def _use_theme(self) -> None:
        choice = self.core.settings.theme
        follow_system(choice)
        theme = wanted_theme(choice)
        self._qt.setPalette(make_palette(theme))
        self._qt.setStyleSheet(style_sheet(theme))

    def _settings_changed(self, old: Settings, new: Settings) -> None:
        if old.theme != new.theme:
            self._use_theme()
        if language_for(old.language) != language_for(new.language):
            self._speak(new.language)
        if old.engine_config(Path("m")) != new.engine_config(Path("m")):
            self.core.library.reopen()

    def _speak(self, language: str) -> None:
        self.window.keep_draft()
        self._translation.use(language)
        old, self.window = self.window, self._make_window()
        self.window.setGeometry(old.geometry())
        self.window.show()
        self._drop(old)

    @staticmethod
    def _drop(window: MainWindow) -> None:
        window.closed.disconnect()
        window.hide()
        window.deleteLater()

    def _tell_what_was_repaired(self) -> None:
        moved = self.core.archive.moved_to
        if moved is not None:
            text = self.tr(
                "The chats could not be read. The damaged file was kept as {0}; a new one was made."
            )
            self.window.tell(text.format(moved))
        elif self.core.settings_problems:
            text = self.tr("Some settings could not be read and are back to their defaults: {0}")
            self.window.tell(text.format(", ".join(map(said, self.core.settings_problems))))
