"""Hot experts first: fewer and larger reads when routing is skewed, no harm when it is not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.layout import Routing, compare, places, runs

LAYERS, EXPERTS, TOP_K, TOKENS = 6, 64, 4, 256


def routed(skew: float) -> Routing:
    """Tokens whose experts are drawn without replacement, the n-th hottest with weight n^-skew."""
    rng = np.random.default_rng(1)
    used = np.zeros((TOKENS, LAYERS, EXPERTS), bool)
    for layer in range(LAYERS):
        weights = (np.arange(EXPERTS) + 1.0) ** -skew
        weights = rng.permutation(weights / weights.sum())
        for token in range(TOKENS):
            used[token, layer, rng.choice(EXPERTS, TOP_K, replace=False, p=weights)] = True
    return used


@pytest.mark.parametrize(("chunk", "share"), [(1, 0.9), (8, 0.8), (32, 0.88)])
def test_skewed_routing_reads_in_fewer_and_larger_pieces(chunk: int, share: float) -> None:
    result = compare(routed(1.2), chunk)
    own, hot = result["own_order"], result["hot_first"]
    assert hot["experts"] == own["experts"]  # the same bytes
    assert hot["runs"] < share * own["runs"]
    assert hot["records_a_run"] > own["records_a_run"] / share
    assert hot["span"] < own["span"]


def test_even_routing_loses_nothing() -> None:
    result = compare(routed(0.0), 8)
    assert result["hot_first"]["runs"] == pytest.approx(result["own_order"]["runs"], rel=0.05)


def test_runs_and_places() -> None:
    assert [runs(np.array(p)) for p in ([], [3], [3, 4, 5], [9, 1, 2, 7])] == [0, 1, 1, 3]
    assert places(np.array([[0, 5, 9]])).tolist() == [[2, 1, 0]]
