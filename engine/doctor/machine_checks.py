"""Checks of processor, memory and system. Each is a pure function of readings taken once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import psutil

from engine.doctor.findings import Finding
from engine.errors import Edge0Error
from engine.kernels.native import instruction_set
from engine.machine.cpu import cpu_info
from engine.machine.memory import memory_now, page_file_bytes, system_memory
from engine.machine.samples import CpuInfo, MemorySample, SystemMemory
from engine.text import Text, gb

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
        title = Text("The native kernels cannot run")
        return Finding("kernels", "fail", title, error.message, error.next_step)
    if name == "scalar":
        return Finding(
            "kernels",
            "warn",
            Text("The native kernels run on their slowest path"),
            Text("This processor has none of AVX2, AVX-512 or NEON dot products."),
            Text("Expect a fraction of the usual speed: use a small model."),
        )
    return Finding("kernels", "ok", Text("The native kernels run"), Text("Path: {0}.", name))


def processor(cpu: CpuInfo) -> Finding:
    """Which processor, and how many threads will compute."""
    evidence = Text(
        "{0}: {1} logical processors, {2} compute threads.", cpu.name, cpu.logical, cpu.threads
    )
    if cpu.threads < 2:
        advice = Text("One thread computes slowly. Check limits set on this program or container.")
        return Finding("processor", "warn", Text("Only one compute thread"), evidence, advice)
    return Finding("processor", "ok", Text("Processor"), evidence)


def memory(machine: SystemMemory) -> Finding:
    """Whether there is enough memory for any model worth streaming."""
    whole = gb(machine.physical)
    limited = Text(", limited from {0}", whole) if machine.cgroup_limit else ""
    evidence = Text("{0}{1}; {2} available.", gb(machine.total), limited, gb(machine.available))
    if machine.total < LITTLE_MEMORY:
        advice = Text("Below 8 GB only small models run well: the dense weights alone may not fit.")
        return Finding("memory", "warn", Text("Less than 8 GB of memory"), evidence, advice)
    return Finding("memory", "ok", Text("Memory"), evidence)


def free_memory(machine: SystemMemory) -> Finding:
    """Whether other programs leave room: without it the system swaps and everything crawls."""
    evidence = Text("{0} of {1} are available.", gb(machine.available), gb(machine.total))
    if machine.available < LITTLE_FREE:
        advice = Text("Close other programs or lower the memory budget, or the machine will crawl.")
        return Finding("memory-free", "warn", Text("Little memory is free"), evidence, advice)
    return Finding("memory-free", "ok", Text("Free memory"), evidence)


def process_sizes(sample: MemorySample) -> Finding:
    """The three sizes of a process, explained with this one's own numbers."""
    evidence = Text(
        "This process: working set {0}, committed {1}, virtual {2}.",
        gb(sample.working_set),
        gb(sample.committed),
        gb(sample.virtual),
    )
    advice = Text(
        "Only the working set occupies memory, and only it is held to the budget. Virtual"
        " size counts the whole mapped model, most of which stays on the drive."
    )
    return Finding("working-set", "info", Text("Which memory number to watch"), evidence, advice)


def page_files(size: int) -> Finding:
    """Windows: without a page file, memory it has promised runs out long before it is used."""
    evidence = Text("Page files: {0}.", gb(size))
    if size < LITTLE_PAGE_FILE:
        advice = Text(
            "Let Windows manage the page file (System, Advanced, Performance, Virtual"
            " memory): without one, programs end with 'out of memory' while memory is"
            " still free."
        )
        return Finding("page-file", "warn", Text("The page file is switched off"), evidence, advice)
    return Finding("page-file", "ok", Text("Page file"), evidence)


def defender() -> Finding:
    """Windows Defender is on: scans of expert files can stall a reply for seconds."""
    advice = Text(
        "If replies stall for 1 to 3 seconds now and then, exclude the expert files"
        " (models\\*\\*.moex) from scanning: the setup wizard offers it and can undo it."
    )
    evidence = Text("The service WinDefend is running.")
    return Finding("antivirus", "info", Text("Windows Defender scans files"), evidence, advice)


def _defender_runs() -> bool:
    if sys.platform == "win32":
        try:
            return bool(psutil.win_service_get("WinDefend").status() == "running")
        except psutil.Error:
            return False
    return False
