"""The C programs of tests/native under every checker and emulator this machine has.

kernel_test.c compares each instruction set with the portable one bit for bit; store_test.c runs a
small model through pool, store and executor. Undefined behaviour, bad addresses and races end them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.native_build import FLAVOURS, Flavour, missing, run
from tests.helpers.native_program import instruction_sets
from tests.helpers.real_environment import REAL_CACHE

ROUNDS = {  # of kernel_test and store_test: a second or two
    "undefined behaviour": (30, 8),
    "addresses": (4, 3),
    "races": (0, 3),
    "valgrind": (1, 1),
    "arm64": (6, 2),
    "windows": (20, 6),
}
ARM64 = next(flavour for flavour in FLAVOURS if flavour.name == "arm64")


@pytest.fixture(params=FLAVOURS, ids=lambda flavour: flavour.name)
def flavour(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Flavour:
    chosen: Flavour = request.param
    if reason := missing(chosen):
        pytest.skip(reason)
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(REAL_CACHE / "zig"))
    return chosen


@pytest.mark.timeout(600)  # the first time they are built
def test_every_kernel_agrees_with_the_portable_one(flavour: Flavour, tmp_path: Path) -> None:
    if flavour.portable:
        pytest.skip("only the portable one is built")
    words = run(flavour, "kernel", tmp_path, ROUNDS[flavour.name][0]).split()
    assert words[-2:] == ["scalar", "ok"]
    if flavour.name == "undefined behaviour":
        assert words[::2] == instruction_sets()
    if flavour.name == "arm64":
        assert words[::2] == ["neon_i8mm", "neon", "scalar"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("flavour", [ARM64], ids=["arm64"], indirect=True)
def test_int8_matrix_products_run_where_the_processor_has_them(
    flavour: Flavour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QEMU_LOG", "in_asm")
    monkeypatch.setenv("QEMU_LOG_FILENAME", str(tmp_path / "executed"))
    smmla = re.compile(r"  4e[89][0-9a-f]a[4-7][0-9a-f]{2}  ")
    for processor, sets in (
        ("max", ["neon_i8mm", "neon", "scalar"]),
        ("neoverse-n1", ["neon", "scalar"]),
        ("cortex-a53", ["scalar"]),
    ):
        monkeypatch.setenv("QEMU_CPU", processor)
        assert run(flavour, "kernel", tmp_path, 0).split()[::2] == sets
        executed = (tmp_path / "executed").read_text(encoding="utf-8", errors="replace")
        assert bool(smmla.search(executed)) is (processor == "max")


@pytest.mark.timeout(600)
def test_a_streamed_model_agrees_with_one_in_memory(flavour: Flavour, tmp_path: Path) -> None:
    for seed in (1, 2):
        rounds = ROUNDS[flavour.name][1]
        assert run(flavour, "store", tmp_path, rounds, seed).split() == ["store", "ok"]
    assert not list(tmp_path.iterdir())
