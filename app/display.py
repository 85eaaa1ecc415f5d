"""Whether a window can be opened at all: Qt ends the process when it cannot, so this asks first.
No Qt."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Mapping


def display_problem(environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Why no window can be opened, or nothing. Only Linux and its kin can be without a display."""
    if platform in ("win32", "darwin"):
        return ""
    chosen = environment.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if chosen and chosen not in ("xcb", "wayland"):
        return ""
    if environment.get("WAYLAND_DISPLAY") and chosen != "xcb":
        return ""
    if not environment.get("DISPLAY"):
        return "There is no display: DISPLAY and WAYLAND_DISPLAY are not set."
    return _x11_problem(environment["DISPLAY"])


def _x11_problem(display: str) -> str:
    name = ctypes.util.find_library("xcb")
    if name is None:
        return "The system library libxcb, which windows need, is not installed."
    xcb = ctypes.CDLL(name)
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    xcb.xcb_connection_has_error.argtypes = (ctypes.c_void_p,)
    xcb.xcb_disconnect.argtypes = (ctypes.c_void_p,)
    connection = xcb.xcb_connect(display.encode(), None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if failed:
        return f"The display {display} cannot be reached."
    if ctypes.util.find_library("xcb-cursor") is None:
        return "The system library libxcb-cursor0, which windows need, is not installed."
    return ""
