"""Which queries planning refuses, for those who need no plan: `cepc check`.

Most patterns are so small that nothing is built or imported to know. Of the others the positions are built, and of few
of these the automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.pattern import Named, Or, Repeat, Seq, fold

from . import model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .automaton.positions import Built

_FEW = 9  # positions: the subset construction has at most 2^9 states, fewer than planning allows


def too_large(program: model.CheckedProgram, known: Mapping[str, Built]) -> tuple[Diagnostic, ...]:
    """What planning would say of the queries, in its order; the positions of some are known, by name."""
    queries = (q for stream in program.in_turn for q in program.queries if q.stream == stream.name)
    several = ((query, known.get(query.name)) for query in queries if not _surely_small(query.pattern))
    return tuple(d for query, built in several if (d := _refused(query, built)) is not None)


def _refused(query: model.Query, built: Built | None) -> Diagnostic | None:
    from .automaton.bound import MAX_STATES, surely_within
    from .automaton.letters import Letters
    from .automaton.positions import PatternTooLarge, positions_of

    try:
        built = built or positions_of(query, Letters())
        if not surely_within(built.positions, MAX_STATES):
            from .planning.query import plan_built

            plan_built(query, built)
    except PatternTooLarge as problem:
        from .planning.messages import too_large as refusal

        return refusal(query, problem)
    return None


def _surely_small(pattern: model.Pattern) -> bool:
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
