"""The catalogue, the typing, the evaluator and the SQL text against Spark itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepc.expressions import ExpressionContext, column_name, type_expression
from cepc_runtime.sql.expression import Literal
from cepc_runtime.sql.functions import find
from cepc_runtime.sql.functions.spark import find_spark, spark_functions
from cepc_runtime.sql.literal import literal_sql
from cepc_runtime.sql.types import STRING
from tests.expression_scope import COLUMNS, World, typed, written
from tests.expression_texts import expressions
from tests.spark_agreement import VIEW, Rows, column_sql, differences, edge_rows
from tests.test_expression_ir import LITERALS
from tests.test_expression_typing import TYPED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepc_runtime.sql.expression import Expression

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    found = Rows.of(edge_rows())
    found.register(spark)
    return found


def cases(texts: list[str]) -> list[tuple[str, Expression]]:
    return [(text, typed(text, ExpressionContext.EVENT)) for text in texts]


# ---- values ----------------------------------------------------------------------------------------------------------

GROUPS: dict[str, str] = {
    "arithmetic": """
        i + 1; i + l; i * 2000000000; l - 1; l * 2; d / i; i / d; 1 / i; i % ti; l % i; d % 2; f % 0.3F; i DIV 2; l DIV i;
        pmod(i, -3); pmod(d, 1.5D); de + 1; de - i; de + l; de * de; de * l; de / 3; de / l; de % 7; pmod(de, -3);
        de DIV 3; de + 0.001; de + 12Y; -ti; -d; -de; abs(l); abs(iv); d + f; f * f; ti + ti; try_add(i, 2147483647);
        try_multiply(i, i); try_divide(de, i); try_mod(i, ti); i & 3; l | i; i ^ si; ~l; i << 33; l << 65; i >> 2;
        i >>> 1; l >>> 1; bit_count(ti); bit_count(bo)""",
    "comparison": """
        i = d; d = d; f > 1; d <=> NULL; d < f; d >= f; d <> d; s < 'b'; s <= bi; bo < true; de > i; dt < ts; nt > ts;
        iv > interval 1 hour; ar = ar; ar <= ar; st = st; st < st; i IS DISTINCT FROM l; bo AND i / ti > 1;
        bo OR i / ti > 1; i IN (1, NULL); d IN (0, 1.5); s NOT IN ('abc', NULL); i IN (0,1,2,3,4,5,6,7,8,9,10,11,12);
        i BETWEEN -10 AND l; bo IS NOT FALSE; bo IS UNKNOWN; greatest(d, f, 1); least(dt, ts); greatest(de, i);
        ts > '2020-01-01'; dt = '2020-02-29'; i = '12'; ar <=> NULL; i IN (1, i DIV ti)""",
    "choice": """
        CASE WHEN i > 0 THEN 1 / i ELSE 0 END; CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE s END; coalesce(i, l, 1);
        coalesce(i, 10 / ti); nvl(s, 'x'); nvl2(s, i, l); nullif(d, 0); if(bo, i, d); isnan(f); nanvl(d, 1 / ti);
        zeroifnull(i); nullifzero(i); coalesce(de, l); coalesce(dt, ts)""",
    "text": r"""
        s LIKE '%b%'; s LIKE 'a%'; s LIKE '_'; s LIKE ''; s LIKE '%'; s LIKE 'a!%b%' ESCAPE '!'; s NOT LIKE '%a%';
        s ILIKE 'ÜNÏ'; s RLIKE '[a-c]+'; s RLIKE '\\d'; s RLIKE '(?i)ABC'; s RLIKE '\\p{Alpha}'; upper(s); lower(s);
        length(s); length(bi); octet_length(s); bit_length(s); trim(s); trim('a', s); ltrim('ab', s); btrim(s, 'a');
        trim('', s); substring(s, 2); substring(s, -10, 9); substring(s, i, 2); substring(s, 2, i); substring(bi, 2);
        left(s, i); right(s, ti); s || 'x' || i; concat(bi, bi); concat(ar, ar); concat(); concat_ws('-', s, 'x', i);
        concat_ws(',', cast(ar AS ARRAY<STRING>), s); contains(s, 'b'); startswith(s, s); endswith(bi, bi);
        replace(s, 'b', 'XX'); replace(s, ''); instr(s, ''); locate('b', s, 2); locate('', s, 2); locate('a', s, NULL);
        lpad(s, 5, 'xy'); lpad(s, i % 10); rpad(s, 4, ''); lpad(bi, 3); repeat(s, ti % 3); reverse(ar);
        split_part(s, ',', -1); split_part(s, ',', ti); translate(s, 'aab', 'xy'); ascii(s); chr(l); space(ti % 5)""",
    "casts": """
        cast(d AS INT); cast(f AS INT); cast(d AS BIGINT); cast(de AS TINYINT); cast(l AS INT); cast(d AS STRING);
        cast(5e-324D AS STRING); cast(6e-323D AS STRING); cast(cast(1e-45D AS FLOAT) AS STRING);
        cast(f AS STRING); cast(ts AS STRING); cast(dt AS STRING); cast(iv AS STRING); cast(ar AS STRING);
        cast(st AS STRING); cast(ma AS STRING); cast(s AS INT); cast(s AS DOUBLE); cast(s AS FLOAT);
        cast(s AS DECIMAL(5,1)); cast(s AS BOOLEAN); cast(s AS DATE); cast(s AS TIMESTAMP); cast(s AS TIMESTAMP_NTZ);
        try_cast(s AS INT); try_cast(s AS DATE); try_cast(d AS DECIMAL(4,1)); cast(d AS DECIMAL(20,3));
        cast(f AS DECIMAL(20,3)); cast(l AS DECIMAL(38,10)); cast(de AS DECIMAL(5,1)); cast(de AS DECIMAL(10,0));
        try_cast(de AS DECIMAL(5,1)); cast(de AS DOUBLE); cast(l AS FLOAT); cast(d AS FLOAT); cast(bo AS DECIMAL(5,2));
        cast(d AS BOOLEAN); cast(ts AS INT); cast(ts AS DOUBLE); cast(ts AS DECIMAL(20,6)); cast(nt AS DATE);
        cast(dt AS TIMESTAMP); cast(l AS TIMESTAMP); cast(d AS TIMESTAMP); cast(de AS TIMESTAMP);
        try_cast(ar AS ARRAY<TINYINT>); cast(ma AS MAP<STRING, DOUBLE>); cast(st AS STRUCT<p: STRING, q: STRUCT<r: INT>>)""",
    "times": """
        year(dt); quarter(dt); month(nt); weekofyear(dt); day(ts); dayofweek(dt); weekday(dt); dayofyear(dt); dayname(dt);
        hour(ts); minute(nt); second(ts); EXTRACT(SECOND FROM ts); EXTRACT(HOUR FROM iv); EXTRACT(SECOND FROM iv);
        EXTRACT(YEAROFWEEK FROM dt); date_trunc('quarter', ts); date_trunc('week', ts); date_trunc(s, ts);
        ts + interval 1 hour; nt - interval 90 minutes; dt + iv; dt + interval 1 day; ts - nt; dt - dt; dt + i; dt - ti;
        dt - try_cast('300000' as date);
        date_add(dt, i); datediff(dt, ts); iv * d; iv * de; iv / d; iv / de; iv / i; iv DIV iv; iv + iv;
        add_months(dt, i); last_day(dt); make_date(2020, ti, 30); make_date(i, 2, 28); unix_seconds(ts); unix_millis(ts);
        unix_timestamp(ts); timestamp_seconds(d); timestamp_seconds(de); timestamp_millis(l);
        to_timestamp(s, 'yyyy-MM-dd'); try_to_timestamp(s, 'yyyy-MM-dd HH:mm:ss.S');
        to_timestamp('02.03.2026', 'dd.MM.yyyy'); try_to_timestamp('no time', 'dd.MM.yyyy') IS NULL; to_date(ts); unix_date(dt);
        date_from_unix_date(i)""",
    "nested": "ar[0]; ar[ti]; ma['x']; ma[s]; st.x; st.in.y; element_at(ar, ti); element_at(ma, 'x'); size(ar); size(ma); "
    "array_contains(ar, i)",
    "spellings": """
        !bo; ! i > 1; !bo AND bo; !bo IS NULL; !(bo OR i > 1); substring(s FROM 2 FOR 3); substr(s FROM i); trim('a' FROM s);
        trim(BOTH FROM s); trim(leading FROM s); trim(TRAILING FROM s);
        INTERVAL '1 02:03:04.5' DAY TO SECOND; INTERVAL '-1 02' DAY TO HOUR; INTERVAL '90:10' MINUTE TO SECOND;
        ts + INTERVAL '+26:03' HOUR TO MINUTE; ts - INTERVAL '0 00:00:00.000001' DAY TO SECOND; INTERVAL 1.5 SECONDS;
        dt + INTERVAL '1 00' DAY TO HOUR; INTERVAL '1 2:3' day to minute""",
    "rounding": """
        round(d, 1); round(d); round(d, -2); round(f, 1); round(i, -1); round(l, -3); round(de, 1); round(de, -1);
        bround(d); bround(de, 1); bround(i, -1); ceil(d); ceil(f); ceil(de); floor(d); ceil(d, 1); floor(de, 1);
        floor(i, -2); rint(d); sqrt(d); sign(d); degrees(d); radians(d); pow(i, 2)""",
}  # fmt: skip


def written_in(group: str) -> list[tuple[str, Expression]]:
    return cases([" ".join(text.split()) for text in GROUPS[group].split(";")])


@pytest.mark.parametrize("group", GROUPS)
def test_written_expressions_agree_with_spark(spark: SparkSession, rows: Rows, group: str) -> None:
    assert differences(spark, rows, written_in(group)) == []


@pytest.mark.parametrize(
    "group",
    [pytest.param(group, marks=pytest.mark.long if group in ("casts", "text", "times") else ()) for group in GROUPS],
)
def test_expressions_as_jobs_have_them_agree_with_spark(spark: SparkSession, rows: Rows, group: str) -> None:
    assert differences(spark, rows, [(column_sql(e), e) for _, e in written_in(group)]) == []


def test_logarithms_and_angles_agree_but_for_the_last_digits(spark: SparkSession, rows: Rows) -> None:
    text = """exp(d); expm1(d); ln(d); log(2, d); log(d, l); log2(d); log10(d); log1p(d); pow(d, d); pow(i, 0.5); cbrt(d); sin(d);
        cos(d); tan(d); asin(d); acos(d); atan(d); atan2(d, f); sinh(d); cosh(d); tanh(d); hypot(d, f)"""
    assert differences(spark, rows, cases([" ".join(t.split()) for t in text.split(";")]), digits=3) == []


@settings(suppress_health_check=list(HealthCheck), max_examples=max(1, settings().max_examples // 5))
@given(st.lists(expressions(), min_size=20, max_size=20, unique=True))
def test_random_expressions_agree_with_spark(spark: SparkSession, rows: Rows, texts: list[str]) -> None:
    known: list[tuple[str, Expression]] = []
    for text in texts:
        expression, diagnostics = type_expression(written(text), World(), ExpressionContext.EVENT)
        if expression is not None:
            known.append((text, expression))
        else:
            assert spark_refuses(spark, text), f"{text}: {[d.label for d in diagnostics]}"
    assert differences(spark, rows, known) == []


def spark_refuses(spark: SparkSession, text: str) -> bool:
    try:
        spark.sql(f"SELECT {text} FROM {VIEW}")
    except Exception:
        return True
    return False


# ---- types -----------------------------------------------------------------------------------------------------------


COERCIONS = [
    "{} + {}",
    "{} = {}",
    *(
        pytest.param(form, marks=pytest.mark.long)
        for form in ("coalesce({}, {})", "{} / {}", "concat({}, {})", "pow({}, {})")
    ),
]


@pytest.mark.long
@pytest.mark.parametrize("form", COERCIONS)
def test_coercions_of_every_pair_of_types(spark: SparkSession, rows: Rows, form: str) -> None:
    del rows
    names = [n for n in (*COLUMNS, "NULL") if n not in ("ma", "st")]
    wrong = []
    for a in names:
        for b in names:
            text = form.format(a, b)
            expression, _ = type_expression(written(text), World(), ExpressionContext.EVENT)
            ours = None if expression is None else expression.type.sql
            theirs = spark_type(spark, text)
            if ours != theirs and (form, a, b) not in DELIBERATE:
                wrong.append(f"{text}: {ours}, in Spark {theirs}")
    assert wrong == []


DELIBERATE = {("concat({}, {})", "ar", "NULL"), ("concat({}, {})", "NULL", "ar")}
"""Pairs that are accepted here and not by Spark, where a bare NULL stands beside an array."""


def spark_type(spark: SparkSession, text: str) -> str | None:
    try:
        type_ = spark.sql(f"SELECT {text} AS x FROM {VIEW}").schema[0].dataType.simpleString().upper()
    except Exception:
        return None
    return type_


# ---- text ------------------------------------------------------------------------------------------------------------

HOSTILE = ["", "'", "''", "\\", "\\'", "\\\\'", "' OR '1'='1", "'); DROP TABLE x; --", "/* */", "${env:PATH}", "${spark.app.name}",
           "a\nb\r\n\t\0", "\u2028\u00ad\ufeff", "%_\\%", "\\u0041", "\\n", "日本語 😀 Ünï", '"', "`", "\x7f\x1b[31m"]  # fmt: skip


def test_strings_reach_spark_as_they_are(spark: SparkSession) -> None:
    columns = ", ".join(f"{literal_sql(Literal(text, STRING))} AS c{i}" for i, text in enumerate(HOSTILE))
    (row,) = spark.sql(f"SELECT {columns}").collect()
    assert list(row) == HOSTILE


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=30))
@settings(suppress_health_check=list(HealthCheck), max_examples=10)
def test_any_string_reaches_spark_as_it_is(spark: SparkSession, texts: list[str]) -> None:
    (row,) = spark.sql("SELECT " + ", ".join(literal_sql(Literal(text, STRING)) for text in texts)).collect()
    assert list(row) == texts


def test_literals_have_their_types_in_spark(spark: SparkSession) -> None:
    known = [literal for literal, _ in LITERALS if literal.type.sql != "VOID"]
    schema = spark.sql("SELECT " + ", ".join(literal_sql(literal) for literal in known)).schema
    assert [f.dataType.simpleString().upper() for f in schema] == [literal.type.sql for literal in known]


def test_hostile_names_are_columns(spark: SparkSession) -> None:
    from cepc_runtime.sql.spark_sql import to_sql
    from cepc_runtime.sql.types import INT

    names = ["a b", "a`b", "`", "select", "a.b", "x'; --", "日本"]
    spark.createDataFrame([tuple(range(len(names)))], names).createOrReplaceTempView("hostile")
    from cepc_runtime.sql.expression import Field

    columns = ", ".join(to_sql(Field(None, n, "each", INT), lambda leaf: getattr(leaf, "column", "")) for n in names)
    (row,) = spark.sql(f"SELECT {columns} FROM hostile").collect()
    assert list(row) == list(range(len(names)))


# ---- names of columns ------------------------------------------------------------------------------------------------

SAME_NAMES = [
    text
    for text, _, _ in TYPED
    if "dt" not in text and "nt" not in text and "-INTERVAL" not in text and "st." not in text
]
NAMES = """double(i + 1); decimal(i); CAST(double(i) AS INT); abs(double(i)); int('12') = i; int(double(i)); i+1; d * (i + 1); -i; -(i + 1); - 1; ~i; NOT bo; i = 1; i <> 1; i <=> 1; i NOT BETWEEN 1 AND 2; i NOT IN (1,2); s LIKE 'x%';
    s NOT LIKE 'x'; s ILIKE 'x'; s RLIKE 'x'; s LIKE 'x' ESCAPE '!'; CASE WHEN i>1 THEN 1 ELSE 2 END; CASE i WHEN 1 THEN 'x' END;
    i IS NOT NULL; bo IS NOT TRUE; bo IS UNKNOWN; i IS DISTINCT FROM 1; i IS NOT DISTINCT FROM 1; EXTRACT(HOUR FROM ts); ar[0];
    s || 'x' || s; i DIV 2; 1.50; 1e3; 1L; 1e10D; 'it\\'s'; NULL; TRUE; DATE '2020-01-02'; TIMESTAMP '2020-01-02 03:04:05.5';
    INTERVAL 1 HOUR 30 MINUTES; ts + INTERVAL 1 HOUR; X'1F'; substring(s, 1); nvl(i, 1); if(i > 1, 1, 2); POWER(i, 2); ceil(d);
    ceiling(d); round(d); SQRT(d); log(d); ln(d); tan(d); signum(d); pi(); isnull(i); locate('a', s); lpad(s, 2); replace(s, 'a');
    rlike(s, 'a'); trim('x', s); cast(i AS STRING); cast(i + 1 AS STRING); cast(cast(i AS INT) AS STRING); ma['k'];
    sum(i); count(*); count(i); avg(i + 1); min(i) + max(i); cast(sum(i) AS STRING)"""


def test_columns_are_named_as_spark_names_them(spark: SparkSession, rows: Rows) -> None:
    del rows
    wrong = []
    for text in [*SAME_NAMES, *(" ".join(t.split()) for t in NAMES.split(";"))]:
        theirs = spark.sql(f"SELECT {text} FROM {VIEW}").columns[0]
        if column_name(written(text)) != theirs:
            wrong.append(f"{text}: {column_name(written(text))}, in Spark {theirs}")
    assert wrong == []


# ---- functions -------------------------------------------------------------------------------------------------------


def test_every_function_of_spark_is_known(spark: SparkSession) -> None:
    names = {row[0] for row in spark.sql("SHOW FUNCTIONS").collect()}
    syntax = {"and", "or", "not", "in", "case", "when", "cast", "extract"}
    builtin = {n for n in names if n[0].isalpha() and n not in syntax}
    assert {n for n in builtin if find(n) is None and find_spark(n, 1) is None} == set()
    assert {n for n in spark_functions() if n not in names} == set()


def test_spark_only_functions_have_the_types_that_are_claimed(spark: SparkSession, rows: Rows) -> None:
    del rows
    calls = {
        "soundex(s)", "levenshtein(s, s)", "md5(bi)", "sha2(bi, 256)", "crc32(bi)", "hash(i)", "xxhash64(i, s)", "unhex(s)",
        "date_format(ts, 'yyyy')", "regexp_extract(s, 'a', 0)", "regexp_replace(s, 'a', 'b')", "split(s, ',')", "hex(i)",
        "months_between(ts, ts)", "next_day(dt, 'MO')", "to_json(st)", "get_json_object(s, '$.a')", "base64(bi)",
        "format_number(d, 2)", "array_join(cast(ar AS ARRAY<STRING>), '-')", "from_unixtime(l)", "factorial(5)",
        "to_unix_timestamp(s, 'yyyy')", "array_position(ar, 1)",
    }  # fmt: skip
    for text in sorted(calls):
        assert spark_type(spark, text) == typed(text, ExpressionContext.EVENT).type.sql, text


def test_data_of_an_expression_is_text_that_json_reads() -> None:
    from cepc_runtime.sql.expression import to_data

    for text, _, _ in TYPED:
        json.loads(json.dumps(to_data(typed(text, ExpressionContext.EVENT))))
