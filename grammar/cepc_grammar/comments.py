"""Comments inside a statement: each finds the part of the statement that it stands by, and moves with it.

A comment on a line of its own goes above what follows it, one at the end of a line behind what precedes it, and one in
the middle of a line stays there. What follows and precedes is looked for in the smallest part that holds the comment,
so that it does not leave the parentheses it stands in.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import field
from typing import TYPE_CHECKING, Literal, cast

from cepc_runtime.cheap_dataclass import dataclass

from .layout import HARD, Align, Cat, Doc, Fill, Group, Inline, Nest, Origin, Remark
from .source import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .raw_tokens import Comment, RawToken
    from .source import Source


@dataclass(slots=True, eq=False)
class _Place:
    """A part of the statement: where it stands in the source with its leading words, and what goes around it."""

    origin: Origin
    start: int
    end: int
    inside: list[_Place] = field(default_factory=list)
    before: list[Doc] = field(default_factory=list)
    after: list[Doc] = field(default_factory=list)
    left: bool = False  # a comment inside has moved behind it; later ones follow

    @property
    def led(self) -> bool:
        """It has leading words, such as AND."""
        return self.start < self.origin.span.start

    def neighbours(self, start: int, end: int) -> tuple[_Place | None, _Place | None]:
        """The last part in this place before an interval, and the first after it."""
        before = bisect_right(self.inside, start, key=lambda p: p.end)
        after = bisect_left(self.inside, end, key=lambda p: p.start)
        return self.inside[before - 1] if before else None, self.inside[after] if after < len(self.inside) else None


def weave(doc: Origin, comments: Sequence[Comment], source: Source, tokens: Sequence[RawToken]) -> Doc:
    """The statement's document with its comments in it; `tokens` are the statement's."""
    if not comments:
        return doc
    root = _places(doc, tokens)
    for comment in comments:
        _attach(comment, root, source, tokens)
    return _rebuilt(root)


# ---- the places ------------------------------------------------------------------------------------------------------


def _places(doc: Origin, tokens: Sequence[RawToken]) -> _Place:
    root = _Place(doc, doc.span.start, doc.span.end)
    lost: list[_Place] = []
    stack: list[tuple[Doc, _Place]] = [(doc.doc, root)]
    while stack:
        part, parent = stack.pop()
        if isinstance(part, Origin):
            place = _Place(part, _start(part, tokens), part.span.end)
            (lost if part.span is NOWHERE else parent.inside).append(place)
            parent = place
        stack += ((inner, parent) for inner in _inner(part))
    _sort(root)
    for place in lost:
        _find(place, root, tokens)
    return root


def _inner(doc: Doc) -> tuple[Doc, ...]:
    match doc:
        case Cat(parts) | Fill(parts):
            return parts
        case Nest(inner) | Align(inner) | Group(inner) | Origin(inner):
            return (inner,)
        case _:
            return ()


def _start(origin: Origin, tokens: Sequence[RawToken]) -> int:
    """Where the origin starts together with the leading words before it, past parentheses that were not needed."""
    at = bisect_left(tokens, origin.span.start, key=lambda t: t.start)
    while at > 0 and tokens[at - 1].text == "(":
        at -= 1
    for spelling in origin.lead:
        words = spelling.split()
        if words == [t.upper or t.text for t in tokens[max(at - len(words), 0) : at]]:
            return tokens[at - len(words)].start
    return origin.span.start


def _sort(root: _Place) -> None:
    stack = [root]
    while stack:
        place = stack.pop()
        place.inside.sort(key=lambda p: p.start)
        stack += place.inside


def _find(place: _Place, root: _Place, tokens: Sequence[RawToken]) -> None:
    """Place a clause without a span of its own (SELECT) by its word, which stands in no other clause."""
    for token in tokens:
        if token.upper in place.origin.lead and not any(p.start <= token.start < p.end for p in root.inside):
            place.start, place.end = token.start, token.end
            root.inside.append(place)
            root.inside.sort(key=lambda p: p.start)
            return


# ---- attaching -------------------------------------------------------------------------------------------------------

_CLOSING = frozenset({")", "]", ",", ";"})


def _attach(comment: Comment, root: _Place, source: Source, tokens: Sequence[RawToken]) -> None:
    start, end = comment.span.start, comment.span.end
    at = bisect_left(tokens, start, key=lambda t: t.start)
    before_it = source.text[tokens[at - 1].end : start] if at else "\n"
    after_it = source.text[end : tokens[at].start] if at < len(tokens) else "\n"
    text = tidy(comment.text)
    inline, own_line = "\n" not in after_it + text, "\n" in before_it
    before, after, side = _around(root, start, end, tokens, to_end=not (inline or own_line))
    if at <= 1 and before is None and not inline:
        root.before += (Remark(text), HARD)  # right behind the statement's first word
        return
    if side is not None:
        own_line = False
    elif at < len(tokens) and tokens[at].text in _CLOSING:
        side = "end"
    elif own_line:
        side = "start"
    else:
        side = "start" if inline and after is not None and not after.led else "end"
    if after is not None and after.before:
        side = "start"  # where the comment before this one went
    if before is not None and (side == "end" or after is None):
        before.after.append(Inline(text, before=True) if inline else Remark(text, own_line))
    elif after is not None:
        after.before += (Inline(text, before=False),) if inline and after not in root.inside else (Remark(text), HARD)
    else:
        root.after.append(Remark(text))


_Side = Literal["start", "end"]


def _around(
    root: _Place, start: int, end: int, tokens: Sequence[RawToken], *, to_end: bool
) -> tuple[_Place | None, _Place | None, _Side | None]:
    """What precedes and what follows in the smallest place around an interval that has parts.

    From within a name, a duration, or between AND and its operand the comment moves away to the start or the end of
    what is there; the last result says to which.
    """
    place, side = root, cast("_Side | None", None)
    while (inner := _holding(place, start, end)) is not None:
        if inner.inside and (side or not inner.led or start >= inner.origin.span.start):
            place = inner
        elif side:
            break
        elif inner.led and start < inner.origin.span.start:
            first = tokens[bisect_left(tokens, inner.start, key=lambda t: t.start)]
            behind = to_end and place is not root and not first.first_on_line  # `a AND -- about a`
            place, side = root, "end" if behind else "start"
            start = end = inner.start
        else:
            inner.left = inner.left or to_end
            place, side = root, "end" if inner.left else "start"
            start = end = inner.end if inner.left else inner.start
    return *place.neighbours(start, end), side


def _holding(place: _Place, start: int, end: int) -> _Place | None:
    """The part that holds an interval, not only touches it."""
    at = bisect_left(place.inside, start, key=lambda p: p.start) - 1
    return place.inside[at] if at >= 0 and end < place.inside[at].end else None


def tidy(comment: str) -> str:
    """A comment without the spaces at its lines' ends."""
    return re.sub(r"[ \t\r]+$", "", comment, flags=re.MULTILINE)


# ---- rebuilding ------------------------------------------------------------------------------------------------------


def _rebuilt(root: _Place) -> Doc:
    """The document with what was attached; bottom up and with a stack, since documents are deeper than recursion
    goes.
    """
    around: dict[int, _Place] = {}
    stack = [root]
    while stack:
        place = stack.pop()
        around[id(place.origin)] = place
        stack += place.inside
    todo: list[tuple[Doc, bool]] = [(root.origin, False)]
    done: list[Doc] = []
    while todo:
        doc, ready = todo.pop()
        parts = _inner(doc)
        if not parts:
            done.append(doc)
        elif not ready:
            todo.append((doc, True))
            todo += ((part, False) for part in reversed(parts))
        else:
            new = tuple(done[-len(parts) :])
            del done[-len(parts) :]
            done.append(_with(doc, new, around.get(id(doc))))
    (woven,) = done
    return woven


def _with(doc: Doc, parts: tuple[Doc, ...], place: _Place | None) -> Doc:
    match doc:
        case Cat():
            return Cat(parts)
        case Fill():
            return Fill(parts)
        case Nest():
            return Nest(parts[0])
        case Align():
            return Align(parts[0])
        case Group():
            return Group(parts[0])
        case _:
            assert place is not None
            return Cat((*place.before, parts[0], *place.after))
