"""What Windows says about Defender and who may change its exclusions; read without special rights.

Each source may be missing or closed to us: then nothing is claimed. Checked against Microsoft's
pages, listed in DEFENDER.md beside this file. Any thread; may take a second.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from engine.machine.windows_elevate import powershell
from engine.text import Text

POLICIES = r"SOFTWARE\Policies\Microsoft\Windows Defender"
DEFENDER = r"SOFTWARE\Microsoft\Windows Defender"
SCRIPT = "$s=Get-MpComputerStatus; '{0}|{1}' -f $s.AMRunningMode,$s.IsTamperProtected"
TIMEOUT_S = 20
_NO_WINDOW = 0x08000000  # CREATE_NO_WINDOW

Ask = Callable[[str], str]  # a PowerShell script → what it prints
Registry = Callable[[str, str], int | None]  # key below HKLM, value → number


@dataclass(frozen=True)
class DefenderStatus:
    """mode: AMRunningMode, "" unknown. managed: local exclusions are ignored, as far as we see."""

    mode: str = ""
    tamper_protected: bool = False
    managed: bool = False

    @property
    def scans(self) -> bool:
        """Whether Defender looks at files itself; also true when nobody says."""
        return self.mode in ("", "Normal")


def read_status(ask: Ask | None = None, registry: Registry | None = None) -> DefenderStatus:
    """Ask Windows; never raises."""
    answer = (ask or _ask_powershell)(SCRIPT)
    mode, _, tamper = answer.strip().partition("|")
    registry = registry or _read_registry
    ours_ignored = registry(POLICIES, "DisableLocalAdminMerge") == 1
    protected = registry(rf"{DEFENDER}\Features", "TPExclusions") == 1
    return DefenderStatus(mode, tamper.strip().lower() == "true", ours_ignored or protected)


def explanation(status: DefenderStatus) -> str:
    """What a person should know before asking for an exclusion; "" when nothing is special."""
    if not status.scans:
        return Text(
            "Another antivirus is in charge here, or Defender is switched off (it says: {0})."
            " An exclusion in Defender changes nothing: use the other program's own settings.",
            status.mode,
        )
    if status.managed:
        return Text(
            "Your organisation decides about exclusions on this computer; one added here would be"
            " ignored. Give its administrators the command below."
        )
    if status.tamper_protected:
        return Text(
            "Tamper protection is on. It allows exclusions, except on computers that an"
            " organisation manages."
        )
    return ""


def _ask_powershell(script: str) -> str:
    if sys.platform != "win32":
        return ""
    command = [powershell(), "-NoProfile", "-NonInteractive", "-Command", script]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            creationflags=_NO_WINDOW,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _read_registry(key: str, value: str) -> int | None:
    if sys.platform != "win32":
        return None
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            found, _ = winreg.QueryValueEx(opened, value)
    except OSError:
        return None
    return found if isinstance(found, int) else None
