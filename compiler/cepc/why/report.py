"""What `cepc why` prints."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.enumerate.budget import TooManyPartialMatchesError
from cepc_runtime.events.grouped import read
from cepc_runtime.numbers.columns import ranks
from cepc_runtime.plan.windows import Sessions
from cepc_runtime.sql.evaluate.errors import about
from cepc_runtime.sql.expression import Call, Field, Literal
from cepc_runtime.sql.spark_sql import describe

from ..diagnostics.listed import listed as listed_names
from ..model import type_of
from ..planning import plan_program
from ..running.from_query import loading_of
from ..running.local import results_said
from ..wording import many
from .absent import SHOWN, Absent, Lines
from .constraints import Joint, Local, constraints_of, of_one_window, unbounded
from .empty import at_a_glance
from .finder import Finder, Match
from .looked_at import look_at
from .missing import Question
from .row import ResultRow, aggregate_rows, having_query, having_values, is_kept, match_having_values, rows_of_match
from .scope import RowScope, equals, time_text
from .values import ValueTexts, condition_values, local_text, with_values
from .wording import group_text, listed, scalar_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cepc_grammar.source import Source
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.sql.computed import Computed
    from cepc_runtime.sql.expression import Expression

    from .. import model
    from ..reading.read import Read

LOOKED_AT = 10_000  # matches, in the search for one that HAVING keeps
NAMED = 5  # groups, windows


def why(
    program: model.CheckedProgram,
    query: model.Query,
    scope: RowScope,
    load: Callable[[model.Stream, StreamPlan], Read],
    sources: Mapping[str, Source],
    limit: int,
) -> str:
    """What is behind the query's rows for a group and window, or what stopped them. Raises DataError and RunError.

    `limit` is how many matches are listed.
    """
    asked = replace(program, queries=(query,))
    (plan,) = plan_program(asked).plans
    stream = program.stream(query.stream)
    given = loading_of(asked, [plan.stream], load, sources).events(plan.stream)
    reading = read(given.table, plan.stream)
    finder = Finder(program, plan.stream, reading)
    own = partial(_own_columns, stream) if stream.members else None
    values = ValueTexts(reading, plan.stream, [name for name, _ in plan.stream.columns], own)
    lines = _Report(finder, query, stream, scope, values, sources, limit, given).lines()
    with results_said([query], sources), about(query.name):
        return "".join(f"{line.rstrip()}\n" for line in lines)


def _own_columns(stream: model.Stream, type_: str) -> dict[str, str]:
    """Of several streams the columns that events of a type have, each with its name in their own."""
    member = next(m for m in stream.members if type_ == m.stream or type_.startswith(type_of(m.stream, "")))
    return {c.name: _own_name(c) for c in member.columns if not isinstance(c.expression, Literal)}


def _own_name(column: Computed) -> str:
    match column.expression:
        case Field(_, own) | Call("cast", (Field(_, own),)):
            return own
    return column.name


@dataclass(frozen=True)
class _Report:
    finder: Finder
    query: model.Query
    stream: model.Stream
    scope: RowScope
    values: ValueTexts
    sources: Mapping[str, Source]
    limit: int
    given: Read

    def lines(self) -> Lines:
        group = np.flatnonzero(self.scope.of_group(self.finder.reading))
        if not len(group) and self.scope.group:
            yield from self._no_events()
        elif not len(group):
            yield f"{self._what()}: there is no row."
            yield from self._glance()
            yield from self._dropped()
        elif self.query.kind == "match":
            yield from self._match_query(group)
        else:
            yield from self._aggregate_query(group)

    def _no_events(self) -> Lines:
        none = "it adds to no row" if self._parts else "there is no row"
        yield f"{self._what()}: {none}, because no event that it looks at has {group_text(self.scope.group)}."
        dropped = self.finder.reading.dropped
        if not len(self.finder.reading.ticks):
            if self.given.rows > dropped.null_time + dropped.null_type:
                yield "None has a type of the pattern."
            yield from self._glance()
            yield from self._dropped()
            return
        for name, value in self.scope.group.items():
            column = self.finder.reading.table.column(name)
            if not equals(column, value).any():
                known = [scalar_text(v) for v in ranks(column).values[: NAMED + 1]]
                more = ", …" if len(known) > NAMED else ""
                yield f"There are some with {name} = {', '.join(known[:NAMED])}{more or '.'}"
        yield from self._dropped()

    # ---- aggregate queries -------------------------------------------------------------------------------------------

    @property
    def _parts(self) -> Mapping[str, Any]:
        """What --group says of columns by which there are no rows: it is then of a part of what is behind a row."""
        grouped = self.query.group_by if self.query.kind == "aggregate" else self.query.partition
        return {name: value for name, value in self.scope.group.items() if name not in grouped}

    def _aggregate_query(self, group: Ints) -> Lines:
        if self._parts:
            yield from self._part_of_a_row(group)
            return
        rows = aggregate_rows(self.finder, self.query, group, self.scope.start, self.sources)
        if rows:
            yield from self._aggregate_row(rows[0], len(rows) - 1)
            return
        if (having := self.query.having) is not None:
            asked = having_query(self.query, having)
            refused = aggregate_rows(self.finder, asked, group, self.scope.start, self.sources)
            if refused:
                yield from self._refused(having, refused[0], len(refused) - 1)
                return
        events, query = self._window(group, self.scope.start)
        yield from self._absent(Question(query, events))
        if self.scope.start is not None:
            yield from self._other_windows(group)

    def _part_of_a_row(self, group: Ints) -> Lines:
        """The first row to which the events of the group add matches: it is over all groups."""
        start = self.scope.start
        bare = replace(self.query, having=None)
        added = {_key(row) for row in aggregate_rows(self.finder, bare, group, start, self.sources)}
        if not added:
            events, query = self._window(group, start)
            yield f"{self._what()}: it has no match, and adds to no row."
            yield ""
            yield from Absent(self.finder, Question(query, events), self.stream, self.values, start).lines()
            yield from self._dropped()
            return
        everything = self._of_row(None)
        rows = aggregate_rows(self.finder, self.query, everything, start, self.sources)
        rows = [row for row in rows if _key(row) in added]
        if rows:
            yield from self._aggregate_row(rows[0], len(rows) - 1)
        elif (having := self.query.having) is not None:
            asked = having_query(self.query, having)
            rows = aggregate_rows(self.finder, asked, everything, start, self.sources)
            rows = [row for row in rows if _key(row) in added]
            yield from self._refused(having, rows[0], len(rows) - 1)

    def _aggregate_row(self, row: ResultRow, others: int) -> Lines:
        yield f"{self.query.name}: there is a row{self._row_text(row)}."
        yield ""
        yield "  " + ", ".join(f"{name} = {value}" for name, value in row.values.items())
        if (having := self.query.having) is not None:
            asked = having_query(self.query, having)
            (same,) = aggregate_rows(self.finder, asked, self._of_row(row), row.start, self.sources)
            yield f"  HAVING {describe(having)}:  {self._having(having, same)}"
        yield ""
        yield from self._matches(row, self._lead("it comes from"))
        if others:
            yield ""
            yield f"There {'is' if others == 1 else 'are'} {many(others, 'more row')}; --group and --window choose one."

    def _refused(self, having: Expression, row: ResultRow, others: int) -> Lines:
        yield f"{self.query.name}: there is no row{self._row_text(row)}, because HAVING is not true."
        yield ""
        yield f"  HAVING {describe(having)}:  {self._having(having, row)}"
        yield ""
        yield from self._matches(row, self._lead("it would come from"))
        if others:
            yield ""
            yield f"HAVING is not true for {many(others, 'more row')} either; --group and --window choose one."

    def _having(self, having: Expression, row: ResultRow) -> str:
        return with_values(having, having_values(having, row))

    def _lead(self, comes: str) -> str:
        if not self._parts:
            return f"{comes[0].upper()}{comes[1:]}"
        every = listed_names((f"`{name}`" for name in self._parts), "and")
        return f"A row is over every {every}; of {group_text(self._parts)} {comes}"

    def _matches(self, row: ResultRow, lead: str) -> Lines:
        """The first matches behind a row, of the group that is asked about."""
        whole = RowScope({**self.scope.group, **row.group}, None)
        events, query = self._window(np.flatnonzero(whole.of_group(self.finder.reading)), row.start)
        found: list[Match] = []
        try:
            found += islice(self.finder.matches(query, events), self.limit + 1)
        except TooManyPartialMatchesError:
            yield f"{lead} more matches than can be looked at one by one."
            return
        if len(found) > self.limit:
            yield f"{lead} more than {many(self.limit, 'match', 'matches')}; {listed(self.limit)}:"
        else:
            yield f"{lead} {many(len(found), 'match', 'matches')}:"
        for match in found[: self.limit]:
            yield ""
            yield from self._match(match)

    def _of_row(self, row: ResultRow | None) -> Ints:
        """The events of the row's group; without one, of the rows that are asked about."""
        whole = RowScope(self._grouped(row), None)
        return np.flatnonzero(whole.of_group(self.finder.reading))

    def _window(self, rows: Ints, start: int | None) -> tuple[Ints, model.Query]:
        """The events in the window and the query over just these; without a window as it is."""
        within = self.query.window.span
        if start is not None and isinstance(self.query.window, Sessions):
            inside, starts = self.finder.sessions(self.query)
            return rows[inside[rows] & (starts[rows] == start)], unbounded(self.query)
        if start is None or within is None:
            return rows, self.query
        ticks = self.finder.reading.ticks[rows]
        return rows[(ticks >= start) & (ticks < start + within)], of_one_window(self.query, start)

    def _grouped(self, row: ResultRow | None) -> dict[str, Any]:
        asked = {name: value for name, value in self.scope.group.items() if name not in self._parts}
        return {**asked, **({} if row is None else row.group)}

    def _row_text(self, row: ResultRow) -> str:
        group = self._grouped(row)
        where = f" for {group_text(group)}" if group else ""
        return f"{where}{self._window_text(row.start, 'in the window')}"

    def _other_windows(self, group: Ints) -> Lines:
        rows = aggregate_rows(self.finder, self.query, group, None, self.sources)
        times = list(dict.fromkeys(time_text(row.start, self.stream) for row in rows if row.start is not None))
        if times:
            more = f" and {len(times) - NAMED} more" if len(times) > NAMED else ""
            yield f"There are rows in the windows that begin at {', '.join(times[:NAMED])}{more}."

    # ---- match queries -----------------------------------------------------------------------------------------------

    def _match_query(self, group: Ints) -> Lines:
        bare = replace(self.query, having=None)
        kept: list[Match] = []
        refused: Match | None = None
        try:
            for match in islice(self.finder.matches(bare, group, self.scope.start), LOOKED_AT):
                if not is_kept(self.finder, self.query, match):
                    refused = refused or match
                    continue
                kept.append(match)
                if len(kept) > self.limit:
                    break
        except TooManyPartialMatchesError:
            yield f"{self._what()}: there are too many partial matches to look at; --group and --window narrow it down."
            return
        if kept:
            yield from self._match_rows(kept)
        elif refused is not None and (having := self.query.having) is not None:
            yield f"{self._what()}: there is no row, because HAVING is not true for any match. This is one:"
            yield ""
            yield from self._match(refused)
            values = match_having_values(self.finder, self.query, having, refused)
            yield f"      HAVING {describe(having)}:  {with_values(having, values)}"
        else:
            yield from self._absent(Question(bare, group, self.scope.start))

    def _match_rows(self, kept: list[Match]) -> Lines:
        row, end = ("match", ", and a row for each of its events") if self.query.each else ("row", "")
        rows = row if len(kept) == 1 else f"{row}es" if self.query.each else f"{row}s"
        if len(kept) == 1:
            yield f"{self._what()}: there is a {row}{end}."
        elif len(kept) <= self.limit:
            yield f"{self._what()}: there are {len(kept)} {rows}{end.replace('its', 'their')}."
        else:
            are = f"is more than one {row}" if self.limit == 1 else f"are more than {self.limit} {rows}"
            yield f"{self._what()}: there {are}; {listed(self.limit)}:"
        for match in kept[: self.limit]:
            yield ""
            shown = [values for values in rows_of_match(self.finder, self.query, match) if values]
            if shown:
                yield from ("  " + ", ".join(f"{name} = {value}" for name, value in row.items()) for row in shown)
                yield ""
            yield from self._match(match)

    # ---- matches, and none -------------------------------------------------------------------------------------------

    def _match(self, match: Match) -> Lines:
        """A match's events, and its conditions with their values."""
        yield from (f"    {line}" for line in self.values.match_lines(match))
        for constraint in constraints_of(self.query):
            tried = condition_values(self.values, self.query, constraint, match)
            if not tried:
                continue
            match constraint:
                case Local(variable, condition):
                    text = local_text(condition, variable)
                case Joint(joint):
                    text = joint.text
            if all(_says_itself(t.text) for t in tried):
                yield f"      {text}"
                continue
            more = f", and {len(tried) - SHOWN} more" if len(tried) > SHOWN else ""
            yield f"      {text}:  {', '.join(t.text for t in tried[:SHOWN])}{more}"

    def _absent(self, asked: Question) -> Lines:
        yield f"{self._what()}: there is no row."
        if not self.scope.group and self.scope.start is None:
            yield from self._glance()
        yield ""
        yield from Absent(self.finder, asked, self.stream, self.values, self.scope.start).lines()
        yield from self._dropped()

    def _glance(self) -> Lines:
        """What the events show whatever their order, a paragraph of each."""
        looked = look_at(self.finder.program, self.query, self.given)
        for sentence in () if looked is None else at_a_glance(looked):
            yield ""
            yield f"{sentence[0].upper()}{sentence[1:]}."

    def _dropped(self) -> Lines:
        dropped = self.finder.reading.dropped
        for count, what in ((dropped.null_time, "time"), (dropped.null_type, "type")):
            if count:
                yield f"{many(count, 'event')} without a {what} {'was' if count == 1 else 'were'} dropped."

    # ---- names -------------------------------------------------------------------------------------------------------

    def _what(self) -> str:
        where = f", {group_text(self.scope.group)}" if self.scope.group else ""
        if self.query.kind == "match" and self.scope.start is not None:
            return f"{self.query.name}{where}, matches that begin at {time_text(self.scope.start, self.stream)}"
        return f"{self.query.name}{where}{self._window_text(self.scope.start, 'window')}"

    def _window_text(self, start: int | None, what: str) -> str:
        span = self.query.window.span
        if start is not None and isinstance(self.query.window, Sessions):
            return f", {what.replace('window', 'session')} from {time_text(start, self.stream)} on"
        if start is None or span is None:
            return ""
        return f", {what} from {time_text(start, self.stream)} to {time_text(start + span, self.stream)}"


def _key(row: ResultRow) -> tuple[object, ...]:
    """Which row it is, of the same query over other events too."""
    return (*map(scalar_text, row.group.values()), row.start)


def _says_itself(values: str) -> bool:
    """Of an equality that holds, the values add nothing.

    >>> _says_itself("'IBM' = 'IBM'"), _says_itself("3 > 2")
    (True, False)
    """
    left, _, right = values.partition(" = ")
    return left == right
