"""`edge0 cache`: how much is kept of conversations, and that it goes when told."""

from __future__ import annotations

import pytest

from engine.cli import main
from engine.store.cache_dir import cache_root, snapshot_root


def test_shown_and_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    folder = snapshot_root(None) / ("a" * 32)
    folder.mkdir(parents=True)
    (folder / "rows.kv").write_bytes(bytes(3_000_000))
    learned = cache_root(None) / ("a" * 32) / "usage.json"
    learned.parent.mkdir()
    learned.write_text("{}", encoding="utf-8")
    assert main(["cache"]) == 0
    assert "3 MB" in capsys.readouterr().out and folder.exists()
    assert main(["cache", "clear"]) == 0
    assert "3 MB" in capsys.readouterr().out
    assert not snapshot_root(None).exists() and learned.exists()
    assert main(["cache", "clear"]) == 0
    assert "0 MB" in capsys.readouterr().out
