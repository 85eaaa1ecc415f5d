"""The tables of the chats' database. A change raises the version and adds a step that migrates."""

from __future__ import annotations

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
