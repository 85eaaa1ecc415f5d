"""History on its own thread: the window never waits for the disk, and writes keep their order.

`do` returns a future at once; the engine worker waits for a prompt's future before it starts.
A write that fails (a full disk, a missing drive) is owed: it is made before the next one, in order.
`fetch` waits: it is for opening a conversation, behind at most a few small writes.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QCoreApplication

from app.history import Conversation, History, search_conversations
from engine import StorageError

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)


class Archive:
    """One writer thread around one History, and one for searching it."""

    def __init__(self, path: Path, failed: Callable[[str], None] = lambda text: None) -> None:
        self.failed = failed
        self._history = History(path)
        self._owed: deque[Callable[[], object]] = deque()  # writer thread only
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="history")
        self._searcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="search")

    @property
    def moved_to(self) -> Path | None:
        """Where a damaged database was put aside when this one was opened."""
        return self._history.moved_to

    @property
    def forgot(self) -> bool:
        """Whether a conversation deleted last time went for good when this one was opened."""
        return self._history.forgot

    def new_id(self) -> int:
        """An id for a new conversation or message."""
        return self._history.new_id()

    def do(
        self, method: Callable[Concatenate[History, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Queue a write. A failure is logged and told to `failed` (called on the writer thread)."""
        call = partial(method, self._history, *args, **kwargs)
        future = self._thread.submit(self._write, call)
        future.add_done_callback(self._report)
        return future

    def fetch(
        self, method: Callable[Concatenate[History, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Read, behind everything queued so far."""
        self._thread.submit(self._try_to_repay)
        return self._thread.submit(method, self._history, *args, **kwargs).result()

    def search(self, text: str) -> Future[list[Conversation]]:
        """Look for `text` in everything that was said, beside the writes and not before them."""
        return self._searcher.submit(search_conversations, self._history.path, text)

    @property
    def owes(self) -> bool:
        """Whether anything queued so far still waits for room on the disk, after one more try."""
        self._thread.submit(self._try_to_repay)
        return self._thread.submit(lambda: bool(self._owed)).result()

    def close(self) -> None:
        """Finish what is queued and close the database."""
        self._searcher.shutdown(wait=True, cancel_futures=True)
        self._thread.submit(self._try_to_repay)
        self._thread.shutdown(wait=True)
        self._history.close()

    def _write(self, call: Callable[[], T]) -> T:
        try:
            self._repay()
            return call()
        except sqlite3.OperationalError as error:
            self._owed.append(call)
            raise not_saved(error) from error

    def _repay(self) -> None:
        while self._owed:
            try:
                self._owed[0]()
            except sqlite3.IntegrityError:
                log.exception("an owed write no longer fits")
            self._owed.popleft()

    def _try_to_repay(self) -> None:
        with contextlib.suppress(sqlite3.OperationalError):
            self._repay()

    def _report(self, future: Future[T]) -> None:
        error = future.exception()
        if error is not None:
            log.error("history write failed", exc_info=error)
            self.failed(str(error))


def not_saved(error: sqlite3.Error) -> StorageError:
    """What people read when a write failed."""
    text = QCoreApplication.translate("Archive", "This chat cannot be saved now ({0}).")
    return StorageError(
        text.format(error),
        QCoreApplication.translate(
            "Archive", "Free some space; what was not saved is kept and saved then."
        ),
    )
