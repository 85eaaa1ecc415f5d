"""What a reply cost, in words: one line for the footer, several for its tooltip."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication

from app import numbers
from app.history import State


def state_text(state: State) -> str:
    """Why a reply is not a whole one; empty when it is."""
    texts = {
        "stopped": QCoreApplication.translate("ReplyCaption", "Stopped"),
        "interrupted": QCoreApplication.translate("ReplyCaption", "Interrupted: Edge0 was closed"),
        "length": QCoreApplication.translate("ReplyCaption", "Cut at the length limit"),
        "context": QCoreApplication.translate("ReplyCaption", "The context window is full"),
    }
    return texts.get(state, "")


def caption(stats: dict[str, Any], state: State) -> str:
    """ "Stopped · first token 0.42 s · 14.2 tok/s · 71 % hits"."""
    parts = [state_text(state)]
    if stats.get("generated_tokens"):
        first = QCoreApplication.translate("ReplyCaption", "first token {0}")
        parts.append(first.format(numbers.seconds(stats.get("first_token_s"))))
        if stats.get("decode_tok_s"):
            parts.append(numbers.speed(stats["decode_tok_s"]))
        if uses(stats):
            hits = QCoreApplication.translate("ReplyCaption", "hits {0}")
            parts.append(hits.format(numbers.percent(stats.get("hit_rate"))))
    return " · ".join(part for part in parts if part)


def details(stats: dict[str, Any]) -> str:
    """Every number of the reply, one a line."""
    if not stats.get("generated_tokens"):
        return ""
    translate = QCoreApplication.translate
    rows = (
        (translate("ReplyCaption", "Prompt tokens"), stats.get("prompt_tokens")),
        (translate("ReplyCaption", "of these reused"), stats.get("reused_tokens")),
        (translate("ReplyCaption", "Generated tokens"), stats.get("generated_tokens")),
        (
            translate("ReplyCaption", "First token after"),
            numbers.seconds(stats.get("first_token_s")),
        ),
        (translate("ReplyCaption", "Prefill speed"), numbers.speed(stats.get("prefill_tok_s"))),
        (translate("ReplyCaption", "Decode speed"), numbers.speed(stats.get("decode_tok_s"))),
        (
            translate("ReplyCaption", "Experts found in memory"),
            numbers.percent(stats.get("hit_rate")) if uses(stats) else numbers.UNKNOWN,
        ),
        (
            translate("ReplyCaption", "Expert bytes read"),
            numbers.size(stats.get("expert_bytes_read")),
        ),
        (translate("ReplyCaption", "KV cache"), numbers.size(stats.get("kv_bytes"))),
    )
    return "\n".join(f"{name}: {value}" for name, value in rows)


def uses(stats: dict[str, Any]) -> int:
    """How often an expert was needed."""
    return int(stats.get("expert_hits") or 0) + int(stats.get("expert_misses") or 0)
