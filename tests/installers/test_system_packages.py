"""What Qt needs of a Linux system: installed for root, named in one command for everyone else."""

from __future__ import annotations

from typing import Any

import pytest


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
