"""Events read from files: what each format gives, and what is said of files and values that are wrong."""

import base64
import bz2
import gzip
import io
import json
import os
import sys
import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import orc

import cepc
from cepc.errors import DataError
from cepc.reading.files import EventSource
from cepc.reading.read import Read, read_events
from cepc_runtime.plan.stream import StreamPlan
from cepc_runtime.sql.computed import StreamInput
from cepc_runtime.sql.types import from_text as type_of
from cepc_runtime.sql.types import to_arrow
from cepc_runtime.sql.widening import widens

RIDES = "at TIMESTAMP, kind STRING, driver BIGINT, minutes DOUBLE"
ROWS = [
    {"at": "2026-01-31T12:00:00Z", "kind": "Pickup", "driver": 1, "minutes": None},
    {"at": "2026-01-31T12:10:00.5Z", "kind": "Travel", "driver": 1, "minutes": 9.5},
]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def declared(text: str) -> tuple[tuple[str, Any], ...]:
    """`a INT, b MAP<STRING, INT>` as columns."""
    columns, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            name, _, type_ = text[start:i].strip().partition(" ")
            columns.append((name, type_of(type_)))
            start = i + 1
    return tuple(columns)


def stream(columns: str, *, types: tuple[str, ...] | None = None, needed: tuple[str, ...] | None = None) -> StreamPlan:
    """A stream whose first column is the time; `kind` is its type column where there is one."""
    every = declared(columns)
    read = tuple(c for c in every if needed is None or c[0] in needed)
    kind = "kind" if any(name == "kind" for name, _ in every) else None
    return StreamPlan(
        "rides", read, tuple(n for n, _ in every), every[0][0], "us", (), kind, None if kind else "rides", types
    )


def read(path: str | Path, columns: str = RIDES, form: Any = None, **options: Any) -> Read:
    return read_events(EventSource(str(path), form), stream(columns, **options), StreamInput(declared(columns)))


def problem(path: str | Path, columns: str = RIDES, form: Any = None, **options: Any) -> str:
    """What is said of events that are wrong."""
    with pytest.raises(DataError) as caught:
        read(path, columns, form, **options)
    return str(caught.value)


def write(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def table(columns: str, **values: list[Any]) -> pa.Table:
    types = dict(declared(columns))
    return pa.table({name: pa.array(column, to_arrow(types[name])) for name, column in values.items()})


def values(found: Read, column: str) -> list[Any]:
    result: list[Any] = found.table.column(column).to_pylist()
    return result


# ---- one answer from every format ------------------------------------------------------------------------------------


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def comma_separated(rows: list[dict[str, Any]]) -> str:
    body = (",".join("" if v is None else str(v) for v in row.values()) + "\n" for row in rows)
    return ",".join(rows[0]) + "\n" + "".join(body)


def rides() -> pa.Table:
    times = pa.array([1769860800000000, 1769861400500000], pa.timestamp("us", "UTC"))
    return pa.table({"at": times, "kind": ["Pickup", "Travel"], "driver": [1, 1], "minutes": [None, 9.5]})


FILES: dict[str, bytes] = {
    "rides.jsonl": lines(ROWS).encode(),
    "rides.json": lines(ROWS).encode(),
    "rides.ndjson": lines(ROWS).rstrip().encode(),
    "rides.csv": comma_separated(ROWS).encode(),
    "RIDES.CSV": comma_separated(ROWS).replace("\n", "\r\n").encode(),
    "bom.csv": b"\xef\xbb\xbf" + comma_separated(ROWS).encode(),
    "bom.jsonl": b"\xef\xbb\xbf" + lines(ROWS).encode(),
    "rides.csv.gz": gzip.compress(comma_separated(ROWS).encode()),
    "rides.jsonl.bz2": bz2.compress(lines(ROWS).encode()),
    "rides.jsonl.zst": pa.compress(lines(ROWS).encode(), "zstd", asbytes=True),
}


@pytest.mark.parametrize("name", [*FILES, "rides.parquet", "snappy.parquet", "gzip.parquet", "int96.parquet"])
def test_every_format_gives_the_same_table(name: str) -> None:
    if name in FILES:
        write(name, FILES[name])
    else:
        options: Any = {"snappy": {"compression": "snappy"}, "gzip": {"compression": "gzip"}}.get(
            name.split(".")[0], {}
        )
        pq.write_table(rides(), name, use_deprecated_int96_timestamps=name == "int96.parquet", **options)
    found = read(name)
    assert found.table.equals(rides())
    assert (found.rows, found.files, found.types) == (2, 1, {"Pickup": 1, "Travel": 1})
    assert found.warnings == ()


@pytest.mark.parametrize("name", ["rides.jsonl", "rides.csv", "rides.csv.gz", "rides.parquet"])
def test_standard_input_is_recognised(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(rides(), "rides.parquet")
    data = FILES[name] if name in FILES else Path(name).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read("-").table.equals(rides())


@pytest.mark.parametrize(
    ("name", "form", "content"),
    [
        ("pipe", "csv", "rides.csv"), ("pipe", None, "rides.jsonl"), ("pipe", "csv", "rides.csv.gz"),
        ("pipe.csv", None, "rides.csv"), ("pipe", "parquet", "rides.parquet"),
    ],
)  # fmt: skip
def test_a_pipe_with_a_name_is_read_as_standard_input_is(name: str, form: Any, content: str) -> None:
    pq.write_table(rides(), "rides.parquet")
    data = FILES[content] if content in FILES else Path(content).read_bytes()
    os.mkfifo(name)
    writer = threading.Thread(target=Path(name).write_bytes, args=(data,))
    writer.start()
    found = read(name, form=form)
    writer.join()
    assert found.table.equals(rides())


def test_a_device_is_not_read_and_a_directory_leaves_pipes_out() -> None:
    said = problem("/dev/zero", form="csv")
    assert "error[E0704]: `/dev/zero` cannot be read: it is no regular file" in said
    assert "help: `… | cepc run … --events -` reads what a command writes" in said
    assert read("/dev/null", form="csv").rows == 0
    write("d/rides.csv", FILES["rides.csv"])
    os.mkfifo("d/pipe.csv")
    assert read("d").table.equals(rides())


def test_a_directory_is_all_files_below_it_without_the_hidden_ones() -> None:
    for name in ("a/part-00001.parquet", "a/part-00000.parquet", "a/more/part-0.snappy.parquet"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rides(), name)
    write("a/_SUCCESS", "")
    write("a/.part-0.parquet.crc", "x")
    write("a/_temporary/part-2.parquet", "x")
    write("a/part-0.parquet.crc", "x")
    found = read("a")
    assert (found.rows, found.files, found.warnings) == (6, 3, ())


@pytest.mark.parametrize(
    ("names", "title", "note"),
    [
        (["part-0001"], "1 file is left out of the directory `m`", "it is `m/part-0001`"),
        (["part-0001", "b.csv.bak"], "2 files are left out of the directory `m`", "the first is `m/b.csv.bak`"),
        (["x/notes.txt"], "1 file is left out of the directory `m`", "it is `m/x/notes.txt`"),
    ],
)
def test_files_of_a_directory_whose_names_say_no_format_are_said(names: list[str], title: str, note: str) -> None:
    for name in ("a.csv", *names):
        write(f"m/{name}", FILES["rides.csv"])
    found = read("m")
    (warning,) = found.warnings
    assert (warning.code, warning.title, warning.notes) == ("W0720", f"{title}: the name says no format", (note,))
    assert "`--input-format csv`" in warning.hint
    every = read("m", form="csv")
    assert (found.files, every.files, every.warnings) == (1, 1 + len(names), ())


@pytest.mark.parametrize("target", ["in", "in/deep", "."])
def test_a_link_to_a_folder_above_it_is_not_followed(target: str) -> None:
    write("in/deep/a.csv", FILES["rides.csv"])
    Path("in/deep/loop").symlink_to(Path(target).resolve(), target_is_directory=True)
    assert read("in").files == 1


def test_links_to_folders_that_name_each_other_are_followed_once() -> None:
    for one, other in (("in", "out"), ("out", "in")):
        write(f"{one}/a.csv", FILES["rides.csv"])
        Path(one, "loop").symlink_to(Path(other).resolve(), target_is_directory=True)
    assert read("in").files == 2


def test_folders_of_a_partitioned_table_are_columns() -> None:
    for day in ("2026-01-30", "2026-01-31", "__HIVE_DEFAULT_PARTITION__"):
        write(f"t/date={day}/city=S%C3%A3o Paulo/part-0.jsonl", lines(ROWS[:1]))
    columns = f"{RIDES}, date DATE, city STRING"
    found = read("t", columns)
    assert [str(v) for v in values(found, "date")] == ["2026-01-30", "2026-01-31", "None"]
    assert values(found, "city") == ["São Paulo"] * 3
    assert found.table.column_names == ["at", "kind", "driver", "minutes", "date", "city"]
    write("t/date=soon/x.jsonl", lines(ROWS[:1]))
    assert "the column `date` is `soon` in the name of a folder, and DATE is expected" in problem("t", columns)


def test_only_the_needed_columns_and_types_are_kept() -> None:
    rows = [{**ROWS[0], "kind": k} for k in ("Pickup", "Ping", None, "Travel")] + [{"at": None, "kind": "Ping"}]
    for name, text in (("r.jsonl", lines(rows)), ("r.csv", comma_separated([{**ROWS[0], **row} for row in rows]))):
        write(name, text)
        found = read(name, types=("Pickup", "Travel"), needed=("at", "kind"))
        assert found.table.column_names == ["at", "kind"]
        assert values(found, "kind") == ["Pickup", None, "Travel", "Ping"], "nulls are kept, to be counted"
        assert found.rows == 5
        assert found.types == {"Pickup": 1, "Ping": 1, "Travel": 1}
        assert found.timeless == {"Ping": 1}


def test_progress_is_told_in_bytes() -> None:
    told: list[tuple[int, int]] = []
    pq.write_table(rides(), "a.parquet")
    size = Path("a.parquet").stat().st_size
    read_events(EventSource("a.parquet"), stream(RIDES), StreamInput(declared(RIDES)), lambda *at: told.append(at))
    assert told == [(size, size)]
    write("b.jsonl", lines(ROWS))
    read_events(EventSource("b.jsonl"), stream(RIDES), StreamInput(declared(RIDES)), lambda *at: told.append(at))
    assert told[-1][0] == told[-1][1] == Path("b.jsonl").stat().st_size


# ---- types -----------------------------------------------------------------------------------------------------------

MOMENT = "2026-01-31 12:00:00+00:00"

TEXTS: list[tuple[str, str, object]] = [
    ("TINYINT", "-128", -128),
    ("BIGINT", "9223372036854775807", 2**63 - 1),
    ("INT", "+5", 5),
    ("FLOAT", "0.5", 0.5),
    ("DOUBLE", "1e3", 1000.0),
    ("DOUBLE", "-Infinity", float("-inf")),
    ("DECIMAL(10,2)", "1.5", Decimal("1.50")),
    ("DECIMAL(38,0)", "9" * 38, Decimal("9" * 38)),
    ("BOOLEAN", "TRUE", True),
    ("STRING", "x", "x"),
    ("BINARY", "x", b"x"),
    ("DATE", "2026-01-31", "2026-01-31"),
    ("TIMESTAMP", "2026-01-31T12:00:00Z", MOMENT),
    ("TIMESTAMP", "2026-01-31 12:00:00", MOMENT),
    ("TIMESTAMP", "2026-01-31T13:00:00.000+01:00", MOMENT),
    ("TIMESTAMP", "2026-01-31T12:00", MOMENT),
    ("TIMESTAMP", "2026-01-31", "2026-01-31 00:00:00+00:00"),
    ("TIMESTAMP", "2026-01-31T12:00:00.1234567Z", "2026-01-31 12:00:00.123456+00:00"),
    ("TIMESTAMP_NTZ", "2026-01-31T12:00:00", "2026-01-31 12:00:00"),
]


@pytest.mark.parametrize(("type_", "text", "value"), TEXTS)
def test_csv_values(type_: str, text: str, value: object) -> None:
    write("x.csv", f"t,v\n1,{text}\n2,\n")
    first, second = values(read("x.csv", f"t BIGINT, v {type_}"), "v")
    assert (str(first) if isinstance(value, str) else first) == value
    assert second is None


def test_an_empty_quoted_csv_value_is_the_empty_string() -> None:
    write("x.csv", 't,v\n1,\n2,""\n3,"a ""quoted"", comma\nand line"\n\n4,NULL\n')
    assert values(read("x.csv", "t BIGINT, v STRING"), "v") == [None, "", 'a "quoted", comma\nand line', "NULL"]


JSONS: list[tuple[str, str, object]] = [
    ("TINYINT", "-128", -128),
    ("BIGINT", "9223372036854775807", 2**63 - 1),
    ("DOUBLE", "1", 1.0),
    ("DOUBLE", "1.5e300", 1.5e300),
    ("DOUBLE", '"Infinity"', float("inf")),
    ("FLOAT", "0.5", 0.5),
    ("DECIMAL(38,18)", "1.000000000000000001", Decimal("1.000000000000000001")),
    ("DECIMAL(4,1)", '"1.5"', Decimal("1.5")),
    ("DECIMAL(4,1)", "7", Decimal("7.0")),
    ("BOOLEAN", "true", True),
    ("STRING", '"\\u00e9\\ud83d\\ude00"', "é😀"),
    ("STRING", "1.50", "1.50"),
    ("STRING", '{"a": [1, 2.50, null, "é"]}', '{"a":[1,2.50,null,"é"]}'),
    ("STRING", "true", "true"),
    ("BINARY", '"aGk="', b"hi"),
    ("DATE", '"2026-01-31"', "2026-01-31"),
    ("TIMESTAMP", '"2026-01-31T12:00:00"', MOMENT),
    ("TIMESTAMP_NTZ", '"2026-01-31T12:00:00"', "2026-01-31 12:00:00"),
    ("INTERVAL DAY TO SECOND", '"-1 02:03:04.5"', -timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
    ("ARRAY<INTERVAL DAY TO SECOND>", "[\"INTERVAL '0 00:00:05' DAY TO SECOND\", null]", [timedelta(seconds=5), None]),
    ("ARRAY<INT>", "[1, null]", [1, None]),
    ("ARRAY<ARRAY<STRING>>", '[["a"], [], null]', [["a"], [], None]),
    ("MAP<STRING, DOUBLE>", '{"a": 1, "b": null}', [("a", 1.0), ("b", None)]),
    ("MAP<INT, STRING>", '{"1": "a"}', [(1, "a")]),
    ("STRUCT<`a`: INT, `b`: ARRAY<DATE>>", '{"z": 0, "a": 1}', {"a": 1, "b": None}),
    ("ARRAY<STRUCT<`a`: DECIMAL(3,1)>>", '[{"a": 1.5}, {}]', [{"a": Decimal("1.5")}, {"a": None}]),
]


def test_a_value_of_many_levels_is_its_json_text() -> None:
    deep = "[" * 600 + '{"a":[1.50,{}]}' + "]" * 600
    write("x.jsonl", f'{{"t": 1, "v": {deep}}}\n')
    assert values(read("x.jsonl", "t BIGINT, v STRING"), "v") == [deep]


@pytest.mark.parametrize("value", ['"1 hour"', '"1 25:00:00"', "5", "\"INTERVAL '1' HOUR\""])
def test_what_is_no_interval_in_json_is_a_bad_record(value: str) -> None:
    write("x.jsonl", f'{{"t": 1, "v": {value}}}\n')
    said = problem("x.jsonl", "t BIGINT, v INTERVAL DAY TO SECOND")
    assert f"error[E0711]: `{value}` is no INTERVAL DAY TO SECOND for `v`" in said
    assert "intervals are written INTERVAL '1 02:03:04.5' DAY TO SECOND, or what is in the quotes" in said


@pytest.mark.parametrize(("type_", "text", "value"), JSONS)
def test_json_values(type_: str, text: str, value: object) -> None:
    columns = f"t BIGINT, v {type_}"
    write("x.jsonl", f'\n{{"t": 1, "v": {text}}}\n{{"t": 2, "v": null}}\n  \n{{"t": 3}}')
    first, *rest = values(read("x.jsonl", columns), "v")
    plain = isinstance(value, str) and type_ != "STRING"
    assert (str(first) if plain else first) == value
    assert rest == [None, None]


@pytest.mark.parametrize(
    ("found", "expected", "value"),
    [
        (pa.int8(), "BIGINT", 1),
        (pa.int32(), "DOUBLE", 1),
        (pa.uint32(), "BIGINT", 1),
        (pa.uint64(), "DECIMAL(20,0)", 1),
        (pa.float32(), "DOUBLE", 1.5),
        (pa.int32(), "DECIMAL(12,2)", 1),
        (pa.decimal128(5, 2), "DECIMAL(10,4)", Decimal("1.50")),
        (pa.large_string(), "STRING", "x"),
        (pa.dictionary(pa.int8(), pa.string()), "STRING", "x"),
        (pa.binary(), "STRING", b"x"),
        (pa.binary(1), "BINARY", b"x"),
        (pa.binary(1), "STRING", b"x"),
        (pa.list_(pa.binary(1)), "ARRAY<BINARY>", [b"x", None]),
        (pa.timestamp("ms"), "TIMESTAMP", 1000),
        (pa.timestamp("ns", "Europe/Berlin"), "TIMESTAMP", 1000),
        (pa.timestamp("us"), "TIMESTAMP_NTZ", 1000),
        (pa.timestamp("us", "Europe/Berlin"), "TIMESTAMP_NTZ", 1000),
        (pa.date32(), "TIMESTAMP_NTZ", 1),
        (pa.list_(pa.int32()), "ARRAY<BIGINT>", [1, None]),
        (pa.large_list(pa.string()), "ARRAY<STRING>", ["x"]),
        (pa.map_(pa.string(), pa.int32()), "MAP<STRING, BIGINT>", [("x", 1)]),
        (pa.struct([("b", pa.string()), ("a", pa.int8())]), "STRUCT<`a`: INT>", {"b": "x", "a": 1}),
    ],
)
def test_parquet_columns_widen_as_in_spark(found: Any, expected: str, value: object) -> None:
    column = pa.array([None, value], found)
    pq.write_table(pa.table({"t": pa.array([1, 2]), "v": column}), "x.parquet")
    result = read("x.parquet", f"t BIGINT, v {expected}").table.column("v")
    assert result.type == to_arrow(type_of(expected))
    assert result.null_count == 1
    if pa.types.is_timestamp(found):
        assert (
            result.cast(pa.int64()).to_pylist()[1] == {"s": 10**6, "ms": 10**3, "us": 1, "ns": 0.001}[found.unit] * 1000
        )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("BIGINT", "INT"), ("DOUBLE", "BIGINT"), ("BIGINT", "DOUBLE"), ("DOUBLE", "FLOAT"), ("STRING", "BIGINT"),
        ("INT", "STRING"),
        ("DATE", "TIMESTAMP"), ("TIMESTAMP", "DATE"), ("DECIMAL(10,2)", "DECIMAL(10,3)"),
        ("DECIMAL(10,2)", "DOUBLE"), ("INT", "DECIMAL(9,0)"), ("BIGINT", "TIMESTAMP"), ("ARRAY<STRING>", "ARRAY<INT>"),
        ("STRUCT<`a`: INT>", "STRUCT<`b`: INT>"), ("MAP<STRING, INT>", "MAP<INT, INT>"), ("BOOLEAN", "INT"),
    ],
)  # fmt: skip
def test_what_does_not_widen_is_an_error_before_the_first_row(found: str, expected: str) -> None:
    assert not widens(type_of(found), type_of(expected))
    empty = pa.table({"t": pa.array([], pa.int64()), "v": pa.array([], to_arrow(type_of(found)))})
    pq.write_table(empty, "x.parquet")
    said = problem("x.parquet", f"t BIGINT, v {expected}")
    assert f"error[E0707]: the column `v` is {type_of(found).sql}, and {type_of(expected).sql} is expected" in said
    assert "--> x.parquet" in said


@pytest.mark.parametrize("found", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 10}])
def test_types_of_parquet_are_read_however_they_are_encoded(found: Any, options: dict[str, Any]) -> None:
    kinds = ["a", "b", None, "b", "c", "b", "a", "d", None, "e", "b", "a"]
    column = pa.array(kinds).dictionary_encode() if pa.types.is_dictionary(found) else pa.array(kinds)
    written = pa.table({"at": pa.array(range(len(kinds))), "kind": column.cast(found)})
    pq.write_table(written, "x.parquet", row_group_size=5, **options)
    every = read("x.parquet", "at BIGINT, kind STRING")
    assert values(every, "kind") == kinds
    assert every.types == {"a": 3, "b": 4, "c": 1, "d": 1, "e": 1}
    some = read("x.parquet", "at BIGINT, kind STRING", types=("b", "d"))
    assert values(some, "at") == [1, 2, 3, 5, 7, 8, 10]
    assert some.table.schema.field("kind").type == pa.string()
    assert (some.types, some.rows) == (every.types, len(kinds))


def test_types_of_parquet_that_are_no_text() -> None:
    pq.write_table(pa.table({"at": [1, 2], "kind": [b"A", b"\xff"]}), "x.parquet")
    said = problem("x.parquet", "at BIGINT, kind STRING")
    assert "the column `kind` is BINARY with values that are no UTF-8 text, and STRING is expected" in said
    assert "help: declare it as BINARY, if that is what is meant, or change the data" in said
    program = "STREAM s (at BIGINT, kind BINARY) EVENT TIME at UNIT s EVENT TYPE kind;"
    found = cepc.compile(program + "QUERY q RETURN MATCH A.at PATTERN A WITHIN 1 s;").run("x.parquet")
    assert found["q"].column("at").to_pylist() == [1]


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (pa.array([1], pa.time64("us")), "no STREAM can declare that type: write it as BIGINT where the events are made, or take `v` out of the STREAM"),
        (pa.array([1], pa.decimal256(40, 0)), "no STREAM can declare that type: write it as BIGINT"),
        (pa.array([1], pa.duration("us")), "declare it as INTERVAL, if that is what is meant"),
        (pa.array([[1]], pa.list_(pa.duration("us"))), "declare it as ARRAY<INTERVAL>, if that is what is meant"),
        (pa.array([1.5]), "declare it as DOUBLE, if that is what is meant"),
    ],
    ids=str,
)  # fmt: skip
def test_another_type_is_declared_as_it_is_written_in_a_stream(found: pa.Array, hint: str) -> None:
    pq.write_table(pa.table({"t": [1], "v": found}), "x.parquet")
    assert f"help: {hint}" in problem("x.parquet", "t BIGINT, v BIGINT")
    declared = hint.partition("declare it as ")[2].partition(",")[0]
    if declared:
        assert cepc.check(f"STREAM s (t BIGINT, v {declared}) EVENT TIME t UNIT s;").diagnostics == ()


def test_times_that_are_too_far_away_are_told_without_the_words_of_a_library() -> None:
    pq.write_table(pa.table({"t": pa.array([2**62], pa.timestamp("ms"))}), "x.parquet")
    said = problem("x.parquet", "t TIMESTAMP")
    assert "the column `t` is TIMESTAMP_NTZ with values that are no TIMESTAMP, and TIMESTAMP is expected" in said


def test_a_folder_whose_name_is_of_another_type_is_renamed_or_its_column_a_string() -> None:
    write("d/day=x/a.csv", "t\n1\n")
    said = problem("d", "t BIGINT, day DATE")
    assert "the column `day` is `x` in the name of a folder, and DATE is expected" in said
    assert "help: declare it as STRING, if that is what is meant, or rename the folder" in said
    assert read("d", "t BIGINT, day STRING").rows == 1


def test_times_in_nanoseconds_are_taken_where_nothing_is_lost() -> None:
    pq.write_table(pa.table({"t": pa.array([0, 1000], pa.timestamp("ns"))}), "x.parquet")
    assert read("x.parquet", "t TIMESTAMP").table.column("t").cast(pa.int64()).to_pylist() == [0, 1]
    assert read("x.parquet", "t TIMESTAMP").warnings == ()


# ---- files that cannot be read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "path", "form", "said"),
    [
        ({}, "rides.csv", None, "error[E0701]: there are no events at `rides.csv`"),
        ({}, "", None, "error[E0701]"),
        ({"in/a.csv": "at\n"}, "in/*.csv", None, "a path has no wildcards: `in` is all files in it and below"),
        ({"a.csv": "at\n"}, "[ab].csv", None, "a path has no wildcards: `.` is all files in it and below"),
        ({}, "s3a://bucket/rides", None, "copy them to this machine; `--engine spark` reads them there"),
        ({}, "file:///data/rides.csv", None, "write `/data/rides.csv`"),
        ({}, "~/rides.csv", None, "`~` is of the shell, which leaves it where it is quoted"),
        ({"rides.tsv": "at\tkind\n"}, "rides.tsv", None, "add `--input-format csv` with `--option 'delimiter=\\t'`, or write"),
        ({}, "data/rides.csv", None, "the directory `data` does not exist either"),
        ({"rides.csv": "x"}, "ride.csv", None, "did you mean `rides.csv`?"),
        ({"d/_SUCCESS": ""}, "d", None, "error[E0702]: the directory `d` has no files of events"),
        ({"d/a.txt": ""}, "d", None, "it holds `a.txt`"),
        ({"d/a.csv": ""}, "d", "json", "the directory `d` has no JSON lines files"),
        ({"d/a.csv": "", "d/b.json": ""}, "d", None, "there are CSV and JSON lines files"),
        ({"rides": '{"at": 1}'}, "rides", None, "it looks like JSON lines: add `--input-format json`"),
        ({"rides.dat": "PAR1"}, "rides.dat", None, "it looks like Parquet: add `--input-format parquet`"),
        ({"rides.dat": "\x01"}, "rides.dat", None, "error[E0703]"),
        ({"rides.dat": "\x01"}, "rides.dat", None, "known are .parquet, .parq, .pq, .csv, .json, .jsonl, .ndjson, .orc and .avro, the text"),
        ({"rides.dat": "\x01"}, "rides.dat", None, "formats also with .gz, .zst, .bz2, .lz4 or .br"),
        ({"a.parquet": "at,kind\n"}, "a.parquet", None, "`a.parquet` cannot be read: it is no Parquet file"),
        ({"a.parquet": "at,kind\n"}, "a.parquet", None, "`--input-format csv`, `json`, `orc` or `avro` names another format"),
        ({"a.csv.gz": "at,kind\n"}, "a.csv.gz", None, "error[E0704]: `a.csv.gz` cannot be read"),
        ({"a.jsonl.gz": "{}\n"}, "a.jsonl.gz", None, "error[E0704]: `a.jsonl.gz` cannot be read"),
        ({"a.csv.gz": "at,kind\n"}, "a.csv.gz", None, "its name ends in `.gz`, and it is no gzip file"),
        ({"a.csv.gz": "at,kind\n"}, "a.csv.gz", None, "take `.gz` off its name: `mv a.csv.gz a.csv`"),
        ({"my rides.csv.gz": "at,kind\n"}, "my rides.csv.gz", None, "`mv 'my rides.csv.gz' 'my rides.csv'`"),
        ({"a.json.zst": "{}\n"}, "a.json.zst", None, "its name ends in `.zst`, and it is no zstd file"),
        ({"a.csv.bz2": "at,kind\n"}, "a.csv.bz2", None, "its name ends in `.bz2`, and it is no bz2 file"),
        ({"a.csv.LZ4": "at,kind\n"}, "a.csv.LZ4", None, "its name ends in `.LZ4`, and it is no lz4 file"),
    ],
)  # fmt: skip
def test_what_is_said_of_files_that_cannot_be_read(files: dict[str, str], path: str, form: Any, said: str) -> None:
    for name, content in files.items():
        write(name, content)
    assert said in problem(path, form=form)


def test_a_truncated_parquet_file_is_damaged() -> None:
    pq.write_table(pa.table({c: rides().column(c) for c in rides().column_names}), "a.parquet")
    data = Path("a.parquet").read_bytes()
    write("a.parquet", data[: len(data) // 2] + b"PAR1")
    assert "error[E0704]: `a.parquet` cannot be read" in problem("a.parquet")


def test_a_format_can_be_said() -> None:
    write("rides.txt", comma_separated(ROWS))
    assert read("rides.txt", form="csv").rows == 2
    write("d/part-00000", lines(ROWS))
    write("d/part-00001.csv", "never read")
    assert read("d", form="json").rows == 2


@pytest.mark.parametrize(
    "name", ["e.csv", "e.jsonl", "e.parquet", "header.csv", "blank.csv", "blank.jsonl", "schema.parquet"]
)
def test_an_empty_file_has_no_events(name: str) -> None:
    if name == "schema.parquet":
        pq.write_table(rides().slice(0, 0), name)
    else:
        write(
            name, {"header.csv": "at,kind,driver,minutes\n", "blank.csv": "\n\n", "blank.jsonl": " \n\n"}.get(name, "")
        )
    found = read(name)
    assert (found.rows, found.table.num_rows, found.files) == (0, 0, 1)
    assert found.table.schema == rides().schema


# ---- columns that are wrong ------------------------------------------------------------------------------------------


def test_all_problems_with_columns_are_told_at_once() -> None:
    pq.write_table(pa.table({"at": ["x"], "Kind": ["x"], "drivr": [1], "minutes": [1.0]}), "a.parquet")
    said = problem("a.parquet")
    assert "the column `at` is STRING, and TIMESTAMP is expected" in said
    assert "the events have no column `kind`" in said
    assert "names are case-sensitive: write `Kind` in the STREAM" in said
    assert "did you mean `drivr`?" in said
    assert said.endswith("3 errors")


def test_a_problem_of_many_files_is_told_once() -> None:
    for i in range(3):
        write(f"d/{i}.csv", "at,kind,minutes\n")
    said = problem("d")
    assert said.count("no column `driver`") == 1
    assert "--> d/0.csv" in said
    assert "it is so in 2 more files" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-01-31T12:00:00Z,Pickup,1,\n", "error[E0708]: `x.csv` does not begin with the names of its columns"),
        ("at;kind;driver;minutes\n", "the columns seem to be separated by `;`"),
        ("at\tkind\tdriver\tminutes\n", "separated by tabs"),
        ("\f", "the first line is `␌`"),
        (
            "sep=;\nat;kind;driver;minutes\n",
            "take that line out, which is for spreadsheets alone, and then `--option 'delimiter=;'`",
        ),
        ("sep=,\nat,kind,driver,minutes\n", "take that line out, which is for spreadsheets alone\n"),
        (
            "AT,more,Kind,MINUTES,driveR\n",
            "names are case-sensitive: declare them as they are there, or replace that line by `at,more,kind,minutes,driver`",
        ),
        ("\r\n\vat\u2028kind", "the first line is `␋at\N{REPLACEMENT CHARACTER}kind`"),
        ("at,kind,driver,kind,minutes\n", "error[E0709]: the column `kind` occurs twice"),
    ],
)
def test_what_is_said_of_headers(text: str, said: str) -> None:
    write("x.csv", text)
    assert said in problem("x.csv")


def test_a_line_for_spreadsheets_is_no_header_with_its_delimiter_either() -> None:
    write("x.csv", "sep=;\nat;kind\n")
    plan, given = stream("at TIMESTAMP, kind STRING"), StreamInput(declared("at TIMESTAMP, kind STRING"))
    source = EventSource("x.csv", None, (("delimiter", ";"),))
    with pytest.raises(DataError) as caught:
        read_events(source, plan, given)
    assert str(caught.value).partition("help: ")[2].startswith("take that line out, which is for spreadsheets alone\n")
    write("x.csv", "at;kind\n")
    assert read_events(source, plan, given).rows == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r", "\n\n"])
def test_an_empty_value_at_the_end_is_null_whether_or_not_its_line_has_an_end(end: str, encoding: str) -> None:
    write("x.csv", f't,v,w\n1,"é",\n2,"",{end}'.replace("\n", end.rstrip("\n") or "\n").encode(encoding))
    plan, given = stream("t INT, v STRING, w STRING"), StreamInput(declared("t INT, v STRING, w STRING"))
    found = read_events(EventSource("x.csv", None, (("encoding", encoding.removesuffix("-sig")),)), plan, given)
    assert (values(found, "v"), values(found, "w")) == (["é", ""], [None, None])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_recognised(encoding: str) -> None:
    write("x.csv", ("\ufeff" * (encoding != "utf-16") + "t,v\n1,2\n").encode(encoding))
    said = problem("x.csv", "t INT, v INT")
    assert "`x.csv` cannot be read: it is UTF-16, and UTF-8 is expected" in said
    assert "help: add `--option encoding=UTF-16`, or `OPTIONS (encoding = 'UTF-16')` after FROM" in said
    source = EventSource("x.csv", None, (("encoding", "UTF-16"),))
    assert values(read_events(source, stream("t INT, v INT"), StreamInput(declared("t INT, v INT"))), "v") == [2]


@pytest.mark.parametrize(("encoding", "wrong"), [("cp1252", b"\x81"), ("utf-16", "x".encode("utf-16")[:-1])])
@pytest.mark.parametrize("before", [0, 1 << 20])
def test_what_is_no_text_in_the_encoding_that_is_said_is_said(encoding: str, wrong: bytes, before: int) -> None:
    write("x.csv", ("t,v\n" + "1,2\n" * before).encode(encoding) + wrong)
    source, plan = EventSource("x.csv", None, (("encoding", encoding),)), stream("t INT, v STRING")
    with pytest.raises(DataError, match=f"`x.csv` cannot be read: it is no text in {encoding}\n"):
        read_events(source, plan, StreamInput(declared("t INT, v STRING")))


def write_avro(events: pa.Table, name: str) -> None:
    nullable = {
        "at": {"type": "long", "logicalType": "timestamp-micros"},
        "kind": "string",
        "driver": "long",
        "minutes": "double",
    }
    fields = [{"name": column, "type": ["null", type_]} for column, type_ in nullable.items()]
    with Path(name).open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "ride", "fields": fields}, events.to_pylist())


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.dat"])
@pytest.mark.parametrize("content", ["parquet", "orc", "avro", "gzip", "zstd", "bz2", "lz4"])
def test_what_is_no_text_is_recognised_by_its_first_bytes(name: str, content: str) -> None:
    form = "csv" if name == "x.dat" else None
    if content in ("parquet", "orc", "avro"):
        {"parquet": pq.write_table, "orc": orc.write_table, "avro": write_avro}[content](rides(), name)
        said = problem(name, form=form)
        rename = "" if form else f", or rename it: `mv {name} x.{content}`"
        assert f"help: add `--input-format {content}`{rename}\n" in said
        assert read(name, form=content).rows == 2
        if form is None:
            assert read(Path(name).rename(f"x.{content}")).rows == 2
        return
    text = lines(ROWS) if name == "x.jsonl" else comma_separated(ROWS)
    suffix = {"gzip": ".gz", "zstd": ".zst", "bz2": ".bz2", "lz4": ".lz4"}[content]
    with pa.output_stream(name, compression=content) as out:
        out.write(text.encode())
    said = problem(name, form=form)
    assert f"`{name}` cannot be read: it is a {content} file" in said
    assert f"help: add `{suffix}` to its name: `mv {name} {name}{suffix}`" in said
    assert read(Path(name).rename(name + suffix), form=form).rows == 2


def test_csv_cannot_hold_arrays() -> None:
    write("x.csv", "t,v\n")
    assert "error[E0712]: the column `v` is ARRAY<INT>, which CSV cannot hold" in problem(
        "x.csv", "t INT, v ARRAY<INT>"
    )


def test_a_column_that_is_not_needed_must_be_there_all_the_same() -> None:
    write("x.csv", "at,kind,driver\n")
    assert "no column `minutes`" in problem("x.csv", needed=("at", "kind"))


# ---- lines and values that are wrong ---------------------------------------------------------------------------------

GOOD_LINE = lines(ROWS[:1])


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (GOOD_LINE + '{"at": \n', "x.jsonl:2:7", "error[E0710]: a line is no JSON object"),
        (GOOD_LINE + "\n" + "null\n", "x.jsonl:3:1", "this is `null`"),
        (GOOD_LINE + " [1]\n", "x.jsonl:2:2", "this is an array"),
            (GOOD_LINE + "NaN\n", "x.jsonl:2:1", "this is `NaN`"),
            (GOOD_LINE + "1.50\n", "x.jsonl:2:1", "this is `1.50`"),
        ("[\n", "x.jsonl:1:2", "each line is an object of its own"),
        ('{\n"at": 1\n}\n', "x.jsonl:1:2", "each line is an object of its own"),
        ('{"at": null} {"at": null}\n', "x.jsonl:1:14", "more after the object"),
        ("{'at': null}\n", "x.jsonl:1:2", "expecting property name enclosed in double quotes"),
        ('{"driver": 1.5}\n', "x.jsonl:1:12", "error[E0711]: `1.5` is no BIGINT for `driver`"),
        ('{"driver": NaN}\n', "x.jsonl:1:12", "error[E0711]: `NaN` is no BIGINT for `driver`"),
        ('{"driver": [-Infinity, 1e999]}\n', "x.jsonl:1:2", "error[E0711]: `[-Infinity,1e999]` is no BIGINT for `driver`"),
        ('{"driver": 9223372036854775808}\n', "x.jsonl:1:12", "it does not fit"),
        ('{"driver": "1"}\n', "x.jsonl:1:12", '`"1"` is no BIGINT'),
        ('{"driver": true}\n', "x.jsonl:1:12", "`true` is no BIGINT"),
        ('{"minutes": "many"}\n', "x.jsonl:1:13", '`"many"` is no DOUBLE'),
        (GOOD_LINE + '{"at": "yesterday"}\n', "x.jsonl:2:9", "error[E0711]: `\"yesterday\"` is no TIMESTAMP for `at`"),
        ('{"at": 1769860800}\n', "x.jsonl:1:8", "a number says no unit"),
        ('{"kind": "\\ud800"}\n', "x.jsonl:1:2", "half of a character"),
    ],
)  # fmt: skip
def test_a_wrong_json_line_is_shown(text: str, place: str, said: str) -> None:
    write("x.jsonl", text)
    found = problem("x.jsonl")
    assert said in found
    assert f"--> {place}" in found


def test_json_that_is_no_utf8_is_shown() -> None:
    write("x.jsonl", GOOD_LINE.encode() + b'{"kind": "\xf6"}\n')
    assert "--> x.jsonl:2:11" in problem("x.jsonl")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("2026-01-31,A,1,\nx,A,1,\n", "x.csv:3:1", "error[E0711]: `x` is no TIMESTAMP for `at`"),
        ("2026-01-31,A,1.0,\n", "x.csv:2:14", "`1.0` is no BIGINT for `driver`"),
        ("2026-01-31,A, 1,\n", "x.csv:2:14", "` 1` is no BIGINT for `driver`"),
        ("2026-01-31,A,0x1F,\n", "x.csv:2:14", "`0x1F` is no BIGINT"),
        ("2026-01-31,A,,\n\n2026-01-31,A,99999999999999999999,\n", "x.csv:4:14", "is no BIGINT"),
        ('2026-01-31,"a\nb",1,\n2026-01-31,A,x,\n', "x.csv:4:14", "`x` is no BIGINT"),
        ('2026-01-31,"a,""b",1,many\n', "x.csv:2:22", "`many` is no DOUBLE for `minutes`"),
        ("2026-01-31,A,1\n", "x.csv:2:1", "the header has 4 columns, this line 3"),
        ("2026-01-31,A,1,,\n", "x.csv:2:1", "the header has 4 columns, this line 5"),
        ('2026-01-31,"A,1,\n', "x.csv:2:1", "is a quote not closed?"),
    ],
)
def test_a_wrong_csv_line_is_shown(text: str, place: str, said: str) -> None:
    write("x.csv", "at,kind,driver,minutes\n" + text)
    found = problem("x.csv")
    assert said in found
    assert f"--> {place}" in found


@pytest.mark.parametrize(
    ("name", "type_", "value", "declared_as"),
    [
        ("x.csv", "INT", "30.5", "DOUBLE"),
        ("x.csv", "INT", "3000000000", "BIGINT"),
        ("x.csv", "SMALLINT", "-40000", "INT"),
        ("x.csv", "BIGINT", "99999999999999999999", "DECIMAL(38,0)"),
        ("x.csv", "BIGINT", "2026-03-02 10:00:00", "TIMESTAMP"),
        ("x.csv", "INT", "2026-03-02", "DATE"),
        ("x.csv", "INT", "NaN", "DOUBLE"),
        ("x.csv", "DOUBLE", "many", "STRING"),
        ("x.csv", "BOOLEAN", "1", "INT"),
        ("x.csv", "BOOLEAN", "yes", "STRING"),
        ("x.jsonl", "INT", '"1"', "STRING"),
        ("x.jsonl", "INT", "1.0", "DOUBLE"),
        ("x.jsonl", "INT", "true", "BOOLEAN"),
        ("x.jsonl", "BIGINT", '"2026-03-02T10:00:00Z"', "TIMESTAMP"),
    ],
)
def test_a_value_of_another_type_is_told_what_to_declare(name: str, type_: str, value: str, declared_as: str) -> None:
    write(name, f"t,n\n1,{value}\n" if name == "x.csv" else f'{{"t": 1, "n": {value}}}\n')
    assert f"if that is what is meant, declare `n {declared_as}`" in problem(name, f"t BIGINT, n {type_}")
    assert len(values(read(name, f"t BIGINT, n {declared_as}"), "n")) == 1


@pytest.mark.parametrize(("type_", "value"), [("DOUBLE", "1,5"), ("INT", " 1"), ("INT", "0x1F"), ("INT", "-")])
def test_a_value_that_may_be_a_slip_is_not_told_another_type(type_: str, value: str) -> None:
    write("x.csv", f't,n\n1,"{value}"\n')
    assert "declare" not in problem("x.csv", f"t BIGINT, n {type_}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-01-31,A,1,2,3\n", "a value with the delimiter in it, such as a comma, stands in quotes"),
        ("2026-01-31,A\n", "a value that is not there leaves its place empty"),
    ],
)
def test_a_csv_line_of_another_length_is_told_what_it_is_mostly(text: str, said: str) -> None:
    write("x.csv", "at,kind,driver,minutes\n" + text)
    assert said in problem("x.csv")


def test_a_delimiter_that_a_file_of_commas_does_not_have_is_left_out() -> None:
    write("x.csv", "at,kind,driver,minutes\n")
    source, plan = EventSource("x.csv", None, (("delimiter", ";"),)), stream(RIDES)
    with pytest.raises(DataError, match="separated by commas: leave the option `delimiter` out"):
        read_events(source, plan, StreamInput(declared(RIDES)))


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("separator", ";", "did you mean `delimiter`?"),
        ("nullvalues", "x", "did you mean `nullValue`?"),
        ("quotechar", "'", "did you mean `quote`?"),
        ("header", "true", "leave it out: the first line of a CSV file is its header in any case"),
        ("mode", "PERMISSIVE", "leave it out"),
        ("delimiter", ";;", "write one, such as `delimiter=;`"),
        ("quote", "", "write one, such as `'`"),
    ],
)
def test_an_option_that_csv_does_not_have_is_told_another(option: str, value: str, said: str) -> None:
    write("x.csv", "at,kind,driver,minutes\n")
    with pytest.raises(DataError) as caught:
        read_events(EventSource("x.csv", None, ((option, value),)), stream(RIDES), StreamInput(declared(RIDES)))
    assert caught.value.diagnostics[0].hint == said


def test_csv_that_is_no_utf8_is_shown() -> None:
    write("x.csv", b"at,kind,driver,minutes\n2026-01-31,A,1,\n2026-01-31,\xf6,1,\n")
    found = problem("x.csv")
    assert "error[E0711]" in found
    assert "this is no UTF-8 text" in found
    assert "--> x.csv:3:12" in found


def test_a_zone_in_a_time_without_one_is_shown() -> None:
    for name, text in (("x.csv", "t\n2026-01-31T12:00:00Z\n"), ("x.jsonl", '{"t": "2026-01-31T12:00:00+01:00"}\n')):
        write(name, text)
        assert "a time without a zone is expected" in problem(name, "t TIMESTAMP_NTZ")


def test_a_wrong_value_is_found_after_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepc.reading.json_lines.BLOCK", 100)
    monkeypatch.setattr("cepc.reading.csv_files.BLOCK", 100)
    write("x.jsonl", "".join(f'{{"t": {i}}}\n' for i in range(1000)) + '{"t": "x"}\n')
    assert "--> x.jsonl:1001:" in problem("x.jsonl", "t BIGINT")
    write("x.csv", "t,v\n" + "".join(f"{i},\n" for i in range(1000)) + "x,\n")
    assert "--> x.csv:1002:1" in problem("x.csv", "t BIGINT")


# ---- keys that never occur -------------------------------------------------------------------------------------------


def test_a_key_that_no_line_has_is_a_warning_and_of_time_or_type_an_error() -> None:
    write("x.jsonl", '{"at": null, "Kind": "A", "driver": null}\n')
    said = problem("x.jsonl")
    assert "error[E0706]: the events have no column `kind`" in said
    write("x.jsonl", '{"at": null, "kind": "A", "driver": null, "minuts": 3}\n')
    (warning,) = read("x.jsonl").warnings
    assert (warning.code, warning.title) == ("W0714", "no line has the key `minutes`: it is null everywhere")
    assert warning.hint == "did you mean `minuts`?"


def test_a_parquet_file_with_a_zone_that_is_no_text_is_damaged() -> None:
    pq.write_table(pa.table({"at": pa.array([1], pa.timestamp("us", tz="Europe/Berlin"))}), "x.parquet")
    schema = pq.read_metadata("x.parquet").metadata[b"ARROW:schema"]
    broken = base64.b64encode(base64.b64decode(schema).replace(b"Europe/", b"\xd4urope/"))
    Path("x.parquet").write_bytes(Path("x.parquet").read_bytes().replace(schema, broken))
    assert "it is damaged" in problem("x.parquet", "at TIMESTAMP")


def test_an_orc_file_with_times_that_are_far_away_is_not_called_damaged() -> None:
    orc.write_table(pa.table({"at": pa.array([0, -62_135_596_800_000_000], pa.timestamp("us", "UTC"))}), "x.orc")
    said = problem("x.orc", "at TIMESTAMP")
    assert "it has times before 1678 or after 2261, which are not read of ORC" in said
    assert "write the events as Parquet" in said


def test_an_orc_file_of_no_structs_is_damaged() -> None:
    orc.write_table(pa.table({"at": [1], "n": [2]}), "x.orc", compression="uncompressed")
    written = Path("x.orc").read_bytes()
    kind = written.rindex(b"\x08\x0c\x12") + 1  # of the first type in the footer
    Path("x.orc").write_bytes(written[:kind] + b"\x0b" + written[kind + 1 :])
    assert "it is damaged" in problem("x.orc", "at BIGINT")


def test_a_parquet_file_with_a_column_whose_name_is_no_text_is_damaged() -> None:
    pq.write_table(pa.table({"at": pa.array([1], pa.timestamp("us")), "größe": [1]}), "x.parquet", store_schema=False)
    data = Path("x.parquet").read_bytes()
    Path("x.parquet").write_bytes(data.replace("größe".encode(), bytes.fromhex("6772ffffffff65")))
    assert "it is damaged" in problem("x.parquet", "at TIMESTAMP")


# ---- ORC, Avro -------------------------------------------------------------------------------------------------------

EVERY = "at TIMESTAMP, kind STRING, n BIGINT, x DOUBLE, price DECIMAL(10,2), day DATE, tags ARRAY<STRING>, of STRUCT<`id`: INT>"
EVENTS: list[dict[str, Any]] = [
    {
        "at": datetime(2026, 1, 31, 12, 0, 0, 5, UTC), "kind": "A", "n": 2**40, "x": 1.5, "price": Decimal("10.25"),
        "day": date(2026, 1, 31), "tags": ["a", "b"], "of": {"id": 7},
    },
    {"at": datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), **dict.fromkeys(("kind", "n", "x", "price", "day", "tags", "of"))},
]  # fmt: skip
AVRO = {
    "type": "record", "name": "event", "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "kind", "type": ["null", {"type": "enum", "name": "kinds", "symbols": ["A", "B"]}]},
        {"name": "n", "type": ["null", "long"]},
        {"name": "x", "type": ["null", "double"]},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "tags", "type": ["null", {"type": "array", "items": "string"}]},
        {"name": "of", "type": ["null", {"type": "record", "name": "of", "fields": [{"name": "id", "type": "int"}]}]},
        {"name": "more", "type": ["null", "kinds"], "default": None},
    ],
}  # fmt: skip


def written(name: str) -> str:
    schema = pa.schema([(column, to_arrow(type_)) for column, type_ in declared(EVERY)])
    if name.endswith(".orc"):
        orc.write_table(pa.Table.from_pylist(EVENTS, schema), name)
    else:
        with Path(name).open("wb") as file:
            fastavro.writer(file, AVRO, EVENTS)
    return name


@pytest.mark.parametrize("name", ["e.orc", "e.avro"])
def test_orc_and_avro_have_the_values_that_were_written(name: str) -> None:
    found = read(written(name), EVERY)
    assert found.table.to_pylist() == EVENTS
    some = read(name, EVERY, needed=("at", "n"))
    assert some.table.column_names == ["at", "n"]
    assert values(some, "n") == [2**40, None]


@pytest.mark.parametrize("name", ["e.orc", "e.avro"])
def test_columns_of_orc_and_avro_are_checked_first(name: str) -> None:
    said = problem(written(name), "at TIMESTAMP, kind STRING, n STRING, absent INT")
    assert "the column `n` is BIGINT, and STRING is expected" in said
    assert "the events have no column `absent`" in said


@pytest.mark.parametrize("name", ["e.orc", "e.avro"])
def test_an_orc_or_avro_file_that_is_damaged_or_another_is_said(name: str) -> None:
    whole = Path(written(name)).read_bytes()
    Path(name).write_bytes(whole[: len(whole) // 2])
    assert "write or copy it once more" in problem(name, EVERY)
    Path(name).write_bytes(b"at,kind\n")
    assert f"it is no {'ORC' if name == 'e.orc' else 'Avro'} file" in problem(name, EVERY)
    Path(name).write_bytes(b"")
    assert read(name, EVERY).rows == 0


def test_avro_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    written("e.avro")
    monkeypatch.setitem(sys.modules, "fastavro", None)
    assert "`pip install 'cepc[avro]'` brings it" in problem("e.avro", EVERY)


# ---- Delta tables ----------------------------------------------------------------------------------------------------


def test_a_folder_that_is_a_delta_table_has_the_rows_of_its_newest_version() -> None:
    def written(ids: list[int], **how: Any) -> None:
        events = {"at": pa.array(ids, pa.timestamp("us", "UTC")), "kind": ["A"] * len(ids), "id": ids}
        write_deltalake("t", pa.table({**events, "day": [f"d {i % 2}" for i in ids]}), partition_by=["day"], **how)

    written([1, 2, 3])
    written([4], mode="append")
    DeltaTable("t").delete("id = 2")
    columns = "at TIMESTAMP, kind STRING, id BIGINT, day STRING"
    for form in (None, "delta"):
        found = read("t", columns, form)
        assert sorted(zip(values(found, "id"), values(found, "day"), strict=True)) == [
            (1, "d 1"),
            (3, "d 1"),
            (4, "d 0"),
        ]
    written([9], mode="overwrite")
    assert values(read("t", columns), "id") == [9]


@pytest.mark.parametrize(
    ("feature", "said"),
    [
        ("deletionVectors", "the table has deletionVectors, which are read by Spark alone"),
        (None, "its log cannot be read"),
    ],
)
def test_what_a_delta_table_has_that_is_not_read_here_is_said(feature: str | None, said: str) -> None:
    write_deltalake("t", pa.table({"at": pa.array([1], pa.timestamp("us", "UTC"))}))
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [feature], "writerFeatures": [feature]}
    Path("t/_delta_log/00000000000000000001.json").write_text(json.dumps({"protocol": protocol}) if feature else "{")
    if feature is None:
        Path("t/_delta_log/00000000000000000000.json").unlink()
    assert said in problem("t", "at TIMESTAMP")


def test_a_delta_table_without_its_package_is_not_read_as_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    write_deltalake("t", pa.table({"at": pa.array([1], pa.timestamp("us", "UTC"))}))
    monkeypatch.setitem(sys.modules, "deltalake", None)
    assert "`pip install 'cepc[delta]'` brings it" in problem("t", "at TIMESTAMP")


# ---- times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["e.parquet", "e.orc"])
def test_nanoseconds_are_cut_off_with_a_warning(name: str) -> None:
    times = pa.array([-1, 1_000_000_001_999, None, 5_000], pa.timestamp("ns", "UTC"))
    events = pa.table({"at": times.cast(pa.timestamp("us", "UTC"), safe=False), "kind": ["A"] * 4, "seen": times})
    (orc.write_table if name == "e.orc" else pq.write_table)(events, name)
    found = read(name, "at TIMESTAMP, kind STRING, seen TIMESTAMP")
    assert found.table.column("seen").cast(pa.int64()).to_pylist() == [-1, 1_000_000_001, None, 5]
    assert [warning.code for warning in found.warnings] == ["W0718"]
    assert read(name, "at TIMESTAMP, kind STRING, seen TIMESTAMP", needed=("at", "kind")).warnings == ()


def test_text_in_the_place_of_a_time_says_how_to_compute_it() -> None:
    pq.write_table(pa.table({"at": ["2026-01-31 12:00:00"], "kind": ["A"]}), "e.parquet")
    said = problem("e.parquet", "at TIMESTAMP, kind STRING")
    assert "declare `at STRING` and what is computed from it, `at_timestamp AS CAST(at AS TIMESTAMP)`" in said
    program = "STREAM s (at STRING, kind STRING, at_timestamp AS CAST(at AS TIMESTAMP)) EVENT TIME at_timestamp EVENT TYPE kind;"
    found = cepc.compile(program + "QUERY q RETURN MATCH A.at PATTERN A WITHIN 1 s;").run("e.parquet")
    assert found["q"].column("at").to_pylist() == ["2026-01-31 12:00:00"]
