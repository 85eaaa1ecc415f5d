"""Which graphics processors the machine has, and their memory; nothing is computed on them.

Asks NVIDIA's own tool, then what the system says. Any thread; up to some seconds, never raises.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.machine.kernel_file import text_of
from engine.machine.samples import GpuInfo

QUERY = ["--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
TIMEOUT_S = 5
SYSFS = Path("/sys/class/drm")
_DISPLAYS = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_NO_WINDOW = 0x08000000  # CREATE_NO_WINDOW
_AMD = "0x1002"


def gpu_info() -> tuple[GpuInfo, ...]:
    """Every graphics processor with memory of its own, or that shares the machine's (Apple's)."""
    found = from_nvidia(_run_nvidia_smi)
    if found:
        return found
    if sys.platform == "win32":
        return tuple(_from_registry())
    if sys.platform == "darwin":
        return (GpuInfo("Apple GPU", 0),) if platform.machine() == "arm64" else ()
    return tuple(from_sysfs(SYSFS))


def from_nvidia(run: Callable[[], str]) -> tuple[GpuInfo, ...]:
    """What `nvidia-smi` prints: a name and MiB a line."""
    found = []
    for line in run().splitlines():
        name, _, memory = line.rpartition(",")
        if name.strip() and memory.strip().isdigit():
            found.append(GpuInfo(name.strip(), int(memory) << 20))
    return tuple(found)


def from_sysfs(root: Path) -> Iterator[GpuInfo]:
    """Linux: the driver of AMD's cards tells their memory; the others' drivers do not."""
    for card in sorted(root.glob("card[0-9]*")):
        memory = text_of(card / "device" / "mem_info_vram_total")
        if memory.isdigit() and text_of(card / "device" / "vendor") == _AMD:
            name = text_of(card / "device" / "product_name") or "AMD Radeon"
            yield GpuInfo(name, int(memory))


def _run_nvidia_smi() -> str:
    tool = shutil.which("nvidia-smi")
    if sys.platform == "win32":  # the driver's own, not one that lies in the current folder
        tool = os.path.join(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32/nvidia-smi.exe")
    if tool is None or not os.path.exists(tool):
        return ""
    flags = _NO_WINDOW if sys.platform == "win32" else 0
    try:
        done = subprocess.run(
            [tool, *QUERY], capture_output=True, timeout=TIMEOUT_S, creationflags=flags
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def _from_registry() -> Iterator[GpuInfo]:
    """Windows: what each display driver wrote down about its card."""
    if sys.platform != "win32":
        return
    import winreg

    for number in range(16):
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, rf"{_DISPLAYS}\{number:04}") as key:
                name, _ = winreg.QueryValueEx(key, "DriverDesc")
                memory, _ = winreg.QueryValueEx(key, "HardwareInformation.qwMemorySize")
        except OSError:
            continue
        if isinstance(memory, int) and memory > 0:
            yield GpuInfo(str(name), memory)
