"""Where NOT may stand, and what may be absent: docs/language.md, "Negation", on patterns written out.

Written out, a pattern is a sequence of events and NOTs in one of several forms. `OuterNots` says of all forms at once
what is needed: which NOTs can stand before the first event, which after the last, and whether a form has no event at
all. So a rule is a look at the edges of a node, and no pattern is ever unrolled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import written
from .messages import patterns as say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.diagnostic import Diagnostic

    from .written import Written


@dataclass(frozen=True, slots=True)
class OuterNots:
    """Of the forms of a pattern: NOTs that can come first, NOTs that can come last, whether one has no event."""

    first: tuple[written.Not, ...] = ()
    last: tuple[written.Not, ...] = ()
    empty: bool = False


def edges(node: Written) -> OuterNots:
    """The edges of a pattern.

    In `SEQ(A?, NOT C, B)` the NOT can come first; `A*` has a form without an event.
    """
    match node:
        case written.Event():
            return OuterNots()
        case written.Not():
            return OuterNots((node,), (node,), True)
        case written.Named(body):
            return edges(body)
        case written.Repeat(body, least):
            inner = edges(body)
            return OuterNots(inner.first, inner.last, inner.empty or least == 0)
        case written.Or(parts):
            return _any([edges(p) for p in parts])
        case written.Some(parts):
            return _any([edges(p) for p in parts])
        case written.And(parts):
            of = [edges(p) for p in parts]
            together = _any(of)
            return OuterNots(together.first, together.last, all(e.empty for e in of))
        case written.Seq(parts):
            of = [edges(p) for p in parts]
            return OuterNots(
                _leading(e.first if not e.empty else (*e.first, None) for e in of),
                _leading(e.last if not e.empty else (*e.last, None) for e in reversed(of)),
                all(e.empty for e in of),
            )


def check_pattern(pattern: Written) -> Iterator[Diagnostic]:
    """What is wrong with the pattern of a query: bounds, emptiness, and NOT where it cannot be."""
    yield from check_parts(pattern)
    yield from _whole(pattern)
    yield from _nested(pattern, top=True)
    for negation in edges(pattern).first:
        if negation.within is not None:
            yield say.no_anchor(negation.span, negation.within.span)


def check_parts(pattern: Written) -> Iterator[Diagnostic]:
    """What is wrong with parts of a pattern, whatever stands around it: bounds, and what is negated."""
    yield from _bounds(pattern)
    for negation in written.negations(pattern):
        yield from _negated(negation)


def _whole(pattern: Written) -> Iterator[Diagnostic]:
    if next(written.positive(pattern), None) is None:
        yield say.only_not(pattern.span)
    elif edges(pattern).empty:
        optional = tuple(n.span for n in written.walk(pattern) if isinstance(n, written.Repeat) and n.least == 0)
        yield say.can_be_empty(pattern.span, optional)


def _bounds(pattern: Written) -> Iterator[Diagnostic]:
    for node in written.walk(pattern):
        if isinstance(node, written.Repeat) and node.most is not None and (node.most == 0 or node.least > node.most):
            yield say.bounds(node.span, node.least, node.most)


def _nested(node: Written, *, top: bool) -> Iterator[Diagnostic]:
    """NOT at the edge of an operand of AND or SOME. `top` where the node is, in some form, all there is."""
    match node:
        case written.And(parts) | written.Some(parts):
            if not top:
                name = "AND" if isinstance(node, written.And) else "SOME"
                for part in parts:
                    of = edges(part)
                    for negation in dict.fromkeys((*of.first, *of.last)):
                        yield say.not_at_edge(negation.span, part.span, name)
            # An operand of SOME by itself is all there is, but in another form it is not, and one wrong form is an error.
            for part in parts:
                yield from _nested(part, top=False)
        case written.Or(parts):
            for part in parts:
                yield from _nested(part, top=top)
        case written.Repeat(body, _, most):
            yield from _nested(body, top=top and most == 1)
        case written.Named(body):
            yield from _nested(body, top=top)
        case written.Seq(parts):
            for part in parts:
                yield from _nested(part, top=top and len(parts) == 1)
        case written.Not() | written.Event():
            return


def _negated(negation: written.Not) -> Iterator[Diagnostic]:
    """What a NOT forbids: a type, an OR, or a SEQ without NOT, with at least one event."""
    body = negation.body
    while isinstance(body, written.Named):
        body = body.body
    inner = written.negations(body)
    if inner:
        for one in inner:
            yield say.not_in_not(one.span, negation.span)
        return
    match body:
        case written.And(_, span):
            yield say.not_of_this(
                span,
                "an AND",
                "negate each in a NOT of its own, or the order in which they may not come: `NOT SEQ(A, B)`",
            )
        case written.Some(_, span):
            yield say.not_of_this(span, "a SOME", "one of them is enough to forbid: write `NOT OR(A, B)`")
        case written.Repeat(repeated, least, _, _, span):
            if least == 1 or (least == 0 and isinstance(repeated, written.Event)):
                hint = "one is enough to forbid: leave the quantifier out"
            else:
                hint = "write it in a SEQ: `NOT SEQ(A{3})`" if least else "leave the quantifier out"
            yield say.not_of_this(span, "a repetition", hint)
        case _:
            if edges(body).empty:
                yield say.not_of_nothing(body.span)


def _any(of: list[OuterNots]) -> OuterNots:
    first = tuple(dict.fromkeys(n for e in of for n in e.first))
    last = tuple(dict.fromkeys(n for e in of for n in e.last))
    return OuterNots(first, last, any(e.empty for e in of))


def _leading(parts: Iterator[tuple[written.Not | None, ...]]) -> tuple[written.Not, ...]:
    """The NOTs at the edge of a sequence; a None at the end of a part says that the next part can be at the edge too."""
    found: dict[written.Not, None] = {}
    for part in parts:
        found.update((n, None) for n in part if n is not None)
        if part[-1:] != (None,):
            break
    return tuple(found)
