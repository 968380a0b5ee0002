"""Values that stand as text in CSV, JSON and names of folders, and of which Spark's own parsers take more than the
language has: `1,5` for fifteen, `1.555` for a DECIMAL(10,2), `10:00` for a time of today, `1.5d` for a DOUBLE, 128 for
the TINYINT -128. Such values are read as text, at any depth of a column, and a text is a value only where it has the
form of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ..cheap_dataclass import dataclass
from ..sql.literal import string_literal
from ..sql.types import quote_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column

    from .schema import Stream

_MANTISSA: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_EXPONENT: Final = rf"{_MANTISSA}[eE][+-]?0*\d\d?"
_FLOAT: Final = rf"{_MANTISSA}(?:[eE][+-]?\d+)?|(?i:[+-]?inf(?:inity)?|[+-]?nan)"
_DATE: Final = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME: Final = rf"{_DATE}(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:\.\d+)?)?)?"
_ZONE: Final = r" ?(?:Z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?"
_SAID: Final = {
    "timestamp": {"timestampformat"}, "timestamp_ntz": {"timestampntzformat"}, "date": {"dateformat"},
    "float": {"nanvalue", "positiveinf", "negativeinf"}, "double": {"nanvalue", "positiveinf", "negativeinf"},
}  # fmt: skip
"""Options that say how a type is written: where one is given, Spark reads it by that."""


@dataclass(frozen=True)
class Texts:
    """How the values of some records are written: a format, and the options of reading it."""

    form: Literal["csv", "json", "folders"]
    said: frozenset[str] = frozenset()

    @staticmethod
    def of(form: Literal["csv", "json"], options: Mapping[str, str]) -> Texts:
        return Texts(form, frozenset(name.lower() for name in options))

    def as_read(self, schema: T.StructType) -> T.StructType:
        """The columns with the types that Spark is to read them by."""
        return T.StructType([T.StructField(f.name, self._read(f.dataType)) for f in schema.fields])

    def value(self, field: T.StructField, stream: Stream) -> Column:
        """That of a column which was read so; the end of the job where it is none."""
        before = f"the events of stream {stream.name} are not what it declares: column {field.name}: `"

        def failing(text: str, type_: T.DataType) -> str:
            after = string_literal(f"` is no {type_.simpleString().upper()}")
            said = f"CONCAT({string_literal(before)}, {text}, {after})"
            return f"CAST(RAISE_ERROR({said}) AS {type_.simpleString()})"

        return self._column(field, failing)

    def value_or_null(self, field: T.StructField) -> Column:
        """That of a column which was read so, with null for what is none."""
        return self._column(field, _null)

    def is_wrong(self, field: T.StructField) -> Column:
        """Whether a column, which was read so, has a text that is no value; never null."""
        wrong = self._wrong(quote_name(field.name), field.dataType, 0)
        return F.lit(False) if wrong is None else F.expr(f"COALESCE({wrong}, FALSE)")

    def has_wrong(self, schema: T.StructType) -> Column:
        """Whether a record has."""
        wrong = F.lit(False)
        for field in schema.fields:
            wrong = wrong | self.is_wrong(field)
        return wrong

    # ---- at any depth ------------------------------------------------------------------------------------------------

    def _read(self, type_: T.DataType) -> T.DataType:
        match type_:
            case T.StructType():
                return self.as_read(type_)
            case T.ArrayType():
                return T.ArrayType(self._read(type_.elementType))
            case T.MapType():
                return T.MapType(type_.keyType, self._read(type_.valueType))
            case T.ByteType() if self.form == "json":  # Spark takes bytes without a sign, too
                return T.ShortType()
        return type_ if self._right("", type_) is None else T.StringType()

    def _column(self, field: T.StructField, otherwise: Callable[[str, T.DataType], str]) -> Column:
        name = quote_name(field.name)
        if self._wrong(name, field.dataType, 0) is None:
            return F.col(name)
        return F.expr(self._value(name, field.dataType, otherwise, 0)).alias(field.name)

    def _value(self, x: str, type_: T.DataType, otherwise: Callable[[str, T.DataType], str], depth: int) -> str:
        """What was read as `x`, as one of the type; `otherwise` is that of what is none."""
        if self._wrong(x, type_, depth) is None:
            return x
        one = f"_one{depth}"
        match type_:
            case T.StructType():
                parts = (
                    f"{string_literal(f.name)}, {self._value(_part(x, f), f.dataType, otherwise, depth)}"
                    for f in type_.fields
                )
                return f"IF({x} IS NULL, NULL, NAMED_STRUCT({', '.join(parts)}))"
            case T.ArrayType():
                return f"TRANSFORM({x}, {one} -> {self._value(one, type_.elementType, otherwise, depth + 1)})"
            case T.MapType():
                value = self._value(one, type_.valueType, otherwise, depth + 1)
                return f"TRANSFORM_VALUES({x}, (_key{depth}, {one}) -> {value})"
        none = otherwise(f"CAST({x} AS STRING)", type_)
        return f"CASE WHEN {x} IS NULL THEN NULL WHEN {self._right(x, type_)} THEN {_cast(x, type_)} ELSE {none} END"

    def _wrong(self, x: str, type_: T.DataType, depth: int) -> str | None:
        """A condition that is true where `x` has a text that is none of the type; None where Spark's reader says so."""
        one = f"_one{depth}"
        match type_:
            case T.StructType():
                parts = [self._wrong(_part(x, f), f.dataType, depth) for f in type_.fields]
                return " OR ".join(f"COALESCE({part}, FALSE)" for part in parts if part) or None
            case T.ArrayType():
                part = self._wrong(one, type_.elementType, depth + 1)
                return part and f"EXISTS({x}, {one} -> COALESCE({part}, FALSE))"
            case T.MapType():
                part = self._wrong(one, type_.valueType, depth + 1)
                return part and f"EXISTS(MAP_VALUES({x}), {one} -> COALESCE({part}, FALSE))"
        right = self._right(x, type_)
        return None if right is None else f"{x} IS NOT NULL AND NOT COALESCE({right}, FALSE)"

    def _right(self, x: str, type_: T.DataType) -> str | None:
        """A condition for what is read as `x` to be one of the type; None where Spark's reader decides it."""
        if self.said & _SAID.get(type_.typeName(), set()):
            return None
        match type_:
            case T.ByteType() if self.form == "json":
                return f"{x} BETWEEN -128 AND 127"
            case T.DecimalType():
                # With an exponent, digits beyond the scale cannot be seen in the text.
                exact = f"TRY_CAST({x} AS DOUBLE) = CAST({_cast(x, type_)} AS DOUBLE)"
                plain = _of_form(x, _plain_decimal(type_.scale), type_)
                return f"({plain} OR {_of_form(x, _EXPONENT, type_)} AND {exact})"
            case T.FloatType() | T.DoubleType() if self.form != "json":
                return _of_form(x, _FLOAT, type_)
            case T.TimestampType():
                return _of_form(x, rf"{_TIME}{_ZONE})?", type_)
            case T.TimestampNTZType():
                return _of_form(x, rf"{_TIME})?", type_)
            case T.DateType():
                return _of_form(x, _DATE, type_)
            case T.IntegralType() if self.form == "folders":
                return _of_form(x, r"[+-]?\d+", type_)
            case T.BooleanType() if self.form == "folders":
                return _of_form(x, "(?i:true|false)", type_)
        return None


def _plain_decimal(scale: int) -> str:
    if scale == 0:
        return r"[+-]?\d+(?:\.0*)?"
    return rf"[+-]?(?:\d+(?:\.\d{{0,{scale}}}0*)?|\.\d{{1,{scale}}}0*)"


def _of_form(x: str, form: str, type_: T.DataType) -> str:
    return f"{x} RLIKE {string_literal(f'^(?:{form})$')} AND {_cast(x, type_)} IS NOT NULL"


def _cast(x: str, type_: T.DataType) -> str:
    return f"TRY_CAST({x} AS {type_.simpleString()})"


def _null(_text: str, _type: T.DataType) -> str:
    return "NULL"


def _part(x: str, field: T.StructField) -> str:
    return f"{x}.{quote_name(field.name)}"
