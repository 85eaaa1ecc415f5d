"""Every page at 100, 150 and 200 %, in both languages and themes: nothing is cut off, and the
keyboard reaches every control."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_every_page_can_be_read_and_reached(scale: str, tmp_path: Path) -> None:
    environment = {**os.environ, "QT_SCALE_FACTOR": scale, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.helpers.page_tour", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment, timeout=110)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert json.loads(done.stdout.splitlines()[-1]) == []
