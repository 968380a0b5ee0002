"""Parse trees of statements, from Lark's tables and with its rules, in a loop of our own.

Of many queries parsing is most of a check. Lark's loop looks up each rule by what it consists of, and says where nodes
are with lines and columns, which nobody asks for. Where a statement is wrong, Lark says what would be right.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from lark import Token, Tree
from lark.parse_tree_builder import ExpandSingleChild, PropagatePositions
from lark.parsers.lalr_analysis import Shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Lark

    from .raw_tokens import RawToken

_END: Final = Token("$END", "")


class Trees:
    """Makes trees that know where they begin and end and nothing else of their places."""

    def __init__(self, lark: Lark) -> None:
        found: Any = lark
        parser = found.parser.parser.parser
        self._table = parser.parse_table
        self._tokens = found.parser.lexer.tokens
        self._reductions = {
            id(rule): (len(rule.expansion), rule.origin.name, _builds(rule, callback))
            for rule, callback in parser.callbacks.items()
        }
        parser.callbacks = {}  # Lark makes nothing where it is asked what is wrong

    def tree(self, tokens: tuple[RawToken, ...], start: str) -> Tree[Token] | None:
        """None where the tokens are no statement."""
        table, reductions, end = self._table.states, self._reductions, self._table.end_states[start]
        states: list[Any] = [self._table.start_states[start]]
        values: list[Any] = []
        begins: list[int | None] = []  # of each value; None where it has no text
        ends: list[int | None] = []
        for token in chain(self._tokens(tokens, table, states), (_END,)):
            kind = token.type
            while (way := table[states[-1]].get(kind)) is not None:
                action, to = way
                if action is Shift:
                    states.append(to)
                    values.append(token)
                    begins.append(token.start_pos)
                    ends.append(token.end_pos)
                    break
                size, name, build = reductions[id(to)]
                if build is None:
                    states[-1] = table[states[-2]][name][1]
                else:
                    made, begin, last = _made(build, values, begins, ends, size)
                    if size:
                        del states[-size:]
                    states.append(table[states[-1]][name][1])
                    values.append(made)
                    begins.append(begin)
                    ends.append(last)
                if token is _END and states[-1] == end:
                    whole: Tree[Token] = values[-1]
                    return whole
            else:
                return None
        raise AssertionError("the end is shifted by no rule")


def _made(
    build: Callable[[list[Any]], Any], values: list[Any], begins: list[int | None], ends: list[int | None], size: int
) -> tuple[Any, int | None, int | None]:
    """A value of the last ones, which are taken away, and where its text begins and ends. A node that is there already,
    in brackets, say, keeps its own place, and has the larger one for what it stands in.
    """
    if size == 0:
        return build([]), None, None
    children = values[-size:]
    begin, end = begins[-size], ends[-1]
    if begin is None:
        begin = next((at for at in begins[-size:] if at is not None), None)
    if end is None:
        end = next((at for at in reversed(ends[-size:]) if at is not None), None)
    del values[-size:], begins[-size:], ends[-size:]
    made = build(children)
    if begin is not None and isinstance(made, Tree) and made._meta is None:  # asked for, it is there
        meta: Any = made.meta
        meta.empty, meta.start_pos, meta.end_pos = False, begin, end
    return made, begin, end


def _builds(rule: Any, callback: Any) -> Callable[[list[Any]], Any] | None:
    """None for a rule that leaves its one child as it is."""
    build = callback.node_builder if isinstance(callback, PropagatePositions) else callback
    return None if isinstance(build, ExpandSingleChild) and len(rule.expansion) == 1 else build
