"""Patterns that surely have a small automaton, so that checking them needs no planning (and nothing of it imported)."""

from __future__ import annotations

from cepc_grammar.pattern import Named, Or, Repeat, Seq, fold

from . import model

_FEW = 9  # positions: the subset construction has at most 2^9 states, fewer than planning allows


def surely_small(pattern: model.Pattern) -> bool:
    """True if no automaton of the pattern can exceed its limit; False says nothing."""
    variables = _occurrences(pattern)
    return variables is not None and (len(variables) <= _FEW or len(set(variables)) == len(variables) <= 100)


def _occurrences(pattern: model.Pattern) -> list[str] | None:
    """The variable of each position of the written-out pattern; None where operators multiply positions."""

    def variables(node: model.Pattern, parts: tuple[list[str] | None, ...]) -> list[str] | None:
        found = [v for part in parts if part is not None for v in part]
        match node:
            case model.Event(variable):
                return [variable]
            case Seq() | Or() | Named():
                return None if None in parts else found
            case Repeat(_, least, most):
                copies = max(least, 1) if most is None else most
                return None if None in parts or copies > _FEW else found * copies
        return None

    return fold(pattern, variables)
