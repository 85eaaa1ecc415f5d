"""The tables of the chats' database. A change raises the version and adds a step that migrates."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine import StorageError, Text

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE conversation (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
  created REAL NOT NULL, updated REAL NOT NULL, leaf INTEGER, deleted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
  parent INTEGER, role TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL,
  model TEXT NOT NULL DEFAULT '',
  created REAL NOT NULL, stats TEXT NOT NULL DEFAULT '{}');
CREATE INDEX message_conversation ON message(conversation);
CREATE TABLE piece (message INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE draft (conversation INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file ready. Raises StorageError for one of a newer Edge0."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StorageError(
            Text("The chats in {0} were written by a newer version of Edge0.", path),
            Text("Update Edge0. To begin anew with this version, move the file away."),
        )
    if version == 0:
        db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
