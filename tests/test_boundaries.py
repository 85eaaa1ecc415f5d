"""The direction of imports is checked by import-linter, and that check on broken copies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def loaded_by(statement: str) -> list[str]:
    """Modules that a fresh Python holds after `statement`."""
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def test_the_engine_loads_without_qt_or_the_app() -> None:
    names = loaded_by("import engine; [getattr(engine, n) for n in dir(engine)]")
    assert "engine.errors" in names
    assert not [n for n in names if n.split(".")[0] in ("PySide6", "shiboken6", "app")]


def test_opening_the_door_is_quick_because_it_loads_no_heavy_library() -> None:
    names = loaded_by("import engine")
    heavy = {"torch", "transformers", "gguf", "tokenizers", "huggingface_hub", "jinja2"}
    assert not heavy & set(names)


def lint(project: Path) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("lint-imports")
    command = [str(tool), "--no-logo", "--no-cache"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """This project's code and rules, to break."""
    for package in ("engine", "app"):
        skip = shutil.ignore_patterns("lib", "src", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_code_keeps_the_contracts(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("app/broken.py", "from engine.config import Edge0Config", "only through its door"),
        ("app/broken.py", "import engine.kernels.build", "only through its door"),
        ("engine/chat/broken.py", "from PySide6.QtCore import QObject", "free of Qt"),
        ("engine/chat/broken.py", "import app", "free of Qt"),
        ("engine/formats.py", "import engine.chat", "point down"),
        ("engine/container/broken.py", "import engine.kernels.build", "point down"),
        ("engine/unplaced.py", "import json", "point down"),
    ],
)
def test_each_kind_of_violation_is_caught(copy: Path, file: str, line: str, contract: str) -> None:
    with open(copy / file, "a", encoding="utf-8") as broken:
        broken.write(f"\n{line}\n")
    done = lint(copy)
    assert done.returncode != 0
    broken_names = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert len(broken_names) == 1 and contract in broken_names[0], done.stdout
