"""The small files beside a Hugging Face model that the container keeps: tokenizer, chat template,
generation defaults, configuration, licence. Each at most 64 MiB; memory: all of them together."""

from __future__ import annotations

from pathlib import Path

from engine.checkpoint.files import inside, list_names, parse_json, read_small
from engine.errors import CheckpointError
from engine.text import Text

TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
CHAT_TEMPLATE, GENERATION = "chat_template.jinja", "generation_config.json"
_OLD_TEMPLATE = "chat_template.json"
_NAMES = (
    TOKENIZER,
    TOKENIZER_CONFIG,
    "special_tokens_map.json",
    CHAT_TEMPLATE,
    _OLD_TEMPLATE,
    GENERATION,
    "config.json",
)
_SENTENCEPIECE = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def hugging_face_files(folder: Path) -> tuple[dict[str, bytes], list[Text]]:
    """(files by name, warnings). The chat template is always given as chat_template.jinja."""
    names = list_names(folder)
    wanted = [n for n in names if n in _NAMES or n.upper().startswith("LICENSE")]
    files = {name: read_small(inside(folder, name)) for name in wanted}
    template = _template(files)
    if template is not None:
        files.setdefault(CHAT_TEMPLATE, template.encode("utf-8", "replace"))
    return files, [] if TOKENIZER in files else [_no_tokenizer(names)]


def _template(files: dict[str, bytes]) -> str | None:
    """The template of an older model: in chat_template.json, or inside tokenizer_config.json."""
    for name in (_OLD_TEMPLATE, TOKENIZER_CONFIG):
        value = _object(files, name).get("chat_template")
        if isinstance(value, list):  # several by name
            named = [t.get("template") for t in value if isinstance(t, dict) and _is_default(t)]
            value = named[0] if named else None
        if isinstance(value, str):
            return value
    return None


def _object(files: dict[str, bytes], name: str) -> dict[str, object]:
    try:
        return parse_json(files[name], name) if name in files else {}
    except CheckpointError:  # a damaged side file is reported by whoever needs it
        return {}


def _is_default(template: dict[str, object]) -> bool:
    return template.get("name") == "default"


def _no_tokenizer(names: list[str]) -> Text:
    found = [name for name in _SENTENCEPIECE if name in names]
    if found:
        return Text(
            "There is no tokenizer.json, only a SentencePiece model ({0}). "
            "Fetch a version with tokenizer.json to chat with this model.",
            found[0],
        )
    return Text("There is no tokenizer.json. Fetch the complete model to chat with it.")
