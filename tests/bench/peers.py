"""Builds llama.cpp's llama-bench from the llama-cpp-python source distribution, once, and runs it.

python -m tests.bench.peers [--variant native|avx2] [--cache DIR]      prints where it is

Needs cmake, ninja and a C++ compiler. Its prompts are random tokens, so engines whose speed depends
on the text (anything that streams experts) meet a harder text here than in real use.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock
import platformdirs

from tests.bench.running import BenchError, Finished, run, say, script

PROJECT, VERSION = "llama-cpp-python", "0.3.36"
SOURCE = f"llama_cpp_python-{VERSION}"
COMMON_FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
)
VARIANTS = {
    "native": ("-DGGML_NATIVE=ON",),
    "avx2": (
        "-DGGML_NATIVE=OFF",
        "-DGGML_AVX2=ON",
        "-DGGML_FMA=ON",
        "-DGGML_F16C=ON",
        "-DGGML_BMI2=ON",
        "-DGGML_AVX_VNNI=OFF",
        "-DGGML_AVX512=OFF",
    ),
}
# Without repacking, whose copies are anonymous memory, it can run in less memory than the model.
LIMITED = ("--repack", "0", "-lm", "mmap", "--no-warmup")


@dataclass(frozen=True)
class PeerTest:
    """One of llama-bench's tests: "pp512" (prefill) or "tg64" (decode), a number a repetition."""

    name: str
    tokens: int
    seconds: tuple[float, ...]

    @property
    def tok_s(self) -> tuple[float, ...]:
        """Tokens a second of each repetition."""
        return tuple(self.tokens / s for s in self.seconds)


def default_cache() -> Path:
    """Where sources and builds are kept."""
    return platformdirs.user_cache_path("edge0-bench", appauthor=False)


def llama_bench(variant: str = "native", cache: Path | None = None) -> Path:
    """The built llama-bench of a variant; fetched and built when it is not there yet."""
    cache = cache or default_cache()
    cache.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(cache / "build.lock"):
        source = _sources(cache) / "vendor" / "llama.cpp"
        build = source / f"build-{variant}"
        binary = build / "bin" / "llama-bench"
        if not binary.is_file():
            _build(source, build, VARIANTS[variant])
        return binary


def _sources(cache: Path) -> Path:
    folder, archive = cache / SOURCE, cache / f"{SOURCE}.tar.gz"
    if folder.is_dir():
        return folder
    if not archive.is_file():
        say(f"fetching {PROJECT} {VERSION} …")
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
        run([*pip, "--dest", cache, f"{PROJECT}=={VERSION}"])
    with tempfile.TemporaryDirectory(dir=cache) as scratch, tarfile.open(archive) as packed:
        packed.extractall(scratch, filter="data")
        (Path(scratch) / SOURCE).rename(folder)
    return folder


def _build(source: Path, build: Path, flags: Sequence[str]) -> None:
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool):
            raise BenchError(f"{tool} is missing: pip install cmake ninja.")
    say(f"building llama-bench in {build} …")
    run(["cmake", "-S", source, "-B", build, "-G", "Ninja", *COMMON_FLAGS, *flags])
    run(["cmake", "--build", build, "--target", "llama-bench"])


def command(
    binary: Path,
    model: Path,
    prompts: Sequence[int],
    generate: int,
    repetitions: int,
    threads: int,
    extra: Sequence[str] = (),
) -> list[str]:
    """A call of llama-bench: one prefill test for each of `prompts`, one decode test."""
    lengths = ",".join(str(p) for p in prompts) or "0"
    work = ["-p", lengths, "-n", str(generate), "-r", str(repetitions), "-t", str(threads)]
    return [str(binary), "-m", str(model), *work, "-o", "json", *extra]


def parse(output: str) -> dict[str, PeerTest]:
    """llama-bench's JSON by the tests' names. Raises BenchError when it is something else."""
    try:
        tests = [_test(entry) for entry in json.loads(output)]
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"llama-bench printed something unknown: {error!r}.") from error
    return {test.name: test for test in tests}


def _test(entry: dict[str, Any]) -> PeerTest:
    prompt, generate = int(entry["n_prompt"]), int(entry["n_gen"])
    seconds = tuple(ns / 1e9 for ns in entry["samples_ns"])
    name = f"tg{generate}" if generate else f"pp{prompt}"
    return PeerTest(name, generate or prompt, seconds)


def measure(arguments: Sequence[str]) -> tuple[dict[str, PeerTest], Finished]:
    """Run llama-bench: its tests, and what the system counted."""
    finished = run(arguments)
    return parse(finished.output), finished


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every script that runs llama-bench."""
    parser.add_argument("--llama-bench", type=Path, metavar="PATH", help="use this build of it")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where it is built; kept")


def from_options(options: argparse.Namespace, variant: str = "native") -> Path:
    """The llama-bench the options ask for."""
    return options.llama_bench or llama_bench(variant, options.cache)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", choices=tuple(VARIANTS), default="native")
    parser.add_argument("--cache", type=Path, metavar="DIR")
    options = parser.parse_args()
    print(llama_bench(options.variant, options.cache))


if __name__ == "__main__":
    script(main)
