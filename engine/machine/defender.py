"""Windows Defender and our expert files: the one narrow exclusion we offer, its exact commands.

Pure: texts and decisions, nothing is run here. Only `<models>\\*\\*.moex` is ever excluded: one
level of folders, one extension that no program has. Paths are Windows paths on every system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Literal

from engine.text import Text

Action = Literal["add", "remove"]
Outcome = Literal[
    "done", "already", "failed", "refused", "ineffective", "cancelled", "forbidden", "timeout"
]

_FORBIDDEN = set('<>"|?*[]/')  # brackets: PowerShell's wildcards, never needed in a folder's name
_SINGLE_QUOTES = "'\u2018\u2019\u201a\u201b"  # PowerShell takes each of them for a quote
_TEMPORARY = {"temp", "tmp"}
_SHARED = {"downloads", "documents", "desktop", "pictures", "music", "videos", "onedrive"}
_EXITS: dict[int, Outcome] = {
    0: "done", 1: "already", 2: "failed", 3: "refused", 4: "ineffective"
}  # fmt: skip
MAX_PATH = 1000


@dataclass(frozen=True)
class KnownFolders:
    """Folders that are never excluded: those in `whole` with everything in them, `exact` alone."""

    whole: tuple[str, ...]
    exact: tuple[str, ...]


def known_folders(environ: Mapping[str, str], install: str) -> KnownFolders:
    """From Windows' variables and where this program is installed."""
    whole = ("SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432", "TEMP", "TMP")
    exact = ("USERPROFILE", "PUBLIC", "ProgramData", "APPDATA", "LOCALAPPDATA")
    return KnownFolders(
        (*(environ[name] for name in whole if environ.get(name)), install),
        tuple(environ[name] for name in exact if environ.get(name)),
    )


def refusal(models: str, known: KnownFolders) -> str:
    """Why a models folder must not be excluded; "" when it may. `models`: its resolved path."""
    path = PureWindowsPath(models)
    if len(models) > MAX_PATH or not models.isprintable():
        return Text("The folder's path is too long or holds characters that cannot be seen.")
    if models.startswith(("\\\\", "//")) or len(path.drive) != 2 or not path.drive[0].isalpha():
        return Text("Only a folder on a drive of this computer can be excluded, not a network one.")
    if not path.root or len(path.parts) < 2:
        return Text("A whole drive is never excluded.")
    return _bad_names(models, path) or _protected(path, known)


def pattern(models: str) -> str:
    """What is excluded: expert files one folder below."""
    return str(PureWindowsPath(models)) + r"\*\*.moex"


def script(models: str, action: Action) -> str:
    """What runs with administrator's rights. It looks at the folder again and ends with a code:
    0 done, 1 nothing to do, 2 the command failed, 3 not the folder it was, 4 without effect."""
    folder, excluded = quoted(str(PureWindowsPath(models))), quoted(pattern(models))
    listed = "(Get-MpPreference).ExclusionPath -contains $p"
    check = (
        f"$d=Get-Item -Force -LiteralPath {folder}; if ($d.FullName -ne {folder}) {{ exit 3 }}; "
        "while ($d) { if ($d.Attributes -band 1024) { exit 3 }; $d=$d.Parent }; "
    )
    if action == "add":
        before, verb, after = listed, "Add", listed
    else:
        before, verb, after, check = f"-not ({listed})", "Remove", f"-not ({listed})", ""
    return (
        f"$ErrorActionPreference='Stop'; $p={excluded}; try {{ {check}"
        f"if ({before}) {{ exit 1 }}; {verb}-MpPreference -ExclusionPath $p; "
        f"if ({after}) {{ exit 0 }}; exit 4 }} catch {{ exit 2 }}"
    )


def parameters(models: str, action: Action) -> str:
    """The arguments for powershell.exe. The script holds no double quote, so these two suffice."""
    return f'-NoProfile -NonInteractive -Command "{script(models, action)}"'


def shown_command(models: str, action: Action) -> str:
    """The command for people who would rather type it themselves, as administrator."""
    verb = "Add" if action == "add" else "Remove"
    return f"{verb}-MpPreference -ExclusionPath {quoted(pattern(models))}"


def outcome(exit_code: int | None) -> Outcome:
    """What the elevated step's exit code means; None: it did not end in time."""
    return "timeout" if exit_code is None else _EXITS.get(exit_code, "failed")


def quoted(text: str) -> str:
    """`text` as a PowerShell literal: nothing is expanded, each kind of single quote is doubled."""
    return "'" + "".join(c * 2 if c in _SINGLE_QUOTES else c for c in text) + "'"


def _bad_names(models: str, path: PureWindowsPath) -> str:
    names = models.replace("/", "\\").split("\\")[1:]
    if any(name in (".", "..") for name in names):
        return Text("The folder's path must not go up.")
    if any(_FORBIDDEN & set(name) or ":" in name for name in names) or "/" in models:
        return Text("The folder's path holds characters that a pattern may misread.")
    if any(name != name.rstrip(". ") for name in names):
        return Text("A folder's name ends in a dot or a space.")
    if models.count("%") > 1:  # Defender would expand %NAME% as the system's own user
        return Text("The folder's path looks as if it held a variable.")
    if any(name.lower() in _TEMPORARY for name in path.parts[1:]):
        return Text("Temporary folders are never excluded.")
    return ""


def _protected(path: PureWindowsPath, known: KnownFolders) -> str:
    if path.name.lower() in _SHARED:
        return Text("Folders where other programs put files are never excluded.")
    for text in (*known.whole, *known.exact):
        folder = PureWindowsPath(text)
        if path == folder or path in folder.parents:
            return Text("{0} holds more than models.", path)
    for text in known.whole:
        if PureWindowsPath(text) in path.parents:
            return Text("{0} is never excluded.", text)
    return ""
