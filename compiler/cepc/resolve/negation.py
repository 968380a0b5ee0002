"""Where NOT may stand, and what may be absent: docs/language.md, "Negation", on patterns written out.

Written out, a pattern is a sequence of events and NOTs in one of several forms. `OuterNots` says of all forms at once
what is needed: which NOTs can stand before the first event, which after the last, and whether a form has no event at
all. So a rule is a look at the edges of a node, and no pattern is ever unrolled.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar.pattern import And, Named, Not, Or, Repeat, Selected, Seq, Some, children, fold, walk, word
from cepc_runtime.cheap_dataclass import dataclass

from . import written
from .messages import patterns as say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .written import Written


@dataclass(frozen=True, slots=True)
class OuterNots:
    """Of the forms of a pattern: NOTs that can come first, NOTs that can come last, whether one has no event."""

    first: tuple[written.Negation, ...] = ()
    last: tuple[written.Negation, ...] = ()
    empty: bool = False


def edges(pattern: Written) -> OuterNots:
    """The edges of a pattern.

    In `SEQ(A?, NOT C, B)` the NOT can come first; `A*` has a form without an event.
    """
    return fold(pattern, _edges)


def _edges(node: Written, of: tuple[OuterNots, ...]) -> OuterNots:
    match node:
        case written.Event():
            return OuterNots()
        case Not():
            return OuterNots((node,), (node,), True)
        case Repeat(least=least):
            return replace(of[0], empty=of[0].empty or least == 0)
        case And():
            return replace(_any(of), empty=all(e.empty for e in of))
        case Seq():
            return OuterNots(
                _leading(e.first if not e.empty else (*e.first, None) for e in of),
                _leading(e.last if not e.empty else (*e.last, None) for e in reversed(of)),
                all(e.empty for e in of),
            )
    return _any(of)


def check_pattern(pattern: Written) -> Iterator[Diagnostic]:
    """What is wrong with the pattern of a query: bounds, emptiness, and NOT where it cannot be."""
    yield from check_parts(pattern)
    outer = edges(pattern)
    yield from _whole(pattern, outer)
    yield from _nested(pattern, top=True)
    for negation in outer.first:
        if negation.within is not None:
            yield say.no_anchor(negation.span, negation.within.span)


def check_parts(pattern: Written) -> Iterator[Diagnostic]:
    """What is wrong with parts of a pattern, whatever stands around it: bounds, and what is negated."""
    yield from _bounds(pattern)
    yield from _repeated_nots(pattern)
    for negation in written.negations(pattern):
        yield from _negated(negation)


def _whole(pattern: Written, outer: OuterNots) -> Iterator[Diagnostic]:
    if next(written.positive(pattern), None) is None:
        yield say.only_not(pattern.span)
    elif outer.empty:
        optional = tuple(n.span for n in walk(pattern) if isinstance(n, Repeat) and n.least == 0)
        nots = tuple(part.span for n in walk(pattern) if isinstance(n, Or) for part in n.parts if _is_not(part))
        yield say.can_be_empty(pattern.span, optional, () if optional else nots)


def _is_not(pattern: Written) -> bool:
    return next(written.positive(pattern), None) is None


def _repeated_nots(pattern: Written) -> Iterator[Diagnostic]:
    for node in walk(pattern):
        if isinstance(node, Repeat) and isinstance(node.body, Not):
            yield say.repeated_not(node.span, optional=node.least == 0)


def _bounds(pattern: Written) -> Iterator[Diagnostic]:
    for node in walk(pattern):
        if isinstance(node, Repeat) and node.most is not None and (node.most == 0 or node.least > node.most):
            yield say.bounds(node.span, node.least, node.most)


def _nested(node: Written, *, top: bool) -> Iterator[Diagnostic]:
    """NOT at the edge of an operand of AND or SOME. `top` where the node is, in some form, all there is."""
    match node:
        case And(parts) | Some(parts):
            if not top:
                for part in parts:
                    of = edges(part)
                    for negation in _distinct((*of.first, *of.last)):
                        yield say.not_at_edge(negation.span, part.span, word(node))
            # An operand of SOME alone is all there is, but in another form it is not, and one wrong form is an error.
            for part in parts:
                yield from _nested(part, top=False)
        case Repeat(body, _, most):
            yield from _nested(body, top=top and most == 1)
        case Seq(parts):
            for part in parts:
                yield from _nested(part, top=top and len(parts) == 1)
        case Not():
            return
        case _:
            for part in children(node):
                yield from _nested(part, top=top)


def _negated(negation: written.Negation) -> Iterator[Diagnostic]:
    """What a NOT forbids: a type, an OR, or a SEQ without NOT, with at least one event."""
    body = negation.body
    while isinstance(body, Named):
        body = body.body
    inner = written.negations(body)
    if inner:
        for one in inner:
            yield say.not_in_not(one.span, negation.span)
        return
    for part in walk(body):
        if isinstance(part, Selected):
            yield say.not_of_this(part.span, word(part), f"leave {word(part)} out: then what it skips is forbidden too")
            return
    match body:
        case And(_, span):
            yield say.not_of_this(
                span,
                "an AND",
                "negate each in a NOT of its own, or the order in which they may not come: `NOT SEQ(A, B)`",
            )
        case Some(_, span):
            yield say.not_of_this(span, "a SOME", "one of them is enough to forbid: write `NOT OR(A, B)`")
        case Repeat(repeated, least, _, _, span):
            if least == 1 or (least == 0 and isinstance(repeated, written.Event)):
                hint = "one is enough to forbid: leave the quantifier out"
            else:
                hint = "write it in a SEQ: `NOT SEQ(A{3})`" if least else "leave the quantifier out"
            yield say.not_of_this(span, "a repetition", hint)
        case _:
            if edges(body).empty:
                yield say.not_of_nothing(body.span)


def _any(of: tuple[OuterNots, ...]) -> OuterNots:
    first, last = _distinct(n for e in of for n in e.first), _distinct(n for e in of for n in e.last)
    return OuterNots(first, last, any(e.empty for e in of))


def _leading(parts: Iterator[tuple[written.Negation | None, ...]]) -> tuple[written.Negation, ...]:
    """The NOTs at the edge of a sequence; a None at the end of a part says that the next part can be at the edge
    too.
    """
    found: list[written.Negation] = []
    for part in parts:
        found += (n for n in part if n is not None)
        if part[-1:] != (None,):
            break
    return _distinct(found)


def _distinct(negations: Iterable[written.Negation]) -> tuple[written.Negation, ...]:
    """Each once, by identity: two that read alike stand in two gaps."""
    return tuple({id(n): n for n in negations}.values())
