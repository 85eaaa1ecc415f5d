"""Starts the desktop app, in this order: display check, engine (before Qt), log, lock, window."""

from __future__ import annotations

import faulthandler
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.display import display_problem

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.application import Application
    from engine import Edge0Error


def main(arguments: list[str] | None = None) -> int:
    """Run the app until its window closes; returns the exit code."""
    if sys.stderr is not None:
        faulthandler.enable()
    problem = display_problem(os.environ)
    if problem:
        _say(f"Edge0 cannot open its window. {problem}")
        _say("You can chat in this terminal instead:  edge0 chat")
        return 1
    return _run(arguments if arguments is not None else sys.argv)


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")


def _run(arguments: list[str]) -> int:
    import engine  # before Qt: what it loads must come first on Windows

    # isort: split
    from PySide6.QtWidgets import QApplication

    from app.application import data_folder, set_names
    from app.logs import start_logging
    from app.single_instance import SingleInstance

    set_names()
    qt = QApplication(arguments[:1])
    folder = data_folder()
    start_logging(folder / "logs")
    instance = SingleInstance(folder)
    if not instance.take():
        return 0
    application = make_application(qt, engine, folder)
    if application is None:
        return 1
    instance.raised.connect(application.raise_window)
    application.start()
    code = qt.exec()
    ended = application.close()
    instance.release()
    if not ended:
        os._exit(code)  # a stuck engine thread must not keep the process; everything is saved
    return code


def make_application(qt: QApplication, door: Any, folder: Path) -> Application | None:
    """The app; None when it cannot start, which was told."""
    from app.application import Application
    from engine import Edge0Error

    try:
        return Application(qt, door, folder)
    except Edge0Error as error:
        _tell_fatal(error, folder)
        return None


def _tell_fatal(error: Edge0Error, folder: Path) -> None:
    """In the chosen language: no window is there that speaks it."""
    from PySide6.QtWidgets import QMessageBox

    from app.engine_text import said
    from app.i18n import Translation
    from app.settings import read_settings

    translation = Translation()
    translation.use(read_settings(folder / "settings.json")[0].language)
    text = f"{said(error.message)} {said(error.next_step)}".strip()
    _say(text)
    QMessageBox.critical(None, "Edge0", text)
    translation.remove()


if __name__ == "__main__":
    sys.exit(main())
