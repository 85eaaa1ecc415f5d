"""The token for models that a hub gives only to people who log in, without widgets.

It lives in memory until the app ends, or in the system's own key store when the user wants that;
never in a file or a log of ours. The store may ask the user something: it is used on a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background import Background
from app.settings import Settings


class HubLogin(QObject):
    """`changed` after the token or what is known of the store changed."""

    changed = Signal()

    def __init__(
        self,
        store: Any,
        settings: Callable[[], Settings],
        keep: Callable[[Settings], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._settings, self._keep = store, settings, keep
        self.token = ""  # typed since the app started
        self.not_kept = False  # the system's store did not take it
        self._task = Background(self)
        self._task.done.connect(self._was_stored)

    @property
    def kept(self) -> bool:
        """Whether the system's store holds a token of ours, as far as we know without asking."""
        return self._settings().hub_token_kept

    @property
    def busy(self) -> bool:
        """Whether the system's store is at work."""
        return self._task.running

    def use(self, token: str) -> None:
        """Use a token until the app ends."""
        token = token.strip()
        if token != self.token:
            self.token, self.not_kept = token, False
            self.changed.emit()

    def store(self) -> None:
        """Put the token into the system's store, too."""
        token = self.token
        if token and not self.kept:
            self._task.start(lambda stop: self._store.save(token))
            self.changed.emit()

    def forget(self) -> None:
        """Remove it everywhere."""
        self.token, self.not_kept = "", False
        self._note(False)
        self._task.start(lambda stop: self._store.forget())
        self.changed.emit()

    def close(self) -> None:
        """Wait for the store."""
        self._task.close()

    def _was_stored(self, kept: bool | None) -> None:
        if kept is not None:  # None: it was forgotten
            self.not_kept = not kept
            self._note(kept)
        self.changed.emit()

    def _note(self, kept: bool) -> None:
        self._keep(replace(self._settings(), hub_token_kept=kept))
