"""The starter's GGUF file for tests: downloaded once per user, then taken from a cache."""

from __future__ import annotations

from pathlib import Path

import filelock

from engine.starter import fetch_gguf
from engine.stop import StopFlag
from tests.helpers.real_environment import REAL_CACHE, real_environment


def cached_gguf() -> Path:
    """Path of SmolLM2-135M-Instruct.Q4_1.gguf, hash-checked; do not change the file."""
    REAL_CACHE.mkdir(parents=True, exist_ok=True)
    with real_environment(), filelock.FileLock(REAL_CACHE / "starter.lock"):
        return fetch_gguf(REAL_CACHE / "starter", lambda _: None, StopFlag())
