"""Pure functions over the tree of a conversation's messages: the path shown, and the variants at
each point."""

from __future__ import annotations

from collections.abc import Mapping

from app.history import StoredMessage

Messages = Mapping[int, StoredMessage]


def path_to(messages: Messages, leaf: int | None) -> list[StoredMessage]:
    """The messages from the first down to `leaf`; a broken or circular link ends the path there."""
    path: list[StoredMessage] = []
    seen: set[int] = set()
    while leaf is not None and leaf in messages and leaf not in seen:
        seen.add(leaf)
        path.append(messages[leaf])
        leaf = messages[leaf].parent
    return path[::-1]


def siblings(messages: Messages, message: int) -> list[int]:
    """The variants at this point, oldest first, with the message itself."""
    parent = messages[message].parent
    return sorted(m.id for m in messages.values() if m.parent == parent)


def newest_leaf(messages: Messages, start: int | None) -> int | None:
    """Follow the newest child down from `start` (None: from the top)."""
    leaf = start
    seen: set[int | None] = set()
    while leaf not in seen:
        seen.add(leaf)
        children = [m.id for m in messages.values() if m.parent == leaf]
        leaf = max(children) if children else leaf
    return leaf
