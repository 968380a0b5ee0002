"""Times in CSV and JSON by a pattern that options say: in every engine as Spark's readers have it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import cepc
from cepc.cli import cepc as command
from cepc.reading.files import OptionError
from cepc.reading.time_formats import time_formats
from cepc_runtime.sql.time_patterns import parse, parse_date
from cepc_runtime.sql.types import TIMESTAMP
from tests.equivalence import ABOUT, same
from tests.test_time_patterns import NOT_READ, READ

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
VALUES: list[tuple[str, str, str, str, object]] = [
    ("TIMESTAMP", "timestampFormat", "dd.MM.yyyy HH:mm", "31.01.2026 12:30", NOON),
    ("TIMESTAMP", "timestampformat", "yyyyMMddHHmmss", "20260131123000", NOON),
    ("TIMESTAMP", "timestampFormat", "d/M/yyyy H:mm XXX", "31/1/2026 13:30 +01:00", NOON),
    ("TIMESTAMP", "timestampFormat", "yyyy", "2026", datetime(2026, 1, 1, tzinfo=UTC)),
    ("TIMESTAMP_NTZ", "timestampNTZFormat", "dd.MM.yyyy HH:mm", "31.01.2026 12:30", NOON.replace(tzinfo=None)),
    ("DATE", "dateFormat", "d/M/yyyy", "31/1/2026", date(2026, 1, 31)),
    ("DATE", "dateFormat", "dd.MM.yyyy HH:mm", "31.12.1969 23:59", date(1969, 12, 31)),
    ("DATE", "timestampFormat", "dd.MM.yyyy", "2026-01-31", date(2026, 1, 31)),
    ("TIMESTAMP", "dateFormat", "dd.MM.yyyy", "2026-01-31T12:30:00Z", NOON),
]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def program(form: str, option: str, pattern: str, type_: str) -> str:
    return f"""STREAM s (at BIGINT, v {type_}) FROM {form} 'e.{form}' OPTIONS ({option} = '{pattern}') EVENT TIME at UNIT s;
    QUERY q RETURN MATCH s.v AS v PATTERN s WITHIN 1 s;"""


def read(form: str, option: str, pattern: str, type_: str, value: object) -> list[Any]:
    """The values of `v` of two records, of which the second has none."""
    lines = {"csv": f"at,v\n1,{value}\n2,\n", "json": f'{{"at": 1, "v": {json.dumps(value)}}}\n{{"at": 2}}\n'}
    Path(f"e.{form}").write_text(lines[form])
    found: list[Any] = cepc.compile(program(form, option, pattern, type_)).run()["q"].column("v").to_pylist()
    return found


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize(("type_", "option", "pattern", "text", "value"), VALUES)
def test_a_time_is_read_by_the_pattern_of_its_type(
    form: str, type_: str, option: str, pattern: str, text: str, value: object
) -> None:
    assert read(form, option, pattern, type_, text) == [value, None]


def test_times_within_a_value_of_json_have_the_same_form() -> None:
    nested = {"a": ["31.01.2026", None], "m": {"x": "01.02.2026"}}
    type_ = "STRUCT<a: ARRAY<DATE>, m: MAP<STRING, DATE>>"
    assert read("json", "dateFormat", "dd.MM.yyyy", type_, nested) == [
        {"a": [date(2026, 1, 31), None], "m": [("x", date(2026, 2, 1))]},
        None,
    ]


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("text", ["2026-01-31", "32.01.2026", "31.1.2026", "31.01.2026 "])
def test_a_value_of_another_form_is_a_bad_record(form: str, text: str) -> None:
    with pytest.raises(cepc.DataError) as caught:
        read(form, "dateFormat", "dd.MM.yyyy", "DATE", text)
    said = str(caught.value)
    assert "is no DATE for `v`" in said
    assert "it is not of the form `dd.MM.yyyy`" in said
    assert cepc.compile(program(form, "dateFormat", "dd.MM.yyyy", "DATE")).run(skip_bad=True)["q"].num_rows == 1


def test_a_time_of_another_form_says_which_option_helps() -> None:
    with pytest.raises(cepc.DataError, match=r"; OPTIONS \(timestampFormat = '…'\) says another form"):
        read("csv", "dateFormat", "dd.MM.yyyy", "TIMESTAMP", "31.01.2026")
    Path("p.cep").write_text(program("csv", "dateFormat", "dd.MM.yyyy", "TIMESTAMP"))
    typed = CliRunner().invoke(command, ["run", "p.cep"]).stderr
    assert "`--option timestampFormat=…` or OPTIONS (timestampFormat = '…') says another form" in typed


@pytest.mark.parametrize(
    ("option", "pattern", "said", "hint"),
    [
        ("timestampFormat", "DD.MM.YYYY HH:MM:SS", "is no pattern that is read here", "mean `dd.MM.yyyy HH:mm:ss`?"),
        ("timestampFormat", "yyyy-mm-dd HH:mm:ss", "is no pattern that is read here", "mean `yyyy-MM-dd HH:mm:ss`?"),
        ("timestampFormat", "%d.%m.%Y %H:%M", "is no pattern that is read here", "mean `dd.MM.yyyy HH:mm`?"),
        ("timestampFormat", "d MMM yyyy", "is no pattern that is read here", "`--engine spark`"),
        ("timestampNTZFormat", "yyyy-MM-dd HH:mm XXX", "has no zone", "write `yyyy-MM-dd HH:mm`"),
        ("dateFormat", "yyyy-MM-ddXXX", "has no zone", "write `yyyy-MM-dd`"),
        ("dateFormat", "dd.MM", "has a year", "declare a STRING"),
        ("dateFormat", "dd.mm.yyyy", "has a day and no month", "mean `dd.MM.yyyy`?"),
        ("timestampFormat", "yyyy-mm-dd HH", "has a day and no month", "mean `yyyy-MM-dd HH`?"),
        (
            "timestamp_format",
            "yyyy",
            "there is no option `timestamp_format`; there are timestampFormat",
            "did you mean `timestampFormat`?",
        ),
    ],
)
def test_a_wrong_option_is_an_error_with_a_cure(option: str, pattern: str, said: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        time_formats([(option, pattern)])
    assert said in str(caught.value)
    assert hint in caught.value.hint
    with pytest.raises(cepc.DataError, match="E0718"):
        read("json", option, pattern, "TIMESTAMP", "x")


def test_the_last_of_two_patterns_counts() -> None:
    assert time_formats([("timestampFormat", "yyyy"), ("timestampformat", "MM.yyyy")]).of(TIMESTAMP) == "MM.yyyy"


@pytest.mark.spark
def test_the_readers_of_spark_take_the_same_texts(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    every = [(pattern, text) for pattern, text, _ in READ] + NOT_READ
    for pattern in dict.fromkeys(pattern for pattern, _ in every if "yyyy" in pattern and "'" not in pattern):
        texts = [text for of, text in every if of == pattern] + [text for _, text in every[::4] if text]
        frame = spark.createDataFrame([(i, f"{i}|{text}") for i, text in enumerate(texts)], "i INT, line STRING")
        for type_, option, ours in (("TIMESTAMP", "timestampFormat", parse), ("DATE", "dateFormat", parse_date)):
            if type_ == "DATE" and "XXX" in pattern:
                continue
            options = {option: pattern, "delimiter": "|", "mode": "PERMISSIVE", "ignoreLeadingWhiteSpace": "false"}
            value = F.from_csv("line", f"i INT, v {type_}", options | {"ignoreTrailingWhiteSpace": "false"})["v"]
            number = F.unix_micros(value) if type_ == "TIMESTAMP" else F.unix_date(value)
            found = {texts[row.i]: row.found for row in frame.select("i", number.alias("found")).collect()}
            assert found == {text: ours(text, pattern) if text else None for text in texts}, (type_, pattern)


@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", "json"])
def test_spark_reads_what_the_options_of_from_say(spark: SparkSession, form: str) -> None:
    text = f"""STREAM s (at TIMESTAMP, n TIMESTAMP_NTZ, d DATE) FROM {form} '{Path.cwd()}/e.{form}'
    OPTIONS (timestampFormat = 'dd.MM.yyyy HH:mm', timestampNTZFormat = 'yyyy/MM/dd HH', dateFormat = 'd.M.yyyy')
    EVENT TIME at; QUERY q RETURN MATCH s.at AS at, s.n AS n, s.d AS d PATTERN s WITHIN 1 s;"""
    rows = [{"at": "31.01.2026 12:30", "n": "2026/01/31 12", "d": "31.1.2026"}, {"at": "01.02.2026 00:00"}]
    lines = {
        "csv": "at,n,d\n" + "".join(f"{row['at']},{row.get('n', '')},{row.get('d', '')}\n" for row in rows),
        "json": "".join(json.dumps(row) + "\n" for row in rows),
    }
    Path(f"e.{form}").write_text(lines[form])
    compiled = cepc.compile(text)
    found = compiled.spark(spark)["q"].toArrow()
    assert same(found.to_pylist(), compiled.run()["q"].to_pylist(), ABOUT)
