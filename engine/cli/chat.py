"""`edge0 chat`: a conversation in the terminal. The reply goes to stdout, its numbers to stderr.

The reply is computed on a thread of its own, so that Ctrl-C reaches us while native code runs: the
first one stops the reply, a second one ends the command. /new forgets the conversation.
"""

from __future__ import annotations

import argparse
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Protocol

from engine.chat.template import Message
from engine.cli import output, shared, typed
from engine.config import GenerateOptions
from engine.errors import Edge0Error, OutputError
from engine.events import Finished, PrefillProgress, Progress, ReplyEvent, ReplyStats, TextDelta

_POLL_S = 0.1  # Windows does not interrupt a waiting lock


class ChatSession(Protocol):
    """What we need of a session."""

    def reply(
        self, messages: Sequence[Message], options: GenerateOptions
    ) -> Iterator[ReplyEvent]: ...

    def stop(self) -> None: ...


def add(parser: argparse.ArgumentParser) -> None:
    """Options of this command."""
    shared.add_model(parser, optional=True)
    parser.add_argument(
        "--once", type=_question, metavar="TEXT", help="answer TEXT and end; - reads it from stdin"
    )
    parser.add_argument(
        "--system", metavar="TEXT", help="system prompt; default, or empty: the model's own, if any"
    )
    temperature = shared.number(float, lambda value: GenerateOptions(temperature=value))
    tokens = shared.number(int, lambda count: GenerateOptions(max_tokens=count))
    seed = shared.number(int, lambda value: GenerateOptions(seed=value))
    parser.add_argument(
        "--temperature", type=temperature, metavar="T", help="0 is greedy; default: the model's own"
    )
    parser.add_argument("--max-tokens", type=tokens, default=1024, metavar="N")
    parser.add_argument("--seed", type=seed, metavar="N")


def _question(once: str) -> str:
    """What --once asks. Refused when blank: a model invents an answer to nothing."""
    text = typed.read() if once == "-" else once
    if not text.strip():
        raise argparse.ArgumentTypeError("There is nothing to answer. Give some words.")
    return text


def run(options: argparse.Namespace) -> int:
    """Open the model and talk."""
    from engine.runtime import Edge0Runtime

    chosen = {"max_tokens": options.max_tokens, "seed": options.seed}
    if options.temperature is not None:
        chosen["temperature"] = options.temperature
    progress = output.TextProgress()
    with Edge0Runtime.from_config(shared.config(options), progress) as runtime:
        progress.end()
        generate = replace(runtime.default_options, **chosen)
        chat = Chat(runtime.session(), generate, options.system)
        if options.once is None:
            return chat.talk()
        return chat.answer(options.once)


class Chat:
    """One conversation: the messages so far and the session that continues them."""

    def __init__(
        self, session: ChatSession, options: GenerateOptions, system: str | None = None
    ) -> None:
        self._session = session
        self._options = options
        self._start = [Message("system", system)] if system and system.strip() else []
        self.messages = list(self._start)
        self._prefill = output.TextProgress()

    def talk(self) -> int:
        """Read lines until their end, or Ctrl-C at the prompt. 1 when a script's reply failed."""
        _load_readline()
        failed = False
        while True:
            try:
                text = typed.ask("> ").strip()
            except (EOFError, KeyboardInterrupt):
                output.note("")
                return int(failed and not typed.at_terminal())
            if text in ("/exit", "/quit"):
                return 0
            if text == "/new":
                self.messages = list(self._start)
            elif text:
                failed |= not self._answer_or_explain(text)

    def answer(self, text: str) -> int:
        """Stream one answer to stdout, its numbers to stderr."""
        self.messages.append(Message("user", text))
        pieces: list[str] = []
        try:
            for event in interruptible(self._session, self.messages, self._options):
                self._show(event, pieces)
        except BaseException:
            self.messages.pop()
            raise
        self.messages.append(Message("assistant", "".join(pieces)))
        return 0

    def _answer_or_explain(self, text: str) -> bool:
        try:
            self.answer(text)
        except OutputError:
            raise
        except Edge0Error as error:
            output.note(f"\n{error.message}")
            output.note(error.next_step)
            return False
        return True

    def _show(self, event: ReplyEvent, pieces: list[str]) -> None:
        if isinstance(event, TextDelta):
            pieces.append(event.text)
            output.write(event.text)
        elif isinstance(event, Finished):
            output.write("\n")
            output.note(stats_line(event))
        elif isinstance(event, PrefillProgress) and sys.stderr.isatty():
            self._prefill(Progress(event.done, event.total, "reading the prompt"))
            if event.done >= event.total:
                self._prefill.end()


def interruptible(
    session: ChatSession, messages: Sequence[Message], options: GenerateOptions
) -> Iterator[ReplyEvent]:
    """The events of a reply computed on another thread; Ctrl-C stops it, a second one raises."""
    events: queue.Queue[ReplyEvent | BaseException | None] = queue.Queue()

    def work() -> None:
        try:
            for event in session.reply(messages, options):
                events.put(event)
            events.put(None)
        except BaseException as error:  # shown by the thread that reads the queue
            events.put(error)

    with _stop_on_interrupt(session):
        thread = threading.Thread(target=work, name="edge0-reply")
        thread.start()
        try:
            yield from _until_end(events)
        except BaseException:  # also when the caller stops reading
            session.stop()
            raise
        finally:
            thread.join()


def _until_end(events: queue.Queue[ReplyEvent | BaseException | None]) -> Iterator[ReplyEvent]:
    while True:
        try:
            event = events.get(timeout=_POLL_S)
        except queue.Empty:
            continue
        if event is None:
            return
        if isinstance(event, BaseException):
            raise event
        yield event


@contextmanager
def _stop_on_interrupt(session: ChatSession) -> Iterator[None]:
    """While inside: the first Ctrl-C stops the reply, the next one is a KeyboardInterrupt."""
    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler

    def handler(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        session.stop()

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def stats_line(event: Finished) -> str:
    """The reply's numbers, each from a counter, on one line."""
    stats: ReplyStats = event.stats
    reused = f" ({stats.reused_tokens} reused)" if stats.reused_tokens else ""
    parts = [
        f"{stats.prompt_tokens} prompt tokens{reused}",
        f"first token {stats.first_token_s:.2f} s",
        f"{stats.generated_tokens} tokens",
        f"{stats.decode_tok_s:.1f} tok/s",
        f"hit rate {100 * stats.hit_rate:.0f} %",
        f"read {output.gigabytes(stats.expert_bytes_read)}",
    ]
    ends = {"length": "cut at --max-tokens", "context": "the context is full", "stopped": "stopped"}
    if event.reason in ends:
        parts.append(ends[event.reason])
    return f"[{' · '.join(parts)}]"


def _load_readline() -> None:
    """Line editing and history for input(); Windows has its own."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
