"""The abstract syntax of a program.

Frozen nodes compared by structure; `span` is last and never compared. The parser normalises spelling (keyword case,
`==`, units, `WINDOW … SLIDE …`), so that two texts that differ only in spelling give equal trees.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass

from .pattern import Not, Operator
from .source import NOWHERE, Span


def _span() -> Span:
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, quoted or not. Case-sensitive."""

    text: str
    span: Span = _span()


# ---- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeField:
    """A field of a STRUCT type."""

    name: Name
    type: TypeExpr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """A Spark SQL type as written: `DECIMAL(10, 2)` has numbers, `ARRAY<INT>` and `MAP<…>` parameters, `STRUCT<…>`
    fields.

    `name` is in upper case.
    """

    name: str
    numbers: tuple[int, ...] = ()
    parameters: tuple[TypeExpr, ...] = ()
    fields: tuple[TypeField, ...] = ()
    span: Span = _span()


# ---- durations -------------------------------------------------------------------------------------------------------

Unit = OneOf["MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"]

MICROSECONDS: dict[Unit, int] = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}


@dataclass(frozen=True, slots=True)
class Duration:
    """A number (kept as written) and a unit. A month or a year has no length. An OFFSET may be negative."""

    amount: str
    unit: Unit
    span: Span = _span()

    @property
    def microseconds(self) -> Fraction | None:
        """The exact length, or None for a unit without one."""
        size = MICROSECONDS.get(self.unit)
        if self.amount.isdecimal() and size is not None:
            return Fraction(int(self.amount) * size)
        return None if size is None else Fraction(self.amount) * size

    @property
    def whole(self) -> Duration | None:
        """The same length as a whole number of the longest unit that is no longer than its own, where there is one.

        >>> Duration("1.5", "DAY").whole
        Duration(amount='36', unit='HOUR')
        """
        for unit, size in reversed(MICROSECONDS.items()):
            if self.microseconds is not None and size <= MICROSECONDS[self.unit] and self.microseconds % size == 0:
                return Duration(str(self.microseconds // size), unit, self.span)
        return None


@dataclass(frozen=True, slots=True)
class Unbounded:
    """`WITHIN UNBOUNDED`."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Session:
    """`WITHIN SESSION 10 MINUTES`: a session ends where no event comes for so long."""

    gap: Duration
    span: Span = _span()


# ---- expressions -----------------------------------------------------------------------------------------------------

LiteralKind = OneOf[
    "null", "boolean", "integer", "bigint", "smallint", "tinyint", "decimal", "double", "float", "string", "binary",
    "date", "timestamp", "timestamp_ntz",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `text` is the number without its suffix, the string's value, TRUE or FALSE, or the quoted part of
    DATE '…'.

    A number without suffix is `integer` (1), `decimal` (1.5) or `double` (1e3), as in Spark SQL.
    """

    kind: LiteralKind
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Interval:
    """`INTERVAL 1 HOUR 30 MINUTES`, a sum of durations; a leading minus is a Unary around it."""

    parts: tuple[Duration, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Reference:
    """A dotted name: `x`, `v.x`, `w.p.x`, `v.x.field`. Which part is what is for resolution to say."""

    parts: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Star:
    """`*` in `COUNT(*)`, in `RETURN MATCH *` and `RETURN EACH *`."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """`f(a, b)`, `RUNNING f(a)`. `FIRST(v).x` is a Member of a Call. An aggregate over all events of a match is over
    those of some variables where `among` names them, as clauses of SQL can.
    """

    function: Name
    arguments: tuple[Expression, ...]
    distinct: bool = False
    span: Span = _span()
    running: bool = False
    among: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A field of an expression that is no dotted name: `FIRST(v).x`, `f(x).y`."""

    operand: Expression
    name: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Index:
    """`a[i]`: an element of an array, or a value of a map."""

    operand: Expression
    index: Expression
    span: Span = _span()


UnaryOperator = OneOf["-", "+", "~", "NOT"]

BinaryOperator = OneOf[
    "OR",
    "AND",
    "=",
    "<=>",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "||",
    "*",
    "/",
    "%",
    "DIV",
    "&",
    "^",
    "|",
    "<<",
    ">>",
    ">>>",
]


@dataclass(frozen=True, slots=True)
class Unary:
    operator: UnaryOperator
    operand: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Binary:
    operator: BinaryOperator
    left: Expression
    right: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    options: tuple[Expression, ...]
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Expression
    kind: OneOf["LIKE", "ILIKE", "RLIKE"] = "LIKE"
    escape: str | None = None
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Is:
    """`x IS [NOT] NULL`, `TRUE`, `FALSE`, `UNKNOWN`."""

    operand: Expression
    what: OneOf["NULL", "TRUE", "FALSE", "UNKNOWN"]
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class IsDistinct:
    """`a IS [NOT] DISTINCT FROM b`."""

    left: Expression
    right: Expression
    negated: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Branch:
    """`WHEN condition THEN result`."""

    condition: Expression
    result: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Case:
    operand: Expression | None
    branches: tuple[Branch, ...]
    otherwise: Expression | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Cast:
    """`CAST(x AS T)`, `TRY_CAST(x AS T)`, `x::T`."""

    operand: Expression
    type: TypeExpr
    safe: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Extract:
    """`EXTRACT(field FROM x)`; the field in upper case."""

    field: str
    operand: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`[a, b.c]`: all events of a match agree on these attributes, columns or fields of columns.

    The parser allows it only as a top-level conjunct of WHERE.
    """

    attributes: tuple[Name | Reference, ...]
    span: Span = _span()


Expression = (
    Literal | Interval | Reference | Star | Call | Member | Index | Unary | Binary | Between | In | Like | Is |
    IsDistinct | Case | Cast | Extract | Equivalence
)  # fmt: skip


# ---- patterns --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """An event type or a named pattern, `E`, `E e`, `trip`, `trip w`, `rise(Trade, price)`: resolution knows which.

    `arguments` is None without parentheses. An argument is a one-part Reference, a Literal, or a minus before a number.
    `stream` is what stands before the dot of `orders.Paid`.
    """

    name: Name
    arguments: tuple[Expression, ...] | None = None
    alias: Name | None = None
    span: Span = _span()
    stream: Name | None = None


@dataclass(frozen=True, slots=True)
class AnyEvent:
    """`ANY e`."""

    alias: Name | None = None
    span: Span = _span()


Pattern = Atom | AnyEvent | Operator["Pattern"] | Not["Pattern", Duration]


# ---- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Import:
    """`IMPORT std.time` has a module path, `IMPORT './mine.cep'` a file; the other is None."""

    module: tuple[Name, ...] | None
    file: str | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Column:
    """`x INT` of the input, or computed: `x AS a + b`, `x INT AS a + b`. It has a type, an expression, or both."""

    name: Name
    type: TypeExpr | None
    expression: Expression | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class EventTime:
    """`EVENT TIME at UNIT ms ORDER BY seq WATERMARK 30 SECONDS`."""

    column: Name
    unit: OneOf["s", "ms", "us"] | None = None
    order_by: tuple[Name, ...] = ()
    watermark: Duration | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class EventType:
    """`EVENT TYPE kind IN ('Request', …)`; `types` is None without a list."""

    column: Name
    types: tuple[Literal, ...] | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class From:
    """`FROM CSV 'data/rides' OPTIONS (delimiter = ';')`; the format in lower case."""

    format: str
    path: str
    options: tuple[tuple[Name, str], ...] = ()
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class FromQuery:
    """`FROM QUERY bursts`: the rows of the query are the events."""

    query: Name
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Stream:
    """One FROM QUERY has the columns of the query's rows, beside its own, which are computed."""

    name: Name
    columns: tuple[Column, ...]
    event_time: EventTime | None = None
    event_type: EventType | None = None
    source: From | FromQuery | None = None
    span: Span = _span()

    @property
    def query(self) -> Name | None:
        """The query whose rows are its events."""
        return self.source.query if isinstance(self.source, FromQuery) else None


@dataclass(frozen=True, slots=True)
class DerivedEvent:
    """`EVENT LongTravel AS Travel WHERE duration > 30`; `stream` is what stands before the dot of a base."""

    name: Name
    base: Name
    where: Expression
    span: Span = _span()
    stream: Name | None = None


@dataclass(frozen=True, slots=True)
class NamedPattern:
    """`PATTERN rise(T, x) AS T+ up WHERE up.x > PREV(up).x`; `parameters` is None without parentheses."""

    name: Name
    parameters: tuple[Name, ...] | None
    pattern: Pattern
    where: Expression | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Function:
    """`FUNCTION hours(minutes) AS minutes / 60`: an expression that stands where the function is called."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expression
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Item:
    """One column of RETURN."""

    expression: Expression
    alias: Name | None = None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Return:
    """`RETURN MATCH …` has `match` set, `RETURN EACH …` that and `each`; `RETURN MATCH *` is one Item of a Star."""

    items: tuple[Item, ...]
    match: bool = False
    each: bool = False
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class GroupItem:
    """`district`, or `T.district` (a type or variable before the attribute), as written in GROUP BY."""

    parts: tuple[Name, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class AfterMatch:
    """`AFTER MATCH SKIP …`; `variables` for TO FIRST and TO LAST, one in a text, in SQL perhaps several;
    `duration` for FOR.
    """

    skip: OneOf["TO NEXT EVENT", "PAST LAST EVENT", "TO FIRST", "TO LAST", "FOR"]
    variables: tuple[Reference, ...] = ()
    duration: Duration | None = None
    span: Span = _span()


WINDOW_FIELDS = ("within", "window", "slide", "offset")
"""Of a query: what WITHIN and WINDOW give, in the order in which it is written; each but the first stands after its
name.
"""


@dataclass(frozen=True, slots=True)
class Query:
    """`labels` are those of `QUERY fraud WITH (severity = 'high')`. Where there is a `window`, windows are as long, and
    `within` bounds the matches; else they are as long as `within`.
    """

    name: Name
    returns: Return
    pattern: Pattern
    within: Duration | Unbounded | Session
    where: Expression | None = None
    group_by: tuple[GroupItem, ...] = ()
    having: Expression | None = None
    slide: Duration | None = None
    offset: Duration | None = None
    streams: tuple[Name, ...] = ()
    select: OneOf["ANY", "NEXT", "CONTIGUOUS"] = "ANY"
    after_match: AfterMatch | None = None
    labels: tuple[tuple[Name, str], ...] = ()
    window: Duration | None = None
    span: Span = _span()

    @property
    def after_within(self) -> tuple[tuple[str, Duration], ...]:
        """What stands after WITHIN: `WINDOW`, `SLIDE` and `OFFSET`, each with a duration."""
        found = ((name.upper(), getattr(self, name)) for name in WINDOW_FIELDS[1:])
        return tuple((word, duration) for word, duration in found if duration is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """`(1, 'a')`: a row of VALUES."""

    values: tuple[Expression, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Values:
    """`(a, b) VALUES (1, 'a'), (2, 'b')`; `columns` is None where they are not named."""

    columns: tuple[Name, ...] | None
    rows: tuple[Row, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Given:
    """`GIVEN (at, kind) VALUES …`, of several streams `GIVEN orders (at, kind) VALUES …` for each."""

    stream: Name | None
    values: Values
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Test:
    """`TEST name FOR query GIVEN … EXPECT …`; `expected` is None for NO ROWS."""

    name: Name
    query: Name
    given: tuple[Given, ...]
    expected: Values | None
    span: Span = _span()


Statement = Import | Stream | DerivedEvent | NamedPattern | Function | Query | Test


@dataclass(frozen=True, slots=True)
class Program:
    """The statements of one or more files, in order."""

    statements: tuple[Statement, ...]
    span: Span = _span()
