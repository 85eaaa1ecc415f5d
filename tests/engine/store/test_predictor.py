"""Reading ahead goes on while it pays and rests while it loses."""

from __future__ import annotations

from engine.store.predictor import PAUSE, WINDOW, PredictionTotals, ReadAhead


def window(ahead: ReadAhead, totals: PredictionTotals) -> list[int]:
    """The reads allowed after each token of a window, at whose end the totals are these."""
    return [ahead.after_token(totals) for _ in range(WINDOW)]


def test_it_goes_on_while_more_is_used_than_wasted() -> None:
    ahead = ReadAhead(4)
    for n in range(1, 20):
        assert window(ahead, PredictionTotals(used=10 * n, wasted=10 * n)) == [4] * WINDOW


def test_a_window_that_lost_is_followed_by_a_rest_and_another_try() -> None:
    ahead = ReadAhead(4)
    first = window(ahead, PredictionTotals(used=5, wasted=6))
    assert first == [4] * (WINDOW - 1) + [0]
    tokens = range(PAUSE * WINDOW)
    rest = [ahead.after_token(PredictionTotals(used=5, wasted=6)) for _ in tokens]
    assert rest == [0] * (len(tokens) - 1) + [4]
    assert window(ahead, PredictionTotals(used=50, wasted=6)) == [4] * WINDOW


def test_each_window_is_judged_by_its_own_reads() -> None:
    """Much that paid long ago does not excuse what loses now."""
    ahead = ReadAhead(2)
    window(ahead, PredictionTotals(used=1000, wasted=0))
    assert window(ahead, PredictionTotals(used=1010, wasted=11))[-1] == 0
