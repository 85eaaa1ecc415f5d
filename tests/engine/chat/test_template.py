"""Rendering: what `transformers` renders, character by character, whatever templates use."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from engine.chat.template import CHATML, ChatTemplate, Message
from engine.errors import ChatError, StorageError

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
CHATS = [
    [("user", "Hi <b>& \"friends\"</b> 'all'")],
    [
        ("system", " Be brief.\n"),
        ("user", "  Hi "),
        ("assistant", "Yo {{ x }}"),
        ("user", "日本 é"),
    ],
    [
        ("user", "a"),
        ("assistant", "<think>\nhm\n</think>\n\nb"),
        ("user", "c"),
        ("assistant", ""),
        ("user", "d"),
    ],
]
TEMPLATES = {
    "chatml": CHATML,
    "thinking removed": """
{%- set ns = namespace(last=-1) %}
{%- for m in messages[::-1] %}
    {%- set index = (messages | length - 1) - loop.index0 %}
    {%- if m.role == 'user' and ns.last < 0 %}{% set ns.last = index %}{% endif %}
{%- endfor %}
{%- for m in messages %}
    {%- set content = m.content if m.content is string else '' %}
    {%- if '</think>' in content and loop.index0 < ns.last %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- '<|im_start|>' + m['role'] + '\\n' + content + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}""",
    "turns": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}
{% set rest = messages[1:] %}{% set system = messages[0]['content'] | trim + '\\n\\n' %}
{% else %}{% set rest = messages %}{% set system = '' %}{% endif %}
{% for m in rest %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate') }}{% endif %}
{% if loop.first %}{{ system }}{% endif %}
{% if m.role == "user" %}{{ "[INST] " ~ m.content ~ " [/INST]" }}
{% elif not loop.last %}{{ " " ~ m.content | trim ~ eos_token }}{% else %}{{ m.content }}{% endif %}
{% endfor %}""",
    "macros": """{% macro show(m, mark='*') %}{{ mark }}{{ caller() if caller else '' }}
{{ m.content|upper }}
{% endmacro %}{% for m in messages %}{% call show(m, mark='#') %}({{ m.role }}){% endcall %}
{% set block %}[{{ show(m) }}]{% endset %}{{ block | trim }}{{ loop.cycle('a', 'b') }}
{% if loop.index > 3 %}{% break %}{% endif %}{% if loop.first %}{% continue %}{% endif %}
{% generation %}{{ m.content }}{% endgeneration %}{{ loop.changed(m.role) }}
{% filter lower %}ABC {{ m.role | capitalize }}{% endfilter %}{% endfor %}
{{ tools }}{{ missing }}""",
    "values": """{{ messages | tojson }}{{ messages | tojson(indent=4) }}
{{ {'é<': [1, 2.5, none, true]} | tojson }}
{{ messages | map(attribute='role') | unique | join(', ') }}{{ messages
| selectattr('role', 'equalto', 'user')
| list | length }}{{ [3, 1, 2] | sort }}{{ [1, 2] | sum }}
{{ 2.345 | round(1) }}{{ 7 // 2 }}{{ 7 % 4 }}{{ -3 }}
{{ '%' ~ 3 ~ none ~ 1.0 }}{{ 'a' * 3 }}{{ [1] + [2] }}{{ '{} and {x}'.format(1, x='y') }}
{{ messages | rejectattr('role', 'in', ['user']) | map('tojson') | join('|') }}
{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}={{ v }};{% endfor %}{{ 'a-b'.split('-') }}
{% for k, v in messages[0].items() %}{{ k }}{% endfor %}
{{ dict(a=1) }}{{ messages[0].get('x', 'no') }}
{% set ns = namespace(a=1, b=[]) %}{% set ns.a = ns.a + 1 %}{{ ns.a }}
{{ ns.a if ns.a is defined else 0 }}
{{ 'x' is string }}{{ messages is iterable }}{{ messages[0] is mapping }}
{{ 3 is divisibleby 3 }}{{ 1 < 2 <= 3 }}
{{ 'ab' in 'cab' }}{{ 'b' not in ['a'] }}{{ messages[-1].content[:3] }}{{ 'abc'[::-1] }}
{{ range(3) | list }}
{{ ['a', 'b'] | last }}{{ 'hello world' | title }}{{ '  x ' | trim }}
{{ 'a\\nb' | indent(2, first=true) }}
{{ 'a,b' | replace(',', '') }}{{ undefined_thing | default('d') }}{{ "<&>" | e }}{{ '<' | safe }}
{{ strftime_now('%Y') | length }}{%- for i in [] %}x{% else %}none{% endfor %}
{{ 5 | string + 'x' }}""",
}


def messages(chat: list[tuple[str, str]]) -> list[Message]:
    return [Message(role, content) for role, content in chat]


def oracle(source: str, chat: list[tuple[str, str]], generate: bool, **variables: Any) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template

    conversation: list[Any] = [{"role": role, "content": content} for role, content in chat]
    texts, _ = render_jinja_template(
        [conversation],
        chat_template=source,
        add_generation_prompt=generate,
        **TOKENS,
        **variables,
    )
    return str(texts[0])


@pytest.mark.parametrize("generate", [True, False])
@pytest.mark.parametrize("chat", CHATS, ids=["one", "three", "thinking"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_renders_like_transformers(name: str, chat: list[tuple[str, str]], generate: bool) -> None:
    source = TEMPLATES[name]
    expected = oracle(source, chat, generate)
    assert expected
    assert ChatTemplate(source, TOKENS).render(messages(chat), generate) == expected


def test_variables_reach_the_template() -> None:
    source = "{{ 'on' if enable_thinking else 'off' }}{{ enable_thinking is defined }}"
    template = ChatTemplate(source)
    chat = CHATS[0]
    for value in (True, False):
        expected = oracle(source, chat, True, enable_thinking=value)
        assert template.render(messages(chat), variables={"enable_thinking": value}) == expected
    assert template.render(messages(chat)) == "offFalse"


def test_a_refused_system_message_joins_the_first_user_message() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system role') }}"
        "{% endif %}[{{ m.role }}: {{ m.content }}]{% endfor %}"
    )
    template = ChatTemplate(source)
    chat = [Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Yo")]
    assert template.render(chat) == "[user: Be brief.\n\nHi][assistant: Yo]"
    with pytest.raises(ChatError, match="No system role"):
        template.render([Message("system", "alone")])


def test_what_a_template_says_no_to_reaches_the_user() -> None:
    template = ChatTemplate("{{ raise_exception('After a user comes an assistant') }}")
    with pytest.raises(ChatError, match="After a user comes an assistant") as caught:
        template.render([Message("user", "Hi")])
    assert caught.value.next_step


@pytest.mark.parametrize("role", ["", "User", "user<|im_end|>", "a b", "x" * 40])
def test_a_role_is_a_word(role: str) -> None:
    with pytest.raises(ChatError):
        Message(role, "hi")


def test_threads_can_share_a_template() -> None:
    template = ChatTemplate(TEMPLATES["values"], TOKENS)
    expected = [template.render(messages(chat)) for chat in CHATS]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if template.render(messages(CHATS[number])) != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(CHATS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def write(folder: Path, config: dict[str, Any], template: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    if template is not None:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return folder


def test_loads_the_template_file(tmp_path: Path) -> None:
    config = {"bos_token": {"content": "<s>"}, "chat_template": "not this one"}
    folder = write(
        tmp_path / "测试 用户　é'&#%", config, "{{ bos_token }}{{ messages[0].content }}é"
    )
    template = ChatTemplate.load(folder)
    assert template.render([Message("user", "Hi")]) == "<s>Hié"
    assert not template.notice


@pytest.mark.parametrize(
    "value", ["own", [{"name": "tools", "template": "no"}, {"name": "default", "template": "own"}]]
)
def test_loads_the_template_of_an_older_model(tmp_path: Path, value: Any) -> None:
    template = ChatTemplate.load(write(tmp_path, {"chat_template": value}))
    assert template.render([Message("user", "Hi")]) == "own"


@pytest.mark.parametrize(
    "broken", [None, "{# never closed", "{{ 'a' * 1000000000 }}", "{{ a.b.c }}"]
)
def test_without_a_working_template_chatml_is_used_and_said(
    tmp_path: Path, broken: str | None
) -> None:
    config = {"bos_token": "<s>", "add_bos_token": True}
    template = ChatTemplate.load(write(tmp_path, config, broken))
    text = template.render([Message("system", "Be brief."), Message("user", "Hi")])
    assert text == (
        "<s><|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert "template" in template.notice and "ChatML" in template.notice


def test_a_model_that_takes_no_bos_gets_none(tmp_path: Path) -> None:
    template = ChatTemplate.load(write(tmp_path, {"bos_token": "<s>", "add_bos_token": False}))
    assert template.render([Message("user", "Hi")]).startswith("<|im_start|>user")


def test_a_damaged_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ChatError, match=r"tokenizer_config\.json"):
        ChatTemplate.load(tmp_path)


def test_a_template_that_cannot_be_read_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").mkdir()
    with pytest.raises(StorageError, match="chat_template"):
        ChatTemplate.load(tmp_path)
