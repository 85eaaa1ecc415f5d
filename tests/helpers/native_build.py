"""Builds the C programs of tests/native with the library's sources, and says how to run them.

Finished programs are kept in the tests' cache, named after a hash of all they are made from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import filelock

from engine.kernels import build
from tests.helpers.real_environment import REAL_CACHE

PROGRAMS = Path(__file__).resolve().parents[1] / "native"
CACHE = REAL_CACHE / "native"
X86, ARM, WINDOWS = (
    build.Target("linux", "x86_64"),
    build.Target("linux", "arm64"),
    build.Target("windows", "x86_64"),
)
_GCC = ("gcc", "-std=gnu11", "-g", "-w", "-ffp-contract=off", "-fno-sanitize-recover")
# Pages from malloc, which a checker of memory guards.
_RENAMED = tuple(f"-De0_pages_{name}=system_{name}" for name in ("alloc", "free", "discard"))


@dataclass(frozen=True)
class Flavour:
    """One way to build and run. gcc: its sanitizer and optimisation; empty builds with zig.

    portable leaves all other instruction sets out. triple replaces the target's, where only
    another C library can be run here.
    """

    name: str
    target: build.Target
    gcc: tuple[str, ...] = ()
    portable: bool = False
    sanitize: bool = True
    triple: str = ""
    runner: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


FLAVOURS = (
    Flavour("undefined behaviour", build.host_target()),
    Flavour("addresses", X86, gcc=("-fsanitize=address", "-O0")),
    Flavour("races", X86, gcc=("-fsanitize=thread", "-O1"), portable=True),
    Flavour("valgrind", X86, sanitize=False, runner=("valgrind", "-q", "--error-exitcode=9")),
    Flavour("arm64", ARM, triple="aarch64-linux-musl", runner=("qemu-aarch64",)),
    Flavour(
        "windows",
        WINDOWS,
        sanitize=False,
        runner=("wine",),
        environment={"WINEPREFIX": str(CACHE / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""},
    ),
)


def missing(flavour: Flavour) -> str:
    """Why a flavour cannot be built or run here; empty when it can."""
    tools = ([flavour.runner[0]] if flavour.runner else []) + (["gcc"] if flavour.gcc else [])
    absent = [tool for tool in tools if not shutil.which(tool)]
    if absent:
        return f"{', '.join(absent)} is not installed"
    if (flavour.gcc or "valgrind" in flavour.runner) and build.host_target() != X86:
        return "needs Linux on x86-64"
    if flavour.gcc and not _gcc_links(flavour.gcc):
        return f"gcc lacks {flavour.gcc[0]}"
    if "valgrind" in flavour.runner and not missing(FLAVOURS[1]):
        return "gcc's own checker of addresses is there"
    return ""


def _gcc_links(flags: tuple[str, ...]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [*_GCC, *flags, "-x", "c", "-", "-o", str(Path(folder) / "a")]
        return not subprocess.run(
            command, input=b"int main(void){}", capture_output=True
        ).returncode


def run(flavour: Flavour, program: str, folder: Path, *arguments: object) -> str:
    """Build (if need be) and run a program in `folder`; its output. Fails with what it said."""
    command = [*flavour.runner, str(executable(flavour, program)), *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **flavour.environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done.stdout


def executable(flavour: Flavour, program: str) -> Path:
    """The built program."""
    name, made_of = flavour.name.replace(" ", "-"), _hash(flavour)
    folder = CACHE / f"{name}-{made_of}"
    suffix = ".exe" if flavour.target.system == "windows" else ""
    CACHE.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(CACHE / f"{name}.lock"):
        if not folder.is_dir():
            for old in CACHE.glob(f"{name}-*"):
                shutil.rmtree(old, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=CACHE) as work:
                _build(flavour, suffix, made_of, Path(work))
                assert _hash(flavour) == made_of, "the sources changed while they were compiled"
                shutil.copytree(work, folder, ignore=shutil.ignore_patterns("*.o"))
    return folder / f"{program}{suffix}"


def _hash(flavour: Flavour) -> str:
    digest = hashlib.sha256(repr((flavour, Path(__file__).read_bytes())).encode())
    for folder in (build.SOURCES, PROGRAMS):
        for file in sorted(folder.iterdir()):
            digest.update(f"{file.name}\0{_compile(flavour, file)}".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _build(flavour: Flavour, suffix: str, made_of: str, work: Path) -> None:
    """Both programs, of one set of objects. The define keeps zig's own cache out of it: that takes
    a header changed during a compilation for the one that was read."""
    library = _library(flavour)
    tests = sorted(PROGRAMS.glob("*_test.c"))

    def compile_one(source: Path) -> Path:
        output = work / f"{source.stem}.o"
        command = [*_compile(flavour, source), f"-DE0_MADE_OF_{made_of}"]
        _call([*command, "-c", str(source), "-o", str(output)])
        return output

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, [*tests, *library]))
    libraries = () if flavour.target.system == "windows" else ("-lm", "-lpthread")
    for test in objects[: len(tests)]:
        program = work / (test.stem.removesuffix("_test") + suffix)
        parts = map(str, (test, *objects[len(tests) :]))
        _call([*_link(flavour), *parts, *libraries, "-o", str(program)])


def _library(flavour: Flavour) -> list[Path]:
    """What is linked besides the test itself."""
    sources = sorted(build.SOURCES.glob("*.c"))
    if flavour.portable:
        marks = [variant.mark for variant in build.VARIANTS]
        sources = [s for s in sources if not any(mark in s.stem for mark in marks)]
        sources.append(PROGRAMS / "portable_only.c")
    if _guards_pages(flavour):
        sources.append(PROGRAMS / "guarded_pages.c")
    return sources


def _guards_pages(flavour: Flavour) -> bool:
    return "-fsanitize=address" in flavour.gcc


def _compile(flavour: Flavour, source: Path) -> list[str]:
    include = ["-I", str(build.SOURCES)]
    if not flavour.gcc:
        flags = build._compile_command(source, flavour.target, flavour.sanitize)
        fast = ["-O0" if flag == "-O1" else flag for flag in flags[2:]]  # to build, not to run
        return [*_zig(flavour), *fast, "-g", *include]
    flags = list(build._variant_flags(source, flavour.target))
    if _guards_pages(flavour) and source.stem == "platform":
        flags += _RENAMED
    return [*_GCC, *flavour.gcc, *flags, "-include", str(PROGRAMS / "gcc_clang.h"), *include]


def _link(flavour: Flavour) -> list[str]:
    if flavour.gcc:
        return [*_GCC, *flavour.gcc]
    return [*_zig(flavour), "-O3", "-fno-sanitize=all"]  # what zig adds is built once, the same way


def _zig(flavour: Flavour) -> list[str]:
    triple = flavour.triple or flavour.target.triple
    static = ["-static"] if "musl" in triple else []
    return [sys.executable, "-m", "ziglang", "cc", "-target", triple, *static]


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[-6000:]}"
