"""A converted model, run by the torch executor, is still the model that was converted."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.prepare.prepare import prepare
from tests.helpers.comparing import divergence, reference_logits
from tests.helpers.tiny_models import FAMILIES, load_oracle, make_tiny_checkpoint

PROMPT = [7 * i % 250 for i in range(1, 49)]


# Mean KL, about twice what was measured (tiny models suffer most); an unrelated model has 1 to 4.
BOUNDS = {
    "qwen3_moe": {"int8": 0.01, "nf4": 0.9, "int4": 0.9},
    "mixtral": {"int8": 0.03, "nf4": 0.4, "int4": 0.4},
    "olmoe": {"int8": 0.01, "nf4": 0.25, "int4": 0.35},
    "minimax_m2": {"int8": 0.04, "nf4": 0.6, "int4": 0.8},
    "llama": {"int8": 0.001, "nf4": 0.06, "int4": 0.06},
}


def logits(path: Path, native_maths: bool) -> torch.Tensor:
    return reference_logits(path, PROMPT, native_maths)


@pytest.fixture(scope="module", params=FAMILIES)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / request.param
    return make_tiny_checkpoint(request.param, path, dtype="bfloat16")


@pytest.fixture(scope="module")
def expected(checkpoint: Path) -> torch.Tensor:
    with torch.inference_mode():
        return load_oracle(checkpoint)(torch.tensor([PROMPT])).logits[0]


def test_bf16_loses_nothing(checkpoint: Path, expected: torch.Tensor, tmp_path: Path) -> None:
    prepare(checkpoint, tmp_path / "out", "bf16")
    actual = logits(tmp_path / "out", native_maths=False)
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("quant", ["int8", "nf4", "int4"])
def test_quantised_stays_close(
    checkpoint: Path, expected: torch.Tensor, tmp_path: Path, quant: str
) -> None:
    prepare(checkpoint, tmp_path / "out", quant)
    bound = BOUNDS[checkpoint.name][quant]
    for native_maths in (False, True):
        actual = logits(tmp_path / "out", native_maths)
        assert divergence(actual, expected) < bound
