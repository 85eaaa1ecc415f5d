"""Recognises a source model without reading all of it: names, sizes and sampled bytes of its files.

A resumed conversion must go on with the same weights; a fine-tune of the same shape differs nearly
everywhere, so samples find it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.checkpoint.checkpoint import Checkpoint
from engine.checkpoint.files import file_size, read_range
from engine.checkpoint.tensors import StoredTensor

SAMPLES = 16
SAMPLE_BYTES = 64 << 10


def fingerprint(checkpoint: Checkpoint) -> str:
    """Hash of the checkpoint's tensor table and of samples of its files."""
    digest = hashlib.sha256()
    files: set[Path] = set()
    for info in checkpoint.names().values():
        digest.update(f"{info.name} {info.dtype} {info.shape}\n".encode())
        if isinstance(info, StoredTensor):
            files.add(info.file)
    for path in sorted(files):
        _add_samples(digest, path)
    return digest.hexdigest()


def _add_samples(digest: hashlib._Hash, path: Path) -> None:
    size = file_size(path)
    digest.update(f"{path.name} {size}\n".encode("utf-8", "surrogateescape"))
    last = max(0, size - SAMPLE_BYTES)
    for offset in sorted({last * i // (SAMPLES - 1) for i in range(SAMPLES)}):
        digest.update(read_range(path, offset, min(SAMPLE_BYTES, size - offset)).data)
