"""The project's .venv: made, filled by pip, and known to be current by a stamp.

The stamp is written last, and a mark lies there while pip works, so an install that was cut off at
any moment is started afresh. The user's own pip settings are respected. Standard library only.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import system_packages

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
WINDOWS_LONG_ROOT = 110  # torch's longest file name, 140 characters, must fit into Windows' 260


class SetupError(Exception):
    """Setting up failed; the text says what to do. Shown without a traceback."""


@dataclass(frozen=True)
class Project:
    """The checkout and where its environment's parts lie.

    lock: handle of the lock while we hold it. Children share it, so that a pip whose bootstrap was
    killed still keeps the next one out of the environment it writes to.
    """

    root: Path
    lock: int | None = None

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        windows = os.name == "nt"
        return self.venv / ("Scripts/python.exe" if windows else "bin/python")

    @property
    def stamp(self) -> Path:
        return self.venv / "edge0-installed.json"

    @property
    def unfinished(self) -> Path:
        """Lies there while pip works; found at the start, it means pip was killed half way."""
        return self.venv / "edge0-install-unfinished"

    @property
    def requirements(self) -> str:
        return (self.root / "pyproject.toml").read_text(encoding="utf-8")


def fingerprint(project: Project) -> str:
    """Hash of all that an install depends on: the package's metadata and the kernels' sources."""
    kernels = project.root / "engine" / "kernels"
    files = [project.root / "pyproject.toml", project.root / "hatch_build.py", kernels / "build.py"]
    files += sorted((kernels / "src").glob("*"))
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():
            digest.update(
                f"{file.name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode()
            )
    return digest.hexdigest()


def read_stamp(project: Project) -> dict[str, object]:
    """What was installed last; empty when nothing, or when the note cannot be read."""
    try:
        stamp = json.loads(project.stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_installed(project: Project, extras: Sequence[str]) -> bool:
    """True when the environment holds today's project, at this place, with these extras."""
    stamp = read_stamp(project)
    have = stamp.get("extras")
    return (
        stamp.get("fingerprint") == fingerprint(project)
        and stamp.get("root") == str(project.root)
        and isinstance(have, list)
        and set(extras) <= set(have)
        and any((project.root / "engine" / "kernels" / "lib").glob("edge0-kernels-*"))
    )


def write_stamp(project: Project, extras: Sequence[str]) -> None:
    """Record a finished install, all or nothing."""
    stamp = {
        "fingerprint": fingerprint(project),
        "root": str(project.root),
        "extras": sorted(extras),
    }
    temporary = project.stamp.with_suffix(".tmp")
    temporary.write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(temporary, project.stamp)


def child_environment() -> dict[str, str]:
    """This environment without what would lead the .venv's Python to another one's packages."""
    hidden = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def call(
    project: Project, *arguments: str, stderr: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the environment's Python in the project's folder; it ends with us when we are stopped."""
    return subprocess.run(
        [str(project.python), *arguments],
        cwd=project.root,
        env=child_environment(),
        stderr=stderr,
        pass_fds=() if project.lock is None or os.name == "nt" else (project.lock,),
    )


def venv_works(project: Project) -> bool:
    """False when there is none, its Python is gone, it was moved here, or pip was cut off in it."""
    moved = read_stamp(project).get("root", str(project.root)) != str(project.root)
    if moved or project.unfinished.exists() or not project.python.exists():
        return False
    return call(project, "-c", "import pip", stderr=subprocess.DEVNULL).returncode == 0


def ensure_venv_module() -> None:
    """Debian's Python comes without ensurepip: install it as root, otherwise say how."""
    if importlib.util.find_spec("ensurepip") is not None:
        return
    package = f"python3.{sys.version_info.minor}-venv"
    on_debian = system_packages.package_manager() == "apt-get"
    if on_debian and system_packages.is_root() and system_packages.apt_install([package]):
        importlib.invalidate_caches()
        return
    how = f"Run: sudo apt-get install {package}" if on_debian else "Install Python's venv module."
    raise SetupError(f"This Python cannot make virtual environments (ensurepip is missing).\n{how}")


def ensure_venv(project: Project) -> None:
    """Make .venv unless a working one is there."""
    if venv_works(project):
        return
    ensure_venv_module()
    print("Making .venv …", flush=True)
    if project.venv.exists():
        shutil.rmtree(project.venv)
    command = [sys.executable, "-m", "venv", str(project.venv)]
    if subprocess.run(command, cwd=project.root, env=child_environment()).returncode:
        raise SetupError(f"Python could not make {project.venv}; its own words are above.")


def torch_pin(project: Project) -> str:
    """The torch release pyproject.toml asks for."""
    found = re.search(r'"torch==([\d.]+)"', project.requirements)
    if found is None:
        raise SetupError("pyproject.toml names no torch release.")
    return found[1]


def pip_install(project: Project, *arguments: str, stderr: int | None = None) -> bool:
    """pip install in the environment, its progress shown to a person and silent elsewhere."""
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    options = ["--disable-pip-version-check", *quiet]
    return (
        call(project, "-m", "pip", "install", *options, *arguments, stderr=stderr).returncode == 0
    )


def install_torch(project: Project) -> None:
    """On Linux the plain release is the CUDA build, 2 GB and more: take the CPU build by name."""
    wanted = f"torch=={torch_pin(project)}+cpu"
    if pip_install(project, wanted, stderr=subprocess.PIPE):
        return
    if not pip_install(project, wanted, "--extra-index-url", TORCH_CPU_INDEX):
        raise SetupError(failure_words(project))


def failure_words(project: Project) -> str:
    """What a person can do when pip failed."""
    words = (
        "Installing failed; pip's own words are above. Often it is the network: check it, or a\n"
        "mirror in pip's settings, and run the same command again. Python must be 64-bit and not\n"
        "newer than the latest that torch supports."
    )
    if os.name == "nt" and len(str(project.root)) > WINDOWS_LONG_ROOT:
        words += f"\n{project.root} is a long path for Windows: move the project nearer to C:\\."
    return words


def install(project: Project, extras: Sequence[str]) -> None:
    """Put the project and what it needs into .venv, unless that was done already."""
    if is_installed(project, extras):
        return
    before = read_stamp(project).get("extras")
    extras = sorted({*extras, *(map(str, before) if isinstance(before, list) else ())})
    print("Installing Edge0 into .venv (the first time takes some minutes) …", flush=True)
    project.stamp.unlink(missing_ok=True)
    project.unfinished.touch()
    try:
        if sys.platform == "linux":
            install_torch(project)
        if not pip_install(project, "--editable", f".[{','.join(extras)}]" if extras else "."):
            raise SetupError(failure_words(project))
    except SetupError:
        project.unfinished.unlink()  # pip itself gave up, and left nothing half done
        raise
    write_stamp(project, extras)
    project.unfinished.unlink()
