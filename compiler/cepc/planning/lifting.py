"""Queries over fewer streams as queries over more, where others are that agree on the same columns: events are brought
together once for all of them, and what they have in common is counted once.

The rows are the same, for an event of a type that a query does not name is nothing to it; a query that would see such
an event stays where it is. A stream of Spark's is not planned so: its rows would wait for the watermarks of all.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.columns_read import beside_read, shows_canonical_order
from cepc_runtime.plan.stream import PLACE, STREAM
from cepc_runtime.sql.computed import Computed
from cepc_runtime.sql.expression import Field, Literal

from ..automaton.letters import Letters
from ..automaton.positions import PatternTooLarge
from ..model import EventTest, type_of
from .needs import columns_made_of, columns_needed, raw_types_needed
from .query import plan_query

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from cepc_runtime.plan.stream import Beside, Letter
    from cepc_runtime.sql.expression import Expression

    from .. import model
    from .logical import Countability, LogicalQuery


def lifted(program: model.CheckedProgram) -> model.CheckedProgram:
    """The program itself where there is no such query."""
    found = {query.name: query for query in program.queries}
    makes_events = set(program.queries_of_rows.values())
    streams = sorted(program.in_turn, key=lambda stream: len(stream.members), reverse=True)
    for stream in streams:  # from the most on: those over which a query may be lifted stay where they are
        wider = [one for one in streams if _is_wider(program, one, stream)]
        if not wider:
            continue
        agreed = {(query.stream, frozenset(query.partition)) for query in found.values()}
        for query in program.queries:
            if query.stream == stream.name and query.name not in makes_events:
                beside = (one for one in wider if (one.name, frozenset(query.partition)) in agreed)
                found[query.name] = _lifted(query, stream, beside)
    queries = tuple(found.values())
    if queries == program.queries:
        return program
    lifted_to = {query.stream for query, own in zip(queries, program.queries, strict=True) if query != own}
    merged = (_read(program, one, queries) if one.name in lifted_to else one for one in program.merged)
    return replace(program, queries=queries, merged=tuple(merged))


def _is_wider(program: model.CheckedProgram, one: model.Stream, stream: model.Stream) -> bool:
    """Whether it has the events of more streams. Rows of queries would have to be found before."""
    members, fewer = program.members(one.name), program.members(stream.name)
    return {s.name for s in members} > {s.name for s in fewer} and all(s.query is None for s in members)


def _lifted(query: model.Query, stream: model.Stream, wider: Iterable[model.Stream]) -> model.Query:
    """The query over the first of the wider streams over which it has the same rows, if there is one."""
    for one in wider:
        if _is_same(found := _over(query, stream, one), stream, one):
            return found
    return query


def _over(query: model.Query, stream: model.Stream, wider: model.Stream) -> model.Query:
    """The query over more streams: the types that it names have their stream before them."""

    def renamed(test: EventTest) -> EventTest:
        if stream.members:
            return test
        if stream.type_column is None:
            return replace(test, raw_type=stream.name)
        return test if test.raw_type is None else replace(test, raw_type=type_of(stream.name, test.raw_type))

    variables = tuple(replace(variable, test=renamed(variable.test)) for variable in query.variables)
    return replace(query, stream=wider.name, variables=variables, mentioned=tuple(map(renamed, query.mentioned)))


def _is_same(query: model.Query, stream: model.Stream, wider: model.Stream) -> bool:
    """Whether a query over the wider stream has the rows that it has over the other one."""
    if query.returns_events or wider.time.order_by != stream.time.order_by:
        return False
    try:
        alone = _alone(query)
    except PatternTooLarge:
        return False
    if raw_types_needed(alone.letters, (alone.plan,), alone.beside(stream)) is None:  # it sees events of every type
        return False
    if shows_canonical_order(alone.plan) and not _orders_alike(stream, wider):
        return False
    read = alone.columns(stream)
    return all(_value(stream, member, read) == _value(wider, member, read) for member in _names(stream))


@dataclass(frozen=True, slots=True)
class _Alone:
    """A query that is planned by itself."""

    plan: LogicalQuery[Countability]
    letters: tuple[Letter, ...]

    def beside(self, stream: model.Stream) -> tuple[Beside, ...]:
        return beside_read(self.plan, self.letters, stream.beside)

    def columns(self, stream: model.Stream) -> frozenset[str]:
        """Those that it reads of its stream."""
        needed = columns_needed(stream, self.letters, (self.plan,))
        return needed | columns_made_of(self.beside(stream), stream)


def _alone(query: model.Query) -> _Alone:
    """Raises PatternTooLarge."""
    letters = Letters()
    return _Alone(plan_query(query, letters), letters.all())


def _read(program: model.CheckedProgram, wider: model.Stream, queries: Iterable[model.Query]) -> model.Stream:
    """The wider stream, in which each of its streams has no column that only queries read which do not see it: a value
    of such a column, if it is a bad one, is nothing to the others.
    """
    always = frozenset(c for c in (PLACE, STREAM, wider.time.column, wider.type_column, *wider.time.order_by) if c)
    read = {member.stream: always for member in wider.members}
    own = {query.name: program.stream(query.stream) for query in program.queries}
    for query in (query for query in queries if query.stream == wider.name):
        with suppress(PatternTooLarge):  # which planning says of it
            columns = _alone(query).columns(own[query.name])
            read |= {name: read[name] | columns for name in _names(own[query.name])}
    return replace(wider, members=tuple(_with_values(member, read[member.stream]) for member in wider.members))


def _with_values(member: model.MergedMember, names: Collection[str]) -> model.MergedMember:
    """With null in all other columns."""

    def of(column: Computed) -> Computed:
        return column if column.name in names else Computed(column.name, Literal(None, column.expression.type))

    return replace(member, columns=tuple(map(of, member.columns)))


def _orders_alike(stream: model.Stream, wider: model.Stream) -> bool:
    """Whether events of a stream that tie have the same order among those of more."""
    names = [name for name, _ in stream.columns]
    return [name for name, _ in wider.columns if name in names] == names


def _names(stream: model.Stream) -> tuple[str, ...]:
    return tuple(member.stream for member in stream.members) or (stream.name,)


def _value(stream: model.Stream, of: str, columns: Iterable[str]) -> dict[str, Expression | None]:
    """What the events of one of the streams have in the columns, but for its place."""
    made = next((one.columns for one in stream.members if one.stream == of), stream.input.computed)
    fields = {} if stream.members else {n: Field(None, n, "each", type_) for n, type_ in stream.columns}
    values = {column.name: column.expression for column in made} | fields
    return {name: values.get(name) for name in columns if name != PLACE}
