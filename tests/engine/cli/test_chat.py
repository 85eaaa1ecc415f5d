"""`edge0 chat` against a fake session: streaming, Ctrl-C, history, errors."""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from engine.chat.template import Message
from engine.cli import chat
from engine.cli.chat import Chat, interruptible, stats_line
from engine.config import GenerateOptions
from engine.errors import ContextError, OutputError
from engine.events import Finished, PrefillProgress, ReplyEvent, ReplyStats, TextDelta
from tests.helpers.tiny_containers import make_tiny_container

ROOT = Path(__file__).parents[3]
OPTIONS = GenerateOptions(temperature=0.0)


class FakeSession:
    """Answers with the given pieces; `before_piece` is called with its number ahead of each."""

    def __init__(self, *pieces: str, before_piece: Callable[[int], None] = lambda _: None) -> None:
        self.pieces = pieces
        self.before_piece = before_piece
        self.asked: list[list[Message]] = []
        self.stopped = threading.Event()
        self.thread = ""

    def reply(self, messages: Sequence[Message], options: GenerateOptions) -> Iterator[ReplyEvent]:
        self.asked.append(list(messages))
        self.thread = threading.current_thread().name
        yield PrefillProgress(3, 3)
        for number, piece in enumerate(self.pieces):
            self.before_piece(number)
            if self.stopped.is_set():
                yield Finished("stopped", ReplyStats(generated_tokens=number))
                return
            yield TextDelta(piece)
        yield Finished("stop", ReplyStats(12, 8, 40, 0.5, 0.75, 3.9, 9, 1, 34_000_000))

    def stop(self) -> None:
        self.stopped.set()


def test_one_answer_streams_to_stdout_and_its_numbers_to_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = FakeSession("Hel", "lo 世界")
    assert Chat(session, OPTIONS, system="Be brief.").answer("Hi") == 0
    captured = capsys.readouterr()
    assert captured.out == "Hello 世界\n"
    assert captured.err == (
        "[12 prompt tokens (8 reused) · first token 0.75 s · 40 tokens · 10.0 tok/s"
        " · hit rate 90 % · read 34 MB]\n"
    )
    assert session.asked == [[Message("system", "Be brief."), Message("user", "Hi")]]
    assert session.thread != threading.main_thread().name


@pytest.mark.parametrize("system", [None, "", " \n　"])
def test_an_empty_system_prompt_is_none(system: str | None) -> None:
    """The model's own stays in place; a message without words would confuse it."""
    session = FakeSession("ok")
    Chat(session, OPTIONS, system=system).answer("Hi")
    assert roles(session.asked[0]) == [("user", "Hi")]


def talk(monkeypatch: pytest.MonkeyPatch, chat_: Chat, *lines: object) -> int:
    """Type the lines at the prompt; an exception in their place is raised there."""
    left = iter(lines)

    def read(_: str = "") -> str:
        line = next(left, EOFError())
        if isinstance(line, BaseException):
            raise line
        return str(line)

    monkeypatch.setattr(builtins, "input", read)
    return chat_.talk()


def roles(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


def test_a_conversation_remembers_until_new(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession("ok")
    chat_ = Chat(session, OPTIONS, "S")
    assert talk(monkeypatch, chat_, "one", "   ", "two", "/new", "three", "/exit", "never") == 0
    assert [roles(asked) for asked in session.asked] == [
        [("system", "S"), ("user", "one")],
        [("system", "S"), ("user", "one"), ("assistant", "ok"), ("user", "two")],
        [("system", "S"), ("user", "three")],
    ]


@pytest.mark.parametrize("end", [EOFError(), KeyboardInterrupt()])
def test_end_of_input_and_ctrl_c_at_the_prompt_end_the_chat(
    monkeypatch: pytest.MonkeyPatch, end: BaseException
) -> None:
    assert talk(monkeypatch, Chat(FakeSession("ok"), OPTIONS), "hi", end) == 0


def test_ctrl_c_stops_the_reply_and_keeps_what_came(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = FakeSession(*"abcdef")

    def interrupt(number: int) -> None:
        if number == 2:
            signal.raise_signal(signal.SIGINT)
            assert session.stopped.wait(10)

    session.before_piece = interrupt
    chat_ = Chat(session, OPTIONS)
    before = signal.getsignal(signal.SIGINT)
    assert talk(monkeypatch, chat_, "hi") == 0
    captured = capsys.readouterr()
    assert captured.out == "ab\n" and "stopped]" in captured.err
    assert roles(chat_.messages) == [("user", "hi"), ("assistant", "ab")]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """As in a terminal; a shell starts what runs in its background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_a_second_ctrl_c_ends_the_command_and_the_thread() -> None:
    session = FakeSession("a", "b")
    stops: list[float] = []

    def interrupt_twice(number: int) -> None:
        if number == 1:
            for count in (1, 2):  # the handler stops once, the way out a second time
                signal.raise_signal(signal.SIGINT)
                while len(stops) < count:
                    time.sleep(0.01)

    session.before_piece = interrupt_twice
    # Told last: the second Ctrl-C must not come while the event is being set, holding its lock.
    session.stop = lambda: session.stopped.set() or stops.append(0)  # type: ignore[method-assign,func-returns-value]
    threads = set(threading.enumerate())
    seen: list[ReplyEvent] = []
    with pytest.raises(KeyboardInterrupt):
        for event in interruptible(session, [], OPTIONS):
            seen.append(event)
    assert set(threading.enumerate()) == threads
    assert seen == [PrefillProgress(3, 3), TextDelta("a")]


def test_leaving_early_stops_the_engine() -> None:
    session = FakeSession(*"abc")
    events = interruptible(session, [], OPTIONS)
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert session.stopped.is_set()


def test_an_error_is_explained_and_the_message_taken_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: int) -> None:
        if len(session.asked) == 1:
            raise ContextError("Too long.", "Start a new chat.")

    session = FakeSession("ok", before_piece=fail)
    chat_ = Chat(session, OPTIONS)
    assert talk(monkeypatch, chat_, "long", "short") == 1  # a script sees that not all was answered
    assert "Too long.\nStart a new chat." in capsys.readouterr().err
    assert roles(session.asked[1]) == [("user", "short")]


def test_a_finished_reply_does_not_stop_the_next_one() -> None:
    session = FakeSession("a")
    list(interruptible(session, [], OPTIONS))
    assert not session.stopped.is_set()


@pytest.mark.parametrize(
    ("reason", "words"), [("length", "--max-tokens"), ("context", "context is full")]
)
def test_an_early_end_is_named(reason: str, words: str) -> None:
    assert words in stats_line(Finished(reason, ReplyStats()))  # type: ignore[arg-type]
    assert words not in stats_line(Finished("stop", ReplyStats()))


def test_once_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession("ok")

    class Runtime:
        default_options = GenerateOptions()

        @classmethod
        def from_config(cls, config: object, progress: object) -> Runtime:
            return cls()

        def session(self) -> FakeSession:
            return session

        def __enter__(self) -> Runtime:
            return self

        def __exit__(self, *_: object) -> None: ...

    fake = type(sys)("engine.runtime")
    fake.Edge0Runtime = Runtime  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "engine.runtime", fake)
    monkeypatch.setattr(chat.shared, "config", lambda options: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO("多行\ntext"))
    from engine.cli import main

    assert main(["chat", "some model", "--once", "-", "--max-tokens", "5"]) == 0
    assert roles(session.asked[0]) == [("user", "多行\ntext")]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE])
@pytest.mark.parametrize(("allowed", "asked"), [((), 0), (("",), 1)])
def test_an_output_that_cannot_be_written_ends_the_chat(
    number: int, allowed: tuple[str, ...], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            if text in allowed:
                return 0
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sys, "stdin", io.StringIO("one\ntwo\n"))
    monkeypatch.setattr(sys, "stdout", Full())
    session = FakeSession("Hel", "lo")
    with pytest.raises(OutputError) as caught:
        Chat(session, OPTIONS).talk()
    assert len(session.asked) == asked == session.stopped.is_set()
    assert bool(caught.value.message) == (number == errno.ENOSPC)


@pytest.mark.skipif(sys.platform == "win32", reason="no shell that closes an input")
@pytest.mark.parametrize("more", ["", "--once -"])
def test_an_input_that_cannot_be_read_is_told_as_that(tmp_path: Path, more: str) -> None:
    """A file that is open for writing alone; and a chat whose input was closed is over at once."""
    model = make_tiny_container(tmp_path / "m")
    command = [sys.executable, "-m", "engine.cli", "chat", str(model), *more.split()]
    with open(tmp_path / "f", "w") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, "")
    assert "The input cannot be read: Bad file descriptor.\nType it" in done.stderr
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
    done = subprocess.run(shell, capture_output=True, text=True, cwd=ROOT)
    assert "Traceback" not in done.stderr and done.returncode == (2 if more else 0)
