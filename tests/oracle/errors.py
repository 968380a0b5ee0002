"""What the oracle raises. A program that is wrong is the checker's business, not the oracle's: it raises `Unsupported`
at most.
"""

from __future__ import annotations


class EvaluationError(Exception):
    """An expression fails on a row, as in Spark's ANSI mode: overflow, division by zero, a malformed cast."""


class Overflow(Exception):  # noqa: N818  (the language page calls it that)
    """docs/language.md, "Numbers are never silently wrong": an aggregate's value does not fit its type."""

    def __init__(self, query: str, column: str, group: object = None, window: object = None) -> None:
        super().__init__(f"{query}: {column} does not fit (group {group}, window {window})")
        self.query, self.column, self.group, self.window = query, column, group, window


class Unsupported(Exception):  # noqa: N818
    """The program means nothing, or uses a function that the oracle does not know."""


class TooMuch(Exception):  # noqa: N818
    """There are more derivations than brute force can go through in reasonable time."""
