"""The oracle's expressions against Spark itself: type, value, and the column's name, in ANSI mode and UTC."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cepc_grammar import ast
from tests.oracle.errors import EvaluationError
from tests.oracle.expressions import compiled
from tests.oracle.naming import column_name, type_name
from tests.oracle.stream import Events, read
from tests.streams import program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.oracle.typed import Typed

SCHEMA = """
  at BIGINT, b TINYINT, h SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, m DECIMAL(10,2), w DECIMAL(38,10), s STRING,
  o BOOLEAN, dt DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ, n INT, z DOUBLE, a ARRAY<INT>
"""
ROW: dict[str, object] = {
    "at": 0, "b": 1, "h": 2, "i": 3, "l": 4, "f": 1.5, "d": 2.5, "m": Decimal("1.25"), "w": Decimal("7.5000000000"), "s": "Xa",
    "o": True, "dt": date(2020, 1, 31), "ts": datetime(2020, 1, 31, 10, 11, 12, 500000, UTC),
    "nt": datetime(2020, 1, 31, 10, 11, 12, 500000), "n": None, "z": math.nan, "a": [1, 2],
}  # fmt: skip

VALUES = """
A.i + A.f; A.l + A.f; COALESCE(A.i, A.f); A.f + A.f; A.f + A.m; A.f * 2; A.b + A.b; A.b + A.h; A.i + 1L; A.i + 1.5
A.i * 1.25; A.m + 1; A.m * A.i; A.m / 2; A.m / A.i; A.m % 2; A.i % 2.5; 1.5 / 3; A.m DIV 2; A.m - A.m; A.w * A.w
A.w / A.m; A.w + A.w; 7 DIV -2; -7 % 3; -7.5D % 2; 7 / 2; A.l / A.i; A.l + A.m; A.l * 2.5; 1.5 + 1; 0.05; 1e3; 1D / 3
A.f / 2; 5L; 12S; 3Y; 2.5F; -2147483648; 9223372036854775808; -A.b; -A.m; -A.d; ~A.b; A.i & A.l; A.i | 4; A.i ^ 1
A.b << 1; A.i >> 1; -1 >>> 28; +A.i; A.i = '3'; '1' + 1; COALESCE('1', 2); CASE WHEN A.o THEN 1 ELSE '2' END
A.o = 'true'; A.o > FALSE; A.i IN ('3'); A.dt = '2020-01-31'; A.ts > '2020-01-01'; A.ts > A.dt; A.nt > A.ts
COALESCE(A.dt, A.ts); 1 = 1.0; 1.0 = 1.00D; A.m = 1.250D; A.m > 1; 1 <=> 1.0; A.z = A.z; A.z > 1e308; A.z <=> A.z
A.d < A.z; GREATEST(A.d, A.z); LEAST(A.d, A.z); -0.0D = 0.0D; A.z <> A.z; GREATEST(1, NULL, 2.5); LEAST(A.i, A.l)
A.n = 1; A.n <=> NULL; A.n IS NULL; A.n IS NOT NULL; A.o IS TRUE; A.n = 1 IS UNKNOWN; A.o IS NOT FALSE
A.n IS DISTINCT FROM 3; A.i IS NOT DISTINCT FROM 3; NULL AND FALSE; NULL OR TRUE; NOT NULL; A.o AND NOT A.o
1 BETWEEN NULL AND 0; A.i BETWEEN 1 AND 5; A.i NOT BETWEEN 1 AND 5; 1 IN (NULL, 2); 1 IN (NULL, 1); A.i NOT IN (1, 2)
A.i IN (1.5, 3); ISNAN(A.z); ISNAN(A.n); ISNULL(A.n); ISNOTNULL(A.n); NVL(A.n, 2); NVL2(A.n, 1, 2.0); NULLIF(A.i, 3)
NULLIF(1, 2L); IF(NULL, 1, 2); IFNULL(A.n, 4L); NANVL(A.z, 1.0D); CASE A.i WHEN 1 THEN 'a' WHEN 3 THEN 'b' END
CASE WHEN A.n > 1 THEN 1 END; COALESCE(A.n, A.m); A.s LIKE 'X_'; A.s NOT LIKE '%a'; 'a%c' LIKE 'a\\\\%c'
'a%c' LIKE 'a#%c' ESCAPE '#'; A.s ILIKE 'x%'; A.s RLIKE 'a$'; 'a.c' LIKE 'a.c'; CONCAT('a', 1); 'a' || A.i
A.s || NULL; UPPER(A.s); LOWER(A.s); LENGTH('aé'); SUBSTRING('hello', 2, 3); SUBSTRING('hello', -3, 2); TRIM('  x ')
STARTSWITH(A.s, 'X'); ENDSWITH(A.s, 'X'); CONTAINS(A.s, 'a'); REPLACE(A.s, 'a', 'bb'); REVERSE(A.s); ABS(-A.i)
ABS(A.m); SIGN(-3); FLOOR(-2.5); FLOOR(A.d); FLOOR(A.i); CEIL(2.1); CEIL(A.d); ROUND(2.5D); ROUND(-2.5D)
ROUND(1.255, 2); ROUND(15, -1); ROUND(A.m, 1); SQRT(2); POWER(2, 3); POW(10, 400); EXP(1000); LN(2D); LN(0); MOD(7, 3)
MOD(-7, 3); TRY_ADD(2147483647, 1); TRY_ADD(A.l, A.i); TRY_SUBTRACT(A.ts, INTERVAL 1 HOUR); TRY_MULTIPLY(A.m, A.m)
TRY_DIVIDE(1, 0); TRY_DIVIDE(A.i, 2); TRY_MOD(5, 0); TRY_ADD(A.i, 1); CAST(2.5D AS INT); CAST(-2.5D AS INT)
CAST(2.5 AS INT); CAST(2.55 AS DECIMAL(2,1)); CAST(1e10D AS STRING); CAST(123456.789D AS STRING); CAST(1e7 AS STRING)
CAST(0.001D AS STRING); CAST(0.0001D AS STRING); CAST(1.0F AS STRING); CAST(0.1F AS DOUBLE); CAST(0.1F AS STRING)
CAST(1.10 AS STRING); CAST(0.0000001 AS STRING); CAST(TRUE AS STRING); A.ts::STRING || ''; CAST(A.dt AS STRING)
CAST(A.ts AS BIGINT); CAST(A.ts AS DOUBLE); CAST(A.ts AS DATE); CAST(' 12 ' AS INT); TRY_CAST('1.5' AS INT)
CAST('1e2' AS DOUBLE); CAST('true' AS BOOLEAN); CAST(1 AS BOOLEAN); CAST('2020-01-05' AS DATE); CAST(100 AS TINYINT)
TRY_CAST(300 AS TINYINT); CAST(5 AS TIMESTAMP); CAST('Infinity' AS DOUBLE); CAST('inf' AS FLOAT)
CAST(A.dt AS TIMESTAMP); CAST('2020-02-03 04:05:06.7' AS TIMESTAMP); CAST(A.ts AS TIMESTAMP_NTZ)
CAST(A.i AS DECIMAL(5,1)); CAST(A.d AS DECIMAL(5,1)); CAST(0.1D AS DECIMAL(20,18)); CAST('12.345' AS DECIMAL(5,2))
CAST(A.m AS DOUBLE); CAST(A.l AS FLOAT); TIMESTAMP '2020-01-01 00:00:00+02:00'; DATE '2020-01-01'
TIMESTAMP_NTZ '2020-01-01 00:00:00'; A.dt + 1; A.dt - 1; A.dt - A.dt; A.dt - INTERVAL 1 DAY; A.dt - INTERVAL 1 HOUR
A.ts - A.dt; A.ts - A.ts; A.ts - INTERVAL 1 HOUR 30 MINUTES; A.nt + INTERVAL 1 MINUTE; INTERVAL 1 DAY + A.ts
A.ts + INTERVAL 1 MONTH; A.dt + INTERVAL 1 MONTH; INTERVAL 1 HOUR > INTERVAL 30 MINUTES; INTERVAL 1 HOUR * 2
INTERVAL 1 HOUR / 2; A.ts - A.nt < INTERVAL 1 SECOND; INTERVAL 1 HOUR + INTERVAL 1 SECOND; YEAR(A.dt); QUARTER(A.dt)
MONTH(A.ts); DAY(A.dt); DAYOFWEEK(A.dt); WEEKDAY(A.dt); DAYOFYEAR(A.dt); WEEKOFYEAR(A.dt); HOUR(A.ts); MINUTE(A.ts)
SECOND(A.ts); HOUR(A.nt); DATE_TRUNC('HOUR', A.ts); DATE_TRUNC('MONTH', A.ts); DATE_TRUNC('WEEK', A.ts)
DATEDIFF(A.dt, DATE '2020-01-01'); DATE_ADD(A.dt, 1); DATE_SUB(A.dt, 1); UNIX_SECONDS(A.ts); UNIX_MILLIS(A.ts)
UNIX_MICROS(A.ts); UNIX_DATE(A.dt); EXTRACT(YEAR FROM A.ts); EXTRACT(HOUR FROM A.ts); EXTRACT(SECOND FROM A.ts)
EXTRACT(DOW FROM A.dt); A.a[1]; SIZE(A.a); ARRAY_CONTAINS(A.a, 2); ARRAY_CONTAINS(A.a, 3); ARRAY_CONTAINS(A.a, 2L)
ARRAY_CONTAINS(A.a, 1.5); ARRAY_CONTAINS(A.a, A.d); LENGTH(X'C3A9'); CHAR_LENGTH(X'C3A9'); LEN(X''); LENGTH(X'FF')
"""

FAILURES = """
1 / 0; 1.0D / 0; 5 % 0; A.i DIV 0; 2147483647 + 1; ABS(-2147483648); 9223372036854775807 + 1; CAST(1e10D AS INT)
CAST('1.5' AS INT); CAST('abc' AS DOUBLE); CAST(300 AS TINYINT); A.s = 1; A.a[5]; CAST(123.4 AS DECIMAL(2,1))
CAST(A.z AS INT); A.b * 127Y * 2Y; -A.l * 9223372036854775807L * 2
"""


def listed(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";")]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    """One row as the relation A."""
    row = {**ROW, "ts": None, "nt": None, "z": None}
    schema = SCHEMA.replace("\n", " ")
    frame = spark.createDataFrame([tuple(row.values())], schema=schema)
    return frame.selectExpr(
        *(name for name in row if name not in ("ts", "nt", "z")),
        "TIMESTAMP '2020-01-31 10:11:12.5' AS ts",
        "TIMESTAMP_NTZ '2020-01-31 10:11:12.5' AS nt",
        "DOUBLE('NaN') AS z",
    ).alias("A")


def ours(expression: str) -> tuple[Typed, str]:
    """The expression as the oracle understands it, and its column's name ("" where it knows none)."""
    parsed = program(f"STREAM A ({SCHEMA}) EVENT TIME at; QUERY q RETURN {expression} PATTERN A WITHIN 1 s;")
    (item,) = next(s for s in parsed.statements if isinstance(s, ast.Query)).returns.items
    events: Events = read(parsed, [])

    def leaf(node: ast.Expression) -> Typed | None:
        return events.column(node.parts[1:], None) if isinstance(node, ast.Reference) else None

    return compiled(item.expression, leaf), "" if "INTERVAL" in expression else column_name(item, ())


def plain(value: object) -> object:
    """Comparable: NaN as text, times without their zone."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


@pytest.mark.spark
def test_expressions_have_the_type_and_the_value_that_spark_gives_them(table: DataFrame) -> None:
    texts = listed(VALUES)
    frame = table.selectExpr(*texts)
    values = list(frame.collect()[0])
    wrong = []
    for text, spark_type, value in zip(texts, frame.schema, values, strict=True):
        typed, _ = ours(text)
        kind = spark_type.dataType.simpleString().upper().replace("VOID", "NULL")
        mine = "INTERVAL" if typed.type.name.startswith("INTERVAL") else type_name(typed.type)
        got = typed.run({None: ROW})
        if plain(got) != plain(value) or mine != ("INTERVAL" if kind.startswith("INTERVAL") else kind):
            wrong.append((text, "Spark:", kind, value, "oracle:", mine, got))
    assert wrong == []


@pytest.mark.spark
def test_what_fails_in_spark_fails_in_the_oracle(table: DataFrame) -> None:
    from pyspark.errors import PySparkException

    for text in listed(FAILURES):
        with pytest.raises(PySparkException):
            table.selectExpr(text).collect()
        with pytest.raises(EvaluationError):
            ours(text)[0].run({None: ROW})


@pytest.mark.spark
def test_columns_without_as_have_the_names_that_spark_gives_them(table: DataFrame) -> None:
    texts = [text for text in listed(VALUES) if "INTERVAL" not in text and text not in ("A.dt + 1", "A.dt - 1")]
    names = table.selectExpr(*texts).columns
    assert [(text, ours(text)[1]) for text in texts] == list(zip(texts, names, strict=True))


def test_intervals_are_timedeltas() -> None:
    assert ours("A.ts - A.dt")[0].run({None: ROW}) == timedelta(hours=10, minutes=11, seconds=12.5)
