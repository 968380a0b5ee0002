"""The sentences of planning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from .. import model
    from ..automaton.positions import PatternTooLarge


def too_large(query: model.Query, problem: PatternTooLarge) -> Diagnostic:
    return Diagnostic(
        "E0801",
        f"the pattern of `{query.name}` is too large",
        query.span,
        f"{problem.operator} makes an automaton of more than {problem.size:,} states",
        notes=("AND and SOME multiply their operands; P{m,n} writes its pattern out n times",),
        hint="use fewer operands, smaller counts, or several queries",
    )
