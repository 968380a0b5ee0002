"""Diagnostics as text: what, where, the text underlined, why, and what to do.

error[E0201]: unknown event type `Travle`
  --> rides.cep:14:25
   |
14 |   PATTERN SEQ(Request, Travle)
   |                        ^^^^^^ no such type in the stream `rides`
   |
   = help: did you mean `Travel`?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..wording import many
from .cells import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source

    from .snippet import Mark, StyledLine, StyledText, TextRole


AT_MOST: Final = 100


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[StyledLine]:
    """The first of the diagnostics in the order of their places, errors before warnings where there are too many to
    read, each once, a blank line after it, and how many there are.
    """
    found = in_order(diagnostics, sources)
    shown = found
    if len(found) > AT_MOST:
        shown = in_order([*errors(found), *(d for d in found if d.severity != "error")][:AT_MOST], sources)
    lines: list[StyledLine] = []
    for diagnostic in shown:
        lines += [*render_one(diagnostic, sources), ()]
    closing: TextRole = "error" if errors(found) else "warning" if found else "title"
    more = f", of which the first {AT_MOST} are shown" if len(found) > AT_MOST else ""
    return [*lines, ((summary(found) + more, closing),)]


def render_one(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> list[StyledLine]:
    """One diagnostic, without a blank line after it."""
    from .snippet import blocks, draw, marks, strip_end  # only where there is something to draw

    lines: list[StyledLine] = [
        ((f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity), (f": {clean(diagnostic.title)}", "title"))
    ]
    found = blocks(marks(diagnostic, sources))
    gutter = max((len(str(mark.region.end_line)) for block in found for mark in block), default=1)
    pad = " " * gutter
    if diagnostic.span.source and diagnostic.span.source not in sources:
        lines.append(((f"{pad}--> ", "frame"), (clean(diagnostic.span.source), "text")))
    for i, block in enumerate(found):
        lines.append(((f"{pad}{'-->' if i == 0 else ':::'} ", "frame"), (_place(block[0]), "text")))
        lines.append(((f"{pad} |", "frame"),))
        lines += draw(block, gutter)
    tail: list[tuple[str, str, TextRole]] = [("note", note, "note") for note in diagnostic.notes]
    if diagnostic.hint:
        tail.append(("help", diagnostic.hint, "help"))
    if tail and found:
        lines.append(((f"{pad} |", "frame"),))
    for kind, text, role in tail:
        lines += _remark(pad, kind, text, role)
    return [strip_end(line) for line in lines]


def in_order(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[Diagnostic]:
    """Each diagnostic once, in the order of the sources and of places in them; one without a source comes first."""
    order = {name: i for i, name in enumerate(sources)}
    once: dict[object, Diagnostic] = {}
    for diagnostic in diagnostics:
        once.setdefault((diagnostic.code, diagnostic.span, diagnostic.title), diagnostic)
    return sorted(
        once.values(),
        key=lambda d: (order.get(d.span.source, -1), d.span.start, d.span.end, d.severity, d.code),
    )


def errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The errors among them."""
    return [d for d in diagnostics if d.severity == "error"]


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`."""
    found = list(diagnostics)
    wrong = len(errors(found))
    counts = [many(wrong, "error") if wrong else "no errors"]
    if len(found) > wrong:
        counts.append(many(len(found) - wrong, "warning"))
    return ", ".join(counts)


def as_text(lines: Iterable[StyledLine]) -> str:
    """The lines without style, each ended by a line end."""
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _place(mark: Mark) -> str:
    return f"{clean(mark.source.name)}:{mark.region.line}:{mark.region.column}"


def _remark(pad: str, kind: str, text: str, role: TextRole) -> list[StyledLine]:
    first, *rest = [clean(line) for line in text.splitlines()] or [""]
    lead: StyledText = (f"{pad} = ", "frame")
    indent = pad + "   " + " " * (len(kind) + 2)
    return [(lead, (kind, role), (f": {first}", "text")), *(((f"{indent}{line}", "text"),) for line in rest)]
