"""Generated jobs on Spark: their rows are those of the local engine, however the events are spread."""

from __future__ import annotations

import json
import math
import random
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812

import cepc
from cepc.api import check_text
from cepc.codegen.compiling import job_of, load
from cepc.shared_plans import Options
from cepc_runtime.batch import execute
from cepc_runtime.spark.caching import kept
from cepc_runtime.spark.errors import SPARK_ERRORS, sentence
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.settings import held
from cepc_runtime.spark.source import read
from cepc_runtime.spark.streaming.source import read_stream
from cepc_runtime.sql.literal import string_literal
from cepc_runtime.sql.types import to_arrow
from tests.equivalence import ABOUT, by_engine, compile_text, same
from tests.programs import Case, cases
from tests.properties import Seen, hold
from tests.rates import Rare
from tests.spark_programs import KINDS, LEVELS, agree, build, compare, loaded, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def check(spark: SparkSession, folder: Path) -> Callable[[Case, random.Random], Seen]:
    def checked(case: Case, chance: random.Random) -> Seen:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            return agree(spark, case, Path(own, "events"), LEVELS[chance.choice(list(LEVELS))])

    return checked


def test_rows_equal_the_oracles(spark: SparkSession, tmp_path: Path) -> None:
    hold("Spark: any", cases(size=4), check(spark, tmp_path), cases=6, tested=3)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_rows_equal_the_oracles_at_length(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """spark_programs.py runs any number of them."""
    hold(f"Spark, at length: {kind}", KINDS[kind], check(spark, tmp_path), cases=10, tested=0)


def test_contiguous_counts_see_events_that_no_pattern_mentions(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        "STREAM s (at BIGINT, kind STRING, k INT, x INT) EVENT TIME at EVENT TYPE kind;\n"
        "QUERY next RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) SELECT NEXT GROUP BY k WITHIN 9 s;\n"
        "QUERY each RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) SELECT CONTIGUOUS GROUP BY k WITHIN 9 s;\n"
        "QUERY rise RETURN COUNT(*) AS n PATTERN A+ a WHERE a.x > PREV(a).x SELECT CONTIGUOUS WITHIN 9 s;\n"
    )
    kinds = "AABAZBABBAAZ"
    rows = tuple({"at": i // 2, "kind": c, "k": i % 2, "x": i % 3} for i, c in enumerate(kinds * 2))
    assert agree(spark, Case(text, rows), tmp_path / "events").rows


@pytest.mark.long
def test_one_group_has_the_rows_of_the_local_engine_however_it_is_cut(spark: SparkSession, tmp_path: Path) -> None:
    """In segments, with and without overlaps, in panes, and not at all; around the epoch, at edges, with ties and
    gaps.
    """
    text = (
        "STREAM s (at BIGINT, kind STRING, k INT, x INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
        "QUERY over RETURN COUNT(*) AS n, SUM(A.x) AS x PATTERN SEQ(A+, B) WITHIN 9 s SLIDE 3 s;\n"
        "QUERY beside RETURN COUNT(*) AS n, MAX(B.x) AS x PATTERN SEQ(A, NOT C, B) WITHIN 6 s;\n"
        "QUERY days RETURN COUNT(*) AS n, AVG(B.x) AS x PATTERN SEQ(A, B) WITHIN 2 DAYS SLIDE 1 DAY;\n"
        "QUERY later RETURN COUNT(*) AS n PATTERN SEQ(A+, B) WITHIN 9 s SLIDE 3 s OFFSET 4 s;\n"
        "QUERY half RETURN COUNT(*) AS n, AVG(B.x) AS x PATTERN SEQ(A, B) WITHIN 2 DAYS SLIDE 1 DAY OFFSET -1 s;\n"
        "QUERY all RETURN COUNT(*) AS n PATTERN SEQ(C, B) WITHIN UNBOUNDED;\n"
        "QUERY grouped RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY k WITHIN 9 s SLIDE 3 s;\n"
    )
    times = [*range(-150, 150), *range(-4, 4), *range(24, 60, 6), -86_400, 86_399, 86_400, 500_000]
    rows = tuple({"at": at, "kind": "AABCB"[at * 7 % 5], "k": at % 2, "x": at % 11} for at in times)
    case = Case(text, rows)
    expected = by_engine(case, compile_text(text))
    assert expected is not None
    assert all(expected.values())
    compare(spark, case, tmp_path / "events", expected)


@pytest.mark.long
def test_no_row_changes_where_groups_that_can_match_are_found_first(spark: SparkSession, tmp_path: Path) -> None:
    """Of one class and of several, one of them without groups; with keys that are null, NaN, 0.0 and -0.0, and a query
    that can match nowhere.
    """
    text = (
        "STREAM s (at BIGINT, kind STRING, k INT, y DOUBLE, x INT) EVENT TIME at UNIT s EVENT TYPE kind;\n"
        "QUERY counted RETURN k, COUNT(*) AS n, SUM(B.x) AS x PATTERN SEQ(A, B) GROUP BY k WITHIN 9 s SLIDE 3 s;\n"
        "QUERY next RETURN MATCH k, A.at AS since PATTERN SEQ(A, B) WHERE [k] SELECT CONTIGUOUS WITHIN 9 s;\n"
    )
    more = (
        "QUERY doubles RETURN y, COUNT(*) AS n PATTERN SEQ(B, C) GROUP BY y WITHIN 9 s;\n"
        "QUERY neither RETURN k, COUNT(*) AS n PATTERN SEQ(A, Z) WHERE [y] GROUP BY k WITHIN 9 s;\n"
        "QUERY whole RETURN COUNT(*) AS n PATTERN SEQ(C, B) WITHIN 9 s SLIDE 3 s;\n"
    )
    chance = random.Random(3)
    kinds, doubles = ("AABBC", "BBCD", "AAAD"), (None, 0.0, -0.0, math.nan, 1.5)
    rows = tuple(
        {"at": at // 2, "kind": chance.choice(kinds[k % 3]), "k": k or None, "y": chance.choice(doubles), "x": at % 7}
        for at in range(120)
        for k in (chance.randrange(6),)
    )
    options = Options(seconds=None, statistics={"s": Rare()})
    for name, program, classes in (("one", text, 1), ("several", text + more, 2)):
        case = Case(program, rows)
        expected = by_engine(case, compile_text(program))
        assert expected is not None
        assert [query for query, found in expected.items() if not found] == ["neither"][: classes - 1]
        assert job_of(compile_text(program).program, {}, options).text.count("able=(") == classes
        compare(spark, case, tmp_path / name, expected, options)


@pytest.mark.long
def test_no_row_changes_where_groups_that_can_match_are_found_first_at_length(
    spark: SparkSession, tmp_path: Path
) -> None:
    def checked(case: Case, _chance: random.Random) -> Seen:
        statistics = {stream.name: Rare() for stream in compile_text(case.text).program.streams}
        with tempfile.TemporaryDirectory(dir=tmp_path) as own:
            return agree(spark, case, Path(own, "events"), Options(seconds=None, statistics=statistics))

    hold("Spark: groups that can match are found first", cases(size=3), checked, cases=10, tested=0)


# ---- one program, from files to rows ---------------------------------------------------------------------------------

STREAM = """STREAM rides (at TIMESTAMP, kind STRING, driver BIGINT, district STRING, km INT, note STRING)
EVENT TIME at EVENT TYPE kind IN ('Pickup', 'Travel', 'Drop', 'Cancel');
"""
COUNTED = """QUERY counted RETURN district, COUNT(*) AS n, SUM(t.km) AS km PATTERN SEQ(Pickup, Travel+ t, Drop)
WHERE [driver] AND t.km > 2 GROUP BY district WITHIN 1 MINUTE SLIDE 30 SECONDS;
"""
LISTED = "QUERY listed RETURN p.at AS since, t.km PATTERN SEQ(Pickup p, Travel t) WHERE [driver] WITHIN 10 SECONDS;\n"


@pytest.fixture(scope="module")
def rides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events in two Parquet files; some without a time or a type."""
    folder = tmp_path_factory.mktemp("rides")
    chance = random.Random(4)
    drivers = [chance.randrange(13) for _ in range(1200)]
    rows = [
        {
            "at": None if chance.random() < 0.01 else chance.randrange(600_000_000),
            "kind": chance.choice(("Pickup", "Travel", "Drop", "Cancel", None)),
            "driver": driver,
            "district": ("n", "s", None)[driver % 3],
            "km": chance.randrange(7),
            "note": "x",
        }
        for driver in drivers
    ]
    times, number = pa.timestamp("us", "UTC"), pa.int64()
    schema = pa.schema(
        [("at", times), ("kind", pa.string()), ("driver", number), ("district", pa.string()), ("km", pa.int32()),
         ("note", pa.string())]
    )  # fmt: skip
    for part in range(2):
        pq.write_table(pa.Table.from_pylist(rows[part::2], schema=schema), folder / f"{part}.parquet")
    return folder


def test_only_columns_and_types_that_are_needed_are_read_and_once(spark: SparkSession, rides: Path) -> None:
    program = STREAM + COUNTED + LISTED
    results = build(spark, program, spark.read.parquet(str(rides)))
    plan = plan_of(results["counted"])
    scans = [line for line in plan.splitlines() if "FileScan" in line]
    assert len(scans) == 1
    assert "In(kind, [Drop,Pickup,Travel])" in scans[0].partition("PushedFilters")[2]
    assert "note" not in scans[0].partition("ReadSchema")[2]
    assert "km" in scans[0].partition("ReadSchema")[2]
    expected = cepc.compile(program).run(rides)
    for name, rows in expected.items():
        assert rows.num_rows
        assert same(rows_of(results[name]), rows.to_pylist(), ABOUT)
        assert results[name].columns == rows.column_names
    # Adaptive execution may join small partitions but nothing may stand between the sort and the kernel.
    lines = plan_of(results["counted"]).splitlines()
    kernel = next(i for i, line in enumerate(lines) if "MapInArrow" in line)
    assert "Sort" in lines[kernel + 1]
    assert "Exchange hashpartitioning" in " ".join(lines[kernel + 2 : kernel + 6])


def plan_of(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_a_value_that_does_not_fit_fails_the_job_with_one_sentence(spark: SparkSession) -> None:
    program = """STREAM s (at BIGINT, kind STRING, k STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN k, COUNT(*) AS n PATTERN SEQ(A+ a, B) GROUP BY k WITHIN 1000 s;
QUERY fine RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1000 s;
"""
    rows = [(i, "A", "x") for i in range(70)] + [(100, "B", "x"), (1, "A", "y"), (2, "B", "y")]
    events = spark.createDataFrame(rows, "at BIGINT, kind STRING, k STRING")
    for name in ("q", "fine"):
        with pytest.raises(Exception, match="COUNT") as failure:
            build(spark, program, events)[name].collect()
        said = sentence(failure.value)
        assert said.startswith("query q: COUNT(*) does not fit BIGINT in the window from 0 to 1000 for k = x; ")
        assert "CAST(COUNT(*) AS STRING)" in said
        assert "\n" not in said


def test_events_that_are_not_what_the_stream_declares_are_refused_before_a_row_is_read(spark: SparkSession) -> None:
    events = spark.sql(
        "SELECT TIMESTAMP '2026-01-01' AS at, 'Pickup' AS kind, 'one' AS driver, 1S AS km, raise_error('read') AS note"
    )
    with pytest.raises(JobError) as failure:
        build(spark, STREAM + COUNTED, events)
    assert "column driver: expected bigint, found string" in str(failure.value)
    assert "column district: expected string, found none" in str(failure.value)
    assert "km" not in str(failure.value).partition("(there are")[0]  # SMALLINT widens to INT


def test_a_column_that_a_join_gives_twice_is_refused_and_one_in_other_letters_passed_over(spark: SparkSession) -> None:
    program = """STREAM s (t BIGINT, k STRING, x INT) EVENT TIME t UNIT s;
QUERY q RETURN MATCH s.k AS k, s.x AS x PATTERN s WITHIN 1 s;"""
    events = spark.createDataFrame([(1, "a", 7)], "t BIGINT, k STRING, x INT")
    others = spark.createDataFrame([("a", 8)], "k STRING, X INT")
    with pytest.raises(JobError) as failure:
        build(spark, program, events.join(others, events["k"] == others["k"]))
    assert str(failure.value).endswith(": column k: found 2 times: drop or rename all but one of them")
    (row,) = build(spark, program, events.join(others, "k"))["q"].collect()
    assert (row["k"], row["x"]) == ("a", 7)


PLACES = """STREAM s (
  t BIGINT, one STRUCT<lat: DOUBLE, lon: DOUBLE>, list ARRAY<STRUCT<lat: DOUBLE, lon: DOUBLE>>,
  map MAP<STRING, STRUCT<lat: DOUBLE, lon: DOUBLE>>, deep STRUCT<`a b`: STRUCT<lat: DOUBLE, lon: DOUBLE>>
) EVENT TIME t;
QUERY q RETURN MATCH e.t, e.one AS one, e.list AS list, e.map AS map, e.deep AS deep PATTERN ANY e WITHIN 1 SECOND;
"""


@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("extra", [(), ("alt",)])
def test_fields_of_structs_are_taken_by_their_names(
    spark: SparkSession, tmp_path: Path, form: str, extra: tuple[str, ...]
) -> None:
    place = pa.struct([(name, pa.float32()) for name in (*extra, "lon", "lat")])
    types = {
        "one": place,
        "list": pa.list_(place),
        "map": pa.map_(pa.string(), place),
        "deep": pa.struct([("a b", place)]),
    }
    here = {"lon": 13.5, "lat": 52.5} | dict.fromkeys(extra, 34.0)
    events = [
        {"t": 1, "one": here, "list": [here, None], "map": [("k", here), ("n", None)], "deep": {"a b": here}},
        {"t": 2, "deep": {}},
        {"t": 3},
    ]
    table = pa.Table.from_pylist(events, pa.schema([("t", pa.int64()), *types.items()]))
    path = tmp_path / f"e.{form}"
    orc.write_table(table, path) if form == "orc" else pq.write_table(table, path)
    stream = load(job_of(*_checked(PLACES))).streams["s"]
    found = build(spark, PLACES, read(spark, stream, form, str(path)))["q"]
    expected = cepc.compile(PLACES).run(path)["q"].to_pylist()
    assert expected[0]["one"] == {"lat": 52.5, "lon": 13.5}
    assert same(sorted(rows_of(found), key=lambda row: row["t"]), expected, ABOUT)


BYTES = """STREAM s (t BIGINT, v STRING, list ARRAY<STRUCT<a: STRING>>) EVENT TIME t;
QUERY q RETURN MATCH e.t, e.v, e.list PATTERN ANY e WITHIN 1 SECOND;
"""


@pytest.mark.parametrize("bad", ["v", "list", None])
def test_bytes_that_are_no_text_are_an_error_where_text_is_declared(
    spark: SparkSession, tmp_path: Path, bad: str | None
) -> None:
    texts = ["", "ä", "\N{REPLACEMENT CHARACTER}", "\N{GRINNING FACE}"]
    events: list[dict[str, Any]] = [{"t": t, "v": x.encode(), "list": [{"a": x.encode()}]} for t, x in enumerate(texts)]
    if bad:
        events.append({"t": 9, "v": None, bad: b"\xff" if bad == "v" else [{"a": None}, {"a": b"\xed\xa0\x80"}]})
    types = {"t": pa.int64(), "v": pa.binary(), "list": pa.list_(pa.struct([("a", pa.binary())]))}
    pq.write_table(pa.Table.from_pylist(events, pa.schema([*types.items()])), tmp_path / "e.parquet")
    program = cepc.compile(BYTES)
    found = program.spark(f"{tmp_path}/e.parquet", session=spark)["q"]
    if bad is None:
        assert same(
            sorted(rows_of(found), key=lambda row: row["t"]),
            program.run(tmp_path / "e.parquet")["q"].to_pylist(),
            ABOUT,
        )
        return
    with pytest.raises(cepc.DataError):
        program.run(tmp_path / "e.parquet")
    with pytest.raises(SPARK_ERRORS) as failure:
        found.collect()
    assert sentence(failure.value).endswith(f"column {bad}: bytes that are not UTF-8: declare them as BINARY")


OTHERWISE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.parser.escapedStringLiterals": "true",
}
BY_THE_CLOCK = """QUERY evenings RETURN DATE(p.at) AS day, HOUR(p.at) AS hour, CAST(p.at AS STRING) AS text, 'it\\'s\\n' AS lines, d.at
PATTERN SEQ(Pickup p, Drop d)
WHERE [driver] AND HOUR(p.at) = 0 AND p.at >= CAST('1970-01-01 00:01:00' AS TIMESTAMP) WITHIN 10 SECONDS;
QUERY nights RETURN COUNT(*) AS n, MAX(Drop.at) AS last PATTERN Drop WHERE HOUR(Drop.at) = 0 WITHIN 1 MINUTE;
"""


@pytest.fixture
def otherwise(spark: SparkSession) -> Iterator[SparkSession]:
    """A session that somebody has set to another zone, and to what Spark did before ANSI."""
    before = {name: str(spark.conf.get(name)) for name in OTHERWISE}
    for name, value in OTHERWISE.items():
        spark.conf.set(name, value)
    yield spark
    assert {name: spark.conf.get(name) for name in OTHERWISE} == OTHERWISE
    for name, value in before.items():
        spark.conf.set(name, value)


def test_rows_do_not_depend_on_the_time_zone_of_the_session(otherwise: SparkSession, rides: Path) -> None:
    found = build(otherwise, STREAM + BY_THE_CLOCK + LISTED, otherwise.read.parquet(str(rides)))
    expected = cepc.compile(STREAM + BY_THE_CLOCK + LISTED).run(rides)
    for query, rows in expected.items():
        assert rows.num_rows > 5, query
        assert same(rows_of(found[query]), rows.to_pylist(), ABOUT), query


@pytest.mark.long
def test_rows_are_those_of_the_files_that_are_there_when_they_are_asked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark would answer from what it has cached of the same path."""
    text = IN_FILES.format("INT") + "QUERY n RETURN COUNT(*) AS n PATTERN s WITHIN UNBOUNDED;"
    job, folder = loaded(text), tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        pq.write_table(pa.table({"at": [number], "v": pa.array([number], pa.int32())}), folder / f"{number}.parquet")
        tables = job.tables(spark, spark.read.parquet(str(folder)))
        frames = cepc.compile(text).spark(str(folder), session=spark)
        assert [tables["q"].num_rows, *tables["n"].column("n").to_pylist()] == [number + 1] * 2
        assert [frames["q"].count(), *(row.n for row in frames["n"].collect())] == [number + 1] * 2
    spark.catalog.clearCache()


def test_a_session_has_its_own_settings_again_when_the_last_of_several_jobs_has_ended(spark: SparkSession) -> None:
    name, own = "spark.sql.session.timeZone", str(spark.conf.get("spark.sql.session.timeZone"))
    first, second = held(spark, {name: "Asia/Tokyo"}), held(spark, {name: "Asia/Tokyo"})
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert spark.conf.get(name) == "Asia/Tokyo"
    second.__exit__(None, None, None)
    assert spark.conf.get(name) == own


def test_what_fails_fails_in_a_session_where_it_would_be_null(otherwise: SparkSession, rides: Path) -> None:
    failing = "QUERY q RETURN COUNT(*) AS n PATTERN Drop WHERE 1 / (Drop.km - 3) > 0 WITHIN 1 MINUTE;"
    events = otherwise.read.parquet(str(rides))
    with pytest.raises(SPARK_ERRORS) as failure:
        build(otherwise, STREAM + failing, events)["q"].collect()
    assert "Division by zero" in sentence(failure.value)
    assert (
        events.select((F.lit(1) / F.lit(0)).alias("x")).where("x IS NULL").count() == events.count()
    )  # the user's own queries are as they were


def test_a_plan_that_is_packed_has_the_rows_of_one_that_can_be_read(
    spark: SparkSession, rides: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepc.codegen.plan_text.READABLE", 0)
    program = STREAM + COUNTED + LISTED
    assert "_PLAN = job.unpacked(" in job_of(*_checked(program)).text
    found = build(spark, program, spark.read.parquet(str(rides)))
    for query, rows in cepc.compile(program).run(rides).items():
        assert rows.num_rows
        assert same(rows_of(found[query]), rows.to_pylist(), ABOUT), query


def test_csv_is_read_by_the_names_of_its_header(spark: SparkSession, rides: Path, tmp_path: Path) -> None:
    table = pq.read_table(rides).select(["km", "note", "kind", "at", "driver", "district"])
    (tmp_path / "rides").mkdir()
    pacsv.write_csv(table, tmp_path / "rides" / "rides.csv")
    stream = load(job_of(*_checked(STREAM + LISTED))).streams["rides"]
    found = build(spark, STREAM + LISTED, read(spark, stream, "csv", str(tmp_path / "rides")))
    expected = cepc.compile(STREAM + LISTED).run(rides)["listed"]
    assert same(rows_of(found["listed"]), expected.to_pylist(), ABOUT)


def test_csv_files_whose_headers_differ_are_refused(spark: SparkSession, rides: Path, tmp_path: Path) -> None:
    table = pq.read_table(rides)
    (tmp_path / "rides").mkdir()
    for name, columns in (("1", table.column_names), ("2", table.column_names[::-1])):
        pacsv.write_csv(table.select(columns), tmp_path / "rides" / f"{name}.csv")
    stream = load(job_of(*_checked(STREAM + LISTED))).streams["rides"]
    with pytest.raises(SPARK_ERRORS) as failure:
        build(spark, STREAM + LISTED, read(spark, stream, "csv", str(tmp_path / "rides")))["listed"].collect()
    said = sentence(failure.value)
    assert re.search(r"rides/\d\.csv: its header is .*, and .* is expected; files of one directory need", said)


OPEN: dict[str, tuple[str, dict[str, str]]] = {
    "line break": ('1,"a\n2,b"\n3,c\n', {}),
    "CRLF": ('1,"a\n2,b"\n3,c\n', {}),
    "after others": ('1,"x "", y"\n2,"a,""b\n"\n', {}),
    "other signs": ("1|'it''s\n2|b'\n", {"delimiter": "|", "quote": "'"}),
    "tabs": ('1\t"a\n2\tb"\n', {"sep": "\\t"}),
}
"""Values of CSV with a line break: what follows the header, and the options."""
ON_ONE_LINE = 't,v\n1,"a,""b"""\n2,a"b\n3,"a"b\n4, "a\n5,""\n6,""""\n'


@pytest.mark.parametrize("name", OPEN)
def test_a_value_with_a_line_break_is_refused_where_spark_reads_lines(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    rows, options = OPEN[name]
    between = "\t" if name == "tabs" else options.get("delimiter", ",")
    (tmp_path / "ä b.csv").write_text(f"t{between}v\n{rows}", newline="\r\n" if name == "CRLF" else "\n")
    stream = load(job_of(*_checked(FILES))).streams["s"]
    with pytest.raises(JobError) as failure:
        read(spark, stream, "csv", str(tmp_path), options)
    assert f"{tmp_path}/ä b.csv: " in str(failure.value)
    assert str(failure.value).endswith("write --option multiLine=true, or mend the file if it is cut off")
    found = read(spark, stream, "csv", str(tmp_path), {**options, "multiLine": "true"}).orderBy("t").collect()
    ours = {"delimiter": between, **{key: value for key, value in options.items() if key == "quote"}}
    said = ", ".join(f"{key} = {string_literal(value)}" for key, value in ours.items())
    text = FILES.replace("EVENT TIME t", f"EVENT TIME t FROM CSV '{tmp_path}' OPTIONS ({said})")
    expected = cepc.compile(text).run()["q"].to_pylist()  # Spark makes \n of \r\n, docs/limits.md
    assert [(row.t, row.v) for row in found] == [(row["t"], row["v"].replace("\r\n", "\n")) for row in expected]


def test_quotes_on_one_line_are_no_line_break(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(ON_ONE_LINE)
    stream = load(job_of(*_checked(FILES))).streams["s"]
    found = read(spark, stream, "csv", str(tmp_path / "e.csv")).orderBy("t").collect()
    assert [row.v for row in found][:2] == ['a,"b"', 'a"b']
    assert len(found) == 6


IN_FOLDERS = """STREAM s (at BIGINT, kind STRING, dev STRING, day STRING) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN MATCH A.at, A.dev, A.day PATTERN A WITHIN 1 MINUTE;
"""


def test_columns_that_folders_name_are_texts_where_these_are_declared(spark: SparkSession, tmp_path: Path) -> None:
    for at, device in enumerate(("007", "7")):
        (folder := tmp_path / "in" / f"dev={device}" / "day=2026-03-02").mkdir(parents=True)
        pq.write_table(pa.table({"at": [at], "kind": ["A"]}), folder / "1.parquet")
    found = cepc.compile(IN_FOLDERS).spark(f"{tmp_path}/in", session=spark)["q"]
    expected = cepc.compile(IN_FOLDERS).run(tmp_path / "in")["q"].to_pylist()
    assert [row["dev"] for row in expected] == ["007", "7"]
    assert same(rows_of(found), expected, ABOUT)


IN_FOLDER: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "SMALLINT": (("1", "200"), ("70000", "x")),
    "INT": (("7",), ("x", "1.5")),
    "BOOLEAN": (("true", "false"), ("maybe",)),
    "DECIMAL(10, 2)": (("1.50", "2"), ("1.555",)),
    "FLOAT": (("0.1", "3"), ()),
    "DOUBLE": (("1",), ("1.5d",)),
    "DATE": (("2026-01-02",), ("2026-01",)),
    "TIMESTAMP": (("2026-01-02 03%3A04%3A05", "2026-01-02T03%3A04%3A05Z"), ("7",)),
    "TIMESTAMP_NTZ": (("2026-01-02 03%3A04%3A05",), ()),
}
"""Values of columns that folders name, and what is none of the type."""


@pytest.mark.long
@pytest.mark.parametrize("type_", IN_FOLDER)
def test_columns_that_folders_name_have_the_declared_type(otherwise: SparkSession, tmp_path: Path, type_: str) -> None:
    right, wrong = IN_FOLDER[type_]
    text = f"STREAM s (t BIGINT, v {type_}) EVENT TIME t; QUERY q RETURN MATCH e.t, e.v PATTERN ANY e WITHIN 1 SECOND;"
    for at, value in enumerate(right):
        (folder := tmp_path / "in" / f"v={value}").mkdir(parents=True)
        pq.write_table(pa.table({"t": [at]}), folder / "1.parquet")
    program = cepc.compile(text)
    found = sorted(rows_of(program.spark(f"{tmp_path}/in", session=otherwise)["q"]), key=lambda row: row["t"])
    assert same(found, program.run(tmp_path / "in")["q"].to_pylist(), ABOUT)
    for value in wrong:
        (folder := tmp_path / value / f"v={value}").mkdir(parents=True)
        pq.write_table(pa.table({"t": [1]}), folder / "1.parquet")
        with pytest.raises(cepc.DataError):
            program.run(tmp_path / value)
        with pytest.raises((*SPARK_ERRORS, JobError, cepc.RunError)):
            program.spark(f"{tmp_path}/{value}", session=otherwise)["q"].collect()


FOLDERS = {
    "flat": ("a",),
    "below": ("a", "x/b", "x/y z/ä"),
    "only below": ("x/b",),
    "hidden": ("a", "_x/b", ".x/b"),
    "parted": ("d=1/a", "d=2/x/b"),
    "d=1": ("a", "x/b"),
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "form"), [*((name, "csv") for name in FOLDERS), ("below", "json"), ("only below", "parquet")]
)
def test_a_directory_stands_for_all_files_below(spark: SparkSession, tmp_path: Path, name: str, form: str) -> None:
    for place, text in enumerate(FOLDERS[name]):
        in_folder(tmp_path / name / f"{text}.{form}", form, place)
    stream = load(job_of(*_checked(FILES))).streams["s"]
    found = build(spark, FILES, read(spark, stream, form, str(tmp_path / name)))["q"]
    expected = cepc.compile(FILES).run(tmp_path / name)["q"].to_pylist()
    assert same(sorted(rows_of(found), key=lambda row: row["t"]), expected, ABOUT)
    assert len(expected) == sum("_x" not in text and ".x" not in text for text in FOLDERS[name])


FILES = "STREAM s (t BIGINT, v STRING) EVENT TIME t; QUERY q RETURN MATCH e.t, e.v PATTERN ANY e WITHIN 1 SECOND;"


def in_folder(path: Path, form: str, t: int) -> None:
    """A file of one event."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match form:
        case "csv":
            path.write_text(f"t,v\n{t},a\n")
        case "json":
            path.write_text(f'{{"t": {t}, "v": "a"}}\n')
        case _:
            pq.write_table(pa.table({"t": [t], "v": ["a"]}), path)


@pytest.mark.parametrize("beside", ["a.csv", "x y/a.csv"])
def test_files_that_folders_with_columns_would_hide_are_refused(
    spark: SparkSession, tmp_path: Path, beside: str
) -> None:
    place = beside.rpartition("/")[0]
    for t, name in enumerate((beside, f"{place}/d=1/b.csv")):
        in_folder(tmp_path / "in" / name.lstrip("/"), "csv", t)
    stream = load(job_of(*_checked(FILES))).streams["s"]
    with pytest.raises(JobError) as failure:
        read(spark, stream, "csv", str(tmp_path / "in"))
    assert f"Spark would not read {tmp_path}/in/{beside}" in str(failure.value).replace("file://", "")
    assert "--option recursiveFileLookup=true" in str(failure.value)
    found = build(spark, FILES, read(spark, stream, "csv", str(tmp_path / "in"), {"recursivefilelookup": "true"}))["q"]
    assert sorted(row["t"] for row in rows_of(found)) == [0, 1]


@pytest.mark.parametrize("name", ["br[1]", "{a,b}", "what?"])
def test_a_directory_whose_name_is_a_pattern_to_spark_is_read_where_it_is_there(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    pq.write_table(pa.table({"at": [1], "kind": ["A"], "dev": ["x"], "day": ["y"]}), tmp_path / name / "1.parquet")
    stream = load(job_of(*_checked(IN_FOLDERS))).streams["s"]
    batch = read(spark, stream, "parquet", str(tmp_path / name))
    assert [row.at for row in batch.collect()] == [1]
    with pytest.raises(JobError, match=rf"again and again.*, as file:{re.escape(str(tmp_path / name))} has"):
        read_stream(spark, stream, "parquet", str(tmp_path / name), {})


def test_a_directory_without_files_is_said(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    stream = load(job_of(*_checked(IN_FOLDERS))).streams["s"]
    with pytest.raises(
        JobError, match=f"events of stream s cannot be read: there are no files of parquet at {tmp_path}"
    ):
        read(spark, stream, "parquet", f"{tmp_path}/in/")


IN_FILES = "STREAM s (at BIGINT, v {}) EVENT TIME at; QUERY q RETURN MATCH s.at AS at, s.v AS v PATTERN s WITHIN 1 s;"


def in_files(form: str, folder: Path, *columns: pa.Array | None) -> Path:
    """A file for each, with an event; None: the column is not in it."""
    write = {"parquet": pq.write_table, "orc": orc.write_table}[form]
    folder.mkdir()
    for number, column in enumerate(columns):
        table = pa.table({"at": [number]} | ({} if column is None else {"v": column}))
        write(table, folder / f"{number}.{form}")
    (folder / f"empty.{form}").touch()
    return folder


@pytest.mark.long
@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize(("type_", "first"), [("INT", pa.array([1], pa.int8())), ("BIGINT", pa.array([1], pa.int32()))])
def test_files_whose_types_differ_are_read_by_the_declared_one(
    spark: SparkSession, tmp_path: Path, form: str, type_: str, first: pa.Array
) -> None:
    second = pa.array([300], pa.int32() if type_ == "INT" else pa.int64())
    program = cepc.compile(IN_FILES.format(type_))
    for number, columns in enumerate([(first, second), (second, first)]):
        folder = in_files(form, tmp_path / str(number), *columns)
        found = sorted(rows_of(program.spark(str(folder), session=spark)["q"]), key=lambda row: row["at"])
        assert [row["v"] for row in found] == [column[0].as_py() for column in columns]


@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("second", "said"),
    [(pa.array([300], pa.int32()), "expected tinyint, found int"), (None, "expected tinyint, found none")],
)
def test_every_file_is_looked_at(
    spark: SparkSession, tmp_path: Path, form: str, second: pa.Array | None, said: str
) -> None:
    folder = in_files(form, tmp_path / "in [1]", pa.array([1], pa.int8()), second)
    stream = load(job_of(*_checked(IN_FILES.format("TINYINT")))).streams["s"]
    with pytest.raises(JobError, match=rf"in {re.escape(str(folder))}/1.{form}: column v: {said}"):
        read(spark, stream, form, str(folder))


TYPED = """STREAM s (at TIMESTAMP, kind STRING, x DECIMAL(10, 2), day DATE, local TIMESTAMP_NTZ)
EVENT TIME at EVENT TYPE kind;
QUERY q RETURN MATCH A.at, A.x, A.day, A.local PATTERN A WITHIN 1 MINUTE;
"""
RIGHT = {"at": "2026-03-02 10:00:00", "kind": "A", "x": "-1.50", "day": "2026-03-02", "local": "2026-03-02T10:00:00.5"}
RIGHT_VALUES = {
    "at": ["2026-03-02T10:00:00Z", "2026-03-02", "2026-03-02 10:00:00.123456+01:00"],
    "x": ["1", "+1.5", ".25", "1.500", "1e3", "15E-1"],
}
WRONG_VALUES = {
    "at": ["10:00:00", "2026", "2026-3-2", "2026-02-29", "1772445600", "2026-03-02 10:00:00 Europe/Berlin"],
    "x": ["1,5", "1.555", "0x1p3", "one"],
    "day": ["2026-03-02 10:00:00", "20260302"],
    "local": ["10:00:00", "2026-03-02 10:00:00Z"],
}


def written(form: str, records: list[dict[str, str]], path: Path) -> None:
    if form == "csv":
        lines = [",".join(records[0]), *(",".join(f'"{value}"' for value in record.values()) for record in records)]
    else:
        lines = [json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("form", ["csv", "json"])
def test_texts_are_the_values_that_they_are_in_process_in_any_zone(
    otherwise: SparkSession, tmp_path: Path, form: str
) -> None:
    records = [RIGHT, *({**RIGHT, name: text} for name, texts in RIGHT_VALUES.items() for text in texts)]
    written(form, records, path := tmp_path / f"events.{form}")
    found = cepc.compile(TYPED).spark(str(path), session=otherwise)["q"]
    assert same(rows_of(found), cepc.compile(TYPED).run(path)["q"].to_pylist(), ABOUT)


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG_VALUES.items() for text in texts])
def test_texts_that_are_no_values_in_process_fail_the_job(
    spark: SparkSession, tmp_path: Path, form: str, name: str, text: str
) -> None:
    written(form, [RIGHT, {**RIGHT, name: text}], path := tmp_path / f"events.{form}")
    with pytest.raises(cepc.DataError):
        cepc.compile(TYPED).run(path)
    with pytest.raises(SPARK_ERRORS) as failure:
        cepc.compile(TYPED).spark(str(path), session=spark)["q"].collect()
    assert text in sentence(failure.value)


def test_queries_are_chosen_by_name_and_dataframes_are_lazy(spark: SparkSession) -> None:
    events = spark.sql(
        "SELECT TIMESTAMP '2026-01-01' AS at, 'Pickup' AS kind, 1L AS driver, 'n' AS district, raise_error('read') AS km,"
        " 'x' AS note"
    ).withColumn("km", F.col("km").cast("int"))
    results = cepc.compile(STREAM + COUNTED + LISTED).spark(events, "listed")
    assert list(results) == ["listed"]
    assert results["listed"].columns == ["since", "km", "match_start", "match_end"]


TWO_COUNTED = """STREAM s (at BIGINT, kind STRING, k BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY pairs RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY k WITHIN 10 s;
QUERY triples RETURN k, COUNT(*) AS n PATTERN SEQ(A, B, A) GROUP BY k WITHIN 10 s;
"""


def tasks_of(spark: SparkSession, extra: dict[str, str]) -> set[int]:
    """The tasks in which the rows of a query of TWO_COUNTED are read, on 64 shuffle partitions."""
    events = spark.range(900).selectExpr("id AS at", "IF(id % 2 = 0, 'A', 'B') AS kind", "id DIV 3 AS k")
    wanted = {"spark.sql.shuffle.partitions": "64", **extra}
    before = {name: spark.conf.get(name) or "" for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    spark.catalog.clearCache()  # of what another test has kept
    try:
        pairs = cepc.compile(TWO_COUNTED).spark(events)["pairs"]
        found = {row[0] for row in pairs.select(F.spark_partition_id()).distinct().collect()}
        scan = next(line for line in plan_of(pairs).splitlines() if "InMemoryTableScan" in line)
        assert "(query#" in scan  # blocks without rows of the query are passed over
        return found
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_few_events_are_few_tasks_whatever_the_number_of_shuffle_partitions(spark: SparkSession) -> None:
    with patch("cepc_runtime.spark.query_results.kept_rows", kept):
        assert len(tasks_of(spark, {})) <= spark.sparkContext.defaultParallelism


@pytest.mark.long
def test_each_query_reads_the_rows_of_many_tasks_in_as_many_as_there_are_cores(spark: SparkSession) -> None:
    apart = {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
    with patch("cepc_runtime.spark.query_results.kept_rows", kept):
        assert len(tasks_of(spark, apart)) > 8
    assert len(tasks_of(spark, apart)) == spark.sparkContext.defaultParallelism


# ---- rows of all queries at once --------------------------------------------------------------------------------------

MANY_KINDS = """STREAM s (at BIGINT, kind STRING, k BIGINT, u BIGINT, x DOUBLE) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY counted RETURN k, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY k WITHIN 10 s;
QUERY listed RETURN a.k, b.x AS `the x` PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 s;
QUERY events RETURN MATCH * PATTERN SEQ(A, B) WHERE [u] WITHIN 2 s;
QUERY none RETURN k, SUM(A.x) AS x, COUNT(*) AS n PATTERN SEQ(A, C) GROUP BY k WITHIN 10 s;
QUERY plain RETURN k, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 10 s;
QUERY parts RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE [k] WITHIN UNBOUNDED;
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "chosen",
    [
        None, ("counted",), ("plain",), ("parts",), ("none",), ("events", "counted"), ("parts", "listed"), ("parts", "plain"),
        ("plain", "events"),
    ],
)  # fmt: skip
def test_tables_have_the_rows_and_columns_of_dataframes(spark: SparkSession, chosen: tuple[str, ...] | None) -> None:
    events = pa.table(
        {
            "at": range(120),
            "kind": ["AB"[i % 3 > 1] for i in range(120)],
            "k": [i % 5 for i in range(120)],
            "u": [i % 7 for i in range(120)],
            "x": [i / 2 for i in range(120)],
        }
    )
    names = chosen or ("counted", "listed", "events", "none", "plain", "parts")
    expected = cepc.compile(MANY_KINDS).run(events)
    spark.catalog.clearCache()
    tables = loaded(MANY_KINDS).tables(spark, spark.createDataFrame(events).repartition(3), chosen)
    assert set(tables) == set(names)
    assert not expected["none"].num_rows
    for name, table in tables.items():
        assert table.column_names == expected[name].column_names
        assert same(table.to_pylist(), expected[name].to_pylist(), ABOUT), name


def test_tables_of_many_queries_are_as_few_jobs_as_those_of_one(spark: SparkSession) -> None:
    def jobs_of(queries: int) -> int:
        text = TWO_COUNTED.partition("QUERY")[0] + "".join(
            f"QUERY q{i} RETURN k, COUNT(*) AS n PATTERN SEQ({', '.join('AB' * (i + 1))}) GROUP BY k WITHIN 10 s;\n"
            for i in range(queries)
        )
        events = spark.range(900).selectExpr("id AS at", "IF(id % 2 = 0, 'A', 'B') AS kind", "id DIV 3 AS k")
        group = f"tables of {queries}"
        spark.sparkContext.setJobGroup(group, group)
        found = loaded(text).tables(spark, events)
        assert len(found) == queries
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))

    assert jobs_of(12) == jobs_of(1) > 0


# ---- plain aggregates: Spark alone ------------------------------------------------------------------------------------

PLAIN = """STREAM s (at {time}, kind STRING, k STRING, i INT, l BIGINT, z DECIMAL(9, 2), y DOUBLE, d DATE)
EVENT TIME at{unit} EVENT TYPE kind;
EVENT Big AS A WHERE i > 1;
QUERY sums RETURN k, SUM(A.i) AS i, SUM(A.l) AS l, SUM(A.z) AS z, SUM(A.y) AS y, SUM(ABS(A.i)) + COUNT(*) AS both
PATTERN A GROUP BY k WITHIN 5 {u} SLIDE 2 {u};
QUERY least RETURN MIN(b.z) AS z, MAX(b.y) AS y, MIN(b.k) AS k, MAX(b.d) AS d, COUNT(b.l) AS n, AVG(b.y) AS mean
PATTERN Big b WITHIN 4 {u} SLIDE 4 {u};
QUERY texts RETURN k, CAST(COUNT(*) AS STRING) AS n, CAST(SUM(A.l) AS STRING) AS l, CAST(SUM(A.z) AS DOUBLE) AS z, TRY_SUM(A.l) AS t
PATTERN A WHERE A.y IS NOT NULL GROUP BY k HAVING COUNT(*) > 1 WITHIN UNBOUNDED;
QUERY gaps RETURN COUNT(*) AS n PATTERN A WITHIN 1 {u} SLIDE 3 {u};
QUERY later RETURN k, SUM(A.i) AS i, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 4 {u} OFFSET 3 {u};
QUERY earlier RETURN k, SUM(A.l) AS l, COUNT(*) AS n PATTERN A GROUP BY k WITHIN 6 {u} SLIDE 4 {u} OFFSET -1 {u};
QUERY none RETURN COUNT(*) AS n PATTERN Nothing WITHIN UNBOUNDED;
"""


@pytest.mark.long
@pytest.mark.parametrize("time", ["TIMESTAMP", "BIGINT", "DATE"])
def test_plain_aggregates_are_those_of_the_kernel_and_need_no_python(spark: SparkSession, time: str) -> None:
    unit = {"TIMESTAMP": ("", "s"), "BIGINT": (" UNIT ms", "ms"), "DATE": ("", "DAY")}[time]
    program = PLAIN.format(time=time, unit=unit[0], u=unit[1])
    chance = random.Random(9)
    at = {"TIMESTAMP": 1_000_000, "BIGINT": 1, "DATE": 1}[time]
    types = {n: to_arrow(t) for n, t in compile_text(program).program.streams[0].columns}
    rows = [
        {
            "at": (chance.randrange(-9, 20) * at) if chance.random() < 0.9 else None,
            "kind": chance.choice("AAAB"),
            "k": chance.choice(("x", "y", None)),
            "i": chance.choice((0, 1, 2, 2**31 - 1, None)),
            "l": chance.choice((2**40, -3, 5, None)),
            "z": chance.choice((Decimal("9999999.99"), Decimal("-0.25"), None)),
            "y": chance.choice((0.5, -1.25, math.nan, None)),
            "d": chance.choice((1, 20_000, None)),
        }
        for _ in range(300)
    ]
    columns = [
        pa.array([r[n] for r in rows], pa.int64() if n == "at" and time != "DATE" else t) for n, t in types.items()
    ]
    table = pa.table([c.cast(t) for c, t in zip(columns, types.values(), strict=True)], list(types))
    results = build(spark, program, spark.createDataFrame(table).repartition(3))
    expected = cepc.compile(program).run(table)
    for name, frame in results.items():
        assert "MapInArrow" not in plan_of(frame)
        found = rows_of(frame)
        assert same(found, expected[name].to_pylist(), ABOUT), (name, found, expected[name].to_pylist())
        assert [f.dataType.simpleString() for f in frame.schema] == [_spark_name(f.type) for f in expected[name].schema]


def test_the_least_and_the_greatest_have_no_negative_zero(spark: SparkSession) -> None:
    program = """STREAM s (at BIGINT, kind STRING, k INT, y DOUBLE, f FLOAT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN k, MIN(A.y) AS a, MAX(A.y) AS b, MIN(-A.y) AS c, MAX(A.f) AS d, SUM(A.y) AS e PATTERN A GROUP BY k WITHIN 10 s;
"""
    rows = [(1, "A", 1, -0.0, -0.0), (2, "A", 2, 0.0, 0.0), (3, "A", 2, -0.0, -0.0), (4, "A", 3, -0.0, None)]
    events = spark.createDataFrame(rows, "at BIGINT, kind STRING, k INT, y DOUBLE, f FLOAT").repartition(2)
    frame = build(spark, program, events)["q"]
    assert "MapInArrow" not in plan_of(frame)
    numbers = [repr(row[name]) for row in frame.collect() for name in "abcde"]
    assert sorted(set(numbers)) == ["0.0", "None"]


def _spark_name(type_: Any) -> str:
    names = {"int64": "bigint", "int32": "int", "date32[day]": "date", "timestamp[us, tz=UTC]": "timestamp"}
    return names.get(str(type_), str(type_).replace("decimal128(", "decimal(").replace(", ", ","))


def test_a_plain_sum_that_does_not_fit_says_the_same_as_the_kernel(spark: SparkSession) -> None:
    program = """STREAM s (at BIGINT, kind STRING, k STRING, l BIGINT) EVENT TIME at UNIT s EVENT TYPE kind;
QUERY q RETURN k, SUM(A.l) AS l PATTERN A GROUP BY k WITHIN 10 s;
"""
    rows = [(1, "A", "x", 2**63 - 1), (2, "A", "x", 1), (3, "A", "y", 2**63 - 1), (4, "A", "y", 1), (5, "A", "y", -1)]
    events = spark.createDataFrame(rows, "at BIGINT, kind STRING, k STRING, l BIGINT")
    with pytest.raises(Exception, match="SUM") as failure:
        build(spark, program, events)["q"].collect()
    case = compile_text(program)
    with pytest.raises(ArithmeticError) as local:
        execute(case.plan, events.toArrow())
    assert sentence(failure.value) == str(local.value)


def _checked(text: str) -> Any:
    checked = check_text(text)
    return checked.program, checked.sources
