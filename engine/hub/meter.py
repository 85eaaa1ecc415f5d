"""Turns a download's status into what a person sees: rate, time left, state. On one thread."""

from __future__ import annotations

from collections import deque

from engine.hub.board import Status
from engine.hub.policy import DownloadPolicy
from engine.hub.progress import DownloadProgress, DownloadState
from engine.text import Text

WINDOW_S = 8.0


class Meter:
    """Rate over the last seconds. `total`: bytes of all files."""

    def __init__(self, total: int, done: int, now: float, policy: DownloadPolicy) -> None:
        self._total, self._policy = total, policy
        self._seen: deque[tuple[float, int]] = deque([(now, done)])
        self._last_change = now
        self.report_s = policy.report_s

    def progress(self, status: Status, now: float) -> DownloadProgress:
        """What to show now."""
        done = min(status.done, self._total)
        if done != self._seen[-1][1]:
            self._last_change = now
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        state = self._state(status, now)
        rate = 0.0 if state in ("stalled", "verifying") else self._rate()
        left = self._total - done
        return DownloadProgress(
            done=done,
            total=self._total,
            what=status.what,
            rate_bytes_s=rate,
            eta_s=left / rate if rate > 0 else None,
            state=state,
            detail=_detail(status, state),
        )

    def _rate(self) -> float:
        (begin, first), (end, last) = self._seen[0], self._seen[-1]
        return max(0.0, (last - first) / (end - begin)) if end > begin else 0.0

    def _state(self, status: Status, now: float) -> DownloadState:
        if status.all_there:
            return "verifying"
        if status.waiting and len(status.waiting) >= status.busy:
            return "retrying"
        quiet = now - self._last_change >= self._policy.quiet_s
        return "stalled" if quiet else "running"


def _detail(status: Status, state: DownloadState) -> str:
    if state == "retrying":
        soonest = min(status.waiting, key=lambda waiting: waiting.seconds)
        seconds = max(1, round(soonest.seconds))
        return Text("{0}; trying again in {1} s", soonest.reason, seconds)
    return status.message
