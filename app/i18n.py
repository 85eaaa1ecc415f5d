"""The interface's language: English in the source, Chinese from resources/i18n."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.resources import resource


def language_for(choice: str) -> str:
    """ "en" or "zh" for a setting; "auto" asks the system for its first language."""
    if choice != "auto":
        return choice
    wanted = QLocale.system().uiLanguages()
    return "zh" if wanted and wanted[0].lower().startswith("zh") else "en"


class Translation:
    """Installs and removes the translators; keeps them alive."""

    def __init__(self) -> None:
        self._installed: list[QTranslator] = []

    def use(self, choice: str) -> None:
        """Switch; windows made afterwards speak the language."""
        self.remove()
        if language_for(choice) == "zh":
            qt_files = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
            self._install("qtbase_zh_CN", qt_files)
            self._install("edge0_zh_CN", str(resource("i18n")))

    def remove(self) -> None:
        """Back to the language of the source."""
        for translator in self._installed:
            QCoreApplication.removeTranslator(translator)
        self._installed = []

    def _install(self, name: str, folder: str) -> None:
        translator = QTranslator()
        if translator.load(name, folder):
            QCoreApplication.installTranslator(translator)
            self._installed.append(translator)
