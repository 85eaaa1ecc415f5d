"""The Defender exclusion of one models folder: may it be, is it ours, add it, take it back.

Windows asks the user; a no is final for this time. `add` and `remove` block: on a thread. Nothing
is noted in the ledger that did not happen.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.machine import defender, windows_elevate
from engine.machine.defender_ledger import Exclusion, note_added, note_removed, read_ledger
from engine.machine.defender_status import DefenderStatus, read_status

Run = Callable[[str], int | None]  # PowerShell's arguments → its exit code
_FORBIDDEN = {5, 740, 1260}  # access denied, elevation required, access disabled by policy


def run_on_windows(parameters: str) -> int | None:
    """Run PowerShell as administrator. Raises Refused and OSError."""
    if sys.platform != "win32":
        raise OSError("only on Windows")
    shell32 = ctypes.WinDLL("shell32", use_last_error=True)
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    program, error = windows_elevate.powershell(), ctypes.get_last_error
    return windows_elevate.run_elevated(shell32, kernel32, error, program, parameters)


@dataclass(frozen=True)
class DefenderExclusion:
    """models: the folder; ledger: where we note what we added; install: where this program is."""

    models: Path
    ledger: Path
    install: Path = Path(sys.prefix)
    run: Run = run_on_windows
    resolve: Callable[[str], str] = os.path.realpath
    read: Callable[[], DefenderStatus] = read_status

    @property
    def folder(self) -> str:
        """The folder with links followed: Defender does not follow them."""
        return self.resolve(str(self.models))

    @property
    def pattern(self) -> str:
        """What would be excluded."""
        return defender.pattern(self.folder)

    @property
    def command(self) -> str:
        """The command to type oneself."""
        return defender.shown_command(self.folder, "add")

    @property
    def refusal(self) -> str:
        """Why this folder is not excluded; "" when it may be."""
        known = defender.known_folders(os.environ, str(self.install))
        return defender.refusal(self.folder, known)

    def status(self) -> DefenderStatus:
        """What Windows says about Defender; takes a moment."""
        return self.read()

    @property
    def ours(self) -> bool:
        """Whether we added it."""
        return any(entry.pattern == self.pattern for entry in read_ledger(self.ledger))

    def add(self) -> defender.Outcome:
        """Exclude the pattern. Raises OSError."""
        if self.refusal:
            return "refused"
        done = self._do("add")
        if done == "done":  # one that was there already is somebody else's
            today = time.strftime("%Y-%m-%d")
            note_added(self.ledger, Exclusion(self.folder, self.pattern, today))
        return done

    def remove(self) -> defender.Outcome:
        """Take our exclusion back; never one we did not add. Raises OSError."""
        if not self.ours:
            return "already"
        done = self._do("remove")
        if done in ("done", "already"):
            note_removed(self.ledger, self.pattern)
        return done

    def _do(self, action: defender.Action) -> defender.Outcome:
        try:
            return defender.outcome(self.run(defender.parameters(self.folder, action)))
        except windows_elevate.Refused:
            return "cancelled"
        except OSError as error:
            if error.errno in _FORBIDDEN:
                return "forbidden"
            raise


def our_exclusions(
    ledger: Path, run: Run = run_on_windows
) -> list[tuple[Exclusion, DefenderExclusion]]:
    """Everything we added and did not take back, also for folders that are no longer used."""
    return [
        (entry, DefenderExclusion(Path(entry.models), ledger, run=run, resolve=str))
        for entry in read_ledger(ledger)
    ]
