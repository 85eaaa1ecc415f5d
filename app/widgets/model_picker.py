"""The button above the chat that names the open model and switches to another one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.resources import icon
from app.theme import current_theme
from app.viewmodels.library import LibraryModel, ModelEntry
from engine import Progress


class ModelPicker(QToolButton):
    """Its menu lists every known model; missing ones are marked and can be taken off the list."""

    folder_wanted = Signal()
    add_wanted = Signal()
    manage_wanted = Signal()
    check_wanted = Signal()

    def __init__(self, model: LibraryModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setProperty("kind", "picker")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setIconSize(QSize(16, 16))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        model.changed.connect(self._show)
        model.progressed.connect(self._progress)
        self._draw()
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()
        super().changeEvent(event)

    def _draw(self) -> None:
        colour = QColor(current_theme().muted)
        self.setIcon(icon("chevron-down", colour, 16, self.devicePixelRatioF()))

    def _show(self) -> None:
        shown = self._model.shown
        text = shown.name if shown else self.tr("Choose a model")
        if self._model.status == "loading":
            text = self.tr("Opening {0}…").format(text)
        self._set(text)

    def _progress(self, progress: Progress) -> None:
        shown = self._model.shown
        if shown and self._model.status == "loading" and progress.total:
            share = 100 * progress.done // progress.total
            self._set(self.tr("Opening {0}… {1} %").format(shown.name, share))

    def _set(self, text: str) -> None:
        self.setText(text)
        self.setAccessibleName(self.tr("Model: {0}").format(text))

    def _fill(self) -> None:
        self._model.refresh()
        self._menu.clear()
        for entry in self._model.entries:
            self._menu.addAction(self._entry_action(entry))
        if self._model.entries:
            self._menu.addSeparator()
        folder = self._menu.addAction(self.tr("Open a model folder…"))
        folder.triggered.connect(self.folder_wanted)
        add = self._menu.addAction(self.tr("Add a model…"))
        add.triggered.connect(self.add_wanted)
        manage = self._menu.addAction(self.tr("Manage models…"))
        manage.triggered.connect(self.manage_wanted)
        check = self._menu.addAction(self.tr("Check this computer…"))
        check.triggered.connect(self.check_wanted)

    def _entry_action(self, entry: ModelEntry) -> QAction:
        if entry.problem and entry.present:
            state = self.tr("{0} (damaged)") if entry.damaged else self.tr("{0} (cannot be opened)")
            action = QAction(state.format(entry.name), self._menu)
            action.setEnabled(False)
        elif not entry.present:
            text = self.tr("{0} (missing: take off the list)").format(entry.name)
            action = QAction(text, self._menu)
            action.triggered.connect(lambda: self._model.forget(entry.path))
        else:
            action = QAction(entry.name, self._menu)
            action.setCheckable(True)
            action.setChecked(entry.path == self._model.current)
            action.triggered.connect(lambda: self._model.open(entry.path))
        lines = (entry.problem, entry.about, str(entry.path))
        action.setToolTip("\n".join(line for line in lines if line))
        return action
