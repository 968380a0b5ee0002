"""Computed columns: what they are, what is read for them, and what becomes of a record of which one has no value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import cepc
from cepc.api import check_text
from cepc.cli import cepc as command_line
from cepc.codegen.compiling import job_of
from cepc.testing.run import run_test
from tests import oracle
from tests.equivalence import compile_text, same
from tests.programs import Case
from tests.test_equivalence import compare
from tests.test_why import explained

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = """
STREAM orders (
  payload STRUCT<user: STRUCT<id: BIGINT>, total: DOUBLE>,
  ts      BIGINT,
  `Kind`  STRING,
  at      AS TIMESTAMP_MILLIS(ts),
  user_id AS payload.user.id,
  kind    AS LOWER(`Kind`)
)
EVENT TIME at WATERMARK 30 SECONDS
EVENT TYPE kind IN ('order', 'cancel');
"""
PAIRS = """
QUERY pairs
  RETURN  MATCH user_id, o.at AS at, o.payload.total AS total
  PATTERN SEQ(order o, cancel)
  WHERE   [user_id]
  WITHIN  1 HOUR;
"""


def order(ts: int | None, kind: str | None, user: int | None = 7, total: float = 1.5) -> dict[str, Any]:
    return {"ts": ts, "Kind": kind, "payload": None if user is None else {"user": {"id": user}, "total": total}}


def table(rows: list[dict[str, Any]]) -> pa.Table:
    payload = pa.struct([("user", pa.struct([("id", pa.int64())])), ("total", pa.float64())])
    return pa.Table.from_pylist(rows, pa.schema([("payload", payload), ("ts", pa.int64()), ("Kind", pa.string())]))


WARNED = [
    ("W0301", "big AS x > NULL"),
    ("W0302", "big AS text > 7"),
    ("W0303", "big AS TO_DATE(text, 'yyyy-mm-dd') > DATE '2026-01-01'"),
]


@pytest.mark.parametrize(("code", "column"), WARNED)
def test_a_warning_about_a_column_leaves_its_stream_as_it_is(code: str, column: str) -> None:
    text = f"""STREAM s (at TIMESTAMP, x INT, text STRING, {column}) EVENT TIME at;
    QUERY q RETURN COUNT(*) AS n PATTERN s a WHERE a.x > 0 WITHIN 1 h;"""
    checked = check_text(text, "s.cep")
    assert code in {d.code for d in checked.diagnostics}
    assert checked.program is not None
    assert [stream.name for stream in checked.program.streams] == ["s"]


# ---- what they are ---------------------------------------------------------------------------------------------------

CASES = [
    ("the time, the type and a key", order(1000, "Order"), order(2000, "CANCEL"), 1),
    ("another key", order(1000, "Order"), order(2000, "cancel", user=8), 0),
    ("null keys are equal", order(1000, "order", user=None), order(2000, "cancel", user=None), 1),
    ("no time", order(None, "order"), order(2000, "cancel"), 0),
    ("no type", order(1000, None), order(2000, "cancel"), 0),
    ("a tie", order(1000, "order"), order(1000, "cancel"), 0),
]


@pytest.mark.parametrize(("title", "first", "second", "rows"), CASES, ids=[case[0] for case in CASES])
def test_they_are_columns_like_any_other(title: str, first: dict[str, Any], second: dict[str, Any], rows: int) -> None:
    assert compare(Case(ORDERS + PAIRS.replace("pairs", "q"), (first, second))).rows == rows, title


EXPRESSIONS = [
    ("x AS CAST(t AS INT) * 2", {"t": "21"}, 42),
    ("x DOUBLE AS CAST(t AS INT)", {"t": "21"}, 21.0),
    ("x BIGINT AS 1", {}, 1),
    ("x INT AS NULL", {}, None),
    ("x AS TRY_CAST(t AS INT)", {"t": "x"}, None),
    ("x AS s.a.b + s.c", {"s": {"a": {"b": 1}, "c": 2}}, 3),
    ("x AS s.a.b + s.c", {"s": {"a": None, "c": 2}}, None),
    ("x AS s.a.b", {"s": None}, None),
    ("x AS CONCAT(LOWER(t), '!')", {"t": "Ab"}, "ab!"),
    ("x AS CASE WHEN t = 'a' THEN 1 ELSE 1 / (n - 1) END", {"t": "a", "n": 1}, 1.0),
    ("y AS n + 1, x AS y * y", {"n": 2}, 9),
    ("x AS twice(n)", {"n": 4}, 8),
    ("T AS UPPER(t), x AS T", {"t": "a"}, "A"),
]


@pytest.mark.parametrize(("column", "row", "value"), EXPRESSIONS, ids=[one[0] for one in EXPRESSIONS])
def test_the_value_of_one_is_the_oracles(column: str, row: dict[str, Any], value: object) -> None:
    text = (
        f"STREAM s (at BIGINT, t STRING, n INT, s STRUCT<a: STRUCT<b: INT>, c: INT>, {column}) EVENT TIME at;\n"
        "FUNCTION twice(a) AS 2 * a;\nQUERY q RETURN MATCH e.x PATTERN s e WITHIN 9 s;\n"
    )
    compiled, given = compile_text(text), {"at": 1, "t": None, "n": None, "s": None, **row}
    assert [r["x"] for r in oracle.evaluate(compiled.tree, [given])["q"]] == [value]
    schema = pa.schema([("at", pa.int64()), ("t", pa.string()), ("n", pa.int32()), ("s", STRUCT)])
    found = cepc.compile(text).run(pa.Table.from_pylist([given], schema))["q"]
    assert found.column("x").to_pylist() == [value]


STRUCT = pa.struct([("a", pa.struct([("b", pa.int32())])), ("c", pa.int32())])


def test_a_computed_time_has_a_unit_or_is_one_of_spark_sqls() -> None:
    rows = ({"a": 3, "b": 1, "kind": "A"}, {"a": 3, "b": 2, "kind": "B"})
    for at, unit in (("at AS a * 60 + b", "UNIT s"), ("at AS TIMESTAMP_SECONDS(a * 60 + b)", "")):
        text = (
            f"STREAM s (a BIGINT, b BIGINT, kind STRING, {at}) EVENT TIME at {unit} EVENT TYPE kind;\n"
            "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 1 MINUTE SLIDE 20 SECONDS;\n"
        )
        assert compare(Case(text, rows)).rows == 3, at


def test_events_of_one_time_are_in_the_order_of_a_computed_column() -> None:
    text = (
        "STREAM s (at BIGINT, n STRING, kind STRING, seq AS CAST(n AS INT)) EVENT TIME at ORDER BY seq EVENT TYPE kind;\n"
        "QUERY q RETURN MATCH A.seq AS a, B.seq AS b PATTERN SEQ(A, B) WITHIN 9 s;\n"
    )
    rows = tuple({"at": 1, "n": n, "kind": kind} for n, kind in (("10", "B"), ("9", "A"), ("11", "A")))
    assert compare(Case(text, rows)).rows == 1


def test_a_column_that_takes_the_place_of_another_hides_it() -> None:
    compiled = cepc.compile(ORDERS + "QUERY every RETURN MATCH * PATTERN order WITHIN 1 HOUR;")
    (match,) = compiled.run(table([order(1000, "ORDER")]))["every"].column("events").to_pylist()[0]
    assert list(match) == ["variable", "payload", "ts", "at", "user_id", "kind"]
    assert match["kind"] == "order"
    wrong = check_text(ORDERS + "QUERY q RETURN MATCH o.Kind PATTERN order o WITHIN 1 HOUR;", "p.cep")
    assert [(d.code, d.hint) for d in wrong.errors] == [("E0204", "did you mean `kind`?")]


# ---- fields of structs in `[ ]` and GROUP BY -------------------------------------------------------------------------

USERS = """
STREAM s (at BIGINT, kind STRING, user STRUCT<id: BIGINT, at: STRUCT<city: STRING>>, x INT)
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
"""
FIELDS = [
    "RETURN MATCH user.id, A.x AS a PATTERN SEQ(A, B) WHERE [user.id] AND user.id > 0",
    "RETURN MATCH user.id + 1 AS n PATTERN SEQ(A, B+) WHERE [user.at.city, user.id]",
    "RETURN MATCH A.x AS x PATTERN SEQ(A, B) WHERE [user.at]",
    "RETURN MATCH B.user.id AS b PATTERN SEQ(A, B) WHERE [user.id]",
    "RETURN user.id, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY user.id HAVING user.id < 9",
    "RETURN user.at.city, SUM(B.x) AS n PATTERN SEQ(A, B+) WHERE [user.id] GROUP BY user.at.city",
    "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE [user.id] AND B.x >= A.x",
    "RETURN MATCH * PATTERN SEQ(A, B) WHERE [user.id]",
]


@pytest.mark.parametrize("clauses", FIELDS)
def test_a_field_of_a_struct_groups_events_as_the_oracle_says(clauses: str) -> None:
    users = [{"id": i, "at": at} for i in (1, 2, None) for at in ({"city": "x"}, {"city": "y"}, None)]
    rows = tuple(
        {"at": i, "kind": "AB"[i * 7 // 3 % 2], "user": (*users, None)[i * i % 10], "x": i % 4} for i in range(40)
    )
    assert compare(Case(f"{USERS}QUERY q {clauses} WITHIN 12 s;", rows)).rows > 0


def test_the_rows_of_a_group_by_a_field_can_be_explained() -> None:
    compiled = cepc.compile(f"{USERS}QUERY q RETURN user.id, COUNT(*) AS n PATTERN A GROUP BY user.id WITHIN 9 s;")
    users = pa.array(
        [{"id": 7, "at": None}], pa.struct([("id", pa.int64()), ("at", pa.struct([("city", pa.string())]))])
    )
    events = pa.table({"at": pa.array([1]), "kind": ["A"], "user": users, "x": pa.array([1], pa.int32())})
    assert "user.id = 7" in explained(compiled, events, "q")


def test_statistics_know_a_group_by_a_field_and_computed_columns(tmp_path: Path) -> None:
    text = (
        "STREAM s (ts BIGINT, kind STRING, user STRUCT<id: BIGINT>, at AS TIMESTAMP_SECONDS(ts)) EVENT TIME at\n"
        "EVENT TYPE kind IN ('A', 'B');\n"
        "QUERY q RETURN user.id, COUNT(*) AS n PATTERN SEQ(A, B) GROUP BY user.id WITHIN 1 MINUTE SLIDE 30 s;\n"
    )
    (tmp_path / "p.cep").write_text(text, encoding="utf-8")
    lines = (f'{{"ts": {i}, "kind": "{"AB"[i % 2]}", "user": {{"id": {i % 3}}}}}\n' for i in range(30))
    (tmp_path / "e.jsonl").write_text("".join(lines), encoding="utf-8")
    program, events, stats = (str(tmp_path / name) for name in ("p.cep", "e.jsonl", "stats.json"))
    measured = CliRunner().invoke(command_line, ["analyze", program, "--events", events, "-o", stats])
    assert measured.exit_code == 0, measured.output
    assert "user.id" in (tmp_path / "stats.json").read_text(encoding="utf-8")
    run = CliRunner().invoke(command_line, ["run", program, "--events", events, "--stats", stats])
    assert run.exit_code == 0, run.output


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_only_what_is_needed_is_read_and_it_is_gone_afterwards() -> None:
    compiled = cepc.compile(ORDERS + "QUERY q RETURN COUNT(*) AS n PATTERN order WITHIN 1 HOUR;")
    text = job_of(compiled.program, {}).text
    assert "# stream orders: reads 2 of 3 columns, computes at, kind, events of types order" in text
    assert 'job.ComputedColumn("kind", "lower(`_input_Kind`)")' in text
    assert '"columns":[["at","TIMESTAMP"]]' in text  # of the kernel
    assert "user_id" not in text.partition("S_PLAN")[0].partition("computed=")[2].partition("keys=")[0]


def test_every_way_of_giving_events_has_the_same_rows(tmp_path: Path) -> None:
    rows = [order(1000, "Order"), order(2000, "cancel"), order(3000, "other"), order(None, "Order")]
    events = table(rows)
    pq.write_table(events, tmp_path / "events.parquet")
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    compiled = cepc.compile(ORDERS + PAIRS)
    expected = compiled.run(events)["pairs"].to_pylist()
    assert [row["user_id"] for row in expected] == [7]
    for form in ("parquet", "jsonl"):
        assert same(compiled.run(tmp_path / f"events.{form}")["pairs"].to_pylist(), expected), form
    frame = compiled.run(events.to_pandas())["pairs"]
    assert frame["user_id"].tolist() == [7]


def test_a_key_from_which_the_time_is_computed_has_to_occur_in_json_lines(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"tss": 1000, "Kind": "order"}\n', encoding="utf-8")
    with pytest.raises(cepc.DataError, match="no column `ts`"):
        cepc.compile(ORDERS + PAIRS).run(tmp_path / "events.jsonl")


# ---- no value --------------------------------------------------------------------------------------------------------

AMOUNTS = """
STREAM s (at BIGINT, kind STRING, price STRING, amount AS CAST(price AS DOUBLE), half AS amount / (at - 5))
EVENT TIME at EVENT TYPE kind IN ('A', 'B');
"""
SUMS = "QUERY q RETURN SUM(A.amount) AS sum PATTERN A WITHIN 1 MINUTE;"


def amounts(path: Path, *prices: str, kind: str = "A") -> Path:
    lines = "".join(f"{i},{kind},{price}\n" for i, price in enumerate(prices))
    path.write_text(f"at,kind,price\n{lines}", encoding="utf-8")
    return path


def test_a_record_without_a_value_ends_the_run_and_is_named(tmp_path: Path) -> None:
    path = amounts(tmp_path / "events.csv", "1", "", *["2"] * 5000, "n/a", "3")
    with pytest.raises(cepc.DataError) as failed:
        cepc.compile(AMOUNTS + SUMS).run(path)
    (problem,) = failed.value.diagnostics
    assert (problem.code, problem.title) == ("E0715", "the column `amount` of `s` cannot be computed of record 5003")
    assert problem.span.source == str(path)
    assert problem.notes[:2] == (
        "'n/a' cannot be read as DOUBLE in `CAST(price AS DOUBLE)`",
        "in this record `price` is n/a",
    )
    assert problem.hint == "TRY_CAST gives null there"


def test_the_record_is_named_in_its_own_file(tmp_path: Path) -> None:
    amounts(tmp_path / "a.csv", "1", "2")
    amounts(tmp_path / "b.csv", "1", "x")
    with pytest.raises(cepc.DataError, match="of record 2") as failed:
        cepc.compile(AMOUNTS + SUMS).run(tmp_path)
    assert failed.value.diagnostics[0].span.source.endswith("b.csv")


def test_the_record_is_named_though_records_of_other_types_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("at,kind,price\n1,B,x\n2,B,y\n3,A,1\n4,B,1\n5,A,z\n", encoding="utf-8")
    with pytest.raises(cepc.DataError, match="of record 5"):
        cepc.compile(AMOUNTS + SUMS).run(tmp_path / "e.csv")


def test_what_is_not_needed_is_not_computed(tmp_path: Path) -> None:
    path = amounts(tmp_path / "events.csv", "x", "y", kind="B")
    assert cepc.compile(AMOUNTS + SUMS).run(path)["q"].num_rows == 0  # no query looks at a B
    path = amounts(tmp_path / "events.csv", "1", "2", "x", "4", "5", "6")
    count = cepc.compile(AMOUNTS + "QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 1 MINUTE;")
    assert count.run(path)["q"].column("n").to_pylist() == [6]  # no query looks at the amounts


def test_a_column_of_a_column_without_a_value_says_which_it_is(tmp_path: Path) -> None:
    path = amounts(tmp_path / "events.csv", *"1234567")
    with pytest.raises(cepc.DataError, match="the column `half` of `s` cannot be computed of record 6"):
        cepc.compile(AMOUNTS + "QUERY q RETURN SUM(A.half) AS sum PATTERN A WITHIN 1 MINUTE;").run(path)


def test_a_column_that_spark_alone_computes_is_refused_here_and_goes_into_a_job() -> None:
    text = (
        "STREAM s (at BIGINT, url STRING, host AS CAST(PARSE_URL(url, 'HOST') AS STRING)) EVENT TIME at;\n"
        "QUERY q RETURN host, COUNT(*) AS n PATTERN s GROUP BY host WITHIN 9 s;\n"
    )
    compiled = cepc.compile(text)
    with pytest.raises(cepc.DataError, match="the column `host` of `s` is computed by Spark alone"):
        compiled.run(pa.table({"at": [1], "url": ["http://a.b/c"]}))
    assert "parse_url(`url`, 'HOST')" in job_of(compiled.program, {}).text


# ---- tests of programs -----------------------------------------------------------------------------------------------


def test_the_events_of_a_test_are_those_of_the_input() -> None:
    text = ORDERS + PAIRS + """
    TEST one FOR pairs
      GIVEN (ts, `Kind`, payload) VALUES
        (1000, 'ORDER', NAMED_STRUCT('user', STRUCT(7), 'total', 2)), (2000, 'Cancel', STRUCT(STRUCT(7), NULL))
      EXPECT (user_id, at, total) VALUES (7, '1970-01-01 00:00:01', 2);
    TEST strange FOR pairs GIVEN VALUES (NULL, 1000, 'Orders') EXPECT NO ROWS;
    """  # fmt: skip
    checked = check_text(text, "p.cep")
    assert checked.program is not None
    one, strange = (run_test(checked.program, test, {}) for test in checked.program.tests)
    assert one.passed
    assert strange.strange == ("GIVEN has the type orders, which `orders` does not list; did you mean `order`?",)
