"""What Edge0 needs from a Linux system besides Python: Qt's libraries, and a font with Chinese.

Owns the table of libraries and their packages. As root on Debian or Ubuntu they are installed;
anywhere else the one command that installs them is shown. Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Library(NamedTuple):
    """A shared library and the package that brings it, by package manager."""

    soname: str
    debian: str
    fedora: str
    arch: str


# What PySide6-Essentials links to and does not carry (objdump -p on libQt6Gui, libqoffscreen).
QT_CORE = (
    Library("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    Library("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    Library("libX11.so.6", "libx11-6", "libX11", "libx11"),
    Library("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    Library("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    Library("libfreetype.so.6", "libfreetype6", "freetype", "freetype2"),
    Library("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    Library("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
    Library("libzstd.so.1", "libzstd1", "libzstd", "zstd"),
)
# The same for libqxcb, the window system plugin for X11.
QT_X11 = (
    Library("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libx11"),
    Library("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    Library("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    Library("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    Library("libxcb-util.so.1", "libxcb-util1", "xcb-util", "xcb-util"),
    Library("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "xcb-util-image"),
    Library("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    Library(
        "libxcb-render-util.so.0",
        "libxcb-render-util0",
        "xcb-util-renderutil",
        "xcb-util-renderutil",
    ),
    Library("libxcb-glx.so.0", "libxcb-glx0", "libxcb", "libxcb"),
    Library("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb"),
    Library("libxcb-render.so.0", "libxcb-render0", "libxcb", "libxcb"),
    Library("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb"),
    Library("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb"),
    Library("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb"),
    Library("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb"),
    Library("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb"),
)
DEBIAN_FONTS = ("fonts-noto-cjk", "fonts-noto-color-emoji")
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
CJK_FONT_NAMES = ("cjk", "sourcehan", "wqy", "droidsansfallback", "uming", "ukai", "simsun")

INSTALL_COMMANDS: dict[str, list[str]] = {
    "apt-get": ["apt-get", "install", "-y", "--no-install-recommends"],
    "dnf": ["dnf", "install", "-y"],
    "pacman": ["pacman", "-S", "--needed", "--noconfirm"],
}


class SystemPackagesMissing(Exception):
    """Libraries are missing and we may not install them; the text says how to."""


def can_load(soname: str) -> bool:
    """True when the system's loader finds the library."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def package_manager() -> str | None:
    """The first package manager we know that this system has."""
    return next((name for name in INSTALL_COMMANDS if shutil.which(name)), None)


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def packages_for(libraries: Sequence[Library], manager: str) -> list[str]:
    """Package names of `libraries` for a manager, each once, in order."""
    field = {"apt-get": "debian", "dnf": "fedora", "pacman": "arch"}[manager]
    return list(dict.fromkeys(str(getattr(library, field)) for library in libraries))


def advice(missing: Sequence[Library], manager: str | None) -> str:
    """What to tell a person who must install the libraries themselves."""
    names = ", ".join(library.soname for library in missing)
    if manager is None:
        return (
            f"Edge0's window needs these system libraries: {names}.\nInstall them, then try again."
        )
    command = " ".join([*INSTALL_COMMANDS[manager], *packages_for(missing, manager)])
    return (
        f"Edge0's window needs system libraries that are not here ({names}).\nRun: sudo {command}"
    )


def apt_install(packages: Sequence[str]) -> bool:
    """As root on Debian or Ubuntu: fetch the lists and install. False when apt failed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    print(f"Installing {' '.join(packages)} …", flush=True)
    for command in (["apt-get", "update", "-qq"], [*INSTALL_COMMANDS["apt-get"], "-qq", *packages]):
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL)
    return done.returncode == 0


def has_cjk_font() -> bool:
    """True when some font can show Chinese: by fontconfig's word, or by file name without it."""
    if shutil.which("fc-list"):
        done = subprocess.run(["fc-list", ":lang=zh-cn", "family"], stdout=subprocess.PIPE)
        return bool(done.stdout.strip())
    files = (f for top in FONT_FOLDERS for f in Path(top).expanduser().glob("**/*.?t?"))
    return any(name in f.name.lower().replace("-", "") for f in files for name in CJK_FONT_NAMES)


def ensure_qt_libraries(x11: bool, fonts: bool) -> None:
    """Make sure Qt can start: with `x11` on a screen too, with `fonts` able to show Chinese.

    Raises SystemPackagesMissing with the command to run when we cannot install them.
    """
    wanted = (*QT_CORE, *QT_X11) if x11 else QT_CORE
    missing = [library for library in wanted if not can_load(library.soname)]
    manager = package_manager()
    may_install = manager == "apt-get" and is_root()
    packages = packages_for(missing, "apt-get") if may_install else []
    if fonts and may_install and not has_cjk_font():
        packages += DEBIAN_FONTS
    installed = apt_install(packages) if packages else may_install
    if missing and not installed:
        raise SystemPackagesMissing(advice(missing, manager))
