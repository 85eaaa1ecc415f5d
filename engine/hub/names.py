"""Which files of a repository are worth having, and which names may be written to a disk.

Pure. A repository is hostile until proven otherwise: nothing that could run is ever taken, and a
name must be a plain one on every system.
"""

from __future__ import annotations

import re

MAX_NAME = 200
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.I)
_NEVER_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_SIDE_FILES = (".json", ".jinja", ".txt")
_TOKENIZER = (*_SIDE_FILES, ".model")
_OURS = (".part", ".journal", ".tmp")


def is_safe_path(path: str) -> bool:
    """Whether a path of a repository stays inside it: relative, no "..", no drive, no backslash."""
    parts = path.split("/")
    return all(_is_plain(part) for part in parts) and len(path) <= 1000


def is_safe_name(name: str) -> bool:
    """Whether a file may have this name in our folders on every system."""
    device = _DEVICE.match(name)
    ours = name.lower().endswith(_OURS) or name.startswith(".")
    return _is_plain(name) and not device and not ours and len(name.encode()) <= MAX_NAME


def is_weights(name: str) -> bool:
    """Whether a file holds safetensors weights."""
    return name.endswith(".safetensors")


def is_gguf(name: str) -> bool:
    """Whether a file holds GGUF weights; an image encoder is no model."""
    lower = name.lower()
    return lower.endswith(".gguf") and not lower.startswith("mmproj")


def is_side_file(name: str) -> bool:
    """Whether a small file belongs to a model: configuration, tokenizer, template, licence."""
    lower = name.lower()
    if lower.startswith("tokenizer") and lower.endswith(_TOKENIZER):
        return True
    if lower.startswith("license"):
        return "." not in lower or lower.endswith((".txt", ".md"))
    return lower.endswith(_SIDE_FILES)


def _is_plain(part: str) -> bool:
    if part in ("", ".", "..") or _NEVER_IN_NAMES.search(part):
        return False
    return part.isprintable() and not part.endswith((".", " ")) and _encodes(part)


def _encodes(part: str) -> bool:
    try:
        part.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
