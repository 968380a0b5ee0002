"""Several streams as one, for queries whose patterns have events of each: what comes after resolution sees one stream.

An event of it has the columns of all streams, null where its own has none. Columns of one name are one column, in the
type that they have in common; one that is not stands apart as `orders.x`, which RETURN MATCH * shows and no program can
name. `v.x` is of v's own stream, in its own type: where that is no column of all, a hidden one. Three columns are the
merged stream's own: its events' type, `orders.Paid`; the place of their stream, which ties of canonical order are
broken by first; and their time where the streams call it differently.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.stream import PLACE, STREAM, TIME, TYPE
from cepc_runtime.sql.computed import Computed, StreamInput
from cepc_runtime.sql.expression import Call, Expression, Field, Literal, of_stream, rewrite
from cepc_runtime.sql.functions.coercion import cast_to, wider_type
from cepc_runtime.sql.types import INT, STRING, Struct, is_orderable

from .. import model
from .messages import streams as say
from .names import free
from .streams import KnownMember, KnownStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.types import DataType


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of all streams: of what type, and what it is of each stream that has it."""

    name: str
    type: DataType
    of: dict[str, Expression]
    apart: bool


def merged(streams: Sequence[KnownStream], name: str) -> KnownStream:
    """These streams as one, in the order in which they are declared."""
    found = _columns(streams)
    taken = {*_named(streams), *(column.name.casefold() for column in found)}
    own = {stream.name: _own(stream, found, taken) for stream in streams}
    members = tuple(KnownMember(stream, {c: (of, stream.columns[c]) for c, of in own[stream.name].items()})
                    for stream in streams)  # fmt: skip
    first = streams[0]
    known = KnownStream(
        name=name,
        declaration=first.declaration,
        columns={column.name: column.type for column in found if not column.apart},
        input=StreamInput(()),
        broken=frozenset().union(*(stream.broken for stream in streams)),
        tick=None if any(stream.tick is None for stream in streams) else first.tick,
        types=None,
        checked=None,
        pairs=tuple((column.name, column.type) for column in found),
        members=members,
    )
    checked = [stream.checked for stream in streams if stream.checked is not None]
    if len(checked) < len(streams) or not _one_time(checked):
        return known
    return replace(known, checked=_checked(known, checked, found))


def time_problems(streams: Sequence[KnownStream], known: KnownStream) -> list[Diagnostic]:
    """What is wrong where events of several streams cannot be brought into one order."""
    checked = [(stream, stream.checked) for stream in streams if stream.checked is not None]
    first, one = checked[0] if checked else (None, None)
    if first is None or one is None or known.checked is not None:
        return []
    return [
        say.times_differ(stream.declaration, other.time, first.declaration, one.time)
        for stream, other in checked[1:]
        if not _one_time([one, other])
    ]


def _one_time(streams: Sequence[model.Stream]) -> bool:
    return len({(stream.time.type, stream.time.unit) for stream in streams}) == 1


def _named(streams: Iterable[KnownStream]) -> set[str]:
    """What a program can name, in lower case: the columns, and the fields of structs, which `[user.id]` makes some."""
    names: set[str] = set()
    stack = [(column, type_) for stream in streams for column, type_ in stream.pairs]
    while stack:
        name, type_ = stack.pop()
        names.add(name.casefold())
        if isinstance(type_, Struct):
            stack += [(f"{name}.{one.name}", one.type) for one in type_.fields]
    return names


def _columns(streams: Sequence[KnownStream]) -> list[_Column]:
    """Of one name is one column, but where the types do not compare, names differ in case alone, or the merged stream
    has one of the name itself.
    """
    spelled: dict[str, list[tuple[str, DataType]]] = {}
    for stream in streams:
        for column, type_ in stream.pairs:
            spelled.setdefault(column.casefold(), []).append((column, type_))
    types = {key: _common([type_ for _, type_ in same]) for key, same in spelled.items()}
    apart = {key for key, same in spelled.items() if len({column for column, _ in same}) > 1}
    apart |= {STREAM, PLACE, TIME, TYPE}
    taken = _named(streams)
    found: list[_Column] = []
    shared: dict[str, _Column] = {}
    for stream in streams:
        for column, own in stream.pairs:
            key = column.casefold()
            common = None if key in apart else types[key]
            if common is None:
                one = _Column(free(f"{stream.name}.{column}", taken), own, {}, apart=True)
                found.append(one)
            elif column in shared:
                one = shared[column]
            else:
                one = shared[column] = _Column(column, common, {}, apart=False)
                found.append(one)
            one.of[stream.name] = cast_to(Field(None, column, "each", own), one.type)
    return found


def _common(types: Iterable[DataType]) -> DataType | None:
    first, *others = types
    common: DataType | None = first
    for other in others:
        common = None if common is None else wider_type(common, other)
    return common


def _own(stream: KnownStream, columns: Iterable[_Column], taken: set[str]) -> dict[str, str]:
    """The merged stream's name of each column as this stream has it, in its own type."""
    found = {}
    for merged_column in columns:
        match merged_column.of.get(stream.name):
            case Field(_, column) if not merged_column.apart:
                found[column] = merged_column.name
            case Field(_, column) | Call(_, (Field(_, column),)):
                found[column] = free(of_stream(stream.name, column), taken)
    return found


def _checked(known: KnownStream, streams: Sequence[model.Stream], columns: Sequence[_Column]) -> model.Stream:
    """What is planned and executed."""
    times = {stream.time.column for stream in streams}
    time = streams[0].time.column if len(times) == 1 else TIME
    orders = zip(*(stream.time.order_by for stream in streams), strict=False)
    by = (some[0] for some in takewhile(lambda some: len({*some}) == 1, orders))
    visible = {column.name: column.type for column in columns}
    order_by = tuple(takewhile(lambda column: column in visible and is_orderable(visible[column]), by))
    hidden: dict[str, DataType] = {TYPE: STRING}
    if time == TIME:
        hidden[TIME] = streams[0].time.type
    for member in known.members:
        hidden |= {name: type_ for name, type_ in member.columns.values() if name not in visible}
    members = []
    for place, (stream, member) in enumerate(zip(streams, known.members, strict=True)):
        of_own = {name: Field(None, own, "each", type_) for own, (name, type_) in member.columns.items()}
        special: dict[str, Expression] = {
            PLACE: Literal(place, INT),
            STREAM: Literal(stream.name, STRING),
            TYPE: _type(stream),
            TIME: Field(None, stream.time.column, "each", stream.time.type),
        }
        made: list[Computed] = []
        for name, type_ in ((PLACE, INT), (STREAM, STRING), *visible.items(), *hidden.items()):
            shared = next((column.of.get(stream.name) for column in columns if column.name == name), None)
            value = special.get(name) or shared or of_own.get(name) or Literal(None, type_)
            made.append(Computed(name, value))
        members.append(model.MergedMember(stream.name, tuple(made)))
    return model.Stream(
        name=known.name,
        columns=((PLACE, INT), (STREAM, STRING), *visible.items()),
        input=StreamInput(()),
        time=replace(streams[0].time, column=time, order_by=order_by, watermark=max(s.time.watermark for s in streams)),
        type_column=TYPE,
        types=None,
        source=None,
        options=(),
        span=streams[0].span,
        fields=tuple(hidden.items()),
        members=tuple(members),
    )


def _type(stream: model.Stream) -> Expression:
    """The type of an event with that of its stream before it, as SQL."""
    if stream.type_column is None:
        return Literal(stream.name, STRING)
    own = cast_to(Field(None, stream.type_column, "each", dict(stream.columns)[stream.type_column]), STRING)
    return Call("concat", (Literal(model.type_of(stream.name, ""), STRING), own), STRING)


def renamed(expression: Expression, member: KnownMember) -> Expression:
    """A condition of one event of a stream, over the columns of the merged one."""

    def change(node: Expression) -> Expression:
        return replace(node, column=member.columns[node.column][0]) if isinstance(node, Field) else node

    return rewrite(expression, change)
