"""A block of KV cache rows as a file: a header that says what it is, then the rows.

Written beside its place and renamed, without a sync: after a power cut the checksum tells. Read
strictly: whatever is not exactly what was asked for counts as not there. Any thread; holds nothing.
"""

from __future__ import annotations

import logging
import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.container.files import checked_size, open_checked, read_range, storage_errors
from engine.errors import Edge0Error

KEY_BYTES = 32
_MAGIC, _VERSION = b"E0PREFIX", 1
_HEADER = struct.Struct(f"<8sIQ{KEY_BYTES}sI")  # magic, version, bytes, key, checksum of the rows
_SUM = struct.Struct("<I")  # the header's own checksum
HEADER_BYTES = _HEADER.size + _SUM.size
Rows = NDArray[np.uint8]
log = logging.getLogger(__name__)


def write_block(path: Path, key: bytes, rows: Rows) -> None:
    """Make the file, whole or not at all, readable by its owner alone. Raises StorageError."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with storage_errors(path):
        try:
            with open(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(_header(key, rows))
                file.write(rows.data)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


def read_block(path: Path, key: bytes, rows: Rows) -> bool:
    """Fill `rows`; False, with a line in the log, when the file is not exactly their block."""
    try:
        return _read(path, key, rows)
    except Edge0Error as error:
        log.warning("a prefix snapshot is ignored: %s", error.message)
        return False


def _read(path: Path, key: bytes, rows: Rows) -> bool:
    if checked_size(path) != HEADER_BYTES + rows.nbytes:
        log.warning("%s has the wrong size", path)
        return False
    header = bytearray(HEADER_BYTES)
    with open_checked(path) as file:
        read_range(file, path, 0, memoryview(header))
        read_range(file, path, HEADER_BYTES, rows.data)
    same = bytes(header) == _header(key, rows)
    if not same:
        log.warning("%s is damaged, or of another version", path)
    return same


def _header(key: bytes, rows: Rows) -> bytes:
    fields = _HEADER.pack(_MAGIC, _VERSION, rows.nbytes, key, zlib.crc32(rows.data))
    return fields + _SUM.pack(zlib.crc32(fields))
