"""A statistics file for a program."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ..errors import DataError
from ..files.messages import unreadable
from . import messages
from .as_json import WrongFormError, from_json
from .statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .. import model


def read_statistics(path: str, program: model.CheckedProgram) -> dict[str, Statistics]:
    """For every stream of the program what the file knows about it, by the stream's name. Raises DataError.

    Conditions in the file that no query has any more do no harm. A stream, type or column that the program does not
    have is an error: what is meant has another name now, and its statistics would be lost in silence.
    """
    try:
        found = from_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        made = f"`cepc analyze PROGRAM --events PATH -o {quote(path)}` writes the statistics of events"
        raise DataError([unreadable(path, error.strerror or str(error), made)]) from None
    except UnicodeDecodeError:
        raise DataError([messages.wrong_form(path, "it is not UTF-8 text")]) from None
    except WrongFormError as error:
        raise DataError([messages.wrong_form(path, str(error))]) from None
    if problems := list(_misfits(path, found, program)):
        raise DataError(problems)
    return {stream.name: found.get(stream.name, Statistics()) for stream in (*program.streams, *program.merged)}


def _misfits(path: str, found: Mapping[str, Statistics], program: model.CheckedProgram) -> Iterator[Diagnostic]:
    streams = {stream.name: stream for stream in (*program.streams, *program.merged)}
    for name, statistics in found.items():
        if name not in streams:
            yield messages.does_not_fit(path, "stream", name, list(streams), "the program")
            continue
        owner = f"the stream `{name}`"
        columns = list(streams[name].column_types)
        for column in dict.fromkeys(c for by in statistics.groupings for c in by if c not in columns):
            yield messages.does_not_fit(path, "column", column, columns, owner)
        types = declared_types(streams[name])
        groupings = statistics.groupings.values()
        named = {*statistics.types, *(type_ for g in groupings for type_ in g.in_groups_with)}
        for type_ in sorted(named - set(types)) if types is not None else ():
            yield messages.does_not_fit(path, "type", type_, types or (), owner)


def declared_types(stream: model.Stream) -> tuple[str, ...] | None:
    """The types that the stream says it has, None where it does not say."""
    return (stream.name,) if stream.type_column is None else stream.types
