"""A program of what was guessed, with the reasons in comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source
from cepc_grammar.spelling import string_text
from cepc_runtime.cheap_dataclass import dataclass

from ..reading.messages import in_stream
from .groups import FEW_TYPES
from .guess import Guess, guess
from .leaves import new_name, quoted
from .lengths import length_above
from .naming import NamesInStream, free_name, names_in
from .query_text import query_text
from .remarks import comments, remarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .sample import Sample

NO_QUERY = "There is no query yet, for no record has a time and a type."


@dataclass(frozen=True, slots=True)
class Beginning:
    """The `text` of a program, and whether there is a query in it."""

    text: str
    asks: bool


def program(samples: Sequence[tuple[Sample, str]]) -> Beginning:
    """A program with a stream and a query for each sample, which is to be called so."""
    taken: set[str] = set()
    texts: list[str] = []
    asks = False
    for sample, called in samples:
        stream = new_name(free_name(sample, called), taken)
        taken.add(stream)
        guessed = guess(sample, stream)
        names = names_in(guessed, stream)
        texts.append(_stream(guessed, names))
        query = query_text(guessed, names, taken, several=len(samples) > 1)
        asks |= bool(query)
        texts.append(query or comments([NO_QUERY]))
    text = format_source(Source("<init>", "\n\n".join(texts) + "\n"))
    assert isinstance(text, str), text
    return Beginning(text, asks)


def _stream(guessed: Guess, names: NamesInStream) -> str:
    sample = guessed.sample
    columns = [f"{quoted(name)} {in_stream(type_)}" for name, type_ in sample.columns]
    columns += [f"{quoted(name)} AS {expression}" for name, expression in names.computed]
    lines = [comments(remarks(guessed, names)), f"STREAM {quoted(names.stream)} (", ",\n".join(columns), ")"]
    if guessed.time is not None:
        late = guessed.disorder.late
        lines.append(f"EVENT TIME {quoted(names.time)}" + (f" WATERMARK {length_above(late)}" if late else ""))
        if guessed.kind is not None:
            types = ", ".join(map(string_text, guessed.kind.types))
            in_ = f" IN ({types})" if len(guessed.kind.types) <= FEW_TYPES else ""
            lines.append(f"EVENT TYPE {quoted(names.kind)}{in_}")
    origin = sample.origin
    if origin.path is not None:
        options = ", ".join(f"{quoted(name)} = {string_text(value)}" for name, value in origin.options)
        lines.append(f"FROM {origin.format.upper()} {string_text(origin.path)}")
        lines += [f"OPTIONS ({options})"] if options else []
    return "\n".join(lines) + ";"
