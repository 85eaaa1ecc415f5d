"""The native library's C ABI in ctypes: structures, prototypes and loading. No policy, no state.

Every call frees Python's lock. Objects made here hold pointers: who makes one frees it, on one
thread.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import sys
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int8, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

from engine.errors import Edge0Error
from engine.formats import TABLES, NumberFormat, strip_bytes
from engine.text import Text

LIBRARY_DIR = Path(__file__).resolve().parent / "lib"
FORMAT_CODES = {
    NumberFormat.NF4: 0,
    NumberFormat.INT4: 0,
    NumberFormat.IQ4_NL: 0,
    NumberFormat.E2M1: 1,
    NumberFormat.INT8: 2,
    NumberFormat.BF16: 3,
}
FLOAT32_CODE = 4
_REPAIR = Text("Install Edge0 again: the package carries a library for this system.")


class NativeError(Edge0Error):
    """The native library is missing or does not fit this machine."""


class Matrix(ctypes.Structure):
    """e0_matrix: a packed weight, or (data None) a part of every record at `offset`."""

    _fields_ = (
        ("format", c_int32),
        ("rows", c_int32),
        ("cols", c_int32),
        ("offset", c_int64),
        ("strip_bytes", c_int64),
        ("data", c_void_p),
        ("table", c_int8 * 16),
    )


class Op(ctypes.Structure):
    """e0_op: one op of a program; -1 means no operand."""

    _fields_ = (
        *((name, c_int32) for name in ("kind", "out", "a", "b", "c", "weight", "vector", "layer")),
        *((name, c_int32) for name in ("heads", "kv_heads", "head_dim", "count", "top_k", "flags")),
        ("scale", c_float),
        ("extra", c_float),
    )


class StoreOptions(ctypes.Structure):
    """e0_store_options."""

    _fields_ = (
        *((name, c_int32) for name in ("layers", "experts", "slots", "lanes", "mapped")),
        ("slot_bytes", c_int64),
        ("unit_bytes", c_int64),
    )


class StoreCounters(ctypes.Structure):
    """e0_store_counters: running totals."""

    _fields_ = (
        *((name, c_int64) for name in ("hits", "misses", "bytes_read", "evictions")),
        *((name, c_int64) for name in ("ahead_reads", "ahead_used", "ahead_wasted")),
        ("wait_s", c_double),
        ("read_s", c_double),
    )


class Times(ctypes.Structure):
    """e0_times: seconds since they were last taken; expert_s includes wait_s."""

    _fields_ = tuple((name, c_double) for name in ("attention_s", "expert_s", "wait_s", "total_s"))


def matrix(
    fmt: NumberFormat, rows: int, cols: int, data: int | None = None, offset: int = 0
) -> Matrix:
    """A descriptor of a packed matrix at address `data`."""
    table = TABLES.get(fmt, (0,) * 16)
    return Matrix(
        FORMAT_CODES[fmt], rows, cols, offset, strip_bytes(fmt, cols), data, (c_int8 * 16)(*table)
    )


def float_matrix(rows: int, cols: int, data: int) -> Matrix:
    """A descriptor of float32 strips: 16 rows of a column after another."""
    return Matrix(FLOAT32_CODE, rows, cols, 0, cols * 64, data, (c_int8 * 16)())


_P = c_void_p
_PROTOTYPES: dict[str, tuple[object, tuple[object, ...]]] = {
    "e0_store_new": (
        _P,
        (POINTER(StoreOptions), POINTER(c_char_p), c_int, c_char_p, c_int),
    ),
    "e0_store_free": (None, (_P,)),
    "e0_store_set_record": (None, (_P, c_int, c_int, c_int64, c_int64)),
    "e0_store_load": (c_int, (_P, _P, c_int)),
    "e0_store_set_victims": (None, (_P, _P, c_int)),
    "e0_store_resident": (c_int, (_P, _P, c_int)),
    "e0_store_take_log": (c_int, (_P, _P, c_int)),
    "e0_store_read_counters": (None, (_P, POINTER(StoreCounters))),
    "e0_store_shrink": (None, (_P, c_int)),
    "e0_store_take_error": (c_int, (_P, c_char_p, c_int)),
    "e0_exec_new": (_P, (c_int, c_char_p)),
    "e0_exec_free": (None, (_P,)),
    "e0_exec_isa": (c_char_p, (_P,)),
    "e0_exec_threads": (c_int, (_P,)),
    "e0_exec_add_matrix": (c_int, (_P, POINTER(Matrix))),
    "e0_exec_add_vector": (c_int, (_P, _P, c_int)),
    "e0_exec_add_buffer": (c_int, (_P, c_int, c_int)),
    "e0_exec_buffer": (_P, (_P, c_int, c_int)),
    "e0_exec_set_cache": (c_int, (_P, c_int, c_int, c_int, c_int, c_int)),
    "e0_exec_discard_cache": (None, (_P, c_int)),
    "e0_exec_export_cache": (None, (_P, c_int, c_int, _P)),
    "e0_exec_import_cache": (None, (_P, c_int, c_int, _P)),
    "e0_exec_set_record": (None, (_P, c_int, POINTER(Matrix), POINTER(Matrix), POINTER(Matrix))),
    "e0_exec_set_store": (None, (_P, _P)),
    "e0_exec_set_prediction": (None, (_P, c_int)),
    "e0_exec_run": (c_int, (_P, POINTER(Op), c_int, c_int, c_int, c_int, _P)),
    "e0_exec_take_times": (None, (_P, POINTER(Times))),
    "e0_exec_matmul": (c_int, (_P, POINTER(Matrix), _P, c_int, _P)),
}


def library_path() -> Path:
    """Where this system's library lies; it may be missing."""
    system = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    suffix = {"windows": ".dll", "macos": ".dylib"}.get(system, ".so")
    machine = platform.machine().lower()
    arch = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)
    return LIBRARY_DIR / f"edge0-kernels-{system}-{arch}{suffix}"


@cache
def library() -> ctypes.CDLL:
    """The loaded library, once per process. Raises NativeError."""
    path = library_path()
    if not path.is_file():
        raise NativeError(Text("The native library {0} is missing.", path.name), _REPAIR)
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        text = Text("The native library {0} cannot be used: {1}.", path, error)
        raise NativeError(text, _REPAIR) from error
    return loaded


@cache
def library_digest() -> str:
    """sha256 of the library: another build may round otherwise. Raises NativeError."""
    library()
    return hashlib.sha256(library_path().read_bytes()).hexdigest()


def instruction_set(name: str = "auto") -> str:
    """The kernel path `name` (or the best one, "auto") that runs here. Raises NativeError."""
    context = new_executor(1, name)
    text: bytes = library().e0_exec_isa(context)
    library().e0_exec_free(context)
    return text.decode("ascii")


def new_executor(threads: int, isa: str) -> int:
    """A new e0_exec; free it with e0_exec_free. Raises NativeError."""
    context: int | None = library().e0_exec_new(threads, isa.encode("ascii"))
    if not context:
        raise NativeError(
            Text("This processor cannot run the {0} kernels.", isa),
            Text("Leave the choice at auto."),
        )
    return context
