"""`cepc init`: what is guessed from events, and that the program runs over them with rows."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import json
import re
import shlex
from csv import writer as writer_of
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.orc as pa_orc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import cepc
from cepc.beginning import sample
from cepc.beginning.given import collected
from cepc.beginning.text_types import is_nameable
from cepc.beginning.time_texts import form_of
from cepc.cli import cepc as command
from cepc.reading import readers
from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source

from . import bars
from .pages import UPDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from click.testing import Result
    from pyspark.sql import SparkSession

RECORDED = Path(__file__).parent / "beginnings"
START = dt.datetime(2026, 3, 2, 10, 0, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---- the events ------------------------------------------------------------------------------------------------------


def at(minutes: float) -> dt.datetime:
    return START + dt.timedelta(minutes=minutes)


def visits(written: Callable[[dt.datetime], Any]) -> str:
    """CSV of three users who log in and out, with times written so."""
    rows = [(written(at(i)), ("login", "logout")[i // 3 % 2], i % 3) for i in range(12)]
    return csv("ts,event,user", *(f"{time},{event},{user}" for time, event, user in rows))


def csv(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


HALVES = [dt.datetime(2026, 3, 31, hour, 58, tzinfo=dt.UTC) for hour in (0, 9, 12, 23)]


def parted(date: str, clock: str) -> str:
    """CSV of four events on a day, with the date and the time of the day in two columns."""
    return csv("date;time;type", *(f"{t:{date}};{t:{clock}};{kind}" for t, kind in zip(HALVES, "ABAB", strict=True)))


def jsonl(*rows: Mapping[str, Any]) -> str:
    return csv(*map(json.dumps, rows))


def parquet(columns: Mapping[str, Any], groups: int | None = None) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file, row_group_size=groups)
    return file.getvalue()


def orc(columns: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    pa_orc.write_table(pa.table(dict(columns)), file)
    return file.getvalue()


def nested(i: int) -> dict[str, Any]:
    return {
        "id": f"e{i}",
        "meta": {"ts": f"{at(i):%Y-%m-%dT%H:%M:%SZ}", "type": ("open", "close")[i % 2], "source": {"device": i % 2}},
        "tags": ["a", "b"][: i % 3],
        "points": [{"x": 1.5, "y": i}],
        "mixed": i if i % 2 else "one",
        "never": None,
    }


Files = dict[str, str | bytes]

SHOP = csv(
    "at,action,visitor,price", "2026-03-02 10:00:00,View,1,", "2026-03-02 10:01:00,Add,1,30.5",
    "2026-03-02 10:02:00,View,2,", "2026-03-02 10:03:00,Add,2,80", "2026-03-02 10:06:00,Pay,1,42",
    "2026-03-02 10:05:00,View,3,",
)  # fmt: skip

CASES: dict[str, Files] = {
    "csv": {"shop.csv": SHOP},
    "epoch_seconds": {"log.csv": visits(lambda t: int(t.timestamp()))},
    "epoch_seconds_with_a_fraction": {"log.csv": visits(lambda t: f"{t.timestamp()}25")},
    "epoch_milliseconds": {"log.csv": visits(lambda t: int(t.timestamp() * 1000))},
    "epoch_microseconds": {"log.csv": visits(lambda t: int(t.timestamp() * 10**6))},
    "epoch_nanoseconds": {"log.csv": visits(lambda t: int(t.timestamp()) * 10**9)},
    "epoch_in_json_text": {"log.jsonl": jsonl(*({"time": str(1_772_445_600_000 + i), "k": "a"} for i in range(5)))},
    "german_times": {"log.csv": visits(lambda t: f"{t:%d.%m.%Y %H:%M:%S}")},
    "american_times": {"log.csv": visits(lambda t: f"{t + dt.timedelta(days=20):%m/%d/%Y %I:%M %p}")},
    "times_of_a_browser": {"log.csv": visits(lambda t: f'"{t.month}/{t.day}/{t:%Y, %I:%M:%S %p}"')},
    "times_of_a_web_server": {"log.csv": visits(lambda t: f"{t:%d/%b/%Y:%H:%M:%S} +0100")},
    "compact_times": {"log.csv": visits(lambda t: f"{t:%Y%m%dT%H%M%S}")},
    "times_as_digits": {"log.csv": visits(lambda t: f"{t:%Y%m%d%H%M%S}")},
    "slashes_with_the_year_first": {"log.csv": visits(lambda t: f"{t:%Y/%m/%d %H:%M}")},
    "types_in_several_spellings": {
        "a.csv": csv("at,Kind", *(f"{at(i):%Y-%m-%d %H:%M},{('View', 'VIEW ', 'pay')[i % 3]}" for i in range(9)))
    },
    "nested_json": {"events.jsonl.gz": gzip.compress(jsonl(*map(nested, range(12))).encode())},
    "compressed_csv": {"shop.csv.bz2": bz2.compress(SHOP.encode())},
    "parquet": {
        "rides.parquet": parquet(
            {
                "ride_id": [i // 3 for i in range(30)],
                "status": ["request", "pickup", "drop"] * 10,
                "updated_at": [at(1000)] * 30,
                "event_time": pa.array([at(i) for i in range(30)], pa.timestamp("ms", "UTC")),
                "fare": [Decimal("1.50")] * 30,
                "where": [{"lat": 1.0, "lon": 2.0}] * 30,
                "of_no_type": pa.array([1] * 30, pa.time64("us")),
            },
            groups=3,
        )
    },
    "parquet_with_times_as_text": {
        "log.parquet": parquet({"when": [f"{at(i):%Y-%m-%d %H:%M}" for i in range(6)], "sensor": ["a", "b"] * 3})
    },
    "folders_by_day": {
        f"log/date=2026-03-0{day}/{part}.csv": csv("clock,kind,host", *(f"{i},{k},h{i % 2}" for i, k in enumerate("ab")))
        for day in (2, 3, 4)
        for part in ("one", "two")
    },
    "one_type": {
        "taxi.csv": csv("timestamp,passengers", *(f"{at(30 * i):%Y-%m-%dT%H:%M:%SZ},{i * 7 % 20}" for i in range(24)))
    },
    "one_type_with_few_values": {
        "flights.csv": csv(
            "at,tailnum,origin,delay", *(f"{at(i):%Y-%m-%d %H:%M},N{i % 5},{('JFK', 'EWR')[i % 2]},NA" for i in range(20)),
            "2026-04-01,N1,JFK,12",
        )
    },
    "one_record": {"one.csv": csv("at,kind", "2026-03-02 10:00:00,A")},
    "all_at_one_time": {"same.csv": csv("at,kind", *(f"2026-03-02,{kind}" for kind in "ABAB"))},
    "many_on_a_day": {
        "days.csv": csv("date,kind", *(f"2026-03-0{day},{kind}" for day in (2, 3, 4) for kind in "AB" * 20))
    },
    "out_of_order": {
        "late.csv": csv("at,kind", *(f"{at(i - 3 * (i % 7 == 6)):%Y-%m-%d %H:%M},{'AB'[i % 2]}" for i in range(40)))
    },
    "in_no_order": {"any.csv": csv("at,kind", *(f"{at(i * 17 % 40):%Y-%m-%d %H:%M},{'AB'[i % 2]}" for i in range(40)))},
    "semicolons_and_decimal_commas": {
        "log.csv": csv("at;event;price;sensor", *(f"{at(i):%d.%m.%Y %H:%M};{'AB'[i % 2]};{i},5;NA" for i in range(20)))
    },
    "tabs": {"log.csv": csv("at\tevent", *(f"{at(i):%Y-%m-%d %H:%M}\t{'AB'[i % 2]}" for i in range(9)))},
    "orc": {"rides.orc": orc({"at": [at(i) for i in range(9)], "kind": ["A", "B", "C"] * 3})},
    "a_time_that_is_none": {
        "some.csv": csv("at,kind", *(f"2026-03-0{i},{'AB'[i % 2]}" for i in range(1, 10)), "2026-03-99,A", "soon,A")
    },
    "a_date_and_a_clock": {
        "parts.csv": csv("time,date,event,no", *(f"{i % 12}:30,2026-03-0{2 + i // 12},{'AB'[i % 2]},{i % 3}" for i in range(20)))
    },
    "a_german_date_and_a_clock": {"parts.csv": parted("%d.%m.%Y", "%H:%M:%S")},
    "an_american_date_and_a_clock": {"parts.csv": parted("%m/%d/%Y", "%I:%M %p")},
    "an_iso_date_and_a_clock_of_halves": {"parts.csv": parted("%Y-%m-%d", "%I:%M:%S %p")},
    "a_date_and_a_clock_of_digits": {"parts.csv": parted("%Y%m%d", "%H%M%S")},
    "a_date_and_a_clock_of_numbers": {"parts.jsonl": jsonl(
        *({"date": int(f"{t:%Y%m%d}"), "time": int(f"{t:%H%M}"), "type": kind} for t, kind in zip(HALVES, "ABAB", strict=True))
    )},
    "a_clock_beside_a_duration": {"parts.csv": csv(
        "date,duration,time,type", "2026-03-02,01:30,10:00,A", "2026-03-02,00:45,10:20,B",
    )},
    "a_duration_is_no_clock": {"parts.csv": csv("date,duration,type", "2026-03-02,01:30,A", "2026-03-03,00:45,B")},
    "a_clock_in_several_forms": {"parts.csv": csv("date,time,type", "2026-03-02,9:05,A", "2026-03-02,10:20:30,B")},
    "a_clock_that_is_null": {"parts.csv": csv("date;time;type", "31.12.2026;23:58;A", "31.12.2026;;B", "31.12.2026;23:59;B")},
    "a_number_that_grows": {"seq.csv": csv("seq,event", "1,A", "2,B", "5,A", "6,B")},
    "seconds_from_a_start": {"lab.csv": csv("time,temperature", *(f"{i / 10},{20 + i % 3}" for i in range(9)))},
    "a_number_alone": {"seq.jsonl": jsonl(*({"offset": i} for i in range(4)))},
    "null_among_times": {"some.csv": csv("at,kind", "2026-03-02,A", "NA,A", "2026-03-03,B")},
    "without_a_type": {"none.csv": csv("at,kind,type", "2026-03-02,,", ",,A", ",,B")},
    "many_types": {
        "many.csv": csv("at,event", *(f"{at(i):%Y-%m-%d %H:%M},e{i % 60 if i < 150 else 1}" for i in range(160)))
    },
    "numbers_as_written": {"n.jsonl": '{"at": "2026-03-02", "kind": 1e5}\n{"at": "2026-03-03", "kind": "x"}\n' * 2},
    "a_number_too_large_for_seconds": {"ids.csv": csv("id,event", f"{10**17},A", f"{10**18},B")},
    "without_a_time": {"none.csv": csv("name,amount", "a,1", "b,0")},
    "all_null": {"null.jsonl": jsonl({"at": None, "kind": None}, {"at": None, "kind": None})},
    "null_times_and_types": {"some.csv": csv("at,kind", ",A", "2026-03-02,", "2026-03-02,A", "2026-03-03,B")},
    "names_of_all_sorts": {
        "1 odd-name's.csv": csv(
            'at,event type,"sel""ect","a`b",Größe,group,SUM,"new\nline", ,event_type',
            *(f"{at(i):%Y-%m-%d %H:%M},{('at', 'SUM', 'its ok')[i % 3]},1,{i},3,4,5,6,7,8" for i in range(9)),
        )
    },
    "names_in_two_cases": {"two.csv": csv("at,Kind,kind,KIND,x,x", "2026-03-02,A,B,C,1,2", "2026-03-03,A,B,C,1,2")},
    "huge_numbers": {
        "huge.csv": csv("at,id,n,f", f"2026-03-02,007,{2**70},1e300", f"2026-03-03,008,{2**63},-2.5"),
    },
    "two_streams": {"in.csv": visits(lambda t: f"{t:%Y-%m-%d %H:%M}"), "more/in.csv": visits(lambda t: t.isoformat())},
    "numbers_of_types": {"codes.csv": csv("at,type", *(f"{at(i):%Y-%m-%d %H:%M},{i % 3}" for i in range(9)))},
    "types_called_like_columns": {
        "same.csv": csv("at,type,login", *(f"{at(i):%Y-%m-%d %H:%M},{('login', 'at')[i % 2]},1" for i in range(9)))
    },
    "records_that_are_none": {"bad.jsonl": jsonl({"at": "2026-03-02", "event": "A"}) * 2 + "{\n"},
}  # fmt: skip
WITHOUT_A_QUERY = ("a_number_too_large_for_seconds", "without_a_type", "without_a_time", "all_null")


def put(files: Files) -> list[str]:
    """Writes them; what `cepc init` is given."""
    for name, content in files.items():
        place = Path(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return ["log"] if any(name.startswith("log/") for name in files) else list(files)


def invoke(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(command, list(arguments), input=stdin, catch_exceptions=False)


def is_right(text: str) -> None:
    """It checks, without a warning, and is laid out."""
    checked = cepc.check(text)
    assert not checked.diagnostics, f"{text}\n{checked.text()}"
    assert format_source(Source("q", text)) == text


@pytest.mark.parametrize("case", CASES)
def test_the_program_is_the_recorded_one_and_has_rows(case: str) -> None:
    files = put(CASES[case])
    made = invoke("init", *files)
    assert made.exit_code == 0, made.stderr
    recorded = RECORDED / f"{case}.cep"
    if UPDATE:
        recorded.write_text(made.stdout, encoding="utf-8")
    assert made.stdout == recorded.read_text(encoding="utf-8"), "UPDATE_GOLDEN=1 records the new programs"
    is_right(made.stdout)
    if case in WITHOUT_A_QUERY:
        assert "There is no query yet" in made.stderr
        return
    assert ("--skip-bad" in made.stderr) is (case == "records_that_are_none")
    ran = cepc.compile(made.stdout).run(skip_bad="--skip-bad" in made.stderr)
    assert all(table.num_rows for table in ran.values()), made.stdout
    assert len(ran) == len(files)


@pytest.mark.parametrize(
    "case", sorted(case for case in CASES if "_and_a_clock" in case and case != "a_date_and_a_clock")
)
def test_a_date_and_a_time_of_day_are_one_time(case: str) -> None:
    put(CASES[case])
    asked = "".join(
        f"\nQUERY only_{kind} RETURN MATCH {kind}.at AS moment PATTERN {kind} WITHIN 1 SECOND;" for kind in "AB"
    )
    made = invoke("init", *CASES[case]).stdout
    rows = cepc.compile(made + asked).run(queries=["only_A", "only_B"])
    assert sorted(time for table in rows.values() for time in table.column("moment").to_pylist()) == HALVES


@pytest.mark.parametrize(
    ("gaps", "within"),
    [
        ([2, 30, 900], "30 MINUTES"),
        ([30, 60, 3600, 600, 1, 300], "30 MINUTES"),
        ([1, 2, 3, 900], "5 SECONDS"),
        ([4], "5 SECONDS"),
    ],
)
def test_within_is_a_time_that_at_least_three_quarters_of_the_pairs_keep(gaps: list[int], within: str) -> None:
    begins = range(1_700_000_000, 1_800_000_000, 1_000_000)
    times = (f"{begin + after},{kind},{begin}" for begin, gap in zip(begins, gaps, strict=False)
             for after, kind in ((0, "A"), (gap, "B")))  # fmt: skip
    put({"log.csv": csv("ts,event,user_id", *times)})
    assert f"\n  WITHIN   {within};" in invoke("init", "log.csv").stdout


def test_what_comments_propose_is_right() -> None:
    proposed = 0
    for path in RECORDED.iterdir():
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"own: `(EVENT .*;)`$", text, re.MULTILINE):
            checked = cepc.check(f"{text}\n{found.group(1)}")
            assert checked.ok, checked.text()
            proposed += 1
    assert proposed >= 5


def test_each_recorded_program_is_of_a_case() -> None:
    assert {path.stem for path in RECORDED.iterdir()} == set(CASES)


# ---- the command -----------------------------------------------------------------------------------------------------


def test_a_file_that_is_there_is_not_overwritten_unless_asked() -> None:
    put({"shop.csv": SHOP})
    written = invoke("init", "shop.csv", "-o", "q.cep")
    assert (written.exit_code, written.stdout, written.stderr) == (0, "", "Next: cepc run q.cep\n")
    Path("q.cep").write_text("mine", encoding="utf-8")
    refused = invoke("init", "shop.csv", "-o", "q.cep")
    assert refused.exit_code == 2
    assert "there is a file `q.cep` already; --force replaces it" in refused.stderr
    assert Path("q.cep").read_text(encoding="utf-8") == "mine"
    assert invoke("init", "shop.csv", "-o", "q.cep", "--force").exit_code == 0
    assert "QUERY view_then_add" in Path("q.cep").read_text(encoding="utf-8")
    ran = invoke("run", "q.cep", "--format", "csv")
    assert ran.stdout.splitlines()[1].startswith("1,30.5,2026-03-02")


def test_what_to_type_next_is_said() -> None:
    put({"my shop.csv": SHOP})
    assert invoke("init", "my shop.csv").stderr.splitlines() == [
        "To keep this: cepc init 'my shop.csv' -o queries.cep", "Next: cepc run queries.cep",
    ]  # fmt: skip


def test_standard_input_is_looked_at() -> None:
    made = invoke("init", "-", "-o", "q.cep", stdin=SHOP.encode())
    assert made.stderr == "Next: cepc run q.cep --events -\n"
    text = Path("q.cep").read_text(encoding="utf-8")
    assert "STREAM events (" in text
    assert "\nFROM" not in text
    ran = invoke("run", "q.cep", "--events", "-", "--format", "csv", stdin=SHOP.encode())
    assert len(ran.stdout.splitlines()) == 3


def test_what_was_made_by_the_page_about_it_is_so(tmp_path: Path) -> None:
    put({"empty.csv": ""})
    assert invoke("init", "empty.csv").stderr == (
        "error[E0719]: there are no events in empty.csv\n --> empty.csv\n"
        "  = note: what the columns are and which events there are is seen from the events\n"
        "  = help: give some events that are already there; a hundred will do\n\n1 error\n"
    )
    assert tmp_path.is_dir()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["l.csv", "--option", "encoding=latin-1"], "l.csv --option encoding=latin-1"),
        (
            ["--input-format", "csv", "s.txt", "--option", "delimiter=;"],
            "s.txt --input-format csv --option 'delimiter=;'",
        ),
    ],
)
def test_the_line_that_keeps_a_program_has_the_options_that_were_given(given: list[str], line: str) -> None:
    Path("l.csv").write_bytes("at,kind\n1,ü\n2,ü\n".encode("latin-1"))
    put({"s.txt": "at;kind\n1;A\n2;B\n"})
    shown = invoke("init", *given)
    (said,) = (text for text in shown.stderr.splitlines() if text.startswith("To keep this: "))
    assert said == f"To keep this: cepc init {line} -o queries.cep"
    assert invoke(*shlex.split(said)[4:]).exit_code == 0
    assert Path("queries.cep").read_text() == shown.stdout


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({"l.csv": "at,kind\n1,ü\n2,ü\n".encode("latin-1")}, ["l.csv"], "`l.csv` cannot be read: it is no UTF-8 text"),
        ({"l.csv": "tür,brücke\n1,A\n".encode("latin-1")}, ["l.csv"], "`l.csv` cannot be read: it is no UTF-8 text"),
        ({"p.csv": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, ["p.csv"], "`p.csv` cannot be read: it is no UTF-8 text"),
        ({"l.csv": "at,kind\n1,ü\n".encode("latin-1")}, ["l.csv"], "add `--option encoding=latin-1`"),
        ({"h.csv": "at,kind\n"}, ["h.csv"], "error[E0719]: there are no events in h.csv"),
        ({"e.jsonl": "\n\n"}, ["e.jsonl"], "error[E0719]"),
        ({"e.jsonl": "{}\n{}\n"}, ["e.jsonl"], "there are no columns for a STREAM in e.jsonl"),
        ({"e.csv": "a,a\n1,2\n"}, ["e.csv"], "there are no columns for a STREAM in e.csv"),
        ({"e.csv": "\x1bx\n1\n"}, ["e.csv"], "no name can be so"),
        (
            {"e.parquet": parquet({"n": pa.array([1], pa.time32("s"))})},
            ["e.parquet"],
            "column n is time32[ms], which queries cannot read",
        ),
        ({"e.parquet": parquet({"at": pa.array([], pa.timestamp("us"))})}, ["e.parquet"], "error[E0719]"),
        ({"p.csv": parquet({"at": [1]})}, ["p.csv"], "error[E0704]: `p.csv` cannot be read: it is a Parquet file"),
        ({"z.csv": gzip.compress(b"at,kind\n")}, ["z.csv"], "error[E0704]: `z.csv` cannot be read: it is a gzip file"),
        ({"u.csv": "at,kind\n1,A\n".encode("utf-16")}, ["u.csv"], "help: add `--option encoding=UTF-16`"),
        ({"s.csv": "sep=;\nat;kind\n1;A\n"}, ["s.csv"], "help: take that line out, which is for spreadsheets alone"),
        ({"n.csv": "2026-03-02,17,A\n2026-03-02,18,B\n"}, ["n.csv"], "does not begin with the names of its columns"),
        ({"x.parquet": "at,kind\n"}, ["x.parquet"], "it is no Parquet file"),
        ({"x.txt": SHOP}, ["x.txt"], "add `--input-format csv`"),
        ({"a.json": '[{"at": "2026-03-02"}]\n'}, ["a.json"], "`jq -c '.[]'` or `jq -c .` writes other JSON so"),
        ({}, ["not.csv"], "there are no events at `not.csv`"),
        ({}, ["-", "-"], "standard input is named twice"),
    ],
)
def test_what_cannot_be_looked_at_is_said(files: Files, arguments: list[str], said: str) -> None:
    put(files)
    refused = invoke("init", *arguments, stdin=b"")
    assert refused.exit_code in (1, 2)
    assert said in refused.stderr


def test_an_avro_file_is_looked_at() -> None:
    fastavro = pytest.importorskip("fastavro")
    fields = [
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "kind", "type": "string"},
    ]
    with Path("a.avro").open("wb") as file:
        rows = [{"ts": at(i), "kind": "AB"[i % 2]} for i in range(8)]
        fastavro.writer(file, {"type": "record", "name": "event", "fields": fields}, rows)
    text = invoke("init", "a.avro").stdout
    is_right(text)
    assert cepc.compile(text).run()["a_then_b"].num_rows == 4


def test_a_delta_table_is_looked_at() -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake("stored", pa.table({"ts": [at(i) for i in range(6)], "kind": ["A", "B"] * 3}))
    text = invoke("init", "stored").stdout
    is_right(text)
    assert "FROM DELTA 'stored'" in text
    assert cepc.compile(text).run()["a_then_b"].num_rows == 3


def test_text_that_is_no_text_is_left_out() -> None:
    wrong = pa.array([b"\xff", b"a"], pa.binary()).view(pa.string())
    put({"a.parquet": parquet({"at": [at(0), at(1)], "name": wrong})})
    text = invoke("init", "a.parquet").stdout
    is_right(text)
    assert "-- Left out: the column name, which" in text
    assert cepc.compile(text).run()["next_a"].num_rows == 1


def test_a_name_that_is_no_text_is_passed_over() -> None:
    put({"a.csv": b"at,k\xff\n2026-03-02,1\n2026-03-03,2\n"})
    text = invoke("init", "a.csv").stdout
    is_right(text)
    assert cepc.compile(text).run()["next_a"].num_rows == 1


def test_a_format_without_a_look_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "READERS", (*readers.READERS, bars.READER))
    put({"a.bars": "|at|\n"})
    assert "`a.bars` cannot be read: Bars files are not looked at" in invoke("init", "a.bars").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at;amount,eur;kind\n2026-03-02;1,5;a\n2026-03-03;2,5;b\n", "OPTIONS (delimiter = ';', decimal = ',')"),
        ("at\tx,y\tkind\n2026-03-02\t1\ta\n2026-03-03\t2\tb\n", r"OPTIONS (delimiter = '\\t')"),
        ('at;x,"a;b,c"\n1,2\n3,4\n', "FROM CSV 'a.csv';"),
        ("at;x;y,kind\n1,a\n2,b;c\n", "FROM CSV 'a.csv';"),
        ("at;x;y,kind\n", "there are no events in a.csv"),
    ],
)
def test_a_delimiter_is_one_that_parts_all_records_as_the_header(text: str, said: str) -> None:
    put({"a.csv": text})
    assert said in invoke("init", "a.csv").output


def test_options_that_are_given_come_before_what_is_guessed() -> None:
    put({"a.csv": "at|kind|x\n2026-03-02|A;1|NA\n2026-03-03|B;2|1\n"})
    text = invoke("init", "a.csv", "--option", "delimiter=|", "--option", "nullValue=none").stdout
    assert "OPTIONS (delimiter = '|', nullValue = 'none')" in text
    assert "Numbers but for some values: x." in text
    made = invoke("init", "-", stdin=b"at;n\n2026-03-02;1\n2026-03-03;NA\n")
    assert made.stderr.endswith("Next: cepc run queries.cep --events - --option 'delimiter=;' --option nullValue=NA\n")


@pytest.mark.parametrize(
    ("missing", "given", "options", "amount"),
    [
        ("NA", (), "delimiter = ';', decimal = ',', nullValue = 'NA'", "DOUBLE"),
        ("-", (), "delimiter = ';', decimal = ',', nullValue = '-'", "DOUBLE"),
        ("", (), "delimiter = ';', decimal = ','", "DOUBLE"),
        ("zz", ("--option", "nullValue=zz"), "nullValue = 'zz', delimiter = ';', decimal = ','", "DOUBLE"),
        ("NA", ("--option", "nullValue=zz"), "nullValue = 'zz', delimiter = ';'", "STRING"),
        ("zz", (), "delimiter = ';'", "STRING"),
    ],
)
def test_a_decimal_comma_is_guessed_beside_what_stands_for_null(
    missing: str, given: tuple[str, ...], options: str, amount: str
) -> None:
    put({"a.csv": f"at;kind;amount\n2026-03-02;A;1,5\n2026-03-03;B;{missing}\n2026-03-04;A;3,25\n"})
    text = invoke("init", "a.csv", *given).stdout
    assert f"OPTIONS ({options});" in text
    assert re.search(f"amount +{amount}\n", text)


def test_a_format_that_the_name_does_not_say_is_given() -> None:
    put({"x.txt": SHOP})
    text = invoke("init", "x.txt", "--input-format", "csv").stdout
    assert "FROM CSV 'x.txt'" in text
    assert cepc.compile(text).run()["view_then_add"].num_rows == 2


def test_little_of_much_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a text its beginning, of Parquet a spread, of a folder some files."""
    monkeypatch.setattr(sample, "RECORDS", 40)
    lines = [f"{at(i):%Y-%m-%d %H:%M},{i}" for i in range(300)]
    put({"a.csv": csv("at,n", *lines), "b.jsonl": jsonl(*({"n": i} for i in range(300)))})
    put({"c.parquet": parquet({"n": list(range(300))}, groups=10)})
    put({f"d/{i:02}.csv": csv("n", str(i)) for i in range(30)})
    found = {name: sample.look(name, records=40) for name in ("a.csv", "b.jsonl", "c.parquet", "d")}
    assert {name: (one.records, one.whole) for name, one in found.items()} == {
        "a.csv": (40, False), "b.jsonl": (40, False), "c.parquet": (40, False), "d": (8, False),
    }  # fmt: skip
    spread = found["c.parquet"].table.column("n").to_pylist()
    assert (spread[0], spread[-1]) == (0, 294)
    assert found["d"].table.column("n").to_pylist() == [0, 4, 8, 12, 16, 20, 24, 29]


# ---- times as text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "title"),
    [
        (["31.12.2026 23:59"], "dd.MM.yyyy HH:mm"),
        (["1/2/2026 3:04 PM"], "M/d/yyyy h:mm a"),
        (["13/2/2026"], "dd/M/yyyy"),
        (["1-2-2026 03:04:05.678"], "d-M-yyyy HH:mm:ss.SSS"),
        (["2026/12/31T23:59:59"], "yyyy/MM/dd'T'HH:mm:ss"),
        (["20261231"], "yyyyMMdd"),
        (["10/Oct/2000:13:55:36 -0700"], "dd/MMM/yyyy:HH:mm:ss Z"),
        (["13/13/2026"], None),
        (["31.12.2026", "2026/12/31"], None),
        (["31.12.2026", "31/12/2026"], None),
        (["20261331"], None),
        (["1.2.3"], None),
        ([], None),
    ],
)
def test_a_form_of_times_is_recognised(values: Sequence[str], title: str | None) -> None:
    found = form_of(values, "t")
    assert (found.title if found is not None else None) == title


@given(st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2099, 12, 31)), st.sampled_from(
    ["%d.%m.%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p", "%d-%m-%Y, %I:%M:%S %p", "%Y/%m/%d %H:%M:%S", "%Y%m%d%H%M%S",
     "%Y%m%dT%H%M%S", "%d/%b/%Y:%H:%M:%S +0000"]
))  # fmt: skip
def test_a_time_is_read_as_it_was_written(time: dt.datetime, written: str) -> None:
    time = time.replace(microsecond=0)
    texts = [time.strftime(written), dt.datetime(2026, 12, 31).strftime(written)]
    table = pa.table({"time": texts, "event": ["A", "B"]})
    stream = cepc.stream_of(table).partition("QUERY")[0]
    found = cepc.compile(f"{stream}QUERY q RETURN MATCH A.at AS t PATTERN A WITHIN 1 DAY;").run(table)
    assert found["q"].column("t").to_pylist() == [time.replace(tzinfo=dt.UTC)]


# ---- events in memory ------------------------------------------------------------------------------------------------


def clicks() -> pa.Table:
    return pa.table(
        {
            "ts": pa.array([int(at(i).timestamp() * 1000) for i in range(12)], pa.int64()),
            "action": pa.array(["click", "buy"] * 6).dictionary_encode(),
            "session_id": [i // 4 for i in range(12)],
            "worth": [None, 1.5] * 6,
        }
    )


def test_a_table_is_looked_at() -> None:
    text = cepc.stream_of(clicks(), "clicks")
    is_right(text)
    assert "STREAM clicks (" in text
    assert "AS TIMESTAMP_MILLIS(ts)" in text
    assert cepc.compile(text).run(clicks())["click_then_buy"].column("worth").to_pylist() == [1.5] * 6


def test_a_frame_is_looked_at() -> None:
    frame = pd.DataFrame(
        {
            "time": [f"{at(i):%d.%m.%Y %H:%M}" for i in range(12)],
            "event": ["click", "buy"] * 6,
            "user": [i // 4 for i in range(12)],
            "rank": [None, 2] * 6,
            "odd": [1, "x"] * 6,
        }
    )
    text = cepc.stream_of(frame, name="clicks")
    is_right(text)
    assert "rank  BIGINT" in text
    assert "Left out: the column odd, which has values of several types." in text
    rows = cepc.compile(text).run(frame)["click_then_buy"]
    assert rows["rank"].tolist() == [2] * 6


@pytest.mark.parametrize(
    ("value", "why"), [(2**70, "integers past 64 bits"), ("\ud800", "values that are no UTF-8 text")]
)
def test_a_column_of_a_frame_that_arrow_does_not_have_is_left_out(value: Any, why: str) -> None:
    frame = pd.DataFrame({"at": [1, 2, 3], "kind": ["a", "b", "a"], "x": [value] * 3})
    assert f"Left out: the column x, which has {why}." in cepc.stream_of(frame)


def test_a_path_is_looked_at_and_what_is_none_is_refused() -> None:
    put({"shop.csv": SHOP})
    assert cepc.stream_of(Path("shop.csv")) == invoke("init", "shop.csv").stdout
    assert "STREAM visits (" in cepc.stream_of("shop.csv", name="visits")
    with pytest.raises(TypeError, match="not list"):
        cepc.stream_of([1, 2])
    with pytest.raises(cepc.DataError, match="E0719"):
        cepc.stream_of(clicks().slice(0, 0))
    with pytest.raises(cepc.DataError, match="the column a occurs twice"):
        cepc.stream_of(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.long
def test_times_of_spark_are_looked_at(spark: SparkSession) -> None:
    frame = spark.sql("SELECT TIMESTAMP '2026-01-01 10:00:01' AS at, 'buy' AS kind, ARRAY(DATE '2026-01-02') AS days")
    columns = [line.split() for line in cepc.stream_of(frame, name="clicks").splitlines()]
    assert {("at", "TIMESTAMP,"), ("kind", "STRING,"), ("days", "ARRAY<DATE>")} <= set(map(tuple, columns))


def test_a_table_of_spark_is_looked_at(spark: SparkSession) -> None:
    frame = spark.createDataFrame(clicks().to_pandas().astype({"action": str}))
    text = cepc.stream_of(frame, "clicks")
    is_right(text)
    assert collected(frame).equals(frame.toArrow())
    odd = frame.selectExpr("*", "INTERVAL '1' YEAR AS `o.dd`")
    assert cepc.stream_of(odd, "clicks").partition("STREAM")[2] == text.partition("STREAM")[2]
    frame.createOrReplaceTempView("stored_clicks")
    stored = cepc.stream_of("stored_clicks", session=spark)
    assert stored.partition("STREAM")[2].replace("stored_clicks", "clicks") == text.partition("STREAM")[2]
    assert len(cepc.compile(text).spark(frame)["click_then_buy"].collect()) == 6


# ---- any names -------------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    [
        "at",
        "kind",
        "Kind",
        "type",
        "id",
        "user_id",
        "match_start",
        "SEQ",
        "not",
        "any",
        "select",
        "s",
        "earlier",
        "`",
        "'",
    ]
)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_any_names_make_a_program_that_is_right(names: list[str], types: list[str], name: str) -> None:
    """Of columns, of types, of the stream, and of keys of objects."""
    if not is_nameable(name):
        with pytest.raises(ValueError, match="no stream can be called"):
            cepc.stream_of(clicks(), name)
        return
    names = list(dict.fromkeys(names))
    columns = {one: [types[i % len(types)] for i in range(6)] for one in names}
    columns["time"] = [f"{at(i):%Y-%m-%d %H:%M}" for i in range(6)]
    table = pa.table({**columns, "in": [dict.fromkeys(names, i % 2) for i in range(6)]})
    text = cepc.stream_of(table, name)
    is_right(text)
    assert all(rows.num_rows for rows in cepc.compile(text).run(table).values())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(["2026-03-02", "1e5", "NaN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(TEXTS, VALUES, max_size=4), min_size=2, max_size=5))
def test_any_objects_make_a_program_that_reads_them(rows: list[dict[str, Any]]) -> None:
    dated = [{**row, "event_time": f"{at(i):%Y-%m-%dT%H:%M}", "kind": "A"} for i, row in enumerate(rows)]
    put({"any.jsonl": jsonl(*dated)})
    text = cepc.stream_of("any.jsonl")
    is_right(text)
    assert all(found.num_rows for found in cepc.compile(text).run().values())


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), min_size=3, max_size=6))
def test_any_texts_make_a_program_that_reads_them(rows: list[list[str]]) -> None:
    header, *others = rows
    file = io.StringIO()
    writer = writer_of(file)
    writer.writerow([*header, "event_time", "n"])
    writer.writerows([*row, f"{at(i):%Y-%m-%d %H:%M}", "1"] for i, row in enumerate(others))
    put({"any.csv": file.getvalue()})
    made = invoke("init", "any.csv")
    is_right(made.stdout)
    assert all(found.num_rows for found in cepc.compile(made.stdout).run(skip_bad=True).values())


def test_a_duration_is_declared_as_a_stream_has_it(tmp_path: Path) -> None:
    table = pa.table(
        {
            "at": pa.array([1, 2], pa.timestamp("us", "UTC")),
            "kind": ["A", "B"],
            "took": pa.array([1, 2], pa.duration("us")),
        }
    )
    pq.write_table(table, tmp_path / "e.parquet")
    written = CliRunner().invoke(command, ["init", str(tmp_path / "e.parquet")])
    assert written.exit_code == 0, written.output
    assert re.search(r"took +INTERVAL\n", written.stdout)
