"""Every error a person can meet is made of texts that can be said in another language."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import errors

ENGINE = Path(errors.__file__).parent
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.Edge0Error)
} | {"NativeError", "NetworkError"}  # the latter: the reason in a DownloadError
FILES = sorted(ENGINE.rglob("*.py"))


def bare_errors(source: str) -> list[int]:
    """Lines that make an error of plain English: a literal, an f-string, a + or a join of them,
    directly, through a name given such a value, or through a parameter that may be any str."""
    tree = ast.parse(source)
    named = {id(node): function for function in _functions(tree) for node in ast.walk(function)}
    found = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if _name(call.func) in KINDS:
            scopes = [named[id(call)]] if id(call) in named else []
            for value in (*call.args[:2], *(word.value for word in call.keywords)):
                if _bare(value, [*scopes, tree]):
                    found.add(call.lineno)
    return sorted(found)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Outer ones first, so that the innermost is what remains."""
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", "")


def _bare(value: ast.expr | None, scopes: list[ast.AST]) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and value.value != ""
    if isinstance(value, ast.IfExp):
        return _bare(value.body, scopes) or _bare(value.orelse, scopes)
    if isinstance(value, ast.Call):
        return _name(value.func) in ("str", "format", "join", "rstrip", "strip", "repr")
    if isinstance(value, ast.Name):
        return any(_bare_name(value.id, scope, scopes) for scope in scopes)
    return isinstance(value, ast.JoinedStr | ast.BinOp)


def _bare_name(name: str, scope: ast.AST, scopes: list[ast.AST]) -> bool:
    """Whether the name is given a plain text in this function or module, or may be one."""
    top = scope.body if isinstance(scope, ast.Module) else ast.walk(scope)
    for node in top:
        if isinstance(node, ast.Assign) and name in (_name(target) for target in node.targets):
            if not isinstance(node.value, ast.Name) and _bare(node.value, scopes):
                return True
        elif isinstance(node, ast.arg) and node.arg == name:
            return isinstance(node.annotation, ast.Name) and node.annotation.id == "str"
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ENGINE).as_posix())
def test_no_error_is_plain_english(path: Path) -> None:
    """Use `Text("…{0}…", value)` for what happened and for the next step, then run
    resources/i18n/update.py and translate what it added."""
    assert bare_errors(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        'raise ChatError("plain")',
        'raise errors.ChatError(f"{x} is bad")',
        'raise ChatError(Text("good"), "plain step")',
        'raise ChatError(Text("good"), next_step=f"{x}")',
        'raise ChatError("a" if x else Text("b"))',
        'raise ChatError(", ".join(x))',
        'step = "plain"\n    raise ChatError(Text("good"), step)',
        "raise ChatError(problem)",
        "raise ChatError(PLAIN)",
    ],
)
def test_the_search_finds_plain_english(line: str) -> None:
    source = f'PLAIN = "x"\ndef f(x: int, problem: str) -> None:\n    {line}\n'
    assert bare_errors(source) == [3 + line.count("\n")]


def test_the_search_lets_texts_through() -> None:
    source = (
        "STEP = Text('x')\ndef f(x: Text) -> None:\n    y = Text('{0}', x)\n"
        "    raise ChatError(y, STEP if x else Text('z'))\n"
        "def g() -> None:\n    raise BudgetError(joined(', ', []), '', 1.0)\n"
    )
    assert bare_errors(source) == []
