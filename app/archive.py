"""History on its own thread: the window never waits for the disk, and writes keep their order.

`do` returns a future at once; the engine worker waits for a prompt's future before it starts.
`fetch` waits: it is for opening a conversation, behind at most a few small writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from app.history import Conversation, History, search_conversations

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)


class Archive:
    """One writer thread around one History, and one for searching it."""

    def __init__(self, path: Path, failed: Callable[[str], None] = lambda text: None) -> None:
        self.failed = failed
        self._history = History(path)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="history")
        self._searcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="search")

    @property
    def moved_to(self) -> Path | None:
        """Where a damaged database was put aside when this one was opened."""
        return self._history.moved_to

    def new_id(self) -> int:
        """An id for a new conversation or message."""
        return self._history.new_id()

    def do(
        self, method: Callable[Concatenate[History, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Queue a write. A failure is logged and told to `failed` (called on the writer thread)."""
        future = self._thread.submit(method, self._history, *args, **kwargs)
        future.add_done_callback(self._report)
        return future

    def fetch(
        self, method: Callable[Concatenate[History, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Read, behind everything queued so far."""
        return self._thread.submit(method, self._history, *args, **kwargs).result()

    def search(self, text: str) -> Future[list[Conversation]]:
        """Look for `text` in everything that was said, beside the writes and not before them."""
        return self._searcher.submit(search_conversations, self._history.path, text)

    def close(self) -> None:
        """Finish what is queued and close the database."""
        self._searcher.shutdown(wait=True, cancel_futures=True)
        self._thread.shutdown(wait=True)
        self._history.close()

    def _report(self, future: Future[T]) -> None:
        error = future.exception()
        if error is not None:
            log.error("history write failed", exc_info=error)
            self.failed(str(error))
