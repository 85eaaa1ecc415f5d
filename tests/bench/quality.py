"""What number formats cost: KL divergence and perplexity against the same weights in float32.

python -m tests.bench.quality [--source GGUF] [--formats nf4,q4_0,int8] [--text FILE]      JSON

The truth is the checkpoint read as float32 and run in plain torch; a format is the converted model
run natively, int8 activations and fp16 KV cache included. q4_0: the same float32 weights quantised
by the gguf package, then converted without loss. For models that fit in memory as float32.
"""

from __future__ import annotations

import argparse
import gc
import pydoc_data.topics
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from numpy.typing import NDArray

from engine.chat.tokenizer import Tokenizer
from engine.checkpoint.checkpoint import open_checkpoint
from engine.config import Edge0Config
from engine.formats import Blocks
from engine.kernels.packing import dequantize
from engine.kernels.reference import TorchExecutor, WeightTable
from engine.runtime import Edge0Runtime
from tests.bench.running import converted, say, say_result, script, whole_model_gb

FORMATS = ("nf4", "q4_0", "int8")
KEPT = (Type.F32, Type.F16, Type.BF16, Type.Q8_0)  # norms, embedding, head: alike in all formats
_EXTRA_TOKENS = 16

Ids = list[int]
Logits = NDArray[np.float32]


@dataclass(frozen=True)
class Totals:
    """Sums over tokens."""

    tokens: int = 0
    kl: float = 0.0
    same_top: int = 0
    loss: float = 0.0
    true_loss: float = 0.0

    def plus(self, other: Totals) -> Totals:
        """Both together."""
        return Totals(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def compared(logits: Logits, truth: Logits, ids: Sequence[int]) -> Totals:
    """A window's sums: logits (len(ids), vocab) after each id, against the truth's."""
    actual = torch.from_numpy(np.ascontiguousarray(logits)).log_softmax(-1)
    expected = torch.from_numpy(np.ascontiguousarray(truth)).log_softmax(-1)
    following = torch.tensor(ids[1:])[:, None]
    return Totals(
        tokens=len(ids) - 1,
        kl=float((expected.exp() * (expected - actual)).sum(-1)[:-1].sum()),
        same_top=int((actual.argmax(-1) == expected.argmax(-1))[:-1].sum()),
        loss=-float(actual[:-1].gather(1, following).sum()),
        true_loss=-float(expected[:-1].gather(1, following).sum()),
    )


def report(totals: Totals) -> dict[str, float]:
    """Mean KL in nats a token, share of tokens with the same likeliest successor, perplexities."""
    perplexity, true = (float(np.exp(x / totals.tokens)) for x in (totals.loss, totals.true_loss))
    return {
        "kl": round(totals.kl / totals.tokens, 6),
        "same_top": round(totals.same_top / totals.tokens, 4),
        "perplexity": round(perplexity, 4),
        "perplexity_over_float": round(perplexity / true, 5),
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--source", type=Path, help="a GGUF file; default: the starter's")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--text", type=Path, help="default: the topics of Python's own manual")
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("--length", type=int, default=512, help="tokens of a window")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keeps converted models")
    options = parser.parse_args()
    source = options.source or _starter()
    text = options.text.read_text(encoding="utf-8") if options.text else _manual()
    with tempfile.TemporaryDirectory(prefix="edge0-quality-") as scratch:
        work = options.work or Path(scratch)
        models = {name: _model(source, name, work) for name in options.formats.split(",")}
        windows = _windows(next(iter(models.values())), text, options.windows, options.length)
        truths = write_truths(source, windows, Path(scratch))
        found = {}
        for name, model in models.items():
            say(f"measuring {name}")
            found[name] = report(measured(model, windows, truths))
    result = {"source": source.name, "windows": len(windows), "length": options.length}
    say_result(result | {"formats": found})


def _starter() -> Path:
    from tests.helpers.starter import cached_gguf

    return cached_gguf()


def _manual() -> str:
    """English prose that lies on every machine with Python."""
    topics: dict[str, str] = pydoc_data.topics.topics
    return "\n\n".join(topics[name] for name in sorted(topics))


def _windows(model: Path, text: str, count: int, length: int) -> list[Ids]:
    ids = Tokenizer.load(model).encode(text)
    step = max(length, len(ids) // count)  # spread over the text
    found = [ids[at : at + length] for at in range(0, len(ids), step)]
    return [window for window in found if len(window) == length][:count]


def _model(source: Path, name: str, work: Path) -> Path:
    """The container of one format."""
    out = work / f"{source.stem}-{name}"
    if name != "q4_0":
        return converted(source, out, name)
    requantised = work / f"{source.stem}-q4_0.gguf"
    if not requantised.is_file():
        say("quantising to q4_0")
        write_q4_0(source, requantised)
    return converted(requantised, out, "int4")


def write_q4_0(source: Path, out: Path) -> None:
    """A copy of a GGUF whose quantised matrices are Q4_0 of their float32 values."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(out, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            inner = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(name, field.contents(), field.types[0], inner)
    for tensor in reader.tensors:
        if tensor.tensor_type in KEPT:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        else:
            values = gguf.dequantize(tensor.data, tensor.tensor_type)
            writer.add_tensor(tensor.name, gguf.quantize(values, Type.Q4_0), raw_dtype=Type.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_truths(source: Path, windows: Sequence[Ids], folder: Path) -> list[Path]:
    """The float32 logits of every window as files: all of them would fill the memory."""
    say("computing in float32")
    checkpoint = open_checkpoint(source)
    family, shape = checkpoint.family, checkpoint.shape
    table = {}
    for spec in family.weights(shape):
        weight = checkpoint.read(checkpoint.source(spec))
        floats = dequantize(weight) if isinstance(weight, Blocks) else np.array(weight)
        table[spec.name] = torch.from_numpy(floats)
    checkpoint.close()
    paths = []
    for index, ids in enumerate(windows):
        executor = TorchExecutor(family.program(shape), shape, WeightTable(table))
        paths.append(folder / f"truth-{index}.npy")
        np.save(paths[-1], executor.forward(ids, all_logits=True).numpy())
    del table, executor
    gc.collect()
    return paths


def measured(model: Path, windows: Sequence[Ids], truths: Sequence[Path]) -> Totals:
    """The sums of a container, run natively."""
    length = max(len(ids) for ids in windows)
    config = Edge0Config(
        model, whole_model_gb(model), use_mmap=True, context_tokens=length + _EXTRA_TOKENS
    )
    totals = Totals()
    with Edge0Runtime.from_config(config) as runtime:
        for ids, truth in zip(windows, truths, strict=True):
            totals = totals.plus(compared(runtime.logits(ids), np.load(truth), ids))
    return totals


if __name__ == "__main__":
    script(main)
