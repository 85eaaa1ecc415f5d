"""Checks of processor, memory and system. Each is a pure function of readings taken once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import psutil

from engine.doctor.findings import Finding, gb
from engine.errors import Edge0Error
from engine.kernels.native import instruction_set
from engine.machine.cpu import cpu_info
from engine.machine.memory import memory_now, page_file_bytes, system_memory
from engine.machine.samples import CpuInfo, MemorySample, SystemMemory

LITTLE_MEMORY = 7_500_000_000  # an 8 GB laptop shows a little less than 8 GB
LITTLE_FREE = 2_000_000_000
LITTLE_PAGE_FILE = 64 << 20


def check_all() -> Iterator[Finding]:
    """Every check of the machine itself."""
    machine = system_memory()
    yield kernels(instruction_set)
    yield processor(cpu_info())
    yield memory(machine)
    yield free_memory(machine)
    yield process_sizes(memory_now())
    page_file = page_file_bytes()
    if page_file is not None:
        yield page_files(page_file)
    if sys.platform == "win32" and _defender_runs():
        yield defender()


def kernels(instruction_set: Callable[[], str]) -> Finding:
    """Whether the native library loads, and which of its paths runs."""
    try:
        name = instruction_set()
    except Edge0Error as error:
        title = "The native kernels cannot run"
        return Finding("kernels", "fail", title, error.message, error.next_step)
    if name == "scalar":
        return Finding(
            "kernels",
            "warn",
            "The native kernels run on their slowest path",
            "This processor has none of AVX2, AVX-512 or NEON dot products.",
            "Expect a fraction of the usual speed: use a small model.",
        )
    return Finding("kernels", "ok", "The native kernels run", f"Path: {name}.")


def processor(cpu: CpuInfo) -> Finding:
    """Which processor, and how many threads will compute."""
    evidence = f"{cpu.name}: {cpu.logical} logical processors, {cpu.threads} compute threads."
    if cpu.threads < 2:
        advice = "One thread computes slowly. Check limits set on this program or container."
        return Finding("processor", "warn", "Only one compute thread", evidence, advice)
    return Finding("processor", "ok", "Processor", evidence)


def memory(machine: SystemMemory) -> Finding:
    """Whether there is enough memory for any model worth streaming."""
    limited = f", limited from {gb(machine.physical)}" if machine.cgroup_limit else ""
    evidence = f"{gb(machine.total)}{limited}; {gb(machine.available)} available."
    if machine.total < LITTLE_MEMORY:
        advice = "Below 8 GB only small models run well: the dense weights alone may not fit."
        return Finding("memory", "warn", "Less than 8 GB of memory", evidence, advice)
    return Finding("memory", "ok", "Memory", evidence)


def free_memory(machine: SystemMemory) -> Finding:
    """Whether other programs leave room: without it the system swaps and everything crawls."""
    evidence = f"{gb(machine.available)} of {gb(machine.total)} are available."
    if machine.available < LITTLE_FREE:
        advice = "Close other programs or lower the memory budget, or the machine will crawl."
        return Finding("memory-free", "warn", "Little memory is free", evidence, advice)
    return Finding("memory-free", "ok", "Free memory", evidence)


def process_sizes(sample: MemorySample) -> Finding:
    """The three sizes of a process, explained with this one's own numbers."""
    evidence = (
        f"This process: working set {gb(sample.working_set)}, committed {gb(sample.committed)},"
        f" virtual {gb(sample.virtual)}."
    )
    advice = (
        "Only the working set occupies memory, and only it is held to the budget. Virtual size"
        " counts the whole mapped model, most of which stays on the drive."
    )
    return Finding("working-set", "info", "Which memory number to watch", evidence, advice)


def page_files(size: int) -> Finding:
    """Windows: without a page file, memory it has promised runs out long before it is used."""
    evidence = f"Page files: {gb(size)}."
    if size < LITTLE_PAGE_FILE:
        advice = (
            "Let Windows manage the page file (System, Advanced, Performance, Virtual memory):"
            " without one, programs end with 'out of memory' while memory is still free."
        )
        return Finding("page-file", "warn", "The page file is switched off", evidence, advice)
    return Finding("page-file", "ok", "Page file", evidence)


def defender() -> Finding:
    """Windows Defender is on: scans of expert files can stall a reply for seconds."""
    advice = (
        "If replies stall for 1 to 3 seconds now and then, exclude the expert files"
        r" (models\*\*.moex) from scanning: the setup wizard offers it and can undo it."
    )
    evidence = "The service WinDefend is running."
    return Finding("antivirus", "info", "Windows Defender scans files", evidence, advice)


def _defender_runs() -> bool:
    if sys.platform == "win32":
        try:
            return bool(psutil.win_service_get("WinDefend").status() == "running")
        except psutil.Error:
            return False
    return False
