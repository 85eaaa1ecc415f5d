"""What a converted model gives in the torch executor, and how far two models are apart."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import torch

from engine.container.reader import Container
from engine.kernels.reference import TorchExecutor
from engine.kernels.reference_weights import ContainerWeights
from engine.model.families import registry


def reference_logits(path: Path, ids: Sequence[int], native_maths: bool) -> torch.Tensor:
    """Logits (len(ids), vocab); native_maths: int8 activations and a float16 cache."""
    with closing(Container.open(path)) as container:
        family = registry.by_model_type(container.family)
        model = TorchExecutor(
            family.program(container.shape),
            container.shape,
            ContainerWeights(container),
            int8_activations=native_maths,
            half_cache=native_maths,
        )
        return model.forward(ids, all_logits=True)


def divergence(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """Mean KL divergence a token, in nats."""
    p = expected.log_softmax(-1)
    return float((p.exp() * (p - actual.log_softmax(-1))).sum(-1).mean())
