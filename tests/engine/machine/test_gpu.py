"""What the machine says about its graphics processors, in the words of each source."""

from __future__ import annotations

from pathlib import Path

from engine.machine.gpu import from_nvidia, from_sysfs, gpu_info
from engine.machine.samples import GpuInfo


def test_what_nvidias_tool_prints() -> None:
    text = "NVIDIA GeForce RTX 4090, 24564\nNVIDIA H200, with a comma, 143771\n"
    assert from_nvidia(lambda: text) == (
        GpuInfo("NVIDIA GeForce RTX 4090", 24564 << 20),
        GpuInfo("NVIDIA H200, with a comma", 143771 << 20),
    )
    for odd in ("", "No devices were found\n", "X, [N/A]\n", ", 3\n"):
        assert from_nvidia(lambda odd=odd: odd) == ()  # type: ignore[misc]


def test_what_linux_says_of_amds_cards(tmp_path: Path) -> None:
    for name, vendor, memory in (("card0", "0x1002", "17163091968"), ("card1", "0x8086", "")):
        device = tmp_path / name / "device"
        device.mkdir(parents=True)
        (device / "vendor").write_text(f"{vendor}\n")
        if memory:
            (device / "mem_info_vram_total").write_text(f"{memory}\n")
    (tmp_path / "card0-DP-1").mkdir()
    assert list(from_sysfs(tmp_path)) == [GpuInfo("AMD Radeon", 17163091968)]


def test_asking_this_machine_never_fails() -> None:
    assert all(gpu.name for gpu in gpu_info())
