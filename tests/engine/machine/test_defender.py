"""The exclusion we offer: exact texts for hostile paths, folders that are never excluded."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from engine.machine import defender, windows_elevate
from engine.machine.defender import KnownFolders, outcome, parameters, pattern, refusal, script
from engine.machine.defender_ledger import Exclusion, note_added, note_removed, read_ledger

KNOWN = KnownFolders(
    whole=(
        r"C:\Windows",
        r"C:\Program Files",
        r"C:\Users\Eva\AppData\Local\Temp",
        r"C:\Users\Eva\AppData\Local\Programs\Edge0",
    ),
    exact=(r"C:\Users\Eva", r"C:\Users\Eva\AppData\Local", r"C:\ProgramData"),
)
GOOD = r"D:\Edge0\models"
ADD = (
    "$ErrorActionPreference='Stop'; $p='{0}\\*\\*.moex'; try { "
    "$d=Get-Item -Force -LiteralPath '{0}'; if ($d.FullName -ne '{0}') { exit 3 }; "
    "while ($d) { if ($d.Attributes -band 1024) { exit 3 }; $d=$d.Parent }; "
    "if ((Get-MpPreference).ExclusionPath -contains $p) { exit 1 }; "
    "Add-MpPreference -ExclusionPath $p; "
    "if ((Get-MpPreference).ExclusionPath -contains $p) { exit 0 }; exit 4 } catch { exit 2 }"
)
LONG = "D:\\" + "\\".join(["a" * 47] * 6)


@pytest.mark.parametrize(
    ("models", "inside"),
    [
        (GOOD, GOOD),
        (r"D:\o'brien\m", r"D:\o''brien\m"),
        ("D:\\o\u2019brien\\m", "D:\\o\u2019\u2019brien\\m"),
        ("D:\\\u2018a\u201a\u201b", "D:\\\u2018\u2018a\u201a\u201a\u201b\u201b"),
        (r"D:\$env;calc`n&x", r"D:\$env;calc`n&x"),
        (r"D:\$(calc)", r"D:\$(calc)"),
        ("D:\\测试 用户\u3000é''&#%"[:-1], "D:\\测试 用户\u3000é''''&#"),
        (LONG, LONG),
    ],
)
def test_the_exact_text_that_runs(models: str, inside: str) -> None:
    text = ADD.replace("{0}", inside)
    assert script(models, "add") == text
    assert parameters(models, "add") == f'-NoProfile -NonInteractive -Command "{text}"'
    assert parameters(models, "add").count('"') == 2
    assert defender.shown_command(models, "add") == (
        f"Add-MpPreference -ExclusionPath '{inside}\\*\\*.moex'"
    )


def test_the_exact_text_that_undoes() -> None:
    assert script(GOOD, "remove") == (
        "$ErrorActionPreference='Stop'; $p='D:\\Edge0\\models\\*\\*.moex'; try { "
        "if (-not ((Get-MpPreference).ExclusionPath -contains $p)) { exit 1 }; "
        "Remove-MpPreference -ExclusionPath $p; "
        "if (-not ((Get-MpPreference).ExclusionPath -contains $p)) { exit 0 }; exit 4 }"
        " catch { exit 2 }"
    )


@pytest.mark.parametrize(
    "never", ["Set-MpPreference", "ExclusionProcess", "ExclusionExtension", "Bypass", "Encoded"]
)
def test_what_is_never_used(never: str) -> None:
    for action in ("add", "remove"):
        assert never not in parameters(GOOD, action)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "models",
    [
        GOOD,
        r"D:\models",
        r"c:\Users\Eva\AppData\Local\Edge0\models",
        r"D:\100% mine",
        "D:\\模型 é'&#;$`",
        LONG,
    ],
)
def test_a_folder_for_models_may_be_excluded(models: str) -> None:
    assert refusal(models, KNOWN) == ""


@pytest.mark.parametrize(
    "models",
    [
        "",
        "models",
        "D:",
        "D:\\",
        "D:/",
        r"D:models",
        r"\models",
        r"\\server\share\models",
        r"\\?\D:\models",
        r"\\.\D:\models",
        "//server/share/m",
        "D:/Edge0/models",
        r"D:\a\..\b",
        r"D:\a\..",
        r"D:\.\a",
        r"D:\*\a",
        r"D:\mod?ls",
        r"D:\a[b]",
        'D:\\a"b',
        "D:\\a\nb",
        "D:\\a\u202eb",
        r"D:\models:stream",
        r"D:\models. ",
        "D:\\models \\x",
        r"D:\%USERPROFILE%\x",
        r"C:\Users",
        r"c:\users\eva",
        r"C:\Users\Eva\AppData",
        r"C:\Users\Eva\AppData\Local",
        r"C:\Users\Eva\AppData\Local\Temp",
        r"C:\Users\Eva\AppData\Local\Temp\models",
        r"D:\Temp\models",
        r"D:\tmp",
        r"C:\Users\Eva\Downloads",
        r"E:\Documents",
        r"C:\Windows\models",
        r"C:\PROGRAM FILES\x",
        r"C:\Users\Eva\AppData\Local\Programs\Edge0\models",
        r"C:\ProgramData",
        "D:\\" + "x" * 1000,
    ],
)
def test_anything_wider_is_refused(models: str) -> None:
    assert refusal(models, KNOWN)


def test_windows_variables_become_protected_folders() -> None:
    environ = {"SystemRoot": r"C:\Windows", "USERPROFILE": r"C:\Users\Eva", "TMP": ""}
    known = defender.known_folders(environ, r"D:\Apps\Edge0")
    assert known == KnownFolders((r"C:\Windows", r"D:\Apps\Edge0"), (r"C:\Users\Eva",))


def test_the_pattern_reaches_one_level_only() -> None:
    assert pattern("D:\\Edge0\\models\\") == r"D:\Edge0\models\*\*.moex"


def test_exit_codes_in_words() -> None:
    assert [outcome(code) for code in (0, 1, 2, 3, 4, 77, None)] == [
        "done", "already", "failed", "refused", "ineffective", "failed", "timeout"
    ]  # fmt: skip


class Shell:
    """Shell32 and kernel32 as far as they are used; keeps what it was given."""

    def __init__(self, started: bool = True, wait: int = 0, code: int = 0) -> None:
        self.started, self.wait, self.code = started, wait, code
        self.seen: dict[str, Any] = {}
        self.closed = 0

    def ShellExecuteExW(self, reference: Any) -> bool:
        info = reference._obj
        names = ("size", "mask", "verb", "file", "parameters", "show", "window")
        self.seen = {name: getattr(info, name) for name in names}
        info.process = 77
        return self.started

    def WaitForSingleObject(self, process: Any, ms: Any) -> int:
        assert (process.value, ms.value) == (77, 60_000)
        return self.wait

    def GetExitCodeProcess(self, process: Any, code: Any) -> bool:
        code._obj.value = self.code
        return True

    def CloseHandle(self, process: Any) -> None:
        self.closed += 1


def run(shell: Shell, error: int = 0) -> int | None:
    return windows_elevate.run_elevated(shell, shell, lambda: error, r"C:\p.exe", "-x 'y z'")


def test_windows_is_asked_for_exactly_one_program() -> None:
    shell = Shell(code=4)
    assert run(shell) == 4 and shell.closed == 1
    assert shell.seen == {
        "size": 112 if ctypes.sizeof(ctypes.c_void_p) == 8 else 60,
        "mask": 0x140, "verb": "runas", "file": r"C:\p.exe", "parameters": "-x 'y z'",
        "show": 0, "window": None,
    }  # fmt: skip


def test_saying_no_is_no_fault_and_no_second_try() -> None:
    with pytest.raises(windows_elevate.Refused):
        run(Shell(started=False), 1223)
    with pytest.raises(OSError, match="5"):
        run(Shell(started=False), 5)
    slow = Shell(wait=258)
    assert run(slow) is None and slow.closed == 1


def test_the_ledger_knows_what_we_added(tmp_path: Path) -> None:
    path = tmp_path / "new" / "défender.json"
    one = Exclusion(GOOD, pattern(GOOD), "2026-11-29")
    two = Exclusion("E:\\模型", pattern("E:\\模型"), "2026-11-30")
    for exclusion in (one, two, one):
        note_added(path, exclusion)
    assert read_ledger(path) == [two, one]
    note_removed(path, two.pattern)
    assert read_ledger(path) == [one]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("content", ["", "[]", '{"exclusions": [{"x": 1}]}', '{"exclusions": 3}'])
def test_a_damaged_ledger_is_empty(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(content, encoding="utf-8")
    assert read_ledger(path) == []
