"""GGUF files put together byte by byte, so that any part of them can lie."""

from __future__ import annotations

import struct

U8, U32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 6, 7, 8, 9, 10  # GGUF value types


def text(value: str | bytes, length: int | None = None) -> bytes:
    """A GGUF string; `length` lies about it."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8")
    return struct.pack("<Q", len(raw) if length is None else length) + raw


def pair(key: str | bytes, kind: int, value: bytes) -> bytes:
    """A metadata key with a value of a type."""
    return text(key) + struct.pack("<I", kind) + value


def tensor(
    name: str | bytes = "t",
    shape: tuple[int, ...] = (32,),
    kind: int = 0,
    offset: int = 0,
    axes: int | None = None,
) -> bytes:
    """A tensor's entry in the header; `axes` lies about their number."""
    count = len(shape) if axes is None else axes
    return (
        text(name)
        + struct.pack("<I", count)
        + struct.pack(f"<{len(shape)}Q", *shape)
        + struct.pack("<IQ", kind, offset)
    )


ARCHITECTURE = pair("general.architecture", STRING, text("llama"))


def build(
    *parts: bytes,
    keys: int = 0,
    tensors: int = 0,
    version: int = 3,
    magic: bytes = b"GGUF",
    data: int = 4096,
) -> bytes:
    """A file that claims `keys` and `tensors`: the parts, then `data` bytes of zeros."""
    return magic + struct.pack("<IQQ", version, tensors, keys) + b"".join(parts) + bytes(data)
