"""What is said of streams, and of the tables that take their places in SQL."""

from __future__ import annotations

from typing import Final

from .other_words import OtherWords, in_other_words
from .run_settings import MOST

SPARK_ALONE: Final = OtherWords("FROM {form} is read by Spark alone", "USING {form} is read by Spark alone")
NO_EVENTS: Final = OtherWords(
    "no events are named for the stream `{name}`", "nothing says where the rows of the table `{name}` are"
)
NAME_THEM: Final = OtherWords(
    "name them: `--events {argument}`,",
    "write `USING format LOCATION 'path'` in CREATE TABLE, or give `--events {argument}`,",
)
NOT_READ: Final = OtherWords("no query reads a stream `{name}`", "no clause is over a table `{name}`")
DECLARES: Final = OtherWords("the stream `{name}` declares", "the table `{name}` declares")
COMPUTED: Final = OtherWords(" and what is computed from it, `{name} AS ", ", and in expressions write `")
NO_STREAM_CAN: Final = OtherWords("no STREAM can", "no table can")
IN_THE_STREAM: Final = OtherWords("in the STREAM", "in CREATE TABLE")
OUT_OF_THE_STREAM: Final = OtherWords("out of the STREAM", "out of CREATE TABLE")
MOST_OF_COMMAND: Final = OtherWords(MOST.said, "`--most {number}`")

EVERY: Final = (
    SPARK_ALONE, NO_EVENTS, NAME_THEM, NOT_READ, DECLARES, COMPUTED, NO_STREAM_CAN, IN_THE_STREAM, OUT_OF_THE_STREAM,
    MOST_OF_COMMAND,
)  # fmt: skip


def in_sql(text: str) -> str:
    """What is said of a stream, of a table.

    >>> in_sql("if the events have none, take `p` out of the STREAM")
    'if the events have none, take `p` out of CREATE TABLE'
    """
    return in_other_words(text, EVERY)
