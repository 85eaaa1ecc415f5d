"""The Jinja environment chat templates run in. A template comes with a model: it is hostile input.

It runs in this process, not in a killable child: a child costs time before the first token, and
checking a template once proves nothing, because the next message can take it down another path.
So the template is rewritten: each loop turn, call, filter, operator, comparison and piece of output
first asks the `Allowance`; Jinja's sandbox keeps attributes shut. Names and behaviour are otherwise
those of `transformers`, so that prompts are the same character by character.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from jinja2 import Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.tests import TESTS
from jinja2.utils import Namespace

from engine.chat.template_functions import (
    CHECKED_FILTERS,
    check_format,
    check_method,
    new_dict,
    raise_exception,
    strftime_now,
)
from engine.chat.template_limits import Allowance, TemplateLimits
from engine.text import Text

# Filters whose work is in proportion to their input. The rest of Jinja's (center, format, round, …)
# can blow a short input up, and no chat template we know uses them.
_FILTERS = (
    "abs", "capitalize", "d", "default", "dictsort", "e", "escape", "float", "groupby", "int",
    "items", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "safe",
    "select", "selectattr", "sort", "string", "title", "truncate", "unique", "upper", "wordcount",
)  # fmt: skip
_INSTANT_FILTERS = ("count", "first", "last", "length")  # walk over nothing: no need to measure
_INSTANT_TESTS = (
    "boolean", "callable", "defined", "false", "float", "integer", "iterable", "mapping",
    "none", "number", "sequence", "string", "true", "undefined",
)  # fmt: skip
_TEXT_METHODS = (
    "capitalize", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdecimal",
    "isdigit", "islower", "isspace", "isupper", "join", "lower", "lstrip", "partition",
    "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit",
    "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
)  # fmt: skip
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (str, frozenset(_TEXT_METHODS)),
    (dict, frozenset({"copy", "get", "items", "keys", "values"})),
    (list, frozenset({"copy", "count", "index"})),
    (tuple, frozenset({"count", "index"})),
    (LoopContext, frozenset({"changed", "cycle"})),
)


class _Namespace(Namespace):
    """`namespace()`, without names that begin with an underscore (as in transformers)."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # a template may pass self=…
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            _Namespace._check(name)
        Namespace.__init__(args[0], attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _Namespace._check(name)
        super().__setitem__(name, value)

    @staticmethod
    def _check(name: object) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise SecurityError(Text("a namespace cannot hold the name {0}", repr(name)))


class _GenerationTag(Extension):
    """`{% generation %}`, which marks the assistant's text for training; here it means nothing."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _PlainFormat:
    """A string's bound `format`, known to have plain fields only."""

    def __init__(self, text: str, function: Callable[..., str]) -> None:
        self.fields = check_format(text)
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return self._function(*args, **kwargs)


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """Environment of one template: one rendering at a time, each with an `allowance` of its own."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_GenerationTag, LoopControlExtension],
            optimized=False,  # nothing is computed while compiling
        )
        self.allowance = Allowance(TemplateLimits())
        self.finalize = self._emit
        functions: dict[str, object] = {
            "range": safe_range,
            "dict": new_dict,
            "namespace": _Namespace,
            "raise_exception": raise_exception,
            "strftime_now": strftime_now,
        }
        self.globals = functions
        self._functions = frozenset(map(id, functions.values()))
        self.filters = self._all_filters()
        self.tests = {
            name: test if name in _INSTANT_TESTS else self._measured(test)
            for name, test in TESTS.items()
        }

    def _all_filters(self) -> dict[str, Any]:
        """The filters a template may use, and three that only `template_rewrite` writes."""
        filters: dict[str, Any] = {name: FILTERS[name] for name in _INSTANT_FILTERS}
        filters |= {name: self._measured(FILTERS[name]) for name in _FILTERS}
        filters |= {name: self._measured(check) for name, check in CHECKED_FILTERS.items()}
        return {**filters, "_turns": self._turns, "_concat": self._concat, "_walk": self._walk}

    def _measured(self, function: Any) -> Callable[..., Any]:
        """The filter or test, with its operands measured before and its result after."""

        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            self.allowance.measure(*args, *kwargs.values())
            return self._made(function(*args, **kwargs))

        return measured

    def _made(self, result: Any) -> Any:
        """A new value, counted; a lazy one is counted as it is drawn."""
        if isinstance(result, GeneratorType):
            return self.allowance.each(result)
        if isinstance(result, (str, list)):
            self.allowance.create(len(result))
        return result

    def _turns(self, values: Any) -> Iterator[Any]:
        """What a `for` walks over."""
        for value in values:
            self.allowance.tick()
            yield value

    def _concat(self, *parts: Any) -> str:
        """The `~` operator."""
        self.allowance.create(self.allowance.measure(*parts))
        return "".join(map(str, parts))

    def _walk(self, value: Any) -> Any:
        """The value, which is about to be compared, or hashed as a key."""
        self.allowance.measure(value)
        return value

    @pass_context
    def _emit(self, context: Context, value: Any) -> str:
        """A piece of output, whether of the prompt or of a macro's or block's result."""
        self.allowance.measure(value)
        text = str(value)
        self.allowance.create(len(text))
        return text

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Jinja's safe `str.format`, for format strings without widths."""
        function = super().wrap_str_format(value)
        return None if function is None else _PlainFormat(value.__self__, function)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Arithmetic. `%` on text is formatting, which can pad without end."""
        size = self.allowance.measure(left, right)
        if operator == "**" or (operator == "%" and isinstance(left, str)):
            raise SecurityError(Text("the operator {0} may not be used like this", operator))
        if operator == "*":
            for times in (left, right):
                size *= max(1, times) if isinstance(times, int) else 1
            size = 1 if isinstance(left, (int, float)) and isinstance(right, (int, float)) else size
        self.allowance.create(size)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A function, macro or method, if it is one that templates may call."""
        self.allowance.measure(*args, *kwargs.values())
        args = self._checked_arguments(obj, args, tuple(kwargs.values()))
        return self._made(super().call(context, obj, *args, **kwargs))

    def _checked_arguments(
        self, obj: Any, args: tuple[Any, ...], kwargs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        if isinstance(obj, (Macro, Undefined)) or id(obj) in self._functions:
            return args
        if isinstance(obj, _PlainFormat):
            self.allowance.fits(obj.fields * (1 + self.allowance.measure(*args, *kwargs)))
            return args
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        allowed = next((names for kind, names in _METHODS if isinstance(owner, kind)), frozenset())
        if name not in allowed:
            raise SecurityError(Text("{0} may not be called", name or type(obj).__name__))
        if isinstance(owner, str):
            return check_method(self.allowance, name, owner, args)
        if name in ("count", "index"):
            self.allowance.measure(owner)
        return args
