"""Markdown: which blocks come out, that pieces give the same as the whole, that cost stays flat."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.markdown.blocks import Block
from app.markdown.highlight import highlight_lines
from app.markdown.parser import blocks_from_tokens, make_parser, safe_link
from app.markdown.stream import MarkdownStream


def whole(text: str) -> list[Block]:
    return blocks_from_tokens(make_parser().parse(text))


def text_of(block: Block) -> str:
    return "".join(span.text for span in block.spans)


def test_raw_html_stays_text() -> None:
    blocks = whole("<script>alert(1)</script>\n\nA <b>bold</b> <img src=x onerror=y>")
    assert text_of(blocks[0]) == "<script>alert(1)</script>"
    assert text_of(blocks[1]) == "A <b>bold</b> <img src=x onerror=y>"
    assert not any(span.bold or span.link for block in blocks for span in block.spans)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/a?b=c", True),
        ("HTTP://example.org", True),
        ("mailto:a@example.org", True),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("data:text/html,x", False),
        ("vscode://open", False),
        ("//example.org/x", False),
        ("C:\\Windows\\x.exe", False),
    ],
)
def test_only_safe_addresses_become_links(address: str, kept: bool) -> None:
    assert bool(safe_link(address)) is kept
    links = [span.link for block in whole(f"[x](<{address}>)") for span in block.spans]
    assert any(links) is kept


def test_an_image_is_a_link_and_is_never_loaded() -> None:
    (span,) = whole("![a cat](https://example.org/cat.png)")[0].spans
    assert (span.text, span.link) == ("🖼 a cat", "https://example.org/cat.png")


def test_lists_are_numbered_and_nested() -> None:
    blocks = whole(
        "3. three\n1. four\n   - a\n     - b\n\n       more b\n4. five\n- [x] done\n- [ ] open"
    )
    shown = [(block.marker, block.indent, text_of(block)) for block in blocks]
    assert shown == [
        ("3.", 1, "three"),
        ("4.", 1, "four"),
        ("◦", 2, "a"),
        ("▪", 3, "b"),
        ("", 3, "more b"),
        ("5.", 1, "five"),
        ("☑", 1, "done"),
        ("☐", 1, "open"),
    ]


def test_a_fence_in_a_list_is_a_code_block_of_its_own() -> None:
    blocks = whole("1. first\n\n   ```python\n   x = 1\n\n   y = 2\n   ```\n2. second")
    assert [(b.kind, b.indent, b.marker) for b in blocks] == [
        ("paragraph", 1, "1."),
        ("code", 1, ""),
        ("paragraph", 1, "2."),
    ]
    assert (blocks[1].language, blocks[1].text) == ("python", "x = 1\n\ny = 2")


def test_a_table_keeps_rows_and_alignment() -> None:
    (table,) = whole("| a | **b** |\n|:-:|--:|\n| 1 | `2` |\n| only one |")
    assert table.aligns == ("center", "right")
    assert [["".join(s.text for s in cell) for cell in row] for row in table.rows] == [
        ["a", "b"],
        ["1", "2"],
        ["only one", ""],
    ]


def test_an_open_fence_is_code_at_once_and_closes_later() -> None:
    stream = MarkdownStream()
    stream.push("Text\n\n```py\nprint(1)\npri")
    stream.update()
    assert stream.blocks[-1] == Block("code", text="print(1)\npri", language="py", closed=False)
    stream.push("nt(2)\n```\nafter")
    stream.update()
    assert stream.blocks[1] == Block("code", text="print(1)\nprint(2)", language="py")
    assert text_of(stream.blocks[2]) == "after"


def test_a_shorter_or_other_fence_does_not_close() -> None:
    text = "````md\n```py\nx\n```\n~~~~\n````\nend"
    stream = MarkdownStream()
    for letter in text:
        stream.push(letter)
        stream.update()
    stream.update(finished=True)
    assert [b.kind for b in stream.blocks] == ["code", "paragraph"]
    assert stream.blocks[0].text == "```py\nx\n```\n~~~~"


LINES = st.sampled_from(
    [
        "",
        "para",
        "two words",
        "a | b",
        "|-|-|",
        "| 1 | 2 |",
        "- item",
        "* star",
        "  - nested",
        "   - three in",
        "    deep",
        "1. one",
        "7) seven",
        "> quote",
        "> - quoted item",
        "```",
        "```py",
        "~~~",
        "   ```",
        "# head",
        "===",
        "---",
        "<div>",
        "**open",
        "`tick",
        "中文 **粗体** 。",
        "\\",
        "-",
        "1.",
        "\ttab",
    ]
)


@settings(max_examples=400)
@given(st.lists(LINES, max_size=14), st.data())
def test_any_way_of_cutting_gives_the_blocks_of_the_whole(
    lines: list[str], data: st.DataObject
) -> None:
    text = "\n".join(lines)
    stream = MarkdownStream()
    shown: list[Block] = []
    position = 0
    while position < len(text):
        end = position + data.draw(st.integers(1, 12))
        stream.push(text[position:end])
        position = end
        change = stream.update()
        shown[change.start :] = change.blocks
    change = stream.update(finished=True)
    shown[change.start :] = change.blocks
    assert shown == list(stream.blocks)
    assert shown == whole(text)


@settings(max_examples=100)
@given(st.text(max_size=200))
def test_any_text_can_be_shown(text: str) -> None:
    stream = MarkdownStream()
    stream.push(text)
    stream.update(finished=True)


LONG = {
    "paragraphs": "Some **bold** words and `code` in a paragraph.\n\n",
    "bullets": "- an item with *some* words\n",
    "numbers": "1. an item with *some* words\n",
    "code": "value = compute(value)\n",
}


@pytest.mark.parametrize("kind", LONG)
def test_an_update_parses_the_tail_only(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    real = MarkdownIt.parse

    def parse(self: MarkdownIt, text: str, env: dict[str, object] | None = None) -> object:
        parsed.append(len(text))
        return real(self, text, env)

    monkeypatch.setattr(MarkdownIt, "parse", parse)
    stream = MarkdownStream()
    stream.push("```py\n" if kind == "code" else "")
    for _ in range(400):
        stream.push(LONG[kind])
        stream.update()
    assert max(parsed[20:], default=0) <= 3 * len(LONG[kind])
    assert len(stream.blocks) == (1 if kind == "code" else 400)


def test_line_ends_may_be_cut_in_two() -> None:
    stream = MarkdownStream()
    for letter in "```\r\na\r\n\r\nb\r\n```\r\nend\r":
        stream.push(letter)
        stream.update()
    stream.update(finished=True)
    assert [b.text or text_of(b) for b in stream.blocks] == ["a\n\nb", "end"]


def test_numbers_go_on_over_closed_items() -> None:
    stream = MarkdownStream()
    for _ in range(30):
        stream.push("1. item\n")
        stream.update()
    assert [block.marker for block in stream.blocks] == [f"{i}." for i in range(1, 31)]


def test_highlighting_counts_as_qt_does() -> None:
    lines = list(highlight_lines('# 😀 x\nname = "é" + 1', "python"))
    assert lines[0] == [(0, 6, "comment")]  # the emoji is two UTF-16 units
    assert (7, 1, "string") in lines[1] or (7, 3, "string") in lines[1]
    assert len(lines) == 2


@pytest.mark.parametrize("language", ["", "no-such-language", "../../x"])
def test_an_unknown_language_stays_plain(language: str) -> None:
    assert list(highlight_lines("x = 1", language)) == []
