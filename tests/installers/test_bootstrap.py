"""bootstrap.py's commands: real virtual environments and real pip on a tiny offline project."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from typing import Any

import pytest

from tests.helpers.tiny_project import PYPROJECT, Tiny

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and scripts")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return Tiny(tmp_path_factory.mktemp("bootstrap"))


@posix_only
def test_test_installs_then_runs_the_tests_and_ends_as_they_do(tiny: Tiny) -> None:
    shutil.rmtree(tiny.root / ".venv", ignore_errors=True)
    before = tiny.installs
    code, output = tiny.bootstrap("test", "-k", "some thing")
    assert code == 7, output
    assert "'worksteal', '-k', 'some thing']" in output
    assert tiny.installs == before + 1


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
