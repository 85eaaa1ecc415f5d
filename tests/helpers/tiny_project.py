"""A project of a few files with our installers in it, which pip can install without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BACKEND = '''
"""An in-tree build backend that needs nothing: an editable wheel with one path file."""
import os, pathlib, time, zipfile

def _names():
    return "tiny-1.0.dist-info", "tiny-1.0-py3-none-any.whl"

def build_editable(folder, settings=None, metadata=None):
    while os.path.exists("hang"):
        open("hanging", "w").close()
        time.sleep(0.05)
    info, name = _names()
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n"
                       "Provides-Extra: test\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
                       "Tag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    lib = pathlib.Path("engine/kernels/lib")
    lib.mkdir(parents=True, exist_ok=True)
    (lib / "edge0-kernels-test.so").write_bytes(b"x")
    with open("installs", "a") as log:
        log.write("x")
    return name
'''
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1.0"
dependencies = ["torch==0.0.1"]
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    "backend.py": BACKEND,
    "engine/__init__.py": "",
    "engine/kernels/src/a.c": "int a;\n",
    "engine/cli.py": "import sys\nprint('starter asked:', sys.argv[1:])\n",
    "app/__init__.py": "",
    "app/__main__.py": "import sys\nprint('app', sys.prefix)\nsys.exit(5)\n",
    "pytest.py": "import sys\nprint('tests', sys.argv[1:])\nsys.exit(7)\n",
}


def fake_torch(folder: Path) -> None:
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "torch-0.0.1+cpu-py3-none-any.whl", "w") as wheel:
        info = "torch-0.0.1+cpu.dist-info"
        wheel.writestr("torch.py", "")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 0.0.1+cpu\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(f"{info}/RECORD", "")


def write_project(root: Path) -> None:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "installers", root / "installers", ignore=skip)


class Tiny:
    """A project of a few files in a folder with a difficult name, and its bootstrap."""

    def __init__(self, top: Path) -> None:
        self.root = top / "测试 user's 100% & more"
        write_project(self.root)
        fake_torch(top / "wheels")
        tools = top / "tools"  # a fontconfig that knows a Chinese font: nothing is apt-installed
        tools.mkdir()
        (tools / "fc-list").write_text("#!/bin/sh\necho Noto Sans CJK\n", encoding="utf-8")
        (tools / "fc-list").chmod(0o755)
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(top / "wheels"),
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": "/nowhere",
        }

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self.root / "installers" / "bootstrap.py"), *arguments],
            env={**self.environment, **environment},
            cwd=self.root.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def bootstrap(self, *arguments: str, **environment: str) -> tuple[int, str]:
        with self.start(*arguments, **environment) as process:
            try:
                output, _ = process.communicate(timeout=100)
            finally:
                process.kill()
        return process.returncode, output

    @property
    def installs(self) -> int:
        log = self.root / "installs"
        return len(log.read_text(encoding="utf-8")) if log.exists() else 0
