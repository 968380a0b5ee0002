"""Is a DataFrame what the stream declares? Asked before the first row is read."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ..cheap_dataclass import dataclass
from ..sql import types
from ..sql.literal import string_literal
from ..sql.types import quote_name
from ..sql.widening import widens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame


class JobError(Exception):
    """Something that the user of a job can mend; the message is all that there is to say."""


@dataclass(frozen=True)
class ComputedColumn:
    """A column as SQL over those of the input and those computed before it. `read` are the columns in it, if there may
    be records without a value: they tell of which one it is said. Event time or type are the `first`, and what they are
    computed from.
    """

    name: str
    sql: str
    read: tuple[str, ...] = ()
    first: bool = False


@dataclass(frozen=True)
class OtherColumn:
    """A column that is of other events, as SQL over all of them; and the queries that ask for it."""

    name: str
    sql: str
    queries: tuple[str, ...]


@dataclass(frozen=True)
class JobMember:
    """One of several streams of which a query sees the events: what these have in the columns of all, as SQL over those
    of their own. Of some events only those of these `types` are wanted, None for all. An event may be `watermark`
    milliseconds late. Some queries are `without` its events.
    """

    stream: Stream
    columns: tuple[tuple[str, str], ...]
    types: tuple[str, ...] | None = None
    watermark: int = 0
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stream:
    """A stream of the program: its columns as declared, those without which a row is no event, and its source if the
    program names one (format and path), with `options` for Spark's reader.

    `keys` are columns of the input without which there are no events; none say that these are the required ones.
    `labels` are those of each query that has some.

    Several streams whose events some queries see together are its `members`; it has no source then, and the columns of
    all. Where the rows of a `query` of the job are the events, it has none either.
    """

    name: str
    schema: T.StructType
    required: tuple[str, ...]
    source: tuple[str, str] | None
    queries: tuple[str, ...]
    computed: tuple[ComputedColumn, ...] = ()
    keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    labels: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)
    members: tuple[JobMember, ...] = ()
    query: str | None = None

    @property
    def sources(self) -> tuple[Stream, ...]:
        """The streams of the program that it stands for."""
        return tuple(member.stream for member in self.members) or (self,)

    @property
    def declared_source(self) -> tuple[str, str]:
        """Where its FROM says. Raises JobError."""
        if self.source is None:
            raise JobError(f"no events are named for stream {self.name}, and it is not declared with FROM")
        return self.source


def declared_of(streams: Iterable[Stream]) -> tuple[Stream, ...]:
    """The streams of the program for which these stand, each once."""
    found: dict[str, Stream] = {}
    for stream in streams:
        for source in stream.sources:
            found.setdefault(source.name, source)
    return tuple(found.values())


def sources_of(streams: Iterable[Stream]) -> tuple[Stream, ...]:
    """Those of them that are read, and not made of rows."""
    return tuple(stream for stream in declared_of(streams) if stream.query is None)


def rows_needed(streams: Sequence[Stream], queries: Collection[str]) -> frozenset[str]:
    """The queries of a job whose rows are events of these queries, and of those in turn."""
    found: set[str] = set()
    for stream in reversed(streams):  # a stream comes after those that make its events
        if not {*queries, *found}.isdisjoint(stream.queries):
            found |= {source.query for source in stream.sources if source.query is not None}
    return frozenset(found)


def needed(streams: Sequence[Stream], queries: Collection[str]) -> tuple[Stream, ...]:
    """The streams that are looked at for these queries; of several as one those alone whose events some of them see."""
    asked = {*queries, *rows_needed(streams, queries)}
    return tuple(_narrowed(stream, asked) for stream in streams if not asked.isdisjoint(stream.queries))


def _narrowed(stream: Stream, queries: Collection[str]) -> Stream:
    asked = {name for name in stream.queries if name in queries}
    seen = tuple(member for member in stream.members if not asked.issubset(member.without))
    return stream if seen == stream.members else dataclasses.replace(stream, members=seen)


def conform(events: DataFrame, stream: Stream, unchecked: Collection[str] = ()) -> DataFrame:
    """The declared columns of the events, in the declared types. Raises JobError, which names every column that is
    wrong.
    """
    if wrong := problems([field for field in stream.schema.fields if field.name not in unchecked], events.schema):
        raise not_declared(stream, wrong)
    events = _without_others(events, stream)
    found = {field.name: field.dataType for field in events.schema.fields}
    return events.select(
        *(
            F.col(quote_name(f.name))
            if found[f.name] == f.dataType
            else F.expr(_castable(quote_name(f.name), found[f.name], f.dataType, _not_utf8(stream, f)))
            .cast(f.dataType)
            .alias(f.name)
            for f in stream.schema.fields
        )
    )


def _without_others(events: DataFrame, stream: Stream) -> DataFrame:
    """Without the columns that are called like declared ones in other letters, between which Spark does not tell."""
    names, declared = events.columns, {field.name for field in stream.schema.fields}
    lower = {name.lower() for name in declared}
    if not any(name.lower() in lower and name not in declared for name in names):
        return events
    apart = "_" * max(map(len, names))  # with a number behind it, longer than every name
    return events.toDF(
        *(f"{apart}{i}" if name.lower() in lower and name not in declared else name for i, name in enumerate(names))
    )


def problems(declared: Iterable[T.StructField], found: T.StructType) -> list[str]:
    """What is wrong with columns that were found."""
    types, times = {field.name: field.dataType for field in found.fields}, Counter(found.names)
    return [problem for field in declared if (problem := _twice(field, times) or _problem(field, types))]


def _twice(field: T.StructField, times: Mapping[str, int]) -> str | None:
    """Of columns of one name, as a join gives them, Spark takes none."""
    if times[field.name] < 2:
        return None
    return f"column {field.name}: found {times[field.name]} times: drop or rename all but one of them"


def _not_utf8(stream: Stream, field: T.StructField) -> str:
    said = f"column {field.name}: bytes that are not UTF-8: declare them as BINARY"
    return f"RAISE_ERROR({string_literal(str(not_declared(stream, [said])))})"


def _castable(x: str, found: T.DataType, declared: T.DataType, not_utf8: str, depth: int = 0) -> str:
    """What is found as `x`, for a cast to what is declared. A cast takes fields of structs by their places, so they get
    their order here; and it takes any bytes for text, so the job ends by `not_utf8` where they are none.
    """
    one, key = f"_one{depth}", f"_key{depth}"

    def inner(part: str, found: T.DataType, declared: T.DataType) -> str:
        return _castable(part, found, declared, not_utf8, depth + 1)

    match found, declared:
        case T.BinaryType(), T.StringType():
            text = f"CAST({x} AS STRING)"
            return f"IF({x} IS NULL OR ENCODE({text}, 'UTF-8') = {x}, {text}, {not_utf8})"
        case T.StructType(), T.StructType():
            there = {f.name: f.dataType for f in found.fields}
            parts = {f.name: f"{x}.{quote_name(f.name)}" for f in declared.fields}
            values = {f.name: inner(parts[f.name], there[f.name], f.dataType) for f in declared.fields}
            if [*there] == [*parts] and values == parts:
                return x
            fields = ", ".join(f"{string_literal(name)}, {value}" for name, value in values.items())
            return f"IF({x} IS NULL, NULL, NAMED_STRUCT({fields}))"
        case T.ArrayType(), T.ArrayType():
            value = inner(one, found.elementType, declared.elementType)
            return x if value == one else f"TRANSFORM({x}, {one} -> {value})"
        case T.MapType(), T.MapType():
            keys, value = inner(key, found.keyType, declared.keyType), inner(one, found.valueType, declared.valueType)
            x = x if keys == key else f"TRANSFORM_KEYS({x}, ({key}, {one}) -> {keys})"
            return x if value == one else f"TRANSFORM_VALUES({x}, ({key}, {one}) -> {value})"
    return x


def not_declared(stream: Stream, problems: Iterable[str]) -> JobError:
    return JobError(f"the events of stream {stream.name} are not what it declares: {'; '.join(problems)}")


def missing(field: T.StructField, found: Iterable[str]) -> str:
    """What is said of a declared column that is not there; `found` are those that are."""
    expected, names = field.dataType.simpleString(), [*found]
    if near := next((name for name in names if name.lower() == field.name.lower()), None):
        return f"column {field.name}: expected {expected}, found none but {near}: names are case-sensitive, rename it"
    return f"column {field.name}: expected {expected}, found none (there are {', '.join(names) or 'no columns'})"


def _problem(field: T.StructField, found: dict[str, T.DataType]) -> str | None:
    expected = field.dataType.simpleString()
    if field.name not in found:
        return missing(field, found)
    actual = found[field.name]
    if actual == field.dataType:
        return None
    ours, theirs = from_spark(field.dataType), from_spark(actual)
    if ours is not None and theirs is not None and widens(theirs, ours):
        return None
    return f"column {field.name}: expected {expected}, found {actual.simpleString()}"


def from_spark(type_: T.DataType) -> types.DataType | None:
    """Spark's type as one of ours; None where the language has none."""
    match type_:
        case T.DecimalType():
            return types.Decimal(type_.precision, type_.scale)
        case T.DayTimeIntervalType():
            return types.Interval(type_.startField, type_.endField)
        case T.ArrayType():
            element = from_spark(type_.elementType)
            return None if element is None else types.Array(element)
        case T.MapType():
            key, value = from_spark(type_.keyType), from_spark(type_.valueType)
            return None if key is None or value is None else types.Map(key, value)
        case T.StructType():
            return _struct(type_)
        case T.CharType() | T.VarcharType():
            return types.STRING
    return types.SIMPLE_TYPES.get(_SIMPLE.get(type_.typeName(), ""))


_SIMPLE = {
    "boolean": "BOOLEAN", "byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "string": "STRING", "binary": "BINARY", "date": "DATE", "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ", "void": "VOID",
}  # fmt: skip


def _struct(type_: T.StructType) -> types.DataType | None:
    fields = []
    for field in type_.fields:
        inner = from_spark(field.dataType)
        if inner is None:
            return None
        fields.append(types.StructField(field.name, inner))
    return types.Struct(tuple(fields))
