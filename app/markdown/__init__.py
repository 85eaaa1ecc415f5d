"""Markdown without Qt: text in, plain block records out; the widgets draw them."""
