"""What the doctor says of a machine, from readings of many machines."""

from __future__ import annotations

import pytest

from engine.doctor import machine_checks as checks
from engine.kernels.native import NativeError
from engine.machine.samples import CpuInfo, MemorySample, SystemMemory

GB = 10**9


def test_kernels() -> None:
    def broken() -> str:
        raise NativeError("The native library is missing.", "Install again.")

    assert checks.kernels(lambda: "avx512").status == "ok"
    assert "avx512" in checks.kernels(lambda: "avx512").evidence
    assert checks.kernels(lambda: "scalar").status == "warn"
    finding = checks.kernels(broken)
    assert (finding.status, finding.advice) == ("fail", "Install again.")
    assert "missing" in finding.evidence


def test_one_thread_is_a_warning() -> None:
    assert checks.processor(CpuInfo("i7", 8, 4)).status == "ok"
    assert checks.processor(CpuInfo("i7", 8, 1)).status == "warn"
    assert "8 logical" in checks.processor(CpuInfo("i7", 8, 4)).evidence


@pytest.mark.parametrize(
    ("total", "status"), [(4 * GB, "warn"), (7_400_000_000, "warn"), (7_900_000_000, "ok")]
)
def test_less_than_8_gb(total: int, status: str) -> None:
    assert checks.memory(SystemMemory(total, GB, total)).status == status


def test_a_limit_is_named_with_the_memory_it_hides() -> None:
    finding = checks.memory(SystemMemory(4 * GB, 3 * GB, 32 * GB, 4 * GB))
    assert finding.status == "warn" and "4.0 GB, limited from 32.0 GB" in finding.evidence


def test_little_free_memory() -> None:
    assert checks.free_memory(SystemMemory(16 * GB, GB, 16 * GB)).status == "warn"
    assert checks.free_memory(SystemMemory(16 * GB, 9 * GB, 16 * GB)).status == "ok"


def test_three_sizes_three_words() -> None:
    finding = checks.process_sizes(MemorySample(3 * GB, 4 * GB, 22 * GB))
    assert finding.evidence == (
        "This process: working set 3.0 GB, committed 4.0 GB, virtual 22.0 GB."
    )


@pytest.mark.parametrize(("size", "status"), [(0, "warn"), (16 << 20, "warn"), (2 * GB, "ok")])
def test_page_file(size: int, status: str) -> None:
    assert checks.page_files(size).status == status


def test_every_check_runs_here() -> None:
    found = {finding.id: finding for finding in checks.check_all()}
    assert {"kernels", "processor", "memory", "memory-free", "working-set"} <= found.keys()
    assert all(finding.title and finding.evidence for finding in found.values())


def test_the_page_file_is_asked_for_on_windows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "page_file_bytes", lambda: 0)
    assert "page-file" in [finding.id for finding in checks.check_all()]
