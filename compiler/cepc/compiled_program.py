"""A right program that can be run: `cepc.compile(…)`."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.budget import PARTIAL_MATCHES
from cepc_runtime.parts.resources import Resources

from .errors import DataError, RunError
from .wording import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source
    from cepc_runtime.plan.stream import StreamPlan

    from . import model
    from .checked import Checked
    from .reading.bad_records import Treatment
    from .reading.read import Read
    from .running.local import Report


_LOG = logging.getLogger("cepc")


@dataclass(frozen=True, repr=False)
class Compiled:
    """A program without errors. Its warnings are in `warnings`; `str` shows them as the command line does, and a prompt
    shows the queries.

    >>> from cepc import compile
    >>> compile('''
    ... STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;
    ... QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 1 HOUR;''')
    1 query
      q  SEQ(A, B+)  1 hour long, a new one every 1 hour
    """

    checked: Checked
    program: model.CheckedProgram

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries, in the order of the program."""
        return tuple(query.name for query in self.program.queries)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.checked.diagnostics

    def run(
        self,
        events: Any = None,
        queries: Iterable[str] | str | None = None,
        *,
        most: int = PARTIAL_MATCHES,
        skip_bad: bool = False,
        dead: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        memory: str | int | None = None,
    ) -> dict[str, Any]:
        """The rows of each query, or of those named, as a pyarrow table by the query's name, sorted.

        `events` are a pyarrow table, a pandas frame (then the results are frames), or a path of files, as for
        `cepc run --events`; a mapping from the names of streams to these where there are several; None reads what the
        streams say by FROM. A query whose matches are listed is stopped where it has more than `most` of them, finished
        or not, as by `cepc run --most`. Records that are no events are passed over with `skip_bad`, and written to the
        file `dead` if there is one. Queries run on so many `threads`, None for all cores that the process may use; rows
        are the same on any number. Of events, what does not fit into `memory` ("1GB", or bytes; None is most of what is
        free) is taken part by part, from the temporary folder, and rows that do not fit are there. What was passed over
        or dropped, and other warnings, are logged by the logger `cepc` at WARNING, and why a query has no rows at INFO.
        Raises DataError where the events are not what the STREAM declares, RunError where there is no result for them,
        ValueError for a query that the program does not have, for no query at all, for less than one thread or match,
        and for a memory that is none.

        >>> import cepc, pyarrow
        >>> compiled = cepc.compile('''
        ... STREAM s (at BIGINT, kind STRING, id BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
        ... QUERY q RETURN MATCH A.id AS a, B.id AS b PATTERN SEQ(A, B) WITHIN 10 s;''')
        >>> events = pyarrow.table({"at": [1, 2, 3], "kind": ["A", "B", "B"], "id": [1, 2, 3]})
        >>> compiled.run(events)["q"].select(["a", "b"]).to_pylist()
        [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]
        """
        from .running.given import is_frame, to_frame

        found = tables(self, events, queries, most=most, skip_bad=skip_bad, dead=dead, threads=threads, memory=memory)
        given = events.values() if isinstance(events, Mapping) else (events,)
        return {name: to_frame(table) for name, table in found.items()} if any(map(is_frame, given)) else found

    def spark(
        self, events: Any = None, queries: Iterable[str] | str | None = None, session: Any = None
    ) -> dict[str, Any]:
        """A Spark DataFrame for each query, or for those named; nothing runs before rows are asked for.

        `events` are a DataFrame, the name of a table, or a path of files; a mapping from the names of streams to these;
        None, or the session, reads what the streams say by FROM. All queries are answered by one read of the events,
        whichever is asked for first. Over a streaming DataFrame those of queries are streaming, each by itself.
        `session` is that of the events, or the active one, or a new one. Raises ProgramError and RunError.
        """
        from .running.spark import dataframes

        names = [queries] if isinstance(queries, str) else queries
        return dataframes(self.program, self.checked.sources, events, names, session)

    @property
    def job(self) -> str:
        """The program as the text of a PySpark job, as `cepc compile` prints it. Raises ProgramError.

        >>> import cepc
        >>> stream = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind;"
        >>> job = cepc.compile(f"{stream} QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1 HOUR;").job
        >>> print(job.splitlines()[0].strip('"'))
        Complex-event queries as one Spark job; `--help` lists its arguments.
        """
        from .codegen.compiling import job_of

        return job_of(self.program, self.checked.sources).text

    def __str__(self) -> str:
        return self.checked.text()

    def __repr__(self) -> str:
        from .summary import as_text

        return as_text(self.program)

    def _repr_html_(self) -> str:
        from .summary import as_html

        return as_html(self.program)


def tables(
    compiled: Compiled,
    events: Any = None,
    queries: Iterable[str] | str | None = None,
    *,
    most: int = PARTIAL_MATCHES,
    skip_bad: bool = False,
    dead: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    how_given: Callable[[str, bool], str] | None = None,
) -> dict[str, Any]:
    """What `Compiled.run` gives, as pyarrow tables whatever the events are. `how_given` says how those of a stream are
    given, of one stream or of several; where it is not by an argument of `run`.
    """
    from cepc_runtime.parts.at_once import cores

    from .reading.bad_records import treatment
    from .run_settings import in_python
    from .running.given import by_stream
    from .running.local import choose, run, streams_read
    from .running.memory import memory_of

    for name, number in (("threads", threads), ("most", most)):
        if number is not None and not isinstance(number, int):
            raise TypeError(f"`{name}` is a whole number, and not {number!r}")
    if threads is not None and threads < 1:
        raise ValueError(f"{threads} threads can do nothing; one at least, or None for all cores")
    if most < 1:
        raise ValueError(f"no query lists its matches with {most} at most; `most` is one at least")
    names = [queries] if isinstance(queries, str) else None if queries is None else list(queries)
    program = choose(compiled.program, names)
    streams = streams_read(program)
    given = by_stream(events, program, streams, [stream.name for stream in streams_read(compiled.program)])
    paths = [os.fspath(one) for one in given.values() if isinstance(one, str | os.PathLike)]
    resources = Resources(most, cores() if threads is None else threads, memory=memory_of(memory))
    how, several = how_given or _by_argument, len(streams) > 1
    try:
        bad = treatment(skip_bad=skip_bad, dead=None if dead is None else os.fspath(dead), events=paths)
        report = run(
            program,
            lambda stream, plan: _load(given.get(stream.name), stream, plan, bad, resources, how(stream.name, several)),
            compiled.checked.sources,
            resources=resources,
        )
    except (DataError, RunError) as error:
        raise type(error)(in_python(error.diagnostics), error.sources) from None
    _log(report, compiled.checked.sources)
    return report.tables


def _log(report: Report, sources: Mapping[str, Source]) -> None:
    """What the command says on standard error."""
    if report.warnings:
        from .diagnostics.render import as_text, in_order, render_one
        from .run_settings import in_python

        for warning in in_order(in_python(report.warnings), sources):
            _LOG.warning("%s", as_text(render_one(warning, sources)).rstrip("\n"))
    if report.dropped:
        _LOG.warning("%s of %s", report.dropped, many(report.read or 0, "event"))
    if _LOG.isEnabledFor(logging.INFO):
        from .why.no_rows import no_rows

        for line in no_rows(report, sources):
            _LOG.info("%s", line)


def _by_argument(stream: str, several: bool) -> str:
    passed = f"{{{stream!r}: events, …}}" if several else "events"
    return f"`run({passed})`, a pyarrow table, a pandas frame"


def _load(
    events: Any, stream: model.Stream, plan: StreamPlan, bad: Treatment, resources: Resources, how_given: str
) -> Read:
    from .reading.files import EventSource
    from .reading.read import read_events
    from .running.given import read_given
    from .running.sources import declared

    if events is None:
        cure = f"pass them: {how_given}, or the path of"
        return read_events(declared(stream, cure), plan, stream.input, treatment=bad, resources=resources)
    if isinstance(events, str | os.PathLike):
        place = EventSource(os.fspath(events), None, stream.options)
        return read_events(place, plan, stream.input, treatment=bad, resources=resources)
    return read_given(events, plan, stream.input, bad, resources.threads)
