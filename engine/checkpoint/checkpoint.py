"""The door of this folder: what people already have (a Hugging Face folder, a GGUF file) becomes a
shape and named tensors, read lazily. Holds no data itself; any thread; a read costs a few times the
piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, Protocol

from engine.checkpoint.decode import Floats
from engine.checkpoint.files import list_names
from engine.checkpoint.gguf import GgufCheckpoint
from engine.checkpoint.safetensors import SafetensorsCheckpoint
from engine.checkpoint.tensors import TensorInfo, cut_shape
from engine.errors import CheckpointError
from engine.formats import Blocks
from engine.model.families.registry import Family
from engine.model.shape import ModelShape
from engine.model.weights import Source, WeightSpec
from engine.text import Text

__all__ = ["Checkpoint", "TensorInfo", "missing_tensors", "open_checkpoint", "unexpected_tensors"]

# Tensors that carry nothing we need: rotary tables, masks, a head stored beside its tied twin.
_HARMLESS = re.compile(
    r".*rotary_emb\.(inv_freq|cos_cached|sin_cached)|.*\.(masked_bias|position_ids)"
    r"|.*\.attn_rot_embd\.weight|rope_freqs\.weight"
)
# One name for each model: not a later part of a split one, not an image encoder.
_GGUF_MODEL = re.compile(r"(?!mmproj)(?!.*-(?!00001)\d{5}-of-\d{5}\.gguf$).+\.gguf", re.IGNORECASE)
_HEADS = ("lm_head.weight", "output.weight")


class Checkpoint(Protocol):
    """A source model. warnings: what `side_files` left out or guessed, in the user's words."""

    path: Path
    kind: Literal["safetensors", "gguf"]
    family: Family
    shape: ModelShape
    warnings: list[Text]

    def names(self) -> Mapping[str, TensorInfo]:
        """Every tensor by name."""
        ...

    def source(self, spec: WeightSpec) -> Source:
        """Where a weight is in this checkpoint."""
        ...

    def read(self, source: Source) -> Blocks | Floats:
        """The weight: `Blocks` if stored losslessly in one of our formats, else float32."""
        ...

    def stored_type(self, source: Source) -> str:
        """The stored type, for messages: "Q4_0", "BF16"."""
        ...

    def side_files(self) -> dict[str, bytes]:
        """What exists of tokenizer.json, chat_template.jinja, generation_config.json, LICENSE …"""
        ...

    def close(self) -> None:
        """Forgets the tensors; reads fail from now on."""
        ...


def open_checkpoint(path: Path) -> Checkpoint:
    """Opens a model folder, one of its .safetensors files, or any part of a GGUF.

    Reads headers only. Raises CheckpointError, UnsupportedModelError, StorageError.
    """
    if path.is_dir():
        return _open_folder(path)
    if path.suffix.lower() == ".gguf":
        return GgufCheckpoint(path)
    if path.name.lower().endswith((".safetensors", ".safetensors.index.json")):
        return SafetensorsCheckpoint(path.parent)
    there = path.exists()
    text = Text("{0} is not a model file.", path) if there else Text("{0} does not exist.", path)
    raise CheckpointError(text, Text("Choose a folder with .safetensors files, or a .gguf file."))


def _open_folder(folder: Path) -> Checkpoint:
    names = list_names(folder)
    models = [name for name in names if _GGUF_MODEL.fullmatch(name)]
    if not models or any(name.endswith(".safetensors") for name in names):
        return SafetensorsCheckpoint(folder)
    if len(models) > 1:
        raise CheckpointError(
            Text("{0} holds {1} GGUF models.", folder, len(models)),
            Text("Choose one of the .gguf files itself."),
        )
    return GgufCheckpoint(folder / models[0])


def missing_tensors(checkpoint: Checkpoint, specs: Iterable[WeightSpec]) -> list[str]:
    """What the checkpoint lacks for these weights: absent tensors, and ones of another shape."""
    names = checkpoint.names()
    problems = {}
    for spec in specs:
        source = checkpoint.source(spec)
        if source.name not in names:
            problems[source.name] = source.name
        elif (problem := _misfit(names[source.name], source, spec)) is not None:
            problems[source.name] = problem
    return list(problems.values())


def _misfit(tensor: TensorInfo, source: Source, spec: WeightSpec) -> str | None:
    try:
        shape = cut_shape(tensor, source)
    except CheckpointError as error:
        return error.message
    if shape != spec.shape:
        return Text(
            "{0}: {1} has the shape {2} instead of {3}", tensor.name, spec.name, shape, spec.shape
        )
    return None


def unexpected_tensors(checkpoint: Checkpoint, specs: Iterable[WeightSpec]) -> list[str]:
    """Tensors that no weight comes from; harmless leftovers are not told."""
    used = {checkpoint.source(spec).name for spec in specs}
    return [
        name
        for name in checkpoint.names()
        if name not in used and name not in _HEADS and not _HARMLESS.fullmatch(name)
    ]
