"""Where the events of each stream are: what the command line names, or else the stream's FROM."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics.listed import listed
from ..diagnostics.near import nearest
from ..errors import DataError
from ..reading import messages, readers
from ..reading.files import EventSource
from ..stream_words import NAME_THEM, NOT_READ

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .. import model
    from ..reading.reader import FormatOptions


class UnclearSourceError(ValueError):
    """The command line does not say which events are for which stream."""


def places(
    streams: Iterable[model.Stream], given: Iterable[str], form: str | None = None, options: FormatOptions = ()
) -> dict[str, EventSource]:
    """A place for each stream, of the paths given or of its FROM. Raises DataError and UnclearSourceError.

    What is given is a path, where there is one stream, or `stream=path`. `options` come before those of FROM.
    """
    wanted = {stream.name: stream for stream in streams}
    found: dict[str, EventSource] = {}
    arguments = tuple(given)
    for argument in arguments:
        name, path = _split(argument, wanted, arguments)
        if name in found:
            raise UnclearSourceError(f"the events of `{name}` are named twice")
        found[name] = EventSource(path, form)
    for name, stream in wanted.items():
        named = f"{name}=PATH" if len(wanted) > 1 else "PATH"
        place = found[name] if name in found else declared(stream, NAME_THEM.of(argument=named), form)
        found[name] = replace(place, options=tuple({**dict(stream.options), **dict(options)}.items()))
    return found


def refuse_rows(program: model.CheckedProgram, given: Iterable[str]) -> None:
    """Raises UnclearSourceError where a path is named for a stream of the rows of a query."""
    rows = program.queries_of_rows
    for argument in given:
        name, equals, _ = argument.partition("=")
        if equals and name in rows and not os.path.exists(argument):  # noqa: PTH110 - any text
            raise UnclearSourceError(rows_given(name, rows[name], f"`--events {argument}`"))


def rows_given(stream: str, query: str, given: str) -> str:
    """What to say of events that are given for a stream of the rows of a query."""
    return (
        f"the events of `{stream}` are the rows of the query `{query}`: leave {given} out, or declare `{stream}` with "
        "columns of its own"
    )


def of_streams(given: Iterable[str], chosen: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """What is given without the events of streams that are known and not chosen."""
    others = set(known) - set(chosen)
    return tuple(argument for argument in given if not _is_of(argument, others))


def _is_of(argument: str, streams: Collection[str]) -> bool:
    name, equals, path = argument.partition("=")
    return bool(equals) and name in streams and _names_a_stream(name, path, argument, several=True)


def _split(argument: str, streams: dict[str, model.Stream], given: Collection[str]) -> tuple[str, str]:
    name, equals, path = argument.partition("=")
    if equals and name in streams:
        return name, path
    names = listed((f"`{one}`" for one in streams), "and")
    if equals and _names_a_stream(name, path, argument, several=len(streams) > 1 or len(given) > 1):
        taken = {one.partition("=")[0] for one in given}
        free = [stream for stream in streams if stream not in taken]
        if not free or len(given) > len(streams):
            raise UnclearSourceError(f"{NOT_READ.of(name=name)}: leave `--events {argument}` out")
        near = nearest(name, free)
        there = f"did you mean `{near}`?" if near else f"the queries read {names}"
        raise UnclearSourceError(f"{NOT_READ.of(name=name)}; {there}")
    if len(streams) == 1:
        return next(iter(streams)), argument
    unnamed = [name for name in streams if not any(one.startswith(f"{name}=") for one in given)] or list(streams)
    first, *others = unnamed
    named = [f"`--events {first}={argument}`"]
    named += [f"`--events {other}=PATH`" for other in others if streams[other].source is None]
    raise UnclearSourceError(f"the queries read {names}: write {listed(named, 'and')}")


def _names_a_stream(name: str, path: str, argument: str, *, several: bool) -> bool:
    """Whether `name=path` is meant as a stream and a path, and not as one path with a sign in it."""
    if not name.isidentifier() or os.path.exists(argument):  # noqa: PTH110 - any text
        return False
    return several or path == "-" or os.path.exists(path)  # noqa: PTH110


def declared(stream: model.Stream, cure: str, form: str | None = None) -> EventSource:
    """What FROM says. A relative path is looked for where the command runs, then beside the program's file. Where
    there is none, `cure` begins to say how a file is named. Raises DataError.
    """
    declared_form, path = stream.source or (None, "")
    if declared_form not in readers.names():
        titles = [reader.title for reader in readers.READERS]
        raise DataError([messages.no_source(stream.name, declared_form, titles, cure)])
    path = path.removeprefix("file://") if path.startswith("file:///") else path
    beside = Path(stream.span.source).parent / path
    if not Path(path).exists() and beside.exists():
        path = str(beside)
    return EventSource(path, form or declared_form, stream.options)
