"""`edge0 starter`: the path on stdout, or one JSON object a line for the app."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli import main, starter
from engine.errors import DownloadError
from engine.events import Progress


def fake(monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> list[Path | None]:
    asked: list[Path | None] = []

    def ensure(report: Callable[[Progress], None], models_dir: Path | None = None) -> Path:
        asked.append(models_dir)
        report(Progress(1, 4, "downloading"))
        if error:
            raise error
        return Path("/models/启动")

    monkeypatch.setattr(starter, "ensure_starter", ensure)
    return asked


def test_the_path_is_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = fake(monkeypatch)
    assert main(["starter", "--models-dir", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "/models/启动\n"
    assert captured.err == ""  # over at once: nothing to report
    assert asked == [tmp_path]


def test_json_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fake(monkeypatch)
    assert main(["starter", "--progress", "json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"done": 1, "total": 4, "what": "downloading"},
        {"finished": "/models/启动"},
    ]


def test_json_error_is_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, DownloadError("No network.", "Try again."))
    assert main(["starter", "--progress", "json"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    told = {"error": "No network.", "next_step": "Try again.", "stopped": False, "page": ""}
    assert json.loads(last) == told
