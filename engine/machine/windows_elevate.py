"""Runs one program with administrator's rights on Windows: ShellExecuteExW with "runas".

Windows itself asks the user. Checked against Microsoft's pages on SHELLEXECUTEINFOW,
ShellExecuteExW and WaitForSingleObject. Any thread; blocks until the program ends.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_uint32, c_void_p, c_wchar_p
from typing import Any

NO_CLOSE_PROCESS, NO_ASYNC, HIDE = 0x40, 0x100, 0
CANCELLED = 1223  # ERROR_CANCELLED: the user said no
WAITED = 0  # WAIT_OBJECT_0


class ExecuteInfo(ctypes.Structure):
    """SHELLEXECUTEINFOW."""

    _fields_ = (
        ("size", c_uint32), ("mask", c_uint32), ("window", c_void_p), ("verb", c_wchar_p),
        ("file", c_wchar_p), ("parameters", c_wchar_p), ("directory", c_wchar_p),
        ("show", c_int), ("instance", c_void_p), ("id_list", c_void_p), ("class_", c_wchar_p),
        ("class_key", c_void_p), ("hot_key", c_uint32), ("monitor", c_void_p),
        ("process", c_void_p),
    )  # fmt: skip


class Refused(Exception):
    """The user, or a policy, did not let the program run."""


def run_elevated(
    shell32: Any, kernel32: Any, last_error: Any, file: str, parameters: str, seconds: float = 60
) -> int | None:
    """The program's exit code, None when it did not end in time. Raises Refused and OSError."""
    info = ExecuteInfo(size=ctypes.sizeof(ExecuteInfo), mask=NO_CLOSE_PROCESS | NO_ASYNC)
    info.verb, info.file, info.parameters, info.show = "runas", file, parameters, HIDE
    if not shell32.ShellExecuteExW(ctypes.byref(info)):
        code = int(last_error())
        if code == CANCELLED:
            raise Refused()
        raise OSError(code, f"ShellExecuteExW failed ({code})")
    process = c_void_p(info.process)
    try:
        if kernel32.WaitForSingleObject(process, c_uint32(round(seconds * 1000))) != WAITED:
            return None
        ended = c_uint32()
        kernel32.GetExitCodeProcess(process, ctypes.byref(ended))
        return ended.value
    finally:
        kernel32.CloseHandle(process)


def powershell() -> str:
    """Windows' own PowerShell, by its full path, so that no other program takes its place."""
    buffer = ctypes.create_unicode_buffer(300)
    ctypes.windll.kernel32.GetSystemDirectoryW(buffer, 300)  # type: ignore[attr-defined,unused-ignore]
    return buffer.value + r"\WindowsPowerShell\v1.0\powershell.exe"
