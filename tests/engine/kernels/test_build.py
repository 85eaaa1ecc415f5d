"""The kernels' build: right flags per file and target, rebuilt when needed, never half there."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from engine.kernels import build
from tests.helpers.real_environment import REAL_CACHE

SOURCE = '__attribute__((visibility("default"))) int e0_answer(void) { return ANSWER; }\n'
LINUX, WINDOWS, MACOS = (
    build.Target("linux", "x86_64"),
    build.Target("windows", "x86_64"),
    build.Target("macos", "arm64"),
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "源 o'ne"
    folder.mkdir()
    (folder / "answer.h").write_text("#define ANSWER 42\n", encoding="utf-8")
    (folder / "answer.c").write_text('#include "answer.h"\n' + SOURCE, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def compiler_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """zig compiles its start-up files once per cache."""
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(REAL_CACHE / "zig"))


@pytest.mark.parametrize(
    ("text", "name", "triple"),
    [
        (
            "x86_64-windows-gnu",
            "edge0-kernels-windows-x86_64.dll",
            "x86_64-windows-gnu",
        ),
        ("AMD64-windows", "edge0-kernels-windows-x86_64.dll", "x86_64-windows-gnu"),
        ("aarch64-linux-gnu", "edge0-kernels-linux-arm64.so", "aarch64-linux-gnu.2.28"),
        ("arm64-macos", "edge0-kernels-macos-arm64.dylib", "aarch64-macos.11.0"),
    ],
)
def test_targets_by_the_names_people_use(text: str, name: str, triple: str) -> None:
    target = build.parse_target(text)
    assert (target.library_name, target.triple) == (name, triple)


@pytest.mark.parametrize("text", ["", "x86_64", "mips-linux", "x86_64-plan9", "linux-x86_64"])
def test_unknown_targets_are_refused(text: str) -> None:
    with pytest.raises(build.BuildError, match="Unknown target"):
        build.parse_target(text)


def test_the_library_is_built_once_and_again_when_a_header_changes(
    sources: Path, tmp_path: Path
) -> None:
    library = build.build(None, sources, tmp_path / "lib")
    assert ctypes.CDLL(str(library)).e0_answer() == 42
    made = library.stat().st_mtime_ns
    assert build.build(None, sources, tmp_path / "lib").stat().st_mtime_ns == made
    (sources / "answer.h").write_text("#define ANSWER 43\n", encoding="utf-8")
    build.build(None, sources, tmp_path / "lib")
    code = f"import ctypes; print(ctypes.CDLL({str(library)!r}).e0_answer())"
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert again.stdout.strip() == "43"  # a fresh process: this one has the old library loaded
    assert sorted(p.name for p in (tmp_path / "lib").iterdir()) == [
        library.name,
        f"{library.name}.sha256",
    ]


def test_any_character_of_a_path_is_taken_as_it_is(sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "100% %20 %s é"
    sources.rename(folder)
    library = build.build(None, folder, folder / "lib %d")
    assert ctypes.CDLL(str(library)).e0_answer() == 42


def test_a_library_without_its_stamp_counts_as_unfinished(sources: Path, tmp_path: Path) -> None:
    library = build.build(None, sources, tmp_path / "lib")
    library.write_bytes(b"half of it")
    library.with_name(f"{library.name}.sha256").unlink()
    build.build(None, sources, tmp_path / "lib")
    assert ctypes.CDLL(str(library)).e0_answer() == 42


def test_a_compile_error_shows_the_compilers_words(sources: Path, tmp_path: Path) -> None:
    (sources / "broken.c").write_text("int f(void) { return nonsense; }\n", encoding="utf-8")
    with pytest.raises(build.BuildError, match="nonsense"):
        build.build(None, sources, tmp_path / "lib")
    assert not list((tmp_path / "lib").iterdir())


def test_no_sources_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(build.BuildError, match="No C sources"):
        build.build(None, tmp_path, tmp_path / "lib")


def commands(name: str, target: build.Target) -> list[str]:
    return build._compile_command(Path(name), target, sanitize=False)


def test_each_variant_gets_its_flags_only_on_its_processor() -> None:
    assert "-mavx512vnni" in commands("kernels_avx512.c", LINUX)
    assert "-mavx512vnni" not in commands("kernels_avx2.c", LINUX)
    assert "-mfma" in commands("kernels_avx2.c", WINDOWS)
    assert "-mavxvnni" in commands("kernels_avxvnni.c", LINUX)
    assert not [f for f in commands("kernels_avx512.c", MACOS) if "avx" in f]
    assert [f for f in commands("kernels_neon.c", MACOS) if "dotprod" in f]
    assert not [f for f in commands("kernels_neon.c", MACOS) if "i8mm" in f]
    assert [f for f in commands("kernels_neon_i8mm.c", MACOS) if "i8mm" in f]
    assert not [f for f in commands("kernels_neon.c", LINUX) if "dotprod" in f]
    assert not [f for f in commands("exec.c", LINUX) if f.startswith("-m")]


def test_flags_and_targets_are_part_of_the_fingerprint(sources: Path) -> None:
    marks = {build.fingerprint(target, sources) for target in (LINUX, WINDOWS, MACOS)}
    marks.add(build.fingerprint(LINUX, sources, sanitize=True))
    assert len(marks) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="a trap is a signal on POSIX")
def test_the_sanitized_library_stops_on_undefined_behaviour(sources: Path, tmp_path: Path) -> None:
    (sources / "overflow.c").write_text(
        '__attribute__((visibility("default"))) int e0_next(int a) { return a + 1; }\n',
        encoding="utf-8",
    )
    library = build.build(None, sources, tmp_path / "lib", sanitize=True)
    for value, survives in ((41, True), (2**31 - 1, False)):
        code = f"import ctypes; ctypes.CDLL({str(library)!r}).e0_next({value})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True)
        assert (done.returncode == 0) is survives
