"""Records that are no events: of JSON, Avro or CSV that does not say what the stream declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from ...sql.types import quote_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from ..schema import Stream
    from ..texts import Texts

MALFORMED: Final = "_cepc_malformed"
"""A column beside the declared ones: null of an event. Of another record the reason, its place and its text as JSON,
and the other columns are null, so that nothing of it is believed.
"""
PASSED: Final = "_cepc_passed"
"""Beside the columns of a stream of rows: null of a row, and else what is passed on to the next link of its chain."""
CORRUPT: Final = "_cepc_corrupt"
_OF_WRITING: Final = (
    "sep", "delimiter", "quote", "escape", "nullvalue", "timezone", "timestampformat", "timestampntzformat",
    "dateformat",
)  # fmt: skip
"""Options of reading that say as well how a record is written."""


def apart_in(columns: Collection[str]) -> str | None:
    """The column, if it is among these, that says of a row that it is no event."""
    return next((name for name in (MALFORMED, PASSED) if name in columns), None)


def with_corrupt(stream: Stream, texts: Texts) -> T.StructType:
    """The columns as they are read, and the one in which Spark's parsers put the text of what they cannot parse."""
    return T.StructType([*texts.as_read(stream.schema).fields, T.StructField(CORRUPT, T.StringType())])


def written_by(options: Mapping[str, str]) -> dict[str, str]:
    """Of the options of reading those by which a record is written."""
    return {name: option for name, option in options.items() if name.lower() in _OF_WRITING}


def record_of(stream: Stream, texts: Texts, written: Mapping[str, str]) -> tuple[Column, Column]:
    """The text of a record that is wrong, and whether it is. Where Spark found nothing wrong with it, it is written
    again from its columns, by the options.
    """
    is_wrong = texts.has_wrong(stream.schema)
    columns = F.struct(*(F.col(quote_name(field.name)) for field in stream.schema.fields))
    again = F.to_json(columns, dict(written)) if texts.form == "json" else F.to_csv(columns, dict(written))
    corrupt = F.col(CORRUPT)
    return F.coalesce(corrupt, F.when(is_wrong, again)), corrupt.isNotNull() | is_wrong


def set_apart(
    records: DataFrame, stream: Stream, values: Sequence[Column], wrong: Column, said: dict[str, Column]
) -> DataFrame:
    """The values of the declared columns, and MALFORMED, of records of which `wrong` is true or false; `said` is what
    is told of one that is.
    """
    text = F.when(wrong, F.to_json(F.struct(*(column.alias(name) for name, column in said.items()))))
    columns = [
        F.when(~wrong, value).alias(field.name) for field, value in zip(stream.schema.fields, values, strict=True)
    ]
    return records.select(*columns, text.alias(MALFORMED))


def json_reason(text: Column, stream: Stream, texts: Texts) -> Column:
    """What is wrong with the text of a record; the columns of the stream are beside it, null where they could not be
    parsed.
    """
    # A path of JSON's cannot name these two characters.
    named = [f for f in stream.schema.fields if not set("'?") & set(f.name)]
    given = [F.get_json_object(text, f"$['{f.name}']").isNotNull() & _is_none(f, texts) for f in named]
    columns = F.concat_ws(
        ", ",
        *(
            F.when(one, F.lit(f"column {f.name} is not {f.dataType.simpleString()}"))
            for one, f in zip(given, named, strict=True)
        ),
    )
    return (
        F.when(text.isNull(), "it has no value")
        .when(F.try_parse_json(text).isNull(), "it is not JSON")
        .when(~F.ltrim(text).startswith("{"), "it is not a JSON object")
        .when(columns != "", columns)
        .otherwise("a value is not of its declared type")
    )


def _is_none(field: T.StructField, texts: Texts) -> Column:
    return F.col(quote_name(field.name)).isNull() | texts.is_wrong(field)
