"""What real and random models need of memory, for tests of planning."""

from __future__ import annotations

from hypothesis import strategies as st

from engine.store.needs import GB, MemoryNeeds

# Qwen3-30B-A3B as nf4: 48 layers of 128 experts, top 8, records of 2.66 MB.
QWEN = MemoryNeeds(
    base_bytes=300_000_000,
    dense_bytes=900_000_000,
    kv_bytes_per_token=98_304,
    context_tokens=4096,
    workspace_bytes=150_000_000,
    record_bytes=2_654_208,
    experts_total=48 * 128,
    top_k=8,
    layers=48,
)


@st.composite
def any_needs(draw: st.DrawFn) -> MemoryNeeds:
    """Any model, from a toy to the largest, and any context."""
    layers, experts = draw(st.integers(1, 96)), draw(st.integers(1, 256))
    return MemoryNeeds(
        base_bytes=draw(st.integers(0, GB)),
        dense_bytes=draw(st.integers(0, 20 * GB)),
        kv_bytes_per_token=draw(st.integers(0, 1 << 20)),
        context_tokens=draw(st.integers(16, 1 << 17)),
        workspace_bytes=draw(st.integers(0, GB)),
        record_bytes=draw(st.integers(1, 40)) * 4096 * draw(st.integers(1, 100)),
        experts_total=layers * experts,
        top_k=draw(st.integers(1, experts)),
        layers=layers,
    )
