"""Patterns that surely have a small automaton, so that checking them needs no planning (and nothing of it imported)."""

from __future__ import annotations

from . import model

_FEW = 9  # positions: the subset construction has at most 2^9 states, fewer than planning allows


def surely_small(pattern: model.Pattern) -> bool:
    """True if no automaton of the pattern can exceed its limit; False says nothing."""
    variables = _occurrences(pattern)
    return variables is not None and (len(variables) <= _FEW or len(set(variables)) == len(variables) <= 100)


def _occurrences(pattern: model.Pattern) -> list[str] | None:
    """The variable of each position of the written-out pattern; None where operators multiply positions."""
    match pattern:
        case model.Event(variable):
            return [variable]
        case model.Seq(parts) | model.Or(parts):
            found = [_occurrences(part) for part in parts]
            return None if None in found else [v for one in found if one is not None for v in one]
        case model.Scope(body=body):
            return _occurrences(body)
        case model.Repeat(body, least, most):
            one = _occurrences(body)
            copies = max(least, 1) if most is None else most
            return None if one is None or copies > _FEW else one * copies
    return None
