"""The small text files beside a model's weights, read with a size limit. They are hostile input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from engine.errors import ChatError, StorageError
from engine.text import Text

_ROLES = ("bos_token", "eos_token", "unk_token", "pad_token")
_AGAIN = Text("Convert or download the model again.")


def read_text(path: Path, max_bytes: int) -> str | None:
    """The file as text; None when there is none. Raises ChatError when too large or not UTF-8."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            Text("{0} cannot be read: {1}.", path, error.strerror),
            Text("Check the drive and the permissions."),
        ) from error
    if len(data) > max_bytes:
        raise ChatError(Text("{0} is larger than {1} MiB.", path, max_bytes >> 20), _AGAIN)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ChatError(Text("{0} is not UTF-8 text.", path), _AGAIN) from error


def read_object(path: Path, max_bytes: int = 16 << 20) -> dict[str, object]:
    """The JSON object in the file; empty when there is no file."""
    text = read_text(path, max_bytes)
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ChatError(Text("{0} is damaged: {1}.", path, f"{error!s:.200}"), _AGAIN) from error
    if not isinstance(value, dict):
        raise ChatError(Text("{0} does not hold a JSON object.", path), _AGAIN)
    return value


def role_tokens(config: Mapping[str, object]) -> dict[str, str]:
    """{"bos_token": "<s>", …} of tokenizer_config.json, where a value may be an object."""
    tokens = {}
    for role in _ROLES:
        value = config.get(role)
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            tokens[role] = text
    return tokens
