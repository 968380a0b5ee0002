"""`cepc.sql`: MATCH_RECOGNIZE in a text of Spark's has the rows that SQL says, and the rest of the text is Spark's."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import cepc
from cepc.errors import ProgramError
from cepc.row_patterns.on_spark import clause_frames
from cepc.row_patterns.texts import sql_program
from cepc_grammar.source import Source
from cepc_grammar.sql.parser import parse_sql

from . import row_pattern_clauses as clauses
from . import row_pattern_oracle as sql
from .properties import case_numbers
from .test_row_patterns import TABLE, hashable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COLUMNS = "k STRING, t INT, o INT, a INT, b INT, at TIMESTAMP"
PRICES = [("x", t, price) for t, price in enumerate((12, 17, 9, 8, 20, 21, 19, 22), 1)] + [("y", 1, 5), ("y", 2, 4)]
V = """prices MATCH_RECOGNIZE (
  PARTITION BY Symbol ORDER BY t
  MEASURES FIRST(t) AS match_start, MIN(DOWN.price) AS low, COUNT(*) AS `rows there`
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
)"""


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> None:
    spark.createDataFrame(PRICES, "symbol STRING, t INT, price INT").createOrReplaceTempView("prices")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(map(hashable, row)) for row in frame.collect()]


def _as_collected(value: Any) -> Any:
    """Spark gives times without a zone, in that of the session, UTC."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@pytest.mark.parametrize("kind", [clauses.clause, clauses.further, clauses.aggregated, clauses.every_row])
def test_random_clauses_of_one_statement_have_the_rows_that_sql_says(
    spark: SparkSession, kind: Callable[[Random], sql.Clause]
) -> None:
    random, wanted = Random(1), list[sql.Clause]()
    given = clauses.rows(random, 30)
    spark.createDataFrame([tuple(row[n.split()[0]] for n in COLUMNS.split(", ")) for row in given], COLUMNS)\
        .createOrReplaceTempView("numbers")  # fmt: skip
    numbers = case_numbers(cases=24, tested=4)
    while len(wanted) < numbers.stop:
        clause = kind(random)
        is_there = sql_program([Source("t", f"{TABLE} SELECT * FROM numbers {sql.as_sql(clause)}")]).checked.ok
        try:
            wanted += [clause] if is_there and sql.rows_of(clause, given) else []
        except sql.SkipError:
            continue
    wanted = wanted[numbers.start :]
    text = ", ".join(f"numbers {sql.as_sql(clause)} m{i}" for i, clause in enumerate(wanted))
    source = Source("text", f"SELECT * FROM {text}")
    (statement,) = parse_sql(source).statements
    compared = 0
    for clause, frame in zip(wanted, clause_frames(spark, statement, source), strict=True):
        expected = [tuple(map(_as_collected, row)) for row in sql.rows_of(clause, given)]
        assert Counter(rows(frame)) == Counter(expected), sql.as_sql(clause)
        compared += len(expected)
    assert compared > 4 * len(numbers)


@pytest.mark.usefixtures("prices")
def test_a_clause_stands_in_any_query(spark: SparkSession) -> None:
    text = f"""
        CREATE OR REPLACE TEMPORARY VIEW low AS SELECT symbol, max(low) AS low FROM {V} GROUP BY symbol;
        SELECT p.symbol, count(*) AS above, m.`rows there` FROM prices p JOIN low USING (symbol)
        JOIN {V} AS m ON m.symbol = p.symbol AND m.match_start = 2 -- MATCH_RECOGNIZE ( in a comment
        WHERE price > low.low AND 'MATCH_RECOGNIZE (' <> p.symbol
        GROUP BY ALL"""
    assert rows(cepc.sql(spark, text)) == [("x", 7, 5)]


@pytest.mark.usefixtures("prices")
def test_a_clause_may_be_over_a_query(spark: SparkSession) -> None:
    text = """
        SELECT m.n, o.n FROM (SELECT t, price + 1 AS p FROM prices WHERE symbol = 'x' AND (t > 1)) MATCH_RECOGNIZE (
          ORDER BY t MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS p > 9
        ) AS m, (VALUES (1), (2), (3) AS v(t)) MATCH_RECOGNIZE (
          ORDER BY t DESC MEASURES COUNT(*) AS n PATTERN (A+)) AS o"""
    assert sorted(rows(cepc.sql(spark, text))) == [(2, 3), (4, 3)]


def test_columns_of_any_type_may_be_in_a_table(spark: SparkSession) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW odd AS SELECT id, INTERVAL '1' DAY AS wait, NULL AS nothing, "
        "INTERVAL '1' YEAR AS age, STRUCT(id AS `a b`, ARRAY(id) AS list) AS `x y`, MAP('k', id) AS map FROM RANGE(3)"
    )
    text = "SELECT * FROM odd MATCH_RECOGNIZE (ORDER BY id DESC MEASURES {} AS m PATTERN (A+) DEFINE A AS A.`X Y`.`a b` > 0)"
    assert rows(cepc.sql(spark, text.format("LAST(A.`x y`.list)"))) == [((1,),)]
    assert rows(cepc.sql(spark, text.format("FIRST(A.map)"))) == [({"k": 2},)]
    assert rows(cepc.sql(spark, text.format("LAST(A.wait)"))) == [(timedelta(days=1),)]
    with pytest.raises(ProgramError) as raised:
        cepc.sql(spark, text.format("FIRST(A.map)") + " ORDER BY m")
    assert "ORDER BY requires a type with an order" in str(raised.value)
    for column, type_ in (("age", "interval year"), ("nothing", "void")):
        with pytest.raises(ProgramError) as raised:
            cepc.sql(spark, text.format(f"LAST(A.{column})"))
        assert f"`{column}` has the type {type_}" in str(raised.value)


def test_intervals_order_rows_and_are_shown(spark: SparkSession) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW waits AS SELECT id, INTERVAL '1' HOUR * id AS wait, INTERVAL '-3' MINUTE AS "
        "short, ARRAY(INTERVAL '1' DAY) AS list FROM RANGE(3)"
    )
    text = """SELECT * FROM waits MATCH_RECOGNIZE (
        PARTITION BY short ORDER BY wait DESC MEASURES MAX(wait) - LAST(wait) AS since ALL ROWS PER MATCH
        PATTERN (A B+) DEFINE B AS wait < PREV(wait) - INTERVAL '59' MINUTES)"""
    short, hour, day = timedelta(minutes=-3), timedelta(hours=1), timedelta(days=1)
    expected = [(short, hour * (2 - n), hour * n, 2 - n, (day,)) for n in range(3)]
    assert sorted(rows(cepc.sql(spark, text))) == sorted(expected)


@pytest.mark.usefixtures("prices")
def test_the_views_of_a_query_are_gone_after_it_and_those_of_a_view_stay(spark: SparkSession) -> None:
    clause = "prices MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY t MEASURES COUNT(*) AS n PATTERN (A+))"
    before = spark.catalog.listTables()
    found = cepc.sql(spark, f"SELECT n FROM {clause}")
    assert spark.catalog.listTables() == before
    cepc.sql(spark, f"CREATE OR REPLACE TEMPORARY VIEW counted AS SELECT n FROM {clause}")
    assert sorted(rows(found)) == sorted(rows(spark.table("counted"))) != []


@pytest.mark.usefixtures("prices")
def test_a_text_without_the_clause_is_sparks(spark: SparkSession) -> None:
    assert rows(cepc.sql(spark, "SELECT count(*) FROM prices WHERE symbol = 'x;'")) == [(0,)]
    assert rows(cepc.sql(spark, "SELECT length('\\ud83d')")) == [(1,)]  # half a character, which no program may have


@pytest.mark.usefixtures("prices")
def test_where_nothing_can_be_skipped_to_the_query_fails(spark: SparkSession) -> None:
    text = "SELECT 1 FROM prices MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n AFTER MATCH SKIP TO LAST A PATTERN (A))"
    with pytest.raises(Exception, match="AFTER MATCH SKIP TO LAST A: a match has no row of A"):
        cepc.sql(spark, text).collect()


FAILING = "MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n {} AFTER MATCH SKIP TO LAST A PATTERN ({}) DEFINE B AS price > 99) AS m"
HIDDEN = [
    "SELECT * FROM prices " + FAILING.format("ALL ROWS PER MATCH", "{- A -} B?"),
    "SELECT * FROM prices " + FAILING.format("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "({- A -} B?)?"),
    "SELECT * FROM prices " + FAILING.format("ALL ROWS PER MATCH", "A B?") + " WHERE n > 100",
    "SELECT * FROM prices " + FAILING.format("ONE ROW PER MATCH", "A B?") + " WHERE n > 100",
    "SELECT m.n FROM prices " + FAILING.format("ONE ROW PER MATCH", "A B?") + " JOIN (SELECT 100 AS n) o ON o.n = m.n",
]


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize("text", HIDDEN)
def test_the_query_fails_though_no_row_of_the_match_is_shown(spark: SparkSession, text: str) -> None:
    with pytest.raises(Exception, match="AFTER MATCH SKIP TO LAST A: a match has no row of A"):
        cepc.sql(spark, text).collect()


@pytest.mark.usefixtures("prices")
def test_an_error_of_the_engine_is_not_left_out_by_a_where(spark: SparkSession) -> None:
    text = "SELECT * FROM prices MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n, 2147483640 + A.price AS s PATTERN (A)) WHERE n > 100"
    spark.conf.set("spark.sql.codegen.wholeStage", "false")  # as with more than a hundred columns
    try:
        with pytest.raises(Exception, match="INT overflow"):
            cepc.sql(spark, text).collect()
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")


@pytest.mark.usefixtures("prices")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "SELECT * FROM nowhere MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A))",
            "there is no table `nowhere`",
        ),
        ("WITH c AS (SELECT 1 AS t) SELECT * FROM c MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A))", "WITH"),
        ("SELECT * FROM prices MATCH_RECOGNIZE (ORDER BY z MEASURES 1 AS n PATTERN (A))", "`prices` has no column `z`"),
        ("SELECT * FROM (SELECT 1 AS t) MATCH_RECOGNIZE (ORDER BY z MEASURES 1 AS n PATTERN (A))", "no column `z`"),
        (
            f"SELECT * FROM (SELECT * FROM {V}) MATCH_RECOGNIZE (ORDER BY low MEASURES 1 AS n PATTERN (A))",
            "answered first",
        ),
        ("SELECT * FROM prices p MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A))", "an alias before"),
        (
            "SELECT * FROM prices MATCH_RECOGNISE (ORDER BY t MEASURES 1 AS n PATTERN (A))",
            "did you mean MATCH_RECOGNIZE?",
        ),
        (f"SELECT * FROM {V} WHERE low > :least", "write the value in its place"),
        ("SELECT * FROM prices p JOIN prices q USING (t) MATCH_RECOGNIZE (ORDER BY t PATTERN (A))", "USING of a JOIN"),
        ("SELECT * FROM range(5) MATCH_RECOGNIZE (ORDER BY id MEASURES 1 AS n PATTERN (A))", "SELECT * FROM range(…)"),
        ("SELECT * FROM prices AS p (t) MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (A))", "an alias before"),
        (f"CREATE OR REPLACE VIEW low AS SELECT * FROM {V}", "CREATE TEMPORARY VIEW low AS"),
    ],
)
def test_what_is_wrong_with_a_clause_is_said_of_the_text(spark: SparkSession, text: str, said: str) -> None:
    with pytest.raises(ProgramError) as raised:
        cepc.sql(spark, text)
    assert said in str(raised.value)


# ---- streams ---------------------------------------------------------------------------------------------------------

TURNS = """SELECT c.name, v.* FROM {} MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY at, seq DESC
  MEASURES FIRST(at) AS begun, FIRST(price, 1) AS second, MIN(DOWN.price) AS low, COUNT(*) AS n
  AFTER MATCH SKIP TO LAST UP
  PATTERN (STRT DOWN+ UP+) WITHIN INTERVAL '30' MINUTE
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
) AS v JOIN called AS c USING (symbol) WHERE n > 2"""
TICK = "symbol STRING, at TIMESTAMP, seq INT, price INT"


def _ticks(random: Random, count: int) -> list[tuple[str, datetime, int, int]]:
    """Some of them at one time, some a little out of order."""
    begin = datetime(1969, 12, 31, 23, 15)  # Spark's own watermark begins in 1970
    found = [
        (
            random.choice("xyz"),
            begin + timedelta(minutes=minute + random.choice((0, 0, -2))),
            2 * minute + seq,
            random.randrange(30),
        )
        for minute in range(count)
        for seq in range(random.choice((1, 2)))
    ]
    return [*found, ("end", begin + timedelta(days=1), 0, 0)]  # which the watermark needs to pass the others


def _coming(spark: SparkSession, folder: Path) -> None:
    ticks = spark.readStream.schema(TICK).option("maxFilesPerTrigger", 1).parquet(str(folder))
    ticks.withWatermark("at", "5 minutes").createOrReplaceTempView("coming")


@pytest.mark.long  # without Spark: test_row_patterns_streams.py
def test_over_a_stream_the_rows_are_those_of_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    """In six micro-batches, by two runs on one checkpoint, with which another clause may not go on."""
    ticks = _ticks(Random(5), 90)
    spark.createDataFrame(ticks, TICK).createOrReplaceTempView("there")
    spark.createDataFrame([(s, s.upper()) for s in "xyz"], "symbol STRING, name STRING").createOrReplaceTempView(
        "called"
    )
    expected = rows(cepc.sql(spark, TURNS.format("there")))
    for part in range(7):
        own = ticks[part * len(ticks) // 6 : (part + 1) * len(ticks) // 6] or ticks[-1:]
        spark.createDataFrame(own, TICK).coalesce(1).write.parquet(str(tmp_path / "all" / str(part)))
    (tmp_path / "in").mkdir()
    _coming(spark, tmp_path / "in")

    def go_on_with(parts: Iterable[int], text: str) -> None:
        for part in parts:
            (file,) = (tmp_path / "all" / str(part)).glob("*.parquet")
            file.rename(tmp_path / "in" / file.name)
        found = cepc.sql(spark, text)
        assert found.isStreaming
        writer = found.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out"), format="parquet").awaitTermination()

    go_on_with(range(3), TURNS.format("coming"))
    with pytest.raises(
        Exception, match="of another program: the clause is not what it was; give it a checkpoint of its own"
    ):
        go_on_with([3], TURNS.format("coming").replace("PARTITION BY symbol", "PARTITION BY symbol, seq"))
    go_on_with([4, 5], TURNS.format("coming"))
    assert Counter(rows(spark.read.parquet(str(tmp_path / "out")))) == Counter(expected)
    assert len(expected) > 5


@pytest.mark.long
def test_two_clauses_over_one_stream_stand_in_one_statement_and_other_streams_are_left_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    ticks = spark.createDataFrame(_ticks(Random(5), 9), TICK).coalesce(1)
    ticks.write.parquet(str(tmp_path / "in"))
    ticks.where("symbol = 'end'").write.mode("append").parquet(str(tmp_path / "in"))
    _coming(spark, tmp_path / "in")
    clause = "coming MATCH_RECOGNIZE (ORDER BY at MEASURES LAST(A.price) AS {} PATTERN (A B) WITHIN INTERVAL '1' HOUR)"
    found = cepc.sql(spark, f"SELECT * FROM {clause.format('p')} UNION ALL SELECT * FROM {clause.format('q')}")
    others = spark.table("coming").groupBy("at").count()
    for number, frame in enumerate((found, others)):
        writer = frame.writeStream.option("checkpointLocation", str(tmp_path / f"_c{number}"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / f"_out{number}"), format="parquet")
        query.awaitTermination()
        assert sum(progress.numInputRows for progress in query.recentProgress) > 9
    found = Counter(rows(spark.read.parquet(str(tmp_path / "_out0"))))
    assert found.total() > 9
    assert all(count % 2 == 0 for count in found.values())


def test_a_stream_is_begun_by_what_it_is_written_to(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell shows no rows of it; and it stands in a view as any clause does."""
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    _coming(spark, tmp_path)
    spark.createDataFrame([], "symbol STRING, name STRING").createOrReplaceTempView("called")
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "cepc")
    shell.user_ns["spark"] = spark
    assert shell.run_cell_magic("cepsql", "turns", TURNS.format("coming")) is None
    assert "`turns.writeStream` begins it" in capsys.readouterr().out
    assert shell.user_ns["turns"].isStreaming
    assert shell.run_cell_magic("cepsql", "", TURNS.format("coming")) is None
    assert "a name behind %%cepsql gets its DataFrame" in capsys.readouterr().out
    shell.reset()
    cepc.sql(spark, f"CREATE OR REPLACE TEMPORARY VIEW turns AS {TURNS.format('coming')}")
    assert spark.table("turns").isStreaming


def test_a_clause_is_not_over_the_rows_of_another_in_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """Where no row would ever come, whatever watermark they are given."""
    _coming(spark, tmp_path)
    clause = "MATCH_RECOGNIZE (ORDER BY at MEASURES LAST(at) AS at PATTERN (A) WITHIN INTERVAL '1' HOUR)"
    cepc.sql(spark, f"SELECT * FROM coming {clause}").withWatermark("at", "1 minute").createOrReplaceTempView("found")
    with pytest.raises(ProgramError, match="over the rows of another clause, in a stream"):
        cepc.sql(spark, f"SELECT * FROM found {clause}")


def test_a_stream_needs_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    spark.readStream.schema(TICK).parquet(str(tmp_path)).createOrReplaceTempView("coming")
    with pytest.raises(ProgramError) as raised:
        cepc.sql(spark, TURNS.format("coming"))
    assert ".withWatermark('at', '30 seconds')" in str(raised.value)


@pytest.mark.usefixtures("prices")
def test_a_cell_of_a_notebook_is_such_a_text(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    shell = interactiveshell.InteractiveShell()
    shell.run_line_magic("load_ext", "cepc")
    shell.user_ns["spark"] = spark
    shown = shell.run_cell_magic("cepsql", "falls", f"SELECT m.low FROM {V} AS m")
    assert repr(shown).split() == ["low", "8", "1", "row"]
    assert "<td>8</td>" in shown._repr_html_()
    assert sorted(rows(shell.user_ns["falls"])) == [(8,)]
    assert shell.run_cell_magic("cepsql", "", f"SELECT 1 FROM {V.replace('STRT', 'STRT,')}") is None
    assert "`,` cannot stand here" in capsys.readouterr().err
    shell.reset()
