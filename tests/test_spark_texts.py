"""Values that stand as text in CSV and JSON are the same ones to Spark and in process, or none to both."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

import cepc
from cepc.reading.json_values import Exact, column_of
from cepc.reading.text_values import BadValueError, from_text
from cepc_runtime.spark.source import OF_TEXT, of_csv
from cepc_runtime.spark.texts import Texts
from cepc_runtime.sql.evaluate.arrays import conform, to_values
from cepc_runtime.sql.types import (  # fmt: skip
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    Map,
    Struct,
    StructField,
)
from tests.spark_agreement import same
from tests.spark_programs import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from cepc_runtime.sql.types import DataType

pytestmark = pytest.mark.spark

SINGLE: dict[str, DataType] = {
    "ti": TINYINT, "si": SMALLINT, "i": INT, "l": BIGINT, "f": FLOAT, "d": DOUBLE, "b": BOOLEAN, "s": STRING,
    "de": Decimal(10, 2), "whole": Decimal(38, 0), "small": Decimal(5, 5), "dt": DATE, "ts": TIMESTAMP,
    "nt": TIMESTAMP_NTZ,
}  # fmt: skip
NESTED: dict[str, DataType] = {
    **{f"array_{name}": Array(type_) for name, type_ in SINGLE.items()},
    **{f"map_{name}": Map(STRING, type_) for name, type_ in SINGLE.items()},
    **{
        f"struct_{name}": Struct((StructField("a b", type_), StructField("c", Array(type_))))
        for name, type_ in SINGLE.items()
    },
}
TEXTS = (
    "1", "-1", "+1", "0", "-0", "007", "1.0", "1.", "0.5", ".5", "1e3", "1E-2", "15e-1", "1.5e+2", "NaN", "nan", "-NaN", "Infinity",
    "-Infinity", "inf", "+INF", "true", "TRUE", "false", "False", "t", "yes", "1b", "1L", "1d", "1f", "0x10", "0x1p3", "1_000", "1,5", "1 000", "127", "128",
    "-129", "32768", "2147483648", "9223372036854775807", "9223372036854775808", "99999999.99", "100000000", "1e37", "3.5e38", "1e308",
    "1e309", "1e-400", "9" * 38, "9" * 39, "340282366920938463463374607431768211457", "2026-01-02", "2026-1-2", "20260102", "2026-02-30",
    "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05.123456",
    "2026-01-02 03:04:05.1234567", "2026-01-02 03:04:05+01:00", "2026-01-02 03:04:05 UTC", "2026-01-02 03:04:05+18:00", "2026-01-02 03:04:05-18:01", "2026-01-02T03:04:05+23:59", "2026-01-02 03:04", "2026-01-02 03", "2026-01-02T",
    "2026-01-02 24:00:00", "2026-01-02 23:59:60", "03:04:05", "1772445600", "null", "NULL", "", " ", "\t1", " 1 ", "\N{NO-BREAK SPACE}1", "é",
    "😀", "\\N", "\\", '"', 'a"b', '""', "a,b", "a\\,b", "'1'", "#1", "1/2", "--1", "1-", "0.30000000000000004", "3.5e38", "1e-46", "16777217",
)  # fmt: skip
CHANGES = '0123456789+-.eETZ: ,_dfNaI"\\'


def texts_of(random: Random, count: int) -> list[str]:
    """Each of TEXTS, and some of them with a character more, less or another."""
    found = list(TEXTS)
    while len(found) < count:
        text = [*random.choice(TEXTS)]
        for _ in range(random.randint(1, 2)):
            place = random.randrange(len(text) + 1)
            text[place : place + random.randint(0, 1)] = random.choice(["", random.choice(CHANGES)])
        found.append("".join(text))
    return found


@dataclass(frozen=True)
class Compared:
    differences: tuple[str, ...]
    common: Counter[str]
    """How often both had a value of each column."""


def compared(
    spark: SparkSession,
    path: Path,
    texts: Texts,
    columns: dict[str, DataType],
    records: Sequence[tuple[str, str, str]],
    ours: Callable[[str, DataType], Any],
) -> Compared:
    """Records that have a value in one column each: its name, the value as it is written, the record."""
    header = [f"id,{','.join(columns)}\n"] if texts.form == "csv" else []
    path.write_text("".join([*header, *(record for _, _, record in records)]), newline="\n")
    schema = T.StructType([T.StructField(name, T.DataType.fromDDL(type_.sql)) for name, type_ in columns.items()])
    own = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt"}
    options = {**OF_TEXT, **(of_csv({}) if texts.form == "csv" else {}), **own}
    as_read = [
        T.StructField("id", T.LongType()),
        *texts.as_read(schema).fields,
        T.StructField("_corrupt", T.StringType()),
    ]
    events = spark.read.options(**options).schema(T.StructType(as_read)).format(texts.form).load(str(path))
    wrong = F.col("_corrupt").isNotNull() | texts.has_wrong(schema)
    table = events.select("id", *map(texts.value_or_null, schema.fields), wrong.alias("_wrong")).orderBy("id").toArrow()
    assert table.column("id").to_pylist() == [*range(len(records))]
    bad = table.column("_wrong").to_pylist()
    theirs = {name: to_values(conform(table.column(name), type_), type_) for name, type_ in columns.items()}
    found, common = list[str](), Counter[str]()
    for i, (name, value, _) in enumerate(records):
        said = "no value" if bad[i] else theirs[name][i]
        try:
            expected = to_values(ours(value, columns[name]), columns[name])[0]
        except BadValueError:
            expected = "no value"
        common[name] += not bad[i]
        if not same(expected, said):
            found.append(f"{columns[name].sql} {value!r}: {expected!r}, to Spark {said!r}")
    return Compared(tuple(found), common)


@pytest.mark.long
def test_texts_of_csv_are_the_same_values(spark: SparkSession, tmp_path: Path) -> None:
    given = [(name, text) for text in texts_of(Random(7), 600) for name in SINGLE]
    places = list(SINGLE)
    records = []
    for i, (name, text) in enumerate(given):
        place, quoted = places.index(name), '"' + text.replace('"', '""') + '"'
        records.append((name, text, f"{i},{',' * place}{quoted}{',' * (len(places) - 1 - place)}\n"))
    found = compared(
        spark, tmp_path / "e.csv", Texts("csv"), SINGLE, records, lambda t, to: from_text(pa.array([t]), to)
    )
    assert found.differences == ()
    assert min(found.common[name] for name in SINGLE) > 5, found.common


@pytest.mark.long
@pytest.mark.parametrize("raw", [False, True], ids=["strings", "as they are"])
def test_values_of_json_are_the_same_values_at_any_depth(spark: SparkSession, tmp_path: Path, raw: bool) -> None:
    columns = SINGLE | NESTED
    given = texts_of(Random(8), 300)
    written = [text for text in given if is_json(text) and text.strip("-") != "0"] if raw else map(json.dumps, given)
    shapes = [(name, shaped(name, text)) for text in written for name in columns]
    records = [(name, value, f'{{"id": {i}, "{name}": {value}}}\n') for i, (name, value) in enumerate(shapes)]

    def ours(text: str, type_: DataType) -> Any:
        return column_of([json.loads(text, parse_float=Exact)], type_)

    found = compared(spark, tmp_path / "e.json", Texts("json"), columns, records, ours)
    assert found.differences == ()
    assert sum(found.common.values()) > 1_000, found.common


def shaped(name: str, text: str) -> str:
    shape = name.partition("_")[0]
    shapes = {"array": f"[null, {text}]", "map": f'{{"k": {text}}}', "struct": f'{{"a b": {text}, "c": [{text}]}}'}
    return shapes.get(shape, text)


def is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=lambda _: [][0])
    except (ValueError, IndexError):
        return False
    return True


NESTED_STREAM = """STREAM s (id BIGINT, `in${x}` STRUCT<x DECIMAL(10, 2)>, days ARRAY<DATE>) EVENT TIME id;
QUERY q RETURN MATCH s.id AS id, s.`in${x}`.x AS x, s.days AS days PATTERN s WITHIN 1 s;
"""


def test_values_inside_of_others_are_those_that_they_are_in_process(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text('{"id": 1, "in${x}": {"x": "1.50"}, "days": ["2026-03-02", null]}\n{"id": 2, "in${x}": {}}\n')
    program = cepc.compile(NESTED_STREAM)
    found = rows_of(program.spark(str(path), session=spark)["q"])
    assert found == program.run(path)["q"].to_pylist()
    assert str(found[0]["x"]) == "1.50"
    path.write_text('{"id": 1, "in${x}": {"x": "1,5"}}\n')
    with pytest.raises(Exception, match=r"`1,5` is no DECIMAL\(10,2\)"):
        program.spark(str(path), session=spark)["q"].collect()


def test_csv_is_what_it_is_in_process(spark: SparkSession, tmp_path: Path) -> None:
    """Quotes in a value are doubled, backslashes are plain, and nothing is not the empty string."""
    path = tmp_path / "e.csv"
    path.write_text('id,s,n\n1,"a""b",1\n2,"c\\",2\n3,\\N,3\n4,"",4\n5,,5\n6,"x, y",\n')
    program = cepc.compile(
        "STREAM s (id BIGINT, s STRING, n INT) EVENT TIME id;"
        "QUERY q RETURN MATCH s.id AS id, s.s AS s, s.n AS n PATTERN s WITHIN 1 s;"
    )
    found = sorted(rows_of(program.spark(str(path), session=spark)["q"]), key=lambda row: row["id"])
    assert found == program.run(path)["q"].to_pylist()
    assert [row["s"] for row in found] == ['a"b', "c\\", "\\N", "", None, "x, y"]
