"""Chat templates: messages → the prompt's text, rendered as `transformers` does.

The template is a program that came with the model, so it runs in `TemplateSandbox` under limits,
and whatever goes wrong in it is a ChatError. A lock lets several sessions share one template.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Template, TemplateSyntaxError

from engine.chat.model_files import read_object, read_text, role_tokens
from engine.chat.template_functions import TemplateRefusal
from engine.chat.template_limits import Allowance, TemplateLimits
from engine.chat.template_rewrite import rewrite
from engine.chat.template_sandbox import TemplateSandbox
from engine.errors import ChatError
from engine.text import Text

# ChatML, which most models without a template of their own follow well enough.
CHATML = """\
{{ bos_token }}{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

_ROLE = re.compile(r"[a-z][a-z_]{0,31}")
_MAX_BYTES = 1 << 20
_USE_OTHER = Text("Use another version of the model, or report it to the model's author.")


@dataclass(frozen=True)
class Message:
    """One turn: role is "system", "user", "assistant" or "tool"."""

    role: str
    content: str

    def __post_init__(self) -> None:
        if not _ROLE.fullmatch(self.role):
            raise ChatError(
                Text("A message has the role {0}.", f"{self.role[:40]!r}"),
                Text("Use system, user, assistant or tool."),
            )


class ChatTemplate:
    """One compiled template. tokens: the model's bos_token, eos_token, … that a template may name.

    `notice` tells the user why the model's own template is not in use; empty when it is.
    """

    def __init__(
        self,
        source: str = CHATML,
        tokens: Mapping[str, str] | None = None,
        limits: TemplateLimits | None = None,
        notice: str = "",
    ) -> None:
        self.source = source
        self.tokens = dict(tokens or {})
        self.notice = notice
        self._limits = limits or TemplateLimits()
        self._lock = threading.Lock()
        self._sandbox = TemplateSandbox()
        self._template = self._compile(source)

    @classmethod
    def load(cls, folder: Path) -> ChatTemplate:
        """The template of a converted model, or ChatML with a `notice` when it has none that works.

        Raises StorageError, and ChatError for a damaged tokenizer_config.json.
        """
        config = read_object(folder / "tokenizer_config.json")
        tokens = role_tokens(config)
        try:
            template = cls(_source(folder, config), tokens)
            template.render([Message("user", "Hello")])
            return template
        except ChatError as error:
            notice = Text("{0} A common one (ChatML) is used; replies may be worse.", error.message)
            starts_with_bos = config.get("add_bos_token") is True
            return cls(CHATML, tokens if starts_with_bos else {}, notice=notice)

    def _compile(self, source: str) -> Template:
        if len(source) > self._limits.source:
            text = Text(
                "The model's chat template is {0} characters long; {1} are allowed.",
                len(source),
                self._limits.source,
            )
            raise ChatError(text, _USE_OTHER)
        try:
            return self._sandbox.from_string(rewrite(self._sandbox.parse(source)))
        except TemplateSyntaxError as error:
            raise ChatError(
                Text(
                    "The model's chat template is broken in line {0}: {1}.",
                    error.lineno,
                    _say(error),
                ),
                _USE_OTHER,
            ) from error
        except Exception as error:  # hostile input: anything can come out of the compiler
            raise ChatError(
                Text("The model's chat template cannot be used: {0}.", _say(error)), _USE_OTHER
            ) from error

    def render(
        self,
        messages: Sequence[Message],
        add_generation_prompt: bool = True,
        variables: Mapping[str, object] | None = None,
    ) -> str:
        """The prompt. variables: what this template understands besides, such as enable_thinking.

        A template that refuses a system message finds its text before the first user message's.
        """
        try:
            return self._render(messages, add_generation_prompt, variables or {})
        except ChatError as error:
            merged = _without_system(messages)
            if merged is None or not isinstance(error.__cause__, TemplateRefusal):
                raise
            return self._render(merged, add_generation_prompt, variables or {})

    def _render(
        self, messages: Sequence[Message], generate: bool, variables: Mapping[str, object]
    ) -> str:
        given = {
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "tools": None,
            "documents": None,
            "add_generation_prompt": generate,
            **self.tokens,
            **variables,
        }
        with self._lock:
            self._sandbox.allowance = Allowance(self._limits, list(given.values()))
            try:
                return self._sandbox.allowance.whole(self._template.generate(given))
            except TemplateRefusal as error:
                raise ChatError(
                    Text("The model's chat template refuses these messages: {0}.", _say(error)),
                    Text("Change the conversation as it asks, or start a new chat."),
                ) from error
            except Exception as error:  # hostile input: anything can come out of a template
                raise ChatError(
                    Text("The model's chat template failed: {0}.", _say(error)), _USE_OTHER
                ) from error


def _source(folder: Path, config: Mapping[str, object]) -> str:
    """The template's text from its own file or, in older models, from tokenizer_config.json."""
    source = read_text(folder / "chat_template.jinja", _MAX_BYTES)
    if source is not None:
        return source
    value = config.get("chat_template")
    if isinstance(value, list):  # several by name
        named = [t for t in value if isinstance(t, dict) and t.get("name") == "default"]
        value = named[0].get("template") if named else None
    if not isinstance(value, str):
        raise ChatError(Text("The model has no chat template."))
    return value


def _say(error: Exception) -> str:
    """The error in a short line; our own can be translated."""
    if error.args and isinstance(error.args[0], Text):
        return error.args[0]
    text = " ".join((str(error) or type(error).__name__).split())
    return text[:300].rstrip(".")


def _without_system(messages: Sequence[Message]) -> list[Message] | None:
    """The messages with the system text inside the first user message; None when that cannot be."""
    if len(messages) < 2 or messages[0].role != "system" or messages[1].role != "user":
        return None
    text = f"{messages[0].content}\n\n{messages[1].content}"
    return [Message("user", text), *messages[2:]]
