"""Which stream each `--input` of a job is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .schema import JobError, declared_of, needed, sources_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .schema import Stream


def inputs_of(given: Sequence[str], streams: Sequence[Stream], run: Collection[str], without: bool) -> dict[str, str]:
    """The path of each stream that has one, of the streams of a program that have queries that `run`; `without`: none
    needs one. Raises JobError.
    """
    wanted = sources_of(needed(streams, run))
    rows = {stream.name: stream.query for stream in declared_of(streams) if stream.query is not None}
    names = [stream.name for stream in wanted]
    left_out = [stream.name for stream in sources_of(streams) if stream.name not in names]
    found: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if equals and name in rows:
            raise JobError(f"--input {text}: the events of {name} are the rows of the query {rows[name]}; leave it out")
        if not (equals and name in names):
            if equals and (wrong := _misnamed(name, names, left_out, len(given))):
                raise JobError(f"--input {text}: {wrong}")
            if len(names) != 1:
                raise JobError(f"the queries read several streams: write --input {names[0]}={text}")
            name, path = names[0], text
        if name in found:
            raise JobError(f"--input names the events of {name} twice")
        found[name] = path
    for stream in wanted:
        if stream.name not in found and stream.source is None and not without:
            raise JobError(f"--input is missing: stream {stream.name} is not declared with FROM; --help says more")
    return found


def _misnamed(name: str, names: Sequence[str], left_out: Sequence[str], given: int) -> str | None:
    """What is wrong with the text before a `=` where it is a stream's name rather than a part of a path."""
    if name in left_out:
        return f"the queries of this run read no events of stream {name}; leave it out"
    if given == 1 or not name.isidentifier():
        return None  # one path may begin with `day=1`
    of_run = " of this run" if left_out else ""
    if len(names) == 1:
        return f"there is no stream {name}; the only one{of_run} is {names[0]}, which has one --input"
    return f"there is no stream {name}; the streams{of_run} are {', '.join(names[:-1])} and {names[-1]}"
