"""The conversation list: a list model over the archive, with search, rename, pin and undoable
delete."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.archive import Archive
from app.history import Conversation, History

PinnedRole = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex


class ConversationsModel(QAbstractListModel):
    """Rows are conversations as the archive orders them."""

    _found = Signal(str, object)

    def __init__(self, archive: Archive, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._found.connect(self._show_found)
        self._archive = archive
        self._search = ""
        self._rows: list[Conversation] = archive.fetch(History.conversations)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None
        if row is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.title
        return row.pinned if role == PinnedRole else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not title or not index.isValid():
            return False
        self._archive.do(History.rename, self._rows[index.row()].id, title)
        self.refresh()
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def conversation(self, row: int) -> Conversation | None:
        """The conversation in a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, conversation: int) -> int:
        """The row of a conversation, -1 when it is not listed."""
        return next((i for i, row in enumerate(self._rows) if row.id == conversation), -1)

    def search(self, text: str) -> None:
        """List only conversations with `text` in their title or messages."""
        self._search = text.strip()
        self.refresh()

    def refresh(self) -> None:
        """Read the list again: at once, or when the search has ended."""
        if not self._search:
            self._show(self._archive.fetch(History.conversations))
            return
        self._archive.fetch(History.new_id)  # the search must see what was written so far
        searched = self._search
        future = self._archive.search(searched)
        future.add_done_callback(lambda done: self._tell(searched, done))

    def _tell(self, searched: str, done: Future[list[Conversation]]) -> None:
        """On the searching thread: hand the result over to the window's."""
        if not done.cancelled() and done.exception() is None:
            self._found.emit(searched, done.result())

    def _show_found(self, searched: str, rows: list[Conversation]) -> None:
        if searched == self._search:
            self._show(rows)

    def _show(self, rows: list[Conversation]) -> None:
        if [row.id for row in rows] != [row.id for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        self._rows = rows
        if rows:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def toggle_pin(self, row: int) -> None:
        """Pin or unpin."""
        found = self.conversation(row)
        if found is not None:
            self._archive.do(History.pin, found.id, not found.pinned)
            self.refresh()

    def set_deleted(self, conversation: int, deleted: bool) -> None:
        """Take a conversation out of the list, or bring it back."""
        self._archive.do(History.set_deleted, conversation, deleted)
        self.refresh()
