"""Sampling against the processors of `transformers`, and what it must never do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.chat.sampler import Sampler, candidates, draw, penalise
from engine.config import GenerateOptions
from engine.errors import ChatError

Logits = NDArray[np.float32]


def logits(seed: int, size: int = 3000, spread: float = 3.0) -> Logits:
    return (np.random.default_rng(seed).standard_normal(size) * spread).astype(np.float32)


def oracle(scores: Logits, seen: list[int], options: GenerateOptions) -> NDArray[np.float64]:
    """Probabilities of the whole vocabulary, by transformers."""
    import torch
    from transformers.generation import logits_process as t

    steps: list[t.LogitsProcessor] = [t.TemperatureLogitsWarper(options.temperature)]
    if options.repetition_penalty != 1:
        steps.insert(0, t.RepetitionPenaltyLogitsProcessor(options.repetition_penalty))
    if options.top_k:
        steps.append(t.TopKLogitsWarper(options.top_k))
    if options.top_p < 1:
        steps.append(t.TopPLogitsWarper(options.top_p))
    if options.min_p:
        steps.append(t.MinPLogitsWarper(options.min_p))
    values = torch.from_numpy(scores.astype(np.float64))[None]
    for step in steps:
        values = step(torch.tensor([seen]), values)
    return values.softmax(-1)[0].numpy()


def ours(scores: Logits, seen: list[int], options: GenerateOptions) -> NDArray[np.float64]:
    penalised = penalise(scores, np.array(sorted(set(seen))), options.repetition_penalty)
    ids, probabilities = candidates(penalised, options)
    dense = np.zeros(scores.size)
    dense[ids] = probabilities
    return dense


@settings(max_examples=120)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.05, 0.7, 1.0, 5.0]),
    st.sampled_from([0, 1, 40, 5000]),
    st.sampled_from([0.01, 0.5, 0.95, 0.999999, 1.0]),
    st.sampled_from([0.0, 0.05, 0.9]),
    st.sampled_from([1.0, 1.3, 0.8]),
)
def test_probabilities_are_those_of_transformers(
    seed: int, temperature: float, top_k: int, top_p: float, min_p: float, penalty: float
) -> None:
    options = GenerateOptions(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repetition_penalty=penalty,
    )
    scores, seen = logits(seed), [1, 5, 5, 2999]
    expected, actual = oracle(scores, seen, options), ours(scores, seen, options)
    np.testing.assert_allclose(actual, expected, atol=1e-6)
    in_doubt = (expected > 0) != (actual > 0)
    assert np.maximum(expected, actual)[in_doubt].max(initial=0) < 1e-6


def test_greedy_takes_the_lowest_of_equal_ids_and_needs_no_luck() -> None:
    scores = np.zeros(100, np.float32)
    scores[[7, 30, 99]] = 4
    for seed in range(5):
        for temperature in (0, 1e-300, 1e-46):
            options = GenerateOptions(temperature=temperature, seed=seed)
            assert Sampler(options).pick(scores) == 7


def test_a_seed_repeats_a_reply_and_no_seed_does_not() -> None:
    def reply(seed: int | None) -> list[int]:
        sampler = Sampler(GenerateOptions(temperature=1.0, top_k=0, top_p=1.0, seed=seed))
        return [sampler.pick(logits(step)) for step in range(30)]

    assert reply(3) == reply(3)
    assert reply(3) != reply(4)
    assert reply(None) != reply(None)


def test_draws_follow_the_probabilities() -> None:
    scores = np.log(np.array([0.5, 0.3, 0.2, 1e-9], np.float32))
    sampler = Sampler(GenerateOptions(temperature=1.0, top_k=0, top_p=1.0, seed=1))
    counts = Counter(sampler.pick(scores) for _ in range(4000))
    assert counts[0] / 4000 == pytest.approx(0.5, abs=0.03)
    assert counts[1] / 4000 == pytest.approx(0.3, abs=0.03)
    assert counts[3] == 0


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=8), st.floats(0, 1, exclude_max=True))
def test_a_draw_is_always_one_of_the_candidates(weights: list[float], number: float) -> None:
    ids = np.arange(len(weights)) * 10
    assert draw(ids, np.array(weights) / sum(weights), number) in ids


def test_the_penalty_counts_prompt_and_reply() -> None:
    scores = np.array([5.0, 4.9, 4.8, -1.0], np.float32)
    sampler = Sampler(GenerateOptions(temperature=0, repetition_penalty=1.1), history=[0])
    assert [sampler.pick(scores) for _ in range(3)] == [1, 2, 0]
    assert scores.tolist() == pytest.approx([5.0, 4.9, 4.8, -1.0])  # the model's array is its own


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_broken_logits_are_an_error_not_a_token(bad: float, temperature: float) -> None:
    scores = logits(0, 50)
    scores[13] = bad
    with pytest.raises(ChatError, match="1 of 50"):
        Sampler(GenerateOptions(temperature=temperature)).pick(scores)


@pytest.mark.parametrize("temperature", [1e-6, 1e-3, 10.0])
@pytest.mark.parametrize("spread", [1e-3, 1e4])
def test_extreme_options_stay_finite(temperature: float, spread: float) -> None:
    options = GenerateOptions(temperature=temperature, top_k=0, top_p=0.9, min_p=0.01)
    ids, probabilities = candidates(logits(1, 2000, spread), options)
    assert ids.size and np.isfinite(probabilities).all()
    assert probabilities.sum() == pytest.approx(1)
