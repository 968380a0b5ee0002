"""Values that stand as text in CSV and JSON, and of which Spark's own parsers take more than the language has: `1,5`
for fifteen, `1.555` for a DECIMAL(10,2), `10:00` for a time of today, a number for a TIMESTAMP. Columns of these types
are read as text, and a text is a value only where it has the form of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ..sql.literal import string_literal
from ..sql.types import quote_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column

    from .schema import Stream

_EXPONENT: Final = r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d{1,4}"
_DATE: Final = r"[+-]?\d{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_TIME: Final = rf"{_DATE}(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:\.\d+)?)?)?"
_ZONE: Final = r" ?(?:Z|UTC|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?"
_BY_PATTERN: Final = {"timestamp": "timestampformat", "timestamp_ntz": "timestampntzformat", "date": "dateformat"}
"""Options that say how a type is written: where one is given, Spark takes nothing else."""


def forms_of(schema: T.StructType, options: Mapping[str, str]) -> dict[str, str]:
    """The form of a value, as a regular expression, of each column that is to be read as text."""
    given = {name.lower() for name in options}
    return {
        field.name: rf"^\s*(?:{form})\s*$"
        for field in schema.fields
        if (form := _form(field.dataType)) and _BY_PATTERN.get(field.dataType.typeName()) not in given
    }


def _form(type_: T.DataType) -> str | None:
    match type_:
        case T.DecimalType(scale=0):
            return rf"[+-]?(?:\d+(?:\.0*)?|{_EXPONENT})"
        case T.DecimalType():
            return rf"[+-]?(?:\d+(?:\.\d{{0,{type_.scale}}}0*)?|\.\d{{1,{type_.scale}}}0*|{_EXPONENT})"
        case T.TimestampType():
            return rf"{_TIME}{_ZONE})?"
        case T.TimestampNTZType():
            return rf"{_TIME})?"
        case T.DateType():
            return _DATE
    return None


def as_text(schema: T.StructType, forms: Mapping[str, str]) -> T.StructType:
    return T.StructType([T.StructField(f.name, T.StringType()) if f.name in forms else f for f in schema.fields])


def value(field: T.StructField, forms: Mapping[str, str], stream: Stream) -> Column:
    """That of a column which was read so; the end of the job where there is none."""
    column = F.col(quote_name(field.name))
    if field.name not in forms:
        return column
    said = f"the events of stream {stream.name} are not what it declares: column {field.name}: "
    wrong = F.concat(F.lit(said), F.lit("`"), column, F.lit(f"` is no {field.dataType.simpleString().upper()}"))
    none = F.raise_error(wrong).cast(field.dataType)
    return F.when(column != "", F.coalesce(value_or_null(field, forms), none)).alias(field.name)


def value_or_null(field: T.StructField, forms: Mapping[str, str]) -> Column:
    """That of a column which was read so; null where there is none."""
    name = quote_name(field.name)
    if field.name not in forms:
        return F.col(name)
    form = string_literal(forms[field.name])
    return F.expr(f"IF({name} RLIKE {form}, TRY_CAST({name} AS {field.dataType.simpleString()}), NULL)")


def has_wrong_text(schema: T.StructType, forms: Mapping[str, str]) -> Column:
    """Whether a column has a text that is no value."""
    wrong = F.lit(False)
    for field in schema.fields:
        if field.name in forms:
            column = F.col(quote_name(field.name))
            wrong = wrong | (F.coalesce(column != "", F.lit(False)) & value_or_null(field, forms).isNull())
    return wrong
