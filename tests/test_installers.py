"""bootstrap.py and its parts: real virtual environments and real pip on a tiny offline project."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.fixture(scope="module")
def installers() -> Iterator[SimpleNamespace]:
    """The modules of installers/, imported as bootstrap.py imports its neighbours."""
    sys.path.insert(0, str(ROOT / "installers"))
    try:
        names = ("bootstrap", "environment", "system_packages")
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(ROOT / "installers"))


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


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return Tiny(tmp_path_factory.mktemp("bootstrap"))


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and scripts")


@posix_only
def test_test_installs_then_runs_the_tests_and_ends_as_they_do(tiny: Tiny) -> None:
    code, output = tiny.bootstrap("test", "-k", "some thing")
    assert code == 7, output
    assert "tests ['-k', 'some thing']" in output
    assert tiny.installs == 1


@posix_only
def test_a_second_time_nothing_is_installed(tiny: Tiny) -> None:
    tiny.bootstrap("test")
    installs = tiny.installs
    code, output = tiny.bootstrap("test", PIP_FIND_LINKS="/nowhere")
    assert (code, tiny.installs) == (7, installs), output
    code, output = tiny.bootstrap("setup", PIP_FIND_LINKS="/nowhere")
    assert (code, tiny.installs, output) == (0, installs, "")


@posix_only
def test_a_changed_kernel_source_installs_again_and_a_readme_does_not(tiny: Tiny) -> None:
    tiny.bootstrap("test")
    installs = tiny.installs
    (tiny.root / "README.md").write_text("new", encoding="utf-8")
    tiny.bootstrap("test")
    assert tiny.installs == installs
    (tiny.root / "engine/kernels/src/b.c").write_text("int b;", encoding="utf-8")
    tiny.bootstrap("test")
    assert tiny.installs == installs + 1


@posix_only
def test_run_without_a_screen_tells_how_to_chat_in_the_terminal(tiny: Tiny) -> None:
    code, output = tiny.bootstrap("run", QT_QPA_PLATFORM="")
    assert code == 1
    assert "starter asked: ['starter']" in output
    assert "no screen" in output and "-m engine.cli chat" in output
    assert "app " not in output


@posix_only
def test_run_opens_the_app_with_the_environments_python(tiny: Tiny) -> None:
    code, output = tiny.bootstrap("run", QT_QPA_PLATFORM="offscreen")
    assert code == 5, output
    assert f"app {tiny.root / '.venv'}" in output


@posix_only
def test_an_install_killed_half_way_is_started_afresh_once_its_pip_has_ended(tiny: Tiny) -> None:
    tiny.bootstrap("setup")
    mark = tiny.root / ".venv" / "from-the-first-environment"
    mark.touch()
    (tiny.root / "hang").touch()
    (tiny.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n", encoding="utf-8")
    with tiny.start("setup") as process:
        while not (tiny.root / "hanging").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        with tiny.start("setup") as second:
            assert second.stdout is not None
            assert "waiting for it" in second.stdout.readline()
            (tiny.root / "hang").unlink()  # lets the orphaned pip end
            assert "Making .venv" in second.stdout.read()
    assert second.returncode == 0
    assert not mark.exists()


@posix_only
def test_a_failed_install_says_what_to_do_and_the_next_try_keeps_the_environment(
    tiny: Tiny,
) -> None:
    (tiny.root / "pyproject.toml").write_text(
        PYPROJECT.replace("torch==0.0.1", "torch==9.9.9"), encoding="utf-8"
    )
    code, output = tiny.bootstrap("setup")
    assert code == 1
    assert "network" in output and "Traceback" not in output
    (tiny.root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    code, output = tiny.bootstrap("setup")
    assert code == 0 and "Making .venv" not in output


@pytest.mark.parametrize("version", [(3, 9), (3, 7), (2, 7)])
def test_an_old_python_is_refused_with_its_number(
    installers: Any, version: tuple[int, int]
) -> None:
    with pytest.raises(installers.environment.SetupError) as refusal:
        installers.bootstrap.check_python(version)
    assert f"{version[0]}.{version[1]}" in str(refusal.value)
    assert "3.10" in str(refusal.value) and "python.org" in str(refusal.value)


def test_a_32_bit_python_is_refused_and_today_s_is_not(installers: Any) -> None:
    with pytest.raises(installers.environment.SetupError, match="32-bit"):
        installers.bootstrap.check_python((3, 12), maxsize=2**31 - 1)
    installers.bootstrap.check_python((3, 10), maxsize=2**63 - 1)


@pytest.fixture
def project(installers: Any, tmp_path: Path) -> Any:
    """An installed project, as its stamp says."""
    write_project(tmp_path / "here")
    made = installers.environment.Project(tmp_path / "here")
    made.venv.mkdir()
    (made.root / "engine/kernels/lib").mkdir()
    (made.root / "engine/kernels/lib/edge0-kernels-linux-x86_64.so").touch()
    installers.environment.write_stamp(made, ["test"])
    return made


def test_the_stamp_vouches_for_its_extras_only(installers: Any, project: Any) -> None:
    is_installed = installers.environment.is_installed
    assert is_installed(project, ["test"]) and is_installed(project, [])
    installers.environment.write_stamp(project, [])
    assert is_installed(project, []) and not is_installed(project, ["test"])


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"fingerprint": 1}', '{"extras": 3}'])
def test_a_damaged_stamp_means_installing_again(installers: Any, project: Any, damage: str) -> None:
    project.stamp.write_text(damage, encoding="utf-8")
    assert not installers.environment.is_installed(project, [])


def test_a_moved_project_and_a_missing_library_are_noticed(
    installers: Any, project: Any, tmp_path: Path
) -> None:
    project.root.rename(tmp_path / "there")
    moved = installers.environment.Project(tmp_path / "there")
    assert not installers.environment.is_installed(moved, [])
    assert not installers.environment.venv_works(moved)
    stamp = json.loads(moved.stamp.read_text(encoding="utf-8"))
    moved.stamp.write_text(json.dumps({**stamp, "root": str(moved.root)}), encoding="utf-8")
    assert installers.environment.is_installed(moved, [])
    shutil.rmtree(moved.root / "engine/kernels/lib")
    assert not installers.environment.is_installed(moved, [])


def test_the_projects_own_pin_of_torch_is_found(installers: Any) -> None:
    real = installers.environment.Project(ROOT)
    assert installers.environment.torch_pin(real).count(".") == 2


@pytest.fixture
def system(installers: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The edge to the system, faked: libxcb-cursor and libEGL are missing; apt calls are noted."""
    packages = installers.system_packages
    missing = ["libEGL.so.1", "libxcb-cursor.so.0"]
    packages.asked = []

    def note(names: list[str]) -> bool:
        packages.asked += [list(names)]
        return True

    monkeypatch.setattr(packages, "can_load", lambda soname: soname not in missing)
    monkeypatch.setattr(packages, "apt_install", note)
    monkeypatch.setattr(packages, "has_cjk_font", lambda: False)
    monkeypatch.setattr(packages, "is_root", lambda: False)
    return packages


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "sudo apt-get install -y --no-install-recommends libegl1 libxcb-cursor0"),
        ("dnf", "sudo dnf install -y libglvnd-egl xcb-util-cursor"),
        ("pacman", "sudo pacman -S --needed --noconfirm libglvnd xcb-util-cursor"),
        (None, "libEGL.so.1, libxcb-cursor.so.0"),
    ],
)
def test_a_user_is_shown_the_one_command(
    system: Any, monkeypatch: pytest.MonkeyPatch, manager: str | None, command: str
) -> None:
    monkeypatch.setattr(system, "package_manager", lambda: manager)
    with pytest.raises(system.SystemPackagesMissing) as words:
        system.ensure_qt_libraries(x11=True, fonts=True)
    assert command in str(words.value)
    assert system.asked == []


def test_root_on_debian_gets_them_installed_with_a_chinese_font(
    system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "package_manager", lambda: "apt-get")
    monkeypatch.setattr(system, "is_root", lambda: True)
    system.ensure_qt_libraries(x11=False, fonts=False)
    system.ensure_qt_libraries(x11=True, fonts=True)
    fonts = ["fonts-noto-cjk", "fonts-noto-color-emoji"]
    assert system.asked == [["libegl1"], ["libegl1", "libxcb-cursor0", *fonts]]


def test_a_failed_apt_leaves_the_command_to_the_user(
    system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "package_manager", lambda: "apt-get")
    monkeypatch.setattr(system, "is_root", lambda: True)
    monkeypatch.setattr(system, "apt_install", lambda _: False)
    with pytest.raises(system.SystemPackagesMissing, match="apt-get install"):
        system.ensure_qt_libraries(x11=True, fonts=True)


def test_without_fonts_to_add_a_failed_apt_is_no_obstacle(
    system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "can_load", lambda _: True)
    monkeypatch.setattr(system, "package_manager", lambda: "apt-get")
    monkeypatch.setattr(system, "is_root", lambda: True)
    monkeypatch.setattr(system, "apt_install", lambda _: False)
    system.ensure_qt_libraries(x11=True, fonts=True)


def test_a_python_without_ensurepip_names_the_debian_package(
    installers: Any, system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installers.environment.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(system, "package_manager", lambda: "apt-get")
    package = f"python3.{sys.version_info.minor}-venv"
    with pytest.raises(installers.environment.SetupError, match=package):
        installers.environment.ensure_venv_module()
    monkeypatch.setattr(system, "is_root", lambda: True)
    installers.environment.ensure_venv_module()
    assert system.asked == [[package]]
