"""Streams: columns, event time, event types."""

import re

import pytest

from cepc_runtime.sql.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType
from tests.resolving import checked, codes

QUERY = "QUERY q RETURN SUM(A.x) AS n PATTERN SEQ(A, A) WITHIN 10 DAYS SLIDE 1 DAY;"

WRONG = [
    ("a column twice", "STREAM s (at TIMESTAMP, x INT, x INT) EVENT TIME at;", ["E0205"]),
    ("columns that differ only in case", "STREAM s (at TIMESTAMP, x INT, X INT) EVENT TIME at;", ["E0206"]),
    ("a column of an unknown type", "STREAM s (at TIMESTAMP, x FLOTE) EVENT TIME at;", ["E0305"]),
    ("an event time of an unknown type is one mistake", "STREAM s (at TIMESTMP) EVENT TIME at;", ["E0305"]),
    ("an unknown event time", "STREAM s (at TIMESTAMP) EVENT TIME att;", ["E0204"]),
    ("an event time that is text", "STREAM s (at STRING) EVENT TIME at;", ["E0601"]),
    ("an event time that is a double", "STREAM s (at DOUBLE) EVENT TIME at UNIT s;", ["E0601"]),
    ("a unit of a timestamp", "STREAM s (at TIMESTAMP) EVENT TIME at UNIT ms;", ["E0602"]),
    ("a unit of a date", "STREAM s (at DATE) EVENT TIME at UNIT s;", ["E0602"]),
    ("ORDER BY an unknown column", "STREAM s (at TIMESTAMP) EVENT TIME at ORDER BY seq;", ["E0204"]),
    ("ORDER BY a map", "STREAM s (at DATE, m MAP<INT, INT>) EVENT TIME at ORDER BY m;", ["E0604"]),
    ("ORDER BY maps in an array", "STREAM s (at DATE, m ARRAY<MAP<INT, INT>>) EVENT TIME at ORDER BY m;", ["E0604"]),
    ("a watermark finer than a day of a DATE", "STREAM s (at DATE) EVENT TIME at WATERMARK 36 HOURS;", ["E0509"]),
    ("a watermark in months", "STREAM s (at TIMESTAMP) EVENT TIME at WATERMARK 1 MONTH;", ["E0508"]),
    ("an unknown type column", "STREAM s (at TIMESTAMP) EVENT TIME at EVENT TYPE kind;", ["E0204"]),
    ("a type column that is a struct", "STREAM s (at DATE, k STRUCT<a: INT>) EVENT TIME at EVENT TYPE k;", ["E0605"]),
    ("a type listed twice", "STREAM s (at DATE, k STRING) EVENT TIME at EVENT TYPE k IN ('A', 'A');", ["E0205"]),
    ("types that differ only in case", "STREAM s (at DATE, k INT) EVENT TIME at EVENT TYPE k IN ('A', 'a');", ["E0206"]),
    ("a format near a known one", "STREAM s (at DATE) EVENT TIME at FROM PARKET 'x';", ["E0606"]),
    ("a stream twice", "STREAM s (at DATE) EVENT TIME at; STREAM s (at DATE) EVENT TIME at;", ["E0205"]),
    ("no event time, and a query", f"STREAM s (at DATE, x INT, kind INT) EVENT TYPE kind; {QUERY}", ["E0603"]),
    (
        "all mistakes of a stream at once",
        "STREAM s (at STRING, X INT, x INT, y FLOTE) EVENT TIME at ORDER BY z EVENT TYPE kin;",
        ["E0204", "E0204", "E0206", "E0305", "E0601"],
    ),
]  # fmt: skip

RIGHT = [
    ("no event time, and no query", "STREAM s (at DATE);"),
    ("a watermark of 0", "STREAM s (at DATE) EVENT TIME at WATERMARK 0 s;"),
    ("a format of Spark's that is not known here", "STREAM s (at DATE) EVENT TIME at FROM mongo 'x';"),
    ("an integer type column", "STREAM s (at DATE, k INT) EVENT TIME at EVENT TYPE k IN ('1', '2');"),
    ("a stream and a type of one name", "STREAM A (at DATE, k INT) EVENT TIME at EVENT TYPE k IN ('A');"),
]


@pytest.mark.parametrize(("title", "text", "expected"), WRONG, ids=[t for t, *_ in WRONG])
def test_a_wrong_stream_has_its_codes(title: str, text: str, expected: list[str]) -> None:
    assert codes(text) == expected, title


@pytest.mark.parametrize(("title", "text"), RIGHT, ids=[t for t, *_ in RIGHT])
def test_a_right_stream_has_none(title: str, text: str) -> None:
    assert codes(text) == [], title


@pytest.mark.parametrize(
    ("column", "type_", "unit", "within"),
    [
        ("TIMESTAMP", TIMESTAMP, None, 864_000_000_000),
        ("TIMESTAMP_NTZ", TIMESTAMP_NTZ, None, 864_000_000_000),
        ("DATE", DATE, None, 10),
        ("BIGINT UNIT ms", BIGINT, "ms", 864_000_000),
        ("BIGINT UNIT us", BIGINT, "us", 864_000_000_000),
        ("BIGINT", BIGINT, "s", 864_000),
    ],
)
def test_times_are_whole_ticks_of_the_event_time(column: str, type_: DataType, unit: str | None, within: int) -> None:
    sort, _, option = column.partition(" ")
    text = f"STREAM s (at {sort}, kind STRING, x INT) EVENT TIME at {option} WATERMARK 10 DAYS EVENT TYPE kind; {QUERY}"
    program = checked(text).program
    assert program is not None
    time = program.streams[0].time
    assert (time.type, time.unit, time.watermark) == (type_, unit, within)
    assert program.queries[0].window.span == within


def test_a_stream_keeps_what_it_says() -> None:
    text = """STREAM s (at TIMESTAMP, kind STRING, n BIGINT) EVENT TIME at ORDER BY n, kind
              EVENT TYPE kind IN ('B', 'A') FROM CSV 'x/y';"""
    program = checked(text).program
    assert program is not None
    (stream,) = program.streams
    assert stream.columns == (("at", TIMESTAMP), ("kind", STRING), ("n", BIGINT))
    assert stream.time.order_by == ("n", "kind")
    assert (stream.type_column, stream.types, stream.source) == ("kind", ("B", "A"), ("csv", "x/y"))


def test_a_stream_without_event_type_has_one_type_of_its_name() -> None:
    text = """STREAM ticks (at TIMESTAMP, x INT) EVENT TIME at;
              QUERY q RETURN SUM(a.x) AS n PATTERN SEQ(ticks a, ticks b) WITHIN 2 s SLIDE 1 s;"""
    program = checked(text).program
    assert program is not None
    assert (program.streams[0].type_column, program.streams[0].types) == (None, None)
    assert [(v.type, v.test.raw_type) for v in program.queries[0].variables] == [("ticks", None), ("ticks", None)]
    assert codes(text.replace("ticks b", "tick b")) == ["E0201"]


def test_expressions_on_a_broken_column_are_not_reported_again() -> None:
    text = """STREAM s (at TIMESTAMP, kind STRING, x FLOTE) EVENT TIME at EVENT TYPE kind;
              EVENT Big AS A WHERE x > 3;
              QUERY q RETURN x, MAX(a.x) AS n PATTERN SEQ(A a, Big b) WHERE a.x > b.x GROUP BY x WITHIN 2 s SLIDE 1 s;"""
    assert codes(text) == ["E0305"]


TIMES = [
    ("a name that is free", "at", "at BIGINT, x INT", "time"),
    ("the likeliest one is taken", "time", "time BIGINT, x INT", "event_time"),
    ("in another case", "Time", "Time BIGINT, x INT", "event_time"),
    ("all likely ones are", "time", "time BIGINT, event_time INT, Instant INT, time2 INT, x INT", "time3"),
]


@pytest.mark.parametrize(("title", "time", "columns", "name"), TIMES, ids=[title for title, *_ in TIMES])
def test_the_cure_for_a_time_of_another_type_cures(title: str, time: str, columns: str, name: str) -> None:
    one = "STREAM a (at TIMESTAMP, x INT) EVENT TIME at; "
    query = " QUERY q RETURN MATCH a.x PATTERN SEQ(a, b) WITHIN 2 DAYS;"
    text = columns.replace(f"{time} BIGINT", f"{time} STRING")
    programs = [f"STREAM b ({columns}) EVENT TIME {time} UNIT ms;", f"STREAM b ({text}) EVENT TIME {time};"]
    for stream, code in zip(programs, ("E0228", "E0601"), strict=True):
        (problem,) = checked(one + stream + query).diagnostics
        assert problem.code == code
        column, event_time = re.findall(r"`(\w+ AS .*?|EVENT TIME .*?)`", problem.hint)
        assert column.startswith(f"{name} AS "), (title, problem.hint)
        cured = re.sub(r"EVENT TIME .*?;", f"{event_time};", stream.replace(") EVENT", f", {column}) EVENT"))
        assert codes(one + cured + query) == [], cured
