"""Rewrites a parsed chat template so that no step of it escapes the `Allowance`.

Calls, filters, tests and arithmetic already go through the environment's methods. What compiles
to bare Python does not: loops, `~`, comparisons, subscripts, keys, output. Those are routed through
the filters `_turns`, `_concat` and `_walk` of `TemplateSandbox`, which change no value.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.visitor import NodeTransformer

from engine.text import Text

_REFUSED: dict[type[nodes.Node], str] = {
    nodes.Extends: "extends",
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.EvalContextModifier: "autoescape",
    nodes.Pow: "**",
}


def rewrite(template: nodes.Template) -> nodes.Template:
    """The template, every step metered. Raises SecurityError for what chat templates never use."""
    for node in template.find_all(tuple(_REFUSED)):
        kind = next(kind for kind in _REFUSED if isinstance(node, kind))
        raise SecurityError(Text("{0} may not be used", _REFUSED[kind]))
    _Rewriter().visit(template)
    return template


def _through(filter_name: str, value: nodes.Node, *more: nodes.Node) -> nodes.Expr:
    return nodes.Filter(value, filter_name, list(more), [], None, None, lineno=value.lineno)


class _Rewriter(NodeTransformer):
    """One visit method for each kind of node that compiles to bare Python."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        if node.recursive:
            raise SecurityError(Text("a recursive loop may not be used"))
        self.generic_visit(node)
        node.iter = _through("_turns", node.iter)
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        """Literal text becomes a constant, which passes through the environment's `finalize`."""
        self.generic_visit(node)
        node.nodes = [
            nodes.Const(part.data, lineno=part.lineno)
            if isinstance(part, nodes.TemplateData)
            else part
            for part in node.nodes
        ]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _through("_concat", *node.nodes)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _walked(node.expr)
        return node

    def visit_Operand(self, node: nodes.Operand) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _walked(node.expr)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            node.arg = _walked(node.arg)
        return node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:
        self.generic_visit(node)
        node.key = _walked(node.key)
        return node


def _walked(value: nodes.Expr) -> nodes.Expr:
    return value if isinstance(value, nodes.Const) else _through("_walk", value)
