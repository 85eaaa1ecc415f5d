"""The conversation list: new chat, search, open, rename, pin, delete, and the way to the
settings."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.conversations import ConversationsModel, PinnedRole
from app.widgets.conversation_delegate import ConversationDelegate
from app.widgets.side_button import SideButton

WIDTH = 252


class Sidebar(QFrame):
    """Emits what the user wants; the window carries it out."""

    new_chat = Signal()
    opened = Signal(int)  # conversation id
    deleted = Signal(int)
    settings = Signal()

    def __init__(self, model: ConversationsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setFixedWidth(WIDTH)
        self._model = model
        self._new = SideButton("plus", self.tr("New chat"), self)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search chats"))
        self.search.setAccessibleName(self.tr("Search chats"))
        self.search.setClearButtonEnabled(True)
        self.list = self._make_list()
        self._settings = SideButton("settings", self.tr("Settings"), self)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        column.setSpacing(8)
        for widget in (self._new, self.search, self.list, self._settings):
            column.addWidget(widget)
        self._new.clicked.connect(self.new_chat)
        self._settings.clicked.connect(self.settings)
        self.search.textChanged.connect(model.search)
        self.list.activated.connect(self._open)
        self.list.clicked.connect(self._open)
        self.list.customContextMenuRequested.connect(self._menu)

    def select(self, conversation: int) -> None:
        """Mark the conversation that is shown."""
        row = self._model.row_of(conversation)
        if row < 0:
            self.list.selectionModel().clear()
        else:
            self.list.setCurrentIndex(self._model.index(row))

    def rename_current(self) -> None:
        """Edit the title of the selected conversation in place."""
        if self.list.currentIndex().isValid():
            self.list.edit(self.list.currentIndex())

    def delete_current(self) -> None:
        """Delete the selected conversation."""
        found = self._model.conversation(self.list.currentIndex().row())
        if found is not None:
            self.deleted.emit(found.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.list.hasFocus():
            self.delete_current()
        else:
            super().keyPressEvent(event)

    def _make_list(self) -> QListView:
        view = QListView(self)
        view.setAccessibleName(self.tr("Chats"))
        view.setModel(self._model)
        view.setItemDelegate(ConversationDelegate(view))
        view.setUniformItemSizes(True)
        view.setMouseTracking(True)
        view.setIconSize(QSize(14, 14))
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        return view

    def _open(self, index: QModelIndex) -> None:
        found = self._model.conversation(index.row())
        if found is not None:
            self.opened.emit(found.id)

    def _menu(self, spot: QPoint) -> None:
        index = self.list.indexAt(spot)
        if not index.isValid():
            return
        self.list.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        pinned = bool(index.data(PinnedRole))
        for text, action in (
            (self.tr("Rename"), self.rename_current),
            (
                self.tr("Unpin") if pinned else self.tr("Pin"),
                lambda: self._model.toggle_pin(index.row()),
            ),
            (self.tr("Delete"), self.delete_current),
        ):
            entry = QAction(text, menu)
            entry.triggered.connect(action)
            menu.addAction(entry)
        menu.popup(self.list.viewport().mapToGlobal(spot))
