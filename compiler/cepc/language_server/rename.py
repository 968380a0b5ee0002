"""Another name for what a program declares, wherever it is named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_grammar.ast import Name
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_grammar.spelling import name_text
from cepc_grammar.tokens import quoted_name, tokenize

from .cures import Edit, changed
from .program import EditedProgram, OpenTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from .references import NameUse, Symbol

_FIXED: Final = {
    "built-in function": "is a function of the language",
    "listed type": "is what events are called in the data; `EVENT … AS …` gives a type a name of your own",
    "column": "is the name of a column in the data; `AS` gives what a query returns another name",
    "module": "is the name of a file",
}


def uses(programs: Iterable[EditedProgram], symbol: Symbol) -> tuple[NameUse, ...]:
    """All places of a name in these programs, each once."""
    found = {use.span: use for program in programs for use in program.references.of(symbol)}
    return tuple(found.values())


def renameable(program: EditedProgram, offset: int) -> NameUse | str:
    """The name under the cursor, or why it cannot be changed."""
    use = program.references.at(program.source.name, offset)
    if use is None:
        return "there is no name here that the program declares"
    if (why := _FIXED.get(use.symbol.kind)) is not None:
        return f"`{use.symbol.name}` {why}"
    if use.symbol.span.source.startswith("<"):
        return f"`{use.symbol.name}` is declared in {use.symbol.span.source[1:-1]}, a module of the standard library"
    return use


def rename(program: EditedProgram, others: Iterable[EditedProgram], offset: int, name: str) -> tuple[Edit, ...] | str:
    """The edits that give what is under the cursor another name, or why that cannot be. `others` are further programs
    in which it may be named.

    The program has to mean the same afterwards: no error that was not there before, and the new name in the places of
    the old one, and in no others.
    """
    use = renameable(program, offset)
    if isinstance(use, str):
        return use
    name = name.strip()
    name = name[1:-1].replace("``", "`") if len(name) > 2 and name[0] == name[-1] == "`" else name
    if not name.isprintable() or not name:
        return "a name has at least one character, and none that cannot be seen"
    programs = [program, *(other for other in others if other.source.name != program.source.name)]
    if any(_in_broken_statement(one, use.symbol.name) for one in programs):
        return f"`{use.symbol.name}` also stands in a statement with a syntax error, where its meaning is not known"
    places = uses(programs, use.symbol)
    why: str | None = None
    for written in dict.fromkeys((name_text(Name(name)), name_text(Name(name), frozenset({name.upper()})))):
        edits = tuple(Edit(place.span, written) for place in places)
        why = next(filter(None, (_broken(one, use.symbol, edits, name) for one in programs)), None)
        if why is None:
            return edits
    return why or ""  # the name was taken for a keyword, so it is tried in backquotes, too


def _in_broken_statement(program: EditedProgram, name: str) -> bool:
    """Whether the word stands where nothing could be read."""
    if not any(d.severity == "error" for d in program.parsed.diagnostics):
        return False
    read = [range(extent.start, extent.end) for extent in program.parsed.extents]
    return any(
        token.kind in ("WORD", "QUOTED") and quoted_name(token.text) == name
        for token in tokenize(program.source).tokens
        if not any(token.start in extent for extent in read)
    )


def _broken(program: EditedProgram, symbol: Symbol, edits: tuple[Edit, ...], name: str) -> str | None:
    """Why the program would not mean the same; None where it would."""
    if not program.references.of(symbol):
        return None
    texts = {
        source.name: changed(source.text, [e for e in edits if e.span.source == source.name])
        for source in program.sources.values()
        if not source.name.startswith("<")
    }
    renamed = _with_texts(program, texts)
    before = Counter(map(_kind, program.checked.errors))
    new = next((d for d in renamed.checked.errors if _kind(d) not in before), None)
    if new is not None or len(renamed.checked.errors) > len(program.checked.errors):
        return f"with the name `{name}`, {new.title if new is not None else 'there are more errors'}"
    moved = replace(symbol, name=name, span=_moved(symbol.span, edits))
    expected = {_moved(use.span, edits) for use in program.references.of(symbol)}
    if {use.span for use in renamed.references.of(moved)} != expected:
        return f"`{name}` means something else in one of the places"
    return None


def _with_texts(program: EditedProgram, texts: Mapping[str, str]) -> EditedProgram:
    source = Source(program.source.name, texts[program.source.name])
    return EditedProgram(source, parse(source), OpenTexts({**program.reader.texts, **texts}))


def _moved(span: Span, edits: Iterable[Edit]) -> Span:
    """Where what is replaced stands afterwards."""
    shift, size = 0, span.end - span.start
    for edit in edits:
        if edit.span.source == span.source:
            if edit.span.start < span.start:
                shift += len(edit.text) - (edit.span.end - edit.span.start)
            elif edit.span == span:
                size = len(edit.text)
    return replace(span, start=span.start + shift, end=span.start + shift + size)


def _kind(diagnostic: Diagnostic) -> str:
    return diagnostic.code
