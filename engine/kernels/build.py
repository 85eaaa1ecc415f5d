"""Compiles src/*.c into one shared library with the C compiler that the `ziglang` package carries.

Runs at install time (hatch_build.py loads this file by path) and by hand,
`python -m engine.kernels.build`. Standard library only; imports nothing of ours.
A library is rebuilt only when its sources or flags changed: their hash lies beside it, is removed
before the library is replaced and written after, so a kill in between means a rebuild.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
LIBRARIES = HERE / "lib"

# No contraction: a fused multiply-add appears only where the source says so, on every set alike.
COMMON_FLAGS = ("-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden", "-ffp-contract=off")
RELEASE_FLAGS = ("-O3", "-DNDEBUG", "-fno-sanitize=all")
# zig carries no AddressSanitizer; undefined behaviour stops the process at the spot.
SANITIZE_FLAGS = ("-O1", "-g", "-fsanitize=undefined", "-fsanitize-trap=undefined")


@dataclass(frozen=True)
class Variant:
    """On `arch`, sources whose file name contains `mark` get `flags` on top; the first wins."""

    mark: str
    arch: str
    flags: tuple[str, ...]


_AVX2 = ("-mavx2", "-mfma", "-mf16c")
_AVX512 = (
    *("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni"),
    "-mprefer-vector-width=512",
)
VARIANTS = (
    Variant("_avx512", "x86_64", (*_AVX2, *_AVX512)),
    Variant("_avxvnni", "x86_64", (*_AVX2, "-mavxvnni")),
    Variant("_avx2", "x86_64", _AVX2),
    Variant("_neon_i8mm", "arm64", ("-mcpu=generic+dotprod+fullfp16+i8mm",)),
    Variant("_neon", "arm64", ("-mcpu=generic+dotprod+fullfp16",)),
)


@dataclass(frozen=True)
class System:
    """What differs by operating system: file suffix, zig's name for it, link flags."""

    suffix: str
    abi: str
    link_flags: tuple[str, ...]


SYSTEMS = {
    "linux": System(".so", "linux-gnu.2.28", ("-lm", "-lpthread", "-Wl,-z,now", "-Wl,-z,defs")),
    "windows": System(".dll", "windows-gnu", ()),
    "macos": System(".dylib", "macos.11.0", ()),
}
_WHEEL_TAGS = {
    ("linux", "x86_64"): "manylinux_2_28_x86_64",
    ("linux", "arm64"): "manylinux_2_28_aarch64",
    ("windows", "x86_64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
    ("macos", "x86_64"): "macosx_11_0_x86_64",
    ("macos", "arm64"): "macosx_11_0_arm64",
}
_ARCHS = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}
_PLATFORMS = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}


class BuildError(Exception):
    """The kernels cannot be built; the text says why."""


@dataclass(frozen=True)
class Target:
    """An operating system and processor the library is built for."""

    system: str
    arch: str

    @property
    def library_name(self) -> str:
        return f"edge0-kernels-{self.system}-{self.arch}{SYSTEMS[self.system].suffix}"

    @property
    def triple(self) -> str:
        """zig's name of the target; naming one also means its baseline processor."""
        arch = "aarch64" if self.arch == "arm64" else self.arch
        return f"{arch}-{SYSTEMS[self.system].abi}"

    @property
    def wheel_tag(self) -> str:
        return f"py3-none-{_WHEEL_TAGS[self.system, self.arch]}"


def parse_target(text: str) -> Target:
    """`x86_64-windows-gnu`, `aarch64-linux`, `arm64-macos` … → Target."""
    arch, _, rest = text.partition("-")
    system = rest.partition("-")[0].partition(".")[0]
    if arch.lower() not in _ARCHS or system not in SYSTEMS:
        raise BuildError(f"Unknown target {text!r}: give x86_64 or arm64, '-', {list(SYSTEMS)}.")
    return Target(system, _ARCHS[arch.lower()])


def host_target() -> Target:
    """The machine this process runs on (the process's own architecture, not an emulated one)."""
    return parse_target(f"{platform.machine()}-{_PLATFORMS.get(platform.system(), 'unknown')}")


def library_path(target: Target, folder: Path = LIBRARIES, *, sanitize: bool = False) -> Path:
    """Where the target's library lies; a sanitized one lies in a folder of its own."""
    return folder / "sanitize" / target.library_name if sanitize else folder / target.library_name


def _variant_flags(source: Path, target: Target) -> tuple[str, ...]:
    matching = (v for v in VARIANTS if v.mark in source.stem and v.arch == target.arch)
    return next(matching, Variant("", "", ())).flags


def _compile_command(source: Path, target: Target, sanitize: bool) -> list[str]:
    return [
        *("-target", target.triple, *COMMON_FLAGS),
        *(SANITIZE_FLAGS if sanitize else RELEASE_FLAGS),
        *(() if target.system == "windows" else ("-fPIC",)),
        *_variant_flags(source, target),
    ]


def _link_command(target: Target, sanitize: bool) -> list[str]:
    strip = () if sanitize else ("-s",)
    return ["-target", target.triple, "-shared", *strip, *SYSTEMS[target.system].link_flags]


def fingerprint(target: Target, folder: Path = SOURCES, *, sanitize: bool = False) -> str:
    """Hash of everything the library is made from: sources, headers and flags."""
    digest = hashlib.sha256(repr(_link_command(target, sanitize)).encode())
    for file in sorted(f for f in folder.iterdir() if f.suffix in (".c", ".h", ".inc")):
        flags = _compile_command(file, target, sanitize)
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.name}\0{flags}\0{content}\n".encode())
    return digest.hexdigest()


def _zig(arguments: Sequence[str | Path], work: Path) -> None:
    command = [sys.executable, "-m", "ziglang", "cc", *map(str, arguments)]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, errors="replace")
    if "No module named ziglang" in done.stderr:
        raise BuildError("The compiler is missing: pip install ziglang.")
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    if done.stderr.strip():
        sys.stderr.write(done.stderr)


def _compile_and_link(sources: list[Path], target: Target, sanitize: bool, work: Path) -> Path:
    # Names without folders (the compiler works in `work`): zig takes a % in an output's path amiss.
    objects = [f"{source.stem}.o" for source in sources]

    def compile_one(source: Path, output: str) -> None:
        _zig([*_compile_command(source, target, sanitize), "-c", source, "-o", output], work)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        list(pool.map(compile_one, sources, objects))
    _zig([*_link_command(target, sanitize), *objects, "-o", target.library_name], work)
    return work / target.library_name


def _publish(built: Path, library: Path, stamp: Path, hashed: str) -> None:
    stamp.unlink(missing_ok=True)
    try:
        os.replace(built, library)
    except PermissionError as error:
        raise BuildError(f"{library} is in use: close Edge0 and try again.") from error
    temporary = stamp.with_name(f"{stamp.name}.{os.getpid()}.tmp")
    temporary.write_text(hashed, encoding="utf-8")
    os.replace(temporary, stamp)


def _stamp_of(library: Path) -> Path:
    return library.with_name(f"{library.name}.sha256")


def _is_current(library: Path, hashed: str) -> bool:
    stamp = _stamp_of(library)
    return library.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == hashed


def build(
    target: Target | None = None,
    sources: Path = SOURCES,
    folder: Path = LIBRARIES,
    *,
    sanitize: bool = False,
) -> Path:
    """Make sure the library of `target` (this machine by default) is there and current.

    Returns its path; raises BuildError with the compiler's words.
    """
    target = target or host_target()
    found = sorted(sources.glob("*.c"))
    if not found:
        raise BuildError(f"No C sources in {sources}.")
    library = library_path(target, folder, sanitize=sanitize)
    hashed = fingerprint(target, sources, sanitize=sanitize)
    if _is_current(library, hashed):
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".build-") as work:
        built = _compile_and_link(found, target, sanitize, Path(work))
        _publish(built, library, _stamp_of(library), hashed)
    return library


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: build one or more targets, print where each library lies."""
    parser = argparse.ArgumentParser(prog="python -m engine.kernels.build", description=__doc__)
    parser.add_argument("--target", action="append", default=[], help="e.g. x86_64-windows-gnu")
    parser.add_argument("--sanitize", action="store_true", help="trap undefined behaviour")
    options = parser.parse_args(arguments)
    try:
        targets = [parse_target(text) for text in options.target] or [host_target()]
        for target in targets:
            print(build(target, sanitize=options.sanitize))
    except BuildError as error:
        print(f"Building the kernels failed.\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
