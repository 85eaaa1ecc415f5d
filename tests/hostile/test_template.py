"""Chat templates that attack: endless loops, exploding values, escapes, nonsense. Each ends soon,
in a ChatError or in nothing but text, and never holds much memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from engine.chat.template import ChatTemplate, Message
from engine.chat.template_limits import TemplateLimits
from engine.errors import ChatError

LIMITS = TemplateLimits(cpu_seconds=0.2, value=20_000, created=2_000_000)
CHAT = [Message("user", "hi" * 20)]
GROW = "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}"


def grow(start: str, step: str, use: str) -> str:
    return GROW.replace("START", start).replace("STEP", step) + "{{ " + use + " }}"


ENDLESS = {
    "nested loops": "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}"
    "{% endfor %}{% endfor %}",
    "loop length": "{% for i in range(9999) %}{% for j in range(9999) %}{{ loop.length }}"
    "{% endfor %}{% endfor %}",
    "macro tree": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}"
    "{{ f(60) }}",
    "macro without end": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "huge range": "{% for i in range(1000000000) %}{% endfor %}",
    "recursive loop": "{% for x in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
    "namespaces in a tree": "{% set n0 = namespace() %}"
    + "".join(f"{{% set n{i} = namespace(a=n{i - 1}, b=n{i - 1}) %}}" for i in range(1, 60))
    + "{{ n59 }}",
    "namespace in itself": "{% set a = namespace() %}{% set a.a = a %}{{ a }}",
}
EXPLODING = {
    "power": "{{ 9 ** 9 ** 9 }}",
    "power of a variable": "{% set n = 9 %}{{ n ** n ** n }}",
    "integers": grow("3", "ns.x * ns.x", "ns.x"),
    "text times": "{{ 'a' * 1000000000 }}",
    "times text": "{{ 1000000000 * 'a' }}",
    "list times": "{{ [0] * 1000000000 }}",
    "doubling +": grow("'a'", "ns.x + ns.x", "ns.x"),
    "doubling ~": grow("'a'", "ns.x ~ ns.x", "ns.x"),
    "printed tree": grow("[1]", "[ns.x, ns.x]", "ns.x"),
    "compared tree": grow("[1]", "[ns.x, ns.x]", "ns.x == [ns.x]"),
    "tree in a test": grow("[1]", "[ns.x, ns.x]", "ns.x is eq([1])"),
    "hashed tree": grow("(1,)", "(ns.x, ns.x)", "{ns.x: 1}"),
    "tree as a key": grow("(1,)", "(ns.x, ns.x)", "{}[ns.x]"),
    "tree in a dict": grow("(1,)", "(ns.x, ns.x)", "ns.x in {}"),
    "tree as JSON": grow("[1]", "[ns.x, ns.x]", "ns.x | tojson"),
    "tree as text": grow("[1]", "[ns.x, ns.x]", "ns.x | string"),
    "tree in a call": grow("[1]", "[ns.x, ns.x]", "messages.index(ns.x)"),
    "center filter": "{{ 'a' | center(1000000000) }}",
    "center method": "{{ 'a'.center(1000000000) }}",
    "zfill": "{{ 'a'.zfill(1000000000) }}",
    "percent": "{{ '%1000000000d' % 1 }}",
    "format": "{{ '{:1000000000}'.format(1) }}",
    "format with a computed width": "{{ '{:{}}'.format(1, 1000000000) }}",
    "format that repeats": "{{ ('{0}' * 20000).format('a' * 50000) }}",
    "indent": "{{ 'a' | indent(1000000000) }}",
    "JSON indent": "{{ [1] | tojson(indent=1000000000) }}",
    "JSON separators": "{{ ([1] * 9999) | tojson(separators=('x' * 99999, ':')) }}",
    "replace": "{{ ('a' * 50000).replace('a', 'b' * 50000) }}",
    "replace nothing": "{{ ('a' * 50000) | replace('', 'b' * 50000) }}",
    "join": "{{ ('a' * 50000).join(['b'] * 50000) }}",
    "join filter": "{{ (['b'] * 50000) | join('a' * 50000) }}",
    "lazy filters": "{{ (['a' * 1000] * 100) | map('replace', 'a', 'b' * 100) | join }}",
    "lazy filters as a list": "{{ (['a' * 1000] * 100) | map('replace', 'a', 'b' * 100) | list }}",
    "sum of lists": "{{ ([[1]] * 50000) | sum(start=[]) }}",
    "round": "{{ 1.5 | round(1000000000, 'floor') }}",
    "bytes": "{{ (1).to_bytes(1000000000, 'big') }}",
    "strip": "{{ ('a' * 100000).strip('b' * 100000) }}",
    "time format": "{{ strftime_now('%c' * 50000) }}",
    "literal text in a loop": "{% for i in range(99999) %}" + "x" * 1000 + "{% endfor %}",
    "captured text": "{% for i in range(99999) %}{% set a %}"
    + "x" * 1000
    + "{% endset %}{% endfor %}",
    "filter block": "{% for i in range(99999) %}{% filter replace('a', 'b' * 999) %}"
    + "a" * 50
    + "{% endfilter %}{% endfor %}",
    "digits": "{{ " + "9" * 100_000 + " }}",
    "long": "x" * 200_000,
}
BROKEN = {
    "comment": "Hello {# there",
    "block": "{% if messages %}",
    "expression": "{{ messages",
    "tag": "{% frobnicate %}",
    "deep parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "deep lists": "{{ " + "[" * 50_000,
    "long sum": "{{ " + "+".join(["1"] * 20_000) + " }}",
    "deep not": "{{ " + "not " * 30_000 + "1 }}",
    "deep loops": "{% for a in messages %}" * 30 + "{% endfor %}" * 30,
    "undefined function": "{{ frobnicate() }}",
    "attribute of nothing": "{{ a.b.c }}",
    "wrong types": "{{ messages + 1 }}",
    "include": "{% include 'other' %}",
    "include by name": "{% include messages[0].content %}",
    "import": "{% import '/etc/passwd' as x %}",
    "extends": "{% extends 'other' %}",
    "no template": "{{ raise_exception('not for you') }}",
}
ESCAPES = {
    "class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class by subscript": "{{ ''['__class__']['__mro__'] }}",
    "attr filter": "{{ '' | attr('__class__') }}",
    "map attribute": "{{ messages | map(attribute='__class__') | list }}",
    "format attribute": "{{ '{0.__class__.__mro__}'.format(1) }}",
    "format_map": "{{ '{a.__class__.__mro__}'.format_map({'a': 1}) }}",
    "function globals": "{{ raise_exception.__globals__ }}",
    "template reference": "{{ self.__init__.__globals__ }}",
    "namespace": "{{ namespace.__init__.__globals__ }}",
    "macro": "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "private macro part": "{% macro m() %}{% endmacro %}{{ m._func }}",
    "loop": "{% for m in messages %}{{ loop._iterator }}{{ loop.__init__ }}{% endfor %}",
    "undefined": "{{ x.__init__.__globals__ }}",
    "type methods": "{{ dict.mro() }}",
    "generator": "{% set g = messages | map('string') %}{{ g.gi_frame.f_globals }}",
    "our filters": "{{ 'x' | _walk.__self__ }}",
    "environment": "{{ self._TemplateReference__context.environment }}",
    "cycler": "{{ cycler.__init__.__globals__ }}{{ lipsum.__globals__ }}",
}
MARKS = ("<class", "<function", "<bound method", "<slot wrapper", "environment", "site-packages")


def render(source: str) -> str:
    return ChatTemplate(source, limits=LIMITS).render(CHAT)


def check_refused(source: str) -> None:
    with pytest.raises(ChatError) as caught:
        render(source)
    assert len(caught.value.message) < 500
    assert caught.value.next_step


@pytest.mark.parametrize("name", [*ENDLESS, *BROKEN])
def test_an_attack_ends_in_a_chat_error(name: str) -> None:
    check_refused((ENDLESS | BROKEN)[name])


@pytest.mark.parametrize("name", EXPLODING)
def test_an_explosion_is_stopped_while_it_is_small(name: str) -> None:
    tracemalloc.start()
    try:
        check_refused(EXPLODING[name])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 48 << 20


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_private_can_be_reached(name: str) -> None:
    try:
        text = render(ESCAPES[name])
    except ChatError as error:
        text = "" if "unsafe" in error.message else error.message
    assert not [mark for mark in MARKS if mark in text]


def test_the_messages_cannot_be_changed() -> None:
    for change in ("messages.append(1)", "messages[0].update(role='x')", "messages.clear()"):
        with pytest.raises(ChatError):
            render("{{ " + change + " }}")


def test_a_bomb_can_wait_for_the_third_message() -> None:
    """Why checking a template once would prove nothing."""
    source = "{% if messages | length > 2 %}{{ 'a' * 1000000000 }}{% endif %}fine"
    template = ChatTemplate(source, limits=LIMITS)
    assert template.render(CHAT) == "fine"
    with pytest.raises(ChatError):
        template.render(CHAT * 3)
    assert template.render(CHAT) == "fine"


def test_the_limits_grow_with_the_conversation() -> None:
    """A long conversation is no attack: text is copied several times on its way into the prompt."""
    source = (
        "{% set ns = namespace(text='') %}{% for m in messages %}"
        "{% set ns.text = ns.text + m.role ~ m.content %}{% endfor %}{{ ns.text }}"
    )
    chat = [Message("user", "é" * 2000)] * 300
    template = ChatTemplate(source, limits=replace(LIMITS, cpu_seconds=5))
    assert template.render(chat) == "".join("user" + m.content for m in chat)
