"""Which model families we know, found by HF `model_type` or by a GGUF header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from engine.errors import UnsupportedModelError
from engine.model.families import llama, minimax_m2, mixtral, olmoe, qwen3_moe
from engine.model.families.reading import gguf_header
from engine.model.program import Program
from engine.model.shape import ModelShape
from engine.model.weights import WeightSpec
from engine.text import Text


class Family(Protocol):
    """What a family file offers. shape_from_* raise CheckpointError on bad values and
    UnsupportedModelError on options we cannot run."""

    MODEL_TYPE: str
    GGUF_ARCH: str

    def shape_from_config(self, config: Mapping[str, object]) -> ModelShape: ...

    def shape_from_gguf(self, metadata: Mapping[str, object]) -> ModelShape: ...

    def weights(self, shape: ModelShape) -> list[WeightSpec]: ...

    def program(self, shape: ModelShape) -> Program: ...


_FAMILIES: tuple[Family, ...] = (qwen3_moe, mixtral, olmoe, minimax_m2, llama)
_DENSE = (llama.MODEL_TYPE,)


def known() -> list[str]:
    """HF model types we can run."""
    return [family.MODEL_TYPE for family in _FAMILIES]


def by_model_type(name: str) -> Family:
    """The family of a config.json's `model_type`."""
    for family in _FAMILIES:
        if name == family.MODEL_TYPE:
            return family
    raise _unknown(name)


def by_gguf(metadata: Mapping[str, object]) -> Family:
    """The family of a GGUF header, by architecture and whether it has experts ("llama" is both)."""
    fields = gguf_header(metadata)
    arch = fields.text("general.architecture")
    dense = not fields.integer(f"{arch}.expert_count", 0, 1 << 14, 0)
    for family in _FAMILIES:
        if arch == family.GGUF_ARCH and dense == (family.MODEL_TYPE in _DENSE):
            return family
    raise _unknown(arch)


def _unknown(name: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        Text("Models of type {0} are not supported.", f"{name[:80]!r}"),
        Text("Choose one of these types: {0}.", ", ".join(known())),
    )
