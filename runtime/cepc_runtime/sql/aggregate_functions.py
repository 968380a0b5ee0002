"""The aggregates: what each takes and gives, what is gathered for it, how it ends, and what Spark's SQL for it is.

What depends on an aggregate is said by its value here; no other module knows them by name. A new one is a value in
`AGGREGATES`. Imports no numpy: checking a program loads none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from typing import Literal as OneOf

from ..cheap_dataclass import dataclass
from .types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Interval,
    is_float,
    is_integer,
    is_numeric,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..numbers.columns import Bools
    from ..numbers.gathered import Gathered

    Ending = Callable[[Gathered, DataType], tuple[Any, Bools]]

Takes = OneOf["anything", "what has an order", "what can be added", "exact numbers"]

Gathers = OneOf["present", "value", "least", "greatest"]
"""How many values there are, their sum, the least, the greatest: roles of the kernel's planes (kernel/planes.py)."""

Combination = OneOf["sums", "least", "greatest", "list", "number", "name"]

WIDEST: Final = 18
"""Digits of a DECIMAL of which so many can be added, twice, within 38 digits that no input is long enough. Squares of
such have a type.
"""


@dataclass(frozen=True, slots=True, eq=False)
class NativeSql:
    """Spark's SQL: over the argument's values in a pane, then over the panes of a window. `of` are the arguments' types
    for which Spark's result is the kernel's.
    """

    of: Callable[[DataType], bool]
    of_events: Callable[[str, DataType], str]
    of_panes: Callable[[str], str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AggregateFunction:
    """One of the `AGGREGATES`, equal to itself alone.

    `gathers` is what makes it computable while counting; without, it is of the list of a match's values. With `squares`
    it needs their sum as well, which is counted as a SUM by itself (`expression.counted`). `of_any_size`: its number is
    exact whatever its type can hold, so that HAVING compares it and a cast around computes it in another type; it has a
    TRY form. `divided`: by the count of values, and rounded once.
    """

    name: str
    takes: Takes
    result: Callable[[DataType], DataType]
    gathers: tuple[Gathers, ...]
    end: Ending | None = None  # from sums to a column of the type, null where it does not fit, and where that is
    native: NativeSql | None = None
    squares: bool = False
    of_any_size: bool = False
    divided: bool = False
    also: tuple[str, ...] = ()  # what others call it
    numbers: bool = False  # it is the number of the match in its partition, and has no argument
    names: bool = False  # it is the name of the variable of the event at hand, and has no argument
    by: OneOf["", "least", "greatest"] = ""  # it is of the event where this is its second argument

    def __repr__(self) -> str:
        return self.written

    def __reduce__(self) -> tuple[Any, ...]:
        return aggregate_named, (self.name,)

    @property
    def written(self) -> str:
        return self.name.upper()

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.written, f"TRY_{self.written}") if self.of_any_size else (self.written,)

    @property
    def counts(self) -> bool:
        """Whether it is how many there are: then it needs no argument, and may be of events, or of matches."""
        return self.gathers == ("present",)

    @property
    def alone(self) -> bool:
        """Whether it has no argument."""
        return self.numbers or self.names

    @property
    def adds(self) -> bool:
        """Whether it needs the sum of its argument."""
        return "value" in self.gathers

    @property
    def combination(self) -> Combination:
        """What is made of two parts' values."""
        match self.gathers:
            case ():
                return "number" if self.numbers else "name" if self.names else "list"
            case ("least" | "greatest" as extreme, *_):
                return extreme
        return "sums"

    @property
    def extreme(self) -> OneOf["least", "greatest"] | None:
        """Which of all values it is, if it is one of them."""
        combination = self.combination
        return combination if combination in ("least", "greatest") else None

    @property
    def countable(self) -> bool:
        """Whether it can be computed while matches are counted, and added up over parts; else match queries have it."""
        return self.combination not in ("list", "number", "name")

    @property
    def runs(self) -> bool:
        """Whether a condition may have it, of all events of a variable or those up to one."""
        return (self.countable and not self.squares) or bool(self.by)

    @property
    def chosen(self) -> OneOf["", "least", "greatest"]:
        """Whether it is of one event alone: the one with the least or the greatest value, or second argument."""
        return self.by or self.extreme or ""

    @property
    def linear(self) -> bool:
        """Whether that of `x + y` is that of x and that of y, added."""
        return self.adds and not self.divided

    def is_whole(self, argument: DataType | None) -> bool:
        """Whether it is computed from integers alone: a count, or a sum of anything but FLOAT and DOUBLE."""
        return self.counts or (self.adds and argument is not None and not is_float(argument))


# ---- types -----------------------------------------------------------------------------------------------------------


def _is_narrow(argument: DataType) -> bool:
    return isinstance(argument, Decimal) and argument.precision <= WIDEST


def _itself(argument: DataType) -> DataType:
    return argument


def _of_sum(argument: DataType) -> DataType:
    if isinstance(argument, Interval):
        return Interval()
    if isinstance(argument, Decimal):
        return Decimal(min(argument.precision + 10, MAX_PRECISION), argument.scale)
    return BIGINT if is_integer(argument) else DOUBLE


def _of_average(argument: DataType) -> DataType:
    if isinstance(argument, Interval):
        return Interval()
    if isinstance(argument, Decimal):
        return Decimal(min(argument.precision + 4, MAX_PRECISION), min(argument.scale + 4, MAX_PRECISION))
    return DOUBLE


def has_exact_squares(argument: DataType) -> bool:
    """Whether it is of exact numbers whose squares are of some type."""
    return is_integer(argument) or _is_narrow(argument)


# ---- how they end ----------------------------------------------------------------------------------------------------


def _count(gathered: Gathered, type_: DataType) -> tuple[Any, Bools]:
    from ..numbers.exact_columns import cast_column

    return cast_column(gathered.counts, 0, None, type_)


def _total(gathered: Gathered, type_: DataType) -> tuple[Any, Bools]:
    import numpy as np

    from ..numbers.doubles import added
    from ..numbers.exact_columns import cast_column

    (totals,) = gathered.sums
    totals = totals if gathered.rests is None else added(totals, gathered.rests)
    return cast_column(totals, gathered.scale, np.asarray(gathered.counts == 0, dtype=np.bool_), type_)


def _average(gathered: Gathered, type_: DataType) -> tuple[Any, Bools]:
    from ..numbers.exact_columns import quotients

    (totals,) = gathered.sums
    return quotients(totals, gathered.counts, gathered.scale, type_, gathered.rests)


# ---- Spark's SQL -----------------------------------------------------------------------------------------------------


def _applied(function: str) -> Callable[..., str]:
    return lambda text, *_: f"{function}({text})"


def _adds_alike(argument: DataType) -> bool:
    return is_integer(argument) or is_float(argument) or _is_narrow(argument)


def _orders_alike(argument: DataType) -> bool:
    return is_numeric(argument) or argument in (BOOLEAN, DATE, TIMESTAMP, STRING)


def _extreme(function: str) -> NativeSql:
    def of_events(text: str, argument: DataType) -> str:
        # Spark's may be -0.0, and which of the zeros it is depends on the order of events
        return f"{function}({text} + CAST(0 AS {argument.sql}))" if is_float(argument) else f"{function}({text})"

    return NativeSql(_orders_alike, of_events, _applied(function))


def _sum_of_events(text: str, argument: DataType) -> str:
    # the sums of BIGINT may pass 64 bits on the way
    return f"SUM(CAST({text} AS DECIMAL(20,0)))" if argument == BIGINT else f"SUM({text})"


# ---- variances -------------------------------------------------------------------------------------------------------


def _of_spread(name: str, *, sample: bool, root: bool, also: tuple[str, ...] = ()) -> AggregateFunction:
    def end(gathered: Gathered, _: DataType) -> tuple[Any, Bools]:
        from ..numbers.spread import spreads

        return spreads(gathered, sample=sample, root=root)

    return AggregateFunction(
        name, "exact numbers", lambda _: DOUBLE, ("present", "value"), end, squares=True, divided=True, also=also
    )


# ---- the aggregates --------------------------------------------------------------------------------------------------

COUNT: Final = AggregateFunction(
    "count", "anything", lambda _: BIGINT, ("present",), _count,
    NativeSql(lambda _: True, _applied("COUNT"), _applied("SUM")), of_any_size=True,
)  # fmt: skip
SUM: Final = AggregateFunction(
    "sum", "what can be added", _of_sum, ("present", "value"), _total,
    NativeSql(_adds_alike, _sum_of_events, _applied("SUM")), of_any_size=True, also=("TOTAL",),
)  # fmt: skip
AVG: Final = AggregateFunction(
    "avg", "what can be added", _of_average, ("present", "value"), _average,
    NativeSql(
        is_float,  # Spark rounds averages of integers and decimals on the way
        lambda text, _: f"NAMED_STRUCT('sum', SUM({text}), 'count', COUNT({text}))",
        lambda name: f"SUM({name}.sum) / NULLIF(SUM({name}.count), 0) + 0D",  # -0.0 of what is too small is 0.0
    ),
    divided=True, also=("MEAN", "AVERAGE", "TRY_AVG"),
)  # fmt: skip
MIN: Final = AggregateFunction(
    "min", "what has an order", _itself, ("least",), native=_extreme("MIN"),
)  # fmt: skip
MAX: Final = AggregateFunction(
    "max", "what has an order", _itself, ("greatest",), native=_extreme("MAX"),
)  # fmt: skip
VARIANCE: Final = _of_spread("variance", sample=True, root=False, also=("VAR_SAMP",))
VAR_POP: Final = _of_spread("var_pop", sample=False, root=False)
STDDEV: Final = _of_spread("stddev", sample=True, root=True, also=("STDDEV_SAMP", "STD"))
STDDEV_POP: Final = _of_spread("stddev_pop", sample=False, root=True)
COLLECT: Final = AggregateFunction("collect", "anything", Array, (), also=("COLLECT_LIST", "ARRAY_AGG"))

MIN_BY: Final = AggregateFunction("min_by", "anything", _itself, (), by="least")
MAX_BY: Final = AggregateFunction("max_by", "anything", _itself, (), by="greatest")
MATCH_NUMBER: Final = AggregateFunction("match_number", "anything", lambda _: BIGINT, (), numbers=True)
VARIABLE: Final = AggregateFunction("variable", "anything", lambda _: STRING, (), names=True)

AGGREGATES: Final = (
    COUNT,
    SUM,
    AVG,
    MIN,
    MAX,
    VARIANCE,
    VAR_POP,
    STDDEV,
    STDDEV_POP,
    COLLECT,
    MIN_BY,
    MAX_BY,
    MATCH_NUMBER,
    VARIABLE,
)

ALONE: Final = {"one": COUNT, "present": COUNT, "value": SUM, "least": MIN, "greatest": MAX}
"""By the role of one of the kernel's planes the aggregate that is just its number."""

_NAMED: Final = {function.name: function for function in AGGREGATES}
_SPELT: Final = {spelling: function for function in AGGREGATES for spelling in function.spellings}


def aggregate_named(name: str) -> AggregateFunction:
    """By its name in plans. Raises KeyError."""
    return _NAMED[name]


def aggregate_written(spelling: str) -> AggregateFunction | None:
    """By what a program calls it, in capitals."""
    return _SPELT.get(spelling)


def spellings(*, countable: bool | None = None) -> tuple[str, ...]:
    """All that programs may write, TRY forms at the end; or only of those that can be counted, or cannot."""
    chosen = [function for function in AGGREGATES if countable in (None, function.countable)]
    return (*(f.written for f in chosen), *(s for f in chosen for s in f.spellings[1:]))
