"""What Linux says about this process and its processor, from /proc and /sys. Any thread.

Sources: man 5 proc (status, stat, io), kernel docs ABI/stable/sysfs-devices-system-cpu.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.machine.kernel_file import text_of
from engine.machine.samples import MemorySample, ProcessIO

PROC_SELF = Path("/proc/self")
SYS_DEVICES = Path("/sys/devices")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
HUGE_UNIT, SMALL_UNIT = 2 << 20, 64 << 10
CPUINFO = Path("/proc/cpuinfo")


def process_memory(proc: Path = PROC_SELF) -> MemorySample:
    """This process's memory; two small reads."""
    status = _kilobytes((proc / "status").read_text(encoding="utf-8", errors="replace"))
    minor, major = _faults((proc / "stat").read_text(encoding="utf-8", errors="replace"))
    return MemorySample(
        working_set=status.get("VmRSS", 0),
        committed=status.get("VmData", 0) + status.get("VmStk", 0),
        virtual=status.get("VmSize", 0),
        anon=status.get("RssAnon", 0),
        file_resident=status.get("RssFile", 0) + status.get("RssShmem", 0),
        minor_faults=minor,
        major_faults=major,
    )


def resident_and_committed(proc: Path = PROC_SELF) -> tuple[int, int]:
    """Working set and committed bytes only: cheap enough for 20 samples a second."""
    status = _kilobytes((proc / "status").read_text(encoding="utf-8", errors="replace"))
    return status.get("VmRSS", 0), status.get("VmData", 0) + status.get("VmStk", 0)


def restart_peak(proc: Path = PROC_SELF) -> bool:
    """Make the kernel's own peak of the working set start again from now; False when it may not."""
    try:
        (proc / "clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_working_set(proc: Path = PROC_SELF) -> int:
    """The kernel's exact peak of the working set since the start or the last `restart_peak`."""
    status = (proc / "status").read_text(encoding="utf-8", errors="replace")
    return _kilobytes(status).get("VmHWM", 0)


def process_io(proc: Path = PROC_SELF) -> ProcessIO:
    """Bytes this process moved at the block layer: cache hits are not in it, page faults are."""
    try:
        text = (proc / "io").read_text(encoding="ascii")
    except OSError:  # kernels without task I/O accounting, hardened containers
        return ProcessIO()
    pairs = (line.partition(":") for line in text.splitlines())
    fields = {name: int(value) for name, _, value in pairs}
    written = fields.get("write_bytes", 0) - fields.get("cancelled_write_bytes", 0)
    return ProcessIO(fields.get("read_bytes", 0), max(0, written), "block")


def mapping_unit(mode: Path = HUGE_PAGES) -> int:
    """Bytes of a mapped file that one touch may bring into the working set: a huge page where the
    kernel maps large folios whole, else the 64 KiB around a fault."""
    return SMALL_UNIT if "[never]" in (text_of(mode) or "[never]") else HUGE_UNIT


def page_file_bytes() -> int | None:
    """Only Windows backs commit with a page file."""
    return None


def allowed_cpus() -> frozenset[int]:
    """Logical CPUs this process may run on."""
    if sys.platform == "linux":
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def performance_cores(
    allowed: Callable[[], Iterable[int]] = allowed_cpus, devices: Path = SYS_DEVICES
) -> int:
    """Physical performance cores we may run on; hyper-threads of one core count once."""
    cpus = frozenset(allowed())
    chosen = (cpus & _fast_cpus(cpus, devices)) or cpus
    return max(1, len({_core_of(cpu, devices) for cpu in chosen}))


def cpu_name(cpuinfo: Path = CPUINFO) -> str:
    """The processor's name as the kernel prints it."""
    return _cpuinfo_field(cpuinfo, ("model name", "Model", "cpu model"))


def cpu_flags(cpuinfo: Path = CPUINFO) -> frozenset[str]:
    """Instruction-set flags, for showing; the native library asks the processor itself."""
    return frozenset(_cpuinfo_field(cpuinfo, ("flags", "Features")).split())


def _fast_cpus(cpus: frozenset[int], devices: Path) -> frozenset[int]:
    intel = text_of(devices / "cpu_core" / "cpus")  # present on Intel hybrid processors only
    if intel:
        return frozenset(_cpu_list(intel))
    capacity = {cpu: text_of(devices / f"system/cpu/cpu{cpu}/cpu_capacity") for cpu in cpus}
    known = {cpu: int(value) for cpu, value in capacity.items() if value.isdigit()}
    top = max(known.values(), default=0)
    return frozenset(cpu for cpu, value in known.items() if 2 * value > top)


def _core_of(cpu: int, devices: Path) -> str:
    topology = devices / f"system/cpu/cpu{cpu}/topology"
    siblings = text_of(topology / "core_cpus_list") or text_of(topology / "thread_siblings_list")
    return siblings or f"cpu {cpu}"


def _cpu_list(text: str) -> list[int]:
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def _kilobytes(status: str) -> dict[str, int]:
    fields = {}
    for line in status.splitlines():
        name, _, value = line.partition(":")
        number, _, unit = value.strip().partition(" ")
        if unit == "kB" and number.isdigit():
            fields[name] = int(number) * 1024
    return fields


def _faults(stat: str) -> tuple[int, int]:
    after_name = stat.rpartition(")")[2].split()  # the name may hold spaces and brackets
    return int(after_name[7]), int(after_name[9])


def _cpuinfo_field(cpuinfo: Path, names: tuple[str, ...]) -> str:
    for line in text_of(cpuinfo).splitlines():
        name, _, value = line.partition(":")
        if name.strip() in names:
            return value.strip()
    return ""
