"""What a checkpoint says of itself and of its files, without Spark."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException as SparkError
from pyspark.sql import types as T  # noqa: N812

from cepc_runtime.spark.schema import JobError, Stream
from cepc_runtime.spark.sinks import path_of
from cepc_runtime.spark.streaming import checkpoint
from cepc_runtime.spark.streaming.arguments import among_events, meeting
from cepc_runtime.spark.streaming.intact import CURE, check_intact, files_read, remove_lost_sums, state_problem
from cepc_runtime.spark.streaming.new_files import LookAtFiles
from cepc_runtime.spark.streaming.ownership import MARKS, Owner, take_places, without_earlier
from cepc_runtime.spark.streaming.query import continuous
from cepc_runtime.spark.streaming.same_files import above_patterns, check_same
from cepc_runtime.spark.streaming.sinks import Directories
from cepc_runtime.spark.streaming.source import with_age
from cepc_runtime.spark.streaming.time import SHIFT
from tests.faults.local import LocalStore
from tests.generated_jobs import names_of_job

if TYPE_CHECKING:
    from cepc_runtime.spark.streaming.query import Continuous

STORE = LocalStore()
PROGRAM = """STREAM s (at TIMESTAMP, kind STRING, x INT) EVENT TIME at EVENT TYPE kind IN ('A');
QUERY q RETURN MATCH A.x PATTERN A WITHIN 9 s;
"""


@cache
def what(text: str = PROGRAM, queries: tuple[str, ...] | None = None, buckets: int = 2) -> Continuous:
    """Some queries of a program, or all, as they run."""
    (part,) = names_of_job(text)["JOB"].parts
    return continuous(part.streamed, part.streamed.stream.queries if queries is None else queries, buckets, 86_400_000)


def claim(folder: Path | str, whose: Continuous | None = None, place: str | None = None) -> checkpoint.Claim:
    """By this program, or `PROGRAM`."""
    return checkpoint.claim(STORE, str(folder), what() if whose is None else whose, place)


OTHER = PROGRAM.replace("MATCH A.x", "MATCH A.x AS other")
R = "QUERY r RETURN MATCH A.at AS since PATTERN A WITHIN 9 s;\n"
MORE = f"{PROGRAM}{R}{R.replace('QUERY r', 'QUERY s')}{R.replace('QUERY r', 'QUERY later')}"


def same(batch: int) -> int:
    return batch


def url(folder: Path, number: int) -> str:
    """Of a file of events, as Spark writes it: with escapes."""
    return f"file://{folder}/in%20a%2520b/{number}%20.json"


def made(folder: Path, begun: int = 14, done: int = 14) -> str:
    """The files of a checkpoint as Spark writes them, with so many micro-batches begun and done."""
    claim(folder)
    files = {"metadata": '{"id":"0a"}'}
    files |= {f"offsets/{n}": f'v1\n{{"batchWatermarkMs":{n}}}\n{{"logOffset":{n}}}' for n in range(2, begun)}
    files |= {f"commits/{n}": 'v1\n{"nextBatchWatermarkMs":0}' for n in range(2, done)}
    entries = {n: f'{{"path":"{url(folder, n)}","timestamp":0,"batchId":{n}}}' for n in range(8, begun)}
    files |= {f"sources/0/{n}": f"v1\n{entry}" for n, entry in entries.items()}
    files["sources/0/9.compact"] = f"v1\n{entries[8]}\n{entries[9]}"
    del files["sources/0/9"]
    files |= {f"in a%20b/{n} .json": "{}" for n in range(8, begun)}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        if not name.startswith("in "):
            sums(folder / name).touch()
    return str(folder)


def sums(file: Path) -> Path:
    """Where a local disk has its check sum."""
    return file.with_name(f".{file.name}.crc")


def test_a_checkpoint_that_is_whole_is_gone_on_with(tmp_path: Path) -> None:
    check_intact(STORE, made(tmp_path))
    assert claim(tmp_path).flush is None


def test_a_micro_batch_that_is_not_done_is_no_damage(tmp_path: Path) -> None:
    check_intact(STORE, made(tmp_path, 15))


GONE = [
    pytest.param(15, 15, [8, 9, 14], None, id="all are done"),
    pytest.param(15, 14, [8, 13], None, id="others than that of the last"),
    pytest.param(15, 14, [14], "14 .json is gone, and it", id="that of the last"),
    pytest.param(10, 9, [8], None, id="another in a compact log"),
    pytest.param(10, 9, [8, 9], "9 .json is gone, and it", id="that of the last in a compact log"),
]


@pytest.mark.parametrize(("begun", "done", "gone", "said"), GONE)
def test_a_file_of_events_is_needed_until_its_micro_batch_is_done(
    tmp_path: Path, begun: int, done: int, gone: list[int], said: str | None
) -> None:
    folder = made(tmp_path, begun, done)
    for number in gone:
        (tmp_path / f"in a%20b/{number} .json").unlink()
    if said is None:
        check_intact(STORE, folder)
        return
    with pytest.raises(JobError) as failure:
        check_intact(STORE, folder)
    assert f"file://{tmp_path}/in a%20b/{said} belongs to a micro-batch that is not done" in str(failure.value)
    assert "put it back under this name" in str(failure.value)


def test_files_that_a_kill_has_left_in_the_log_alone_are_needed_too(tmp_path: Path) -> None:
    folder = made(tmp_path, 17, 14)
    for log in ("offsets/14", "offsets/15", "offsets/16"):
        (tmp_path / log).unlink()
    check_intact(STORE, folder)
    for number in (14, 16):
        (tmp_path / f"in a%20b/{number} .json").unlink()
    with pytest.raises(
        JobError, match=r"14 \.json is gone, and 1 more, and they belong to a micro-batch that is not done"
    ):
        check_intact(STORE, folder)


@pytest.mark.parametrize("folder", ["file:{}/in a%20b", "file:{}/in a%20b/", "file://{}", "file:/"])
def test_files_below_the_folder_that_is_read_now_are_those_that_were_read(tmp_path: Path, folder: str) -> None:
    check_same(STORE, made(tmp_path), [folder.format(tmp_path)])
    check_same(STORE, made(tmp_path), ["file:/elsewhere", folder.format(tmp_path)])


@pytest.mark.parametrize("folder", ["in", "in a b", "in a%20b/more", "in a%20"])
def test_where_files_were_read_from_another_folder_the_user_says_whether_they_are_the_same(
    tmp_path: Path, folder: str
) -> None:
    with pytest.raises(JobError) as failure:
        check_same(STORE, made(tmp_path), [f"file:{tmp_path}/{folder}"])
    assert str(failure.value) == (
        f"{tmp_path} has read file:{tmp_path}/in a%20b/8 .json, and this run reads file:{tmp_path}/{folder}: if the files"
        " that were read are there now, and no two files of the stream have the same name, write --option"
        " fileNameOnly=true, for Spark would read them again; if there are only others, write --option"
        " fileNameOnly=false"
    )
    check_same(STORE, str(tmp_path), [])  # it has been said, or there are no files
    check_same(STORE, f"{tmp_path}/new", [f"file:{tmp_path}/{folder}"])


@pytest.mark.parametrize(
    ("path", "folder"),
    [("a/b", "a/b"), ("a/b*/c", "a"), ("/*", "/"), ("{a,b}", "."), (r"s3://h/a\[1\]/?", "s3://h/a[1]"), ("a/", "a/")],
)
def test_the_folder_of_all_that_a_pattern_finds(path: str, folder: str) -> None:
    assert above_patterns(path) == folder


@pytest.mark.parametrize(
    ("form", "given", "options"),
    [
        ("parquet", {}, {"maxFileAge": "365000d"}),
        ("csv", {"header": "true"}, {"header": "true", "maxFileAge": "365000d"}),
        ("json", {"MAXFILEAGE": "1d"}, {"MAXFILEAGE": "1d"}),
        ("rate", {}, {}),
    ],
)
def test_files_have_no_age_at_which_they_are_not_read_unless_the_user_gives_one(
    form: str, given: dict[str, str], options: dict[str, str]
) -> None:
    assert with_age(form, given) == options


def test_what_is_left_of_first_offsets_that_were_not_written_is_removed_and_of_later_ones_left(tmp_path: Path) -> None:
    half = [tmp_path / log / ".0.24e6.tmp" for log in ("offsets", "commits")]
    for path in half:
        path.parent.mkdir()
        path.touch()
    assert claim(tmp_path).flush is None
    assert not any(path.exists() for path in half)
    folder = made(tmp_path)
    half[0].touch()
    assert claim(folder).flush is None
    assert half[0].exists()  # Spark removes it when it is old


OF_KAFKA = '\x00v1\n{"rides":{"0":0}}'
"""As its source writes where it began."""


def test_a_source_that_is_no_files_keeps_what_it_likes(tmp_path: Path) -> None:
    folder = made(tmp_path, 15, 14)
    for log in ("offsets/13", "offsets/14"):
        (tmp_path / log).write_text('v1\n{"batchWatermarkMs":9}\n{"rides":{"0":4}}')
    shutil.rmtree(tmp_path / "sources/0")
    (tmp_path / "sources/0").mkdir()
    (tmp_path / "sources/0/0").write_text(OF_KAFKA)
    check_intact(STORE, folder)
    check_same(STORE, folder, [f"file:{tmp_path}/elsewhere"])
    assert files_read(STORE, folder, 0) == []


def test_a_source_that_is_no_files_may_be_killed_before_its_first_micro_batch(tmp_path: Path) -> None:
    claim(tmp_path)
    (tmp_path / "metadata").write_text('{"id":"0a"}')
    (tmp_path / "sources/0").mkdir(parents=True)
    (tmp_path / "sources/0/0").write_text(OF_KAFKA)
    check_intact(STORE, str(tmp_path))
    check_same(STORE, str(tmp_path), [f"file:{tmp_path}/elsewhere"])
    assert files_read(STORE, str(tmp_path), 0) == []


def test_files_that_are_not_needed_may_be_missing_or_damaged(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (tmp_path / "sources/0/8").unlink()  # it is in 9.compact
    (tmp_path / "offsets/3").write_text("")  # long done
    (tmp_path / "commits/13").unlink()  # the micro-batch is done again
    check_intact(STORE, folder)


LOST = [
    ("the commit that the job says to delete", ["commits/13"]),
    ("a micro-batch", ["commits/13", "offsets/13", "sources/0/13"]),
    (
        "all",
        ["metadata", "sources/0/9.compact", *(f"{log}/{n}" for log in ("offsets", "commits") for n in range(2, 14))],
    ),
]


@pytest.mark.parametrize("lost", [case[1] for case in LOST], ids=[case[0] for case in LOST])
def test_what_was_deleted_can_be_written_again_for_its_check_sum_goes_too(tmp_path: Path, lost: list[str]) -> None:
    folder = made(tmp_path)
    state, half = tmp_path / "state/0/0/.3.changelog.crc", tmp_path / "offsets/..9.24e6.tmp.crc"
    state.parent.mkdir(parents=True)
    state.touch()
    half.touch()  # Spark removes it when it is old
    for file in lost:
        (tmp_path / file).unlink()
    before = set(tmp_path.rglob("*"))
    check_intact(STORE, folder)
    remove_lost_sums(STORE, folder)
    assert before - set(tmp_path.rglob("*")) == {sums(tmp_path / file) for file in lost}


@pytest.mark.parametrize(
    "file", ["metadata", "offsets/13", "offsets/5", "sources/0/13", "sources/0/9.compact", "commits/12", "commits/2"]
)
def test_a_file_that_is_missing_is_named_with_what_to_do(tmp_path: Path, file: str) -> None:
    folder = made(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(JobError) as failure:
        check_intact(STORE, folder)
    said = str(failure.value)
    assert said.startswith(f"{folder}/{file} is missing"), said
    assert "put it back from a copy of the whole checkpoint, or name a new directory" in said


FIRST = [(3, [0], "0"), (3, [1], "1"), (3, [0, 1, 2], "0"), (9, [8], "8"), (10, [9], "9.compact"), (26, [9, 19], "19.compact"),
         (26, [0, 1, 9, 14, 19], "19.compact")]  # fmt: skip


@pytest.mark.parametrize(("count", "gone", "said"), FIRST)
def test_of_a_log_of_files_the_one_that_is_missing_is_named_whether_it_was_compacted_or_not(
    tmp_path: Path, count: int, gone: list[int], said: str
) -> None:
    claim(tmp_path)
    files = {"metadata": '{"id":"0a"}', "commits/0": "v1\n{}", "offsets/0": f'v1\n{{}}\n{{"logOffset":{count - 1}}}'}
    files |= {f"sources/0/{number}": 'v1\n{"path":"p"}' for number in range(count) if number not in gone}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(JobError, match=rf"{tmp_path}/sources/0/{said} is missing"):
        check_intact(STORE, str(tmp_path))


def test_a_commit_under_another_number_says_of_no_micro_batch_that_it_is_done(tmp_path: Path) -> None:
    folder = made(tmp_path, 15)
    for name in [f"{log}/{number}" for log in ("offsets", "commits") for number in range(2, 13)]:
        (tmp_path / name).unlink()  # long forgotten
    (tmp_path / "commits/13").rename(tmp_path / "commits/14")
    with pytest.raises(JobError, match="commits/13 is missing"):
        check_intact(STORE, folder)


@pytest.mark.parametrize("text", ["", "v1", 'v1\n{"batchWat', "\x00" * 60], ids=["empty", "short", "cut", "zeros"])
@pytest.mark.parametrize("file", ["metadata", "offsets/13", "sources/0/13", "sources/0/9.compact", "commits/13"])
def test_a_file_that_is_damaged_is_named_with_what_to_do(tmp_path: Path, file: str, text: str) -> None:
    folder = made(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(JobError) as failure:
        check_intact(STORE, folder)
    assert str(failure.value).startswith(f"{folder}/{file} is damaged")
    cure = "delete it" if file.startswith("commits") else "put it back from a copy of the whole checkpoint"
    assert cure in str(failure.value)


STATE = "so the state of the open windows cannot be read: put it back from a copy of the whole checkpoint, or name"
LOADING = "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state.  SQLSTATE: 58030"
FILES = ["0/0/SSTs/8-a.sst", "0/0/1.zip", "0/0/2.changelog", "0/_metadata/v2/0", "0/_stateSchema/default/0_a"]
OF_STATE = [
    ("a file that Spark names", "STATE_STORE: {}/state/0/1/2.changelog does not exist.", [], "0/1/2.changelog"),
    (
        "one that Spark names beside an empty one",
        "STATE_STORE: {}/state/0/1/2.changelog does not",
        [2],
        "0/1/2.changelog",
    ),
    ("an empty file", LOADING, [2], "0/0/2.changelog"),
    ("a table of a kill's beside an empty file", LOADING, [0, 2], "0/0/2.changelog"),
    ("a table", LOADING, [0], "0/0/SSTs/8-a.sst"),
    ("an empty file of what is planned", "terminated with exception: ", [3], "0/_metadata/v2/0"),
    ("the schema", "java.io.EOFException", [4], "0/_stateSchema/default/0_a"),
    ("no file", LOADING, [], None),
    ("all files", "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart", [], ""),
]


@pytest.mark.parametrize(("said", "empty", "name"), [case[1:] for case in OF_STATE], ids=[case[0] for case in OF_STATE])
def test_a_file_of_the_state_that_cannot_be_read_is_named_where_it_can_be_found_out(
    tmp_path: Path, said: str, empty: list[int], name: str | None
) -> None:
    folder = f"{tmp_path}/s"
    for number, file in enumerate(FILES):
        path = tmp_path / "s" / "state" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if number in empty else "x")
        sums(path).touch()
    problem = state_problem(STORE, folder, SparkError(said.format(folder)))
    named = f"one of the files of {folder}/state" if name is None else f"{folder}/state/{name}"
    assert str(problem).startswith(f"{named.rstrip('/')} is missing or damaged, {STATE}")


def test_an_error_that_is_none_of_the_state_is_left_as_it_is_whatever_a_kill_has_left(tmp_path: Path) -> None:
    table = tmp_path / "state/0/0/SSTs/8-a.sst"
    table.parent.mkdir(parents=True)
    table.touch()
    for error in (
        SparkError("division by zero"),
        JobError("lease lost"),
        SparkError(f"{LOADING} No space left on device"),
    ):
        assert state_problem(STORE, str(tmp_path), error) is None
    assert state_problem(STORE, f"{tmp_path}/none", SparkError("division by zero")) is None


def test_the_file_that_says_whose_a_checkpoint_is_may_be_damaged_lost_or_of_before(tmp_path: Path) -> None:
    folder = made(tmp_path)
    file = tmp_path / checkpoint.FILE
    whole = file.read_text()
    values: list[dict[str, object]] = [
        {"flush": "d\ufffdone"},
        {"flush": 1.5},
        {"buckets": "8"},
        {"buckets": None},
        {"queries": []},
        {"stream": "s"},
        {"stream": {"clauses": {}, "columns": [["a", "int"], "b"]}},
        {"stream": {"clauses": {}}},
    ]
    wrong = [json.dumps({**json.loads(whole), **value}) for value in values]
    for text in ("", whole[:40], "[]", json.dumps({"format": 3}), *wrong):
        file.write_text(text)
        with pytest.raises(JobError, match=f"{file} is damaged: .*: {CURE}"):
            claim(folder)
    file.unlink()
    with pytest.raises(
        JobError, match=r"has micro-batches, but not the file cepc/program.json .*or the file was lost: " + CURE
    ):
        claim(folder)
    (file.parent / "part-00000.txt").write_text("{}")
    with pytest.raises(JobError, match="is a checkpoint of an earlier version of cepc"):
        claim(folder)


COMPUTED = """FUNCTION begin(text) AS SUBSTRING(text, 1, 2);
STREAM s (ts BIGINT, ms AS ts * 1000, at AS TIMESTAMP_MILLIS(ms), raw STRING, bare AS TRIM(raw), kind AS UPPER(bare),
  number INT, half AS number % 2, place AS half * 2, who STRING, whole AS LOWER(who), team AS begin(whole),
  price DOUBLE, paid AS price * 2, much AS price > 5, aside STRING, unread AS LOWER(aside), sure TIMESTAMP, note INT)
EVENT TIME at ORDER BY place WATERMARK 30 SECONDS EVENT TYPE kind IN ('A', 'B', 'C')
FROM JSON 'in' OPTIONS (timestampFormat = 'HH:mm');
QUERY q RETURN team, COUNT(*) AS n, SUM(b.paid) AS paid PATTERN SEQ(A, B b) WHERE [team] AND b.much
  GROUP BY team WITHIN 1 HOUR;
QUERY other RETURN COUNT(*) AS n PATTERN SEQ(A, B b) WHERE b.note > 1 WITHIN 1 HOUR;
"""

OTHERWISE = [
    ("what the event time is computed from", "ts * 1000", "ts * 1001",
     ["column ms was AS (`ts` * 1000L) and is AS (`ts` * 1001L)"]),
    ("what the event type is computed from", "TRIM(raw)", "LTRIM(raw)",
     ["column bare was AS trim(`raw`) and is AS ltrim(`raw`)"]),
    ("what ORDER BY is computed from", "number % 2", "number % 3",
     ["column half was AS (`number` % 2) and is AS (`number` % 3)"]),
    ("a column in results alone", "price * 2", "price + 1",
     ["column paid was AS (`price` * 2.0D) and is AS (`price` + 1.0D)"]),
    ("a truth in a condition", "price > 5", "price > 6", ["column much was AS (`price` > 5.0D) and is AS (`price` > 6.0D)"]),
    ("the body of a FUNCTION", "(text, 1, 2)", "(text, 1, 4)",
     ["column team was AS substring(`whole`, 1, 2) and is AS substring(`whole`, 1, 4)"]),
    ("what a key is computed from", "LOWER(who)", "LOWER(raw)", ["column whole was AS lower(`who`) and is AS lower(`raw`)",
     "column who was read and is not"]),
    ("a long expression", "SUBSTRING(text, 1, 2)", f"text || '{'x' * 200}'", ["column team is not computed as it was"]),
    ("a type", "number INT", "number SMALLINT",
     ["column number was int and is smallint",
      "column half was AS (`number` % 2) and is AS (CAST(`number` AS INT) % 2)"]),
    ("a column that is computed now", "price DOUBLE", "cost DOUBLE, price AS cost / 2",
     ["column price was double and is AS (`cost` / 2.0D)", "column cost is read and was not"]),
    ("ORDER BY", "ORDER BY place ", "",
     ["ORDER BY was place and is none", "column number was read and is not", "column half was read and is not",
      "column place was read and is not"]),
    ("EVENT TIME", "EVENT TIME at", "EVENT TIME sure",
     ["EVENT TIME was at and is sure", "column sure is read and was not", "column ts was read and is not",
      "column ms was read and is not", "column at was read and is not"]),
    ("EVENT TYPE", "EVENT TYPE kind", "EVENT TYPE bare",
     ["EVENT TYPE was kind and is bare", "column kind was read and is not"]),
    ("the order of columns that are read", "price DOUBLE, paid AS price * 2, much AS price > 5",
     "price DOUBLE, much AS price > 5, paid AS price * 2",
     [("the columns that are read had the order ts, ms, at, raw, bare, kind, number, half, place, who, whole, team,"
       " price, paid, much")]),
    ("a computed column that nobody reads", "LOWER(aside)", "UPPER(aside)", []),
    ("a column of the input that nobody reads", "aside STRING, unread AS LOWER(aside), ", "", []),
    ("a column more", "note INT", "note INT, more STRING", []),
    ("a query that was left out always", "b.note > 1", "b.price > 1 AND b.who IS NOT NULL", []),
    ("the names of a FUNCTION and its parameters", "begin(text) AS SUBSTRING(text", "begin(t) AS SUBSTRING(t", []),
    ("the format of times", "HH:mm", "HH:mm:ss", []),
    ("WATERMARK", "30 SECONDS", "1 MINUTE", []),
    ("spaces and comments", "AS LOWER(who)", "AS  lower(who) -- of all\n", []),
]  # fmt: skip


def otherwise(folder: Path, program: str, old: str, new: str) -> list[str]:
    """What a checkpoint of the program says of one with another text in one place; nothing if it takes that."""
    assert program.count(old) == 1
    before, now = (what(text, ("q",)) for text in (program, program.replace(old, new)))
    claim(folder, before)
    (folder / "offsets").mkdir()
    (folder / "offsets" / "0").touch()
    try:
        claim(folder, now)
    except JobError as failure:
        before_it = f"{folder} is the checkpoint of another program: "
        behind = (
            ". Run the program it belongs to, or name a new directory to begin again; --flush with the old program"
            " closes its windows first"
        )
        return str(failure).removeprefix(before_it).removesuffix(behind).split("; ")
    return []


@pytest.mark.parametrize(("title", "old", "new", "said"), OTHERWISE, ids=[one[0] for one in OTHERWISE])
def test_a_checkpoint_says_which_columns_and_clauses_of_its_stream_are_others(
    tmp_path: Path, title: str, old: str, new: str, said: list[str]
) -> None:
    assert otherwise(tmp_path, COMPUTED, old, new) == said, title


SEVERAL = """STREAM one (at BIGINT, k INT, x INT, note STRING, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B');
STREAM two (ms BIGINT, k BIGINT, more INT, then AS ms DIV 1000) EVENT TIME then UNIT s WATERMARK 5 SECONDS;
QUERY q RETURN MATCH k, a.x, a.at PATTERN SEQ(A a, two t) WHERE [k] WITHIN 100 SECONDS;
"""

OF_SEVERAL = [
    ("a column of one of them", " k INT", " k SMALLINT", ["column one.k was int and is smallint"]),
    ("what event time is computed by", "DIV 1000", "DIV 1001",
     ["column two.then was AS (`ms` DIV 1000L) and is AS (`ms` DIV 1001L)"]),
    ("EVENT TYPE of one of them", "kind STRING) EVENT TIME at UNIT s EVENT TYPE kind", "of STRING) EVENT TIME at UNIT s EVENT TYPE of",
     ["EVENT TYPE of one was kind and is of", "column one.of is read and was not", "column one.kind was read and is not"]),
    ("a column that no query reads", "note STRING", "note INT", []),
    ("a type more", "'A', 'B'", "'A', 'B', 'C'", []),
    ("WATERMARK", "5 SECONDS", "6 SECONDS", []),
]  # fmt: skip


@pytest.mark.parametrize(("title", "old", "new", "said"), OF_SEVERAL, ids=[one[0] for one in OF_SEVERAL])
def test_a_checkpoint_says_what_is_otherwise_of_several_streams(
    tmp_path: Path, title: str, old: str, new: str, said: list[str]
) -> None:
    assert sorted(otherwise(tmp_path, SEVERAL, old, new)) == sorted(said), title


WHOLE = "STREAM s (at TIMESTAMP, kind STRING, x INT) EVENT TIME at;\nQUERY q RETURN MATCH * PATTERN s e WITHIN 9 s;"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("kind STRING, x INT, y AS x + 1", "column y is read and was not"),
        ("x INT", "column kind was read and is not"),
        ("x INT, kind STRING", "the columns that are read had the order at, kind, x"),
    ],
)
def test_a_query_of_whole_events_reads_all_columns(tmp_path: Path, columns: str, said: str) -> None:
    claim(tmp_path, what(WHOLE))
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    with pytest.raises(JobError, match=f"another program: {said}[.] Run"):
        claim(tmp_path, what(WHOLE.replace("kind STRING, x INT", columns)))


def test_a_checkpoint_is_compared_and_left_as_it_is(tmp_path: Path) -> None:
    checkpoint.check_program(STORE, str(tmp_path), what())
    assert not [*tmp_path.iterdir()]
    folder, other = made(tmp_path), what(OTHER)
    before = (tmp_path / checkpoint.FILE).read_text()
    checkpoint.check_program(STORE, folder, what())
    with pytest.raises(JobError, match="query q is not what it was"):
        checkpoint.check_program(STORE, folder, other)
    with pytest.raises(JobError, match="query q is not among those of --queries"):
        checkpoint.check_program(STORE, folder, what(MORE, ("r",)))
    assert (tmp_path / checkpoint.FILE).read_text() == before
    claim(f"{tmp_path}/not begun")
    checkpoint.check_program(STORE, f"{tmp_path}/not begun", other)


def test_a_checkpoint_of_another_format_is_refused_by_its_number(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / checkpoint.FILE).write_text(
        json.dumps({**checkpoint.identity(what()), "format": 5, "stream": "0a", "id": "0a", "flush": None})
    )
    with pytest.raises(JobError, match=f"another program: it was written in format 5, this is {checkpoint.FORMAT}"):
        claim(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            MORE,
            ("is the checkpoint of more queries: query r is not among those of --queries; query s is not among those of"
            " --queries. Add r,s to --queries, or name another --checkpoint to begin again"),
        ),
        (
            OTHER + R,
            ("is the checkpoint of another program: query r is not among those of --queries; query s is gone; query q is"
            " not what it was. Run the program it belongs to, write --change to go on with the queries that are the"
            " same, or name a new directory to begin again; --flush with the old program closes its windows first"),
        ),
    ],
)  # fmt: skip
def test_queries_of_the_checkpoint_that_a_run_leaves_out_are_named(tmp_path: Path, text: str, said: str) -> None:
    three = what(MORE, ("q", "r", "s"))
    claim(tmp_path, three)
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    with pytest.raises(JobError) as failure:
        claim(tmp_path, what(text, ("q",)))
    assert str(failure.value) == f"{tmp_path} {said}"
    assert claim(tmp_path, three).flush is None


OF_CHANGES = """STREAM s (at TIMESTAMP, kind STRING, k INT, x INT, y INT, twice AS y * 2)
EVENT TIME at WATERMARK 30 SECONDS EVENT TYPE kind IN ('A', 'B');
QUERY q RETURN COUNT(*) AS n, SUM(a.x) AS x PATTERN SEQ(A a, B) GROUP BY k WITHIN 1 HOUR SLIDE 1 MINUTE;
QUERY r RETURN COUNT(*) AS n PATTERN SEQ(A a, B) GROUP BY k WITHIN 30 SECONDS;
"""
NEW = "QUERY new RETURN MATCH a.twice AS y PATTERN SEQ(A a, B b) WITHIN 1 HOUR;\n"
WHOLE_TOO = "QUERY whole RETURN MATCH * PATTERN SEQ(A a, B b) WITHIN 1 HOUR;\n"


def _claim(folder: Path, whose: Continuous, *, change: bool = False) -> list[dict[str, Any]]:
    """What is told of the change."""
    made = checkpoint.claim(STORE, str(folder), whose, change=change)
    assert made.flush is None
    line = made.taken()
    return [] if line is None else [line]


def _begun(folder: Path, text: str, watermark: int) -> dict[str, Any]:
    """What the file of a checkpoint says that has had a micro-batch with this watermark, from 1970 on."""
    _claim(folder, what(text))
    _watermark(folder, watermark)
    return _program(folder)


def _watermark(folder: Path, watermark: int) -> None:
    for log, line in (("offsets", {"batchWatermarkMs": 0}), ("commits", {"nextBatchWatermarkMs": watermark + SHIFT})):
        (folder / log).mkdir(exist_ok=True)
        (folder / log / "0").write_text(f"v1\n{json.dumps(line)}")


def _program(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / checkpoint.FILE).read_text())
    return found


def test_queries_that_are_the_same_go_on_and_new_ones_begin_after_all_that_was_read(tmp_path: Path) -> None:
    before = _begun(tmp_path, OF_CHANGES, 100_000)
    now = what(OF_CHANGES.replace("WITHIN 30 SECONDS", "WITHIN 40 SECONDS") + NEW)
    line = {"stream": "s", "change": True, "kept": ["q"], "gone": ["r"], "new": ["r", "new"]}
    assert _claim(tmp_path, now, change=True) == [{**line, "since": "1970-01-01T00:02:10.001000Z"}]
    changed = _program(tmp_path)
    assert (changed["since"], changed["id"]) == ({"r": 130_001_000, "new": 130_001_000}, before["id"])
    assert before["panes"] == [[30_000_000, 0, ["q", "r"]]]
    assert changed["panes"] == [[30_000_000, 0, ["q"]], [40_000_000, 0, ["r"]]]
    assert _claim(tmp_path, now, change=True) == _claim(tmp_path, now) == []
    assert _program(tmp_path) == changed
    running = claim(tmp_path, now).begun.of(now)
    assert [(one.keys, one.since, len(one.queries)) for one in running.classes] == [
        (("k",), None, 1), (("k",), 130_001_000, 1), ((), 130_001_000, 1)
    ]  # fmt: skip


def test_queries_that_come_back_begin_anew_and_others_keep_their_beginning(tmp_path: Path) -> None:
    _begun(tmp_path, OF_CHANGES, 100_000)
    head, q, r = OF_CHANGES.partition("QUERY q")[0], *re.findall(r"QUERY [^;]*;\n", OF_CHANGES)
    _claim(tmp_path, what(head + q + NEW), change=True)
    _claim(tmp_path, what(head + r + NEW), change=True)  # before there was a micro-batch
    assert _program(tmp_path)["since"] == {"r": 130_001_000, "new": 130_001_000}
    _watermark(tmp_path, 200_000)
    assert _claim(tmp_path, what(head + q + r + NEW), change=True)[0]["kept"] == ["r", "new"]
    assert _program(tmp_path)["since"] == {"q": 230_001_000, "r": 130_001_000, "new": 130_001_000}


def test_new_queries_begin_after_what_was_read_with_a_longer_watermark_too(tmp_path: Path) -> None:
    _begun(tmp_path, OF_CHANGES, 100_000)
    shorter = OF_CHANGES.replace("WATERMARK 30 SECONDS", "WATERMARK 1 SECOND")
    _claim(tmp_path, what(shorter))
    assert _program(tmp_path)["delay"] == 30_000
    _claim(tmp_path, what(shorter + NEW), change=True)
    assert _program(tmp_path)["since"] == {"new": 130_001_000}


@pytest.mark.parametrize(
    ("time", "late", "tick"),
    [
        ("at BIGINT) EVENT TIME at UNIT s", "30 SECONDS", 131),
        ("at BIGINT) EVENT TIME at UNIT ms", "30 SECONDS", 130_001),
        ("at TIMESTAMP_NTZ) EVENT TIME at", "30 SECONDS", 130_001_000),
        ("at DATE) EVENT TIME at", "1 DAY", 2),
    ],
)
def test_the_first_tick_of_new_queries_is_after_all_that_was_read_in_any_unit(
    tmp_path: Path, time: str, late: str, tick: int
) -> None:
    head, query = f"STREAM s ({time} WATERMARK {late};\n", "QUERY {} RETURN COUNT(*) AS n PATTERN s WITHIN 9 DAYS;\n"
    _begun(tmp_path, head + query.format("q"), 100_000)
    _claim(tmp_path, what(head + query.format("q") + query.format("new")), change=True)
    assert _program(tmp_path)["since"] == {"new": tick}


REFUSED = [
    ("a column of queries that stay", OF_CHANGES.replace("k INT", "k BIGINT"), "column k was int and is bigint"),
    (
        "what orders events",
        OF_CHANGES.replace(" EVENT TYPE", " ORDER BY y EVENT TYPE", 1),
        "ORDER BY was none and is y",
    ),
    (
        "event time",
        OF_CHANGES.replace("at TIMESTAMP", "at TIMESTAMP_NTZ"),
        "column at was timestamp and is timestamp_ntz",
    ),
]


@pytest.mark.parametrize(("title", "text", "said"), REFUSED, ids=[one[0] for one in REFUSED])
def test_queries_that_stay_must_read_the_same_events(tmp_path: Path, title: str, text: str, said: str) -> None:
    before = _begun(tmp_path, OF_CHANGES, 100_000)
    with pytest.raises(
        JobError, match=f"queries that are the same on .* would read other events: .*{said}.*--change is"
    ):
        _claim(tmp_path, what(text + NEW), change=True)
    assert _program(tmp_path) == before, title


def test_a_query_of_whole_events_stays_only_where_all_columns_do(tmp_path: Path) -> None:
    _begun(tmp_path, OF_CHANGES + WHOLE_TOO, 100_000)
    fewer = OF_CHANGES.replace(", twice AS y * 2", "")
    with pytest.raises(JobError, match="would read other events: column twice was read and is not"):
        _claim(tmp_path, what(fewer.replace("QUERY r", "QUERY other") + WHOLE_TOO), change=True)
    assert _claim(tmp_path, what(fewer), change=True)[0]["gone"] == ["whole"]


def test_a_change_needs_what_was_written_down_a_micro_batch_and_no_flush(tmp_path: Path) -> None:
    now, file = what(OF_CHANGES + NEW), tmp_path / checkpoint.FILE
    _claim(tmp_path, what(OF_CHANGES))
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").touch()
    with pytest.raises(JobError, match=r"no micro-batch of .* is done, so there is nothing to go on with"):
        _claim(tmp_path, now, change=True)
    _watermark(tmp_path, 100_000)
    whole = _program(tmp_path)
    file.write_text(json.dumps({**whole, "flush": 0}))
    with pytest.raises(
        JobError, match="is being ended by --flush, which can only be finished with the program it belongs"
    ):
        _claim(tmp_path, now, change=True)
    before = {name: value for name, value in whole.items() if name not in ("since", "panes", "delay")}
    file.write_text(json.dumps({**before, "format": 6}))
    with pytest.raises(JobError, match="was last read by an earlier version of cepc, which did not write down"):
        _claim(tmp_path, now, change=True)
    _claim(tmp_path, what(OF_CHANGES))
    assert _program(tmp_path) == {**whole, "together": []}
    with pytest.raises(JobError, match=r"query new is new\. Run the program it belongs to, write --change to go on"):
        _claim(tmp_path, now)
    values: list[dict[str, object]] = [
        {"since": {"q": "1"}}, {"since": []}, {"panes": [[0, 0, []]]}, {"panes": [["q"]]}, {"delay": "30"}
    ]  # fmt: skip
    for wrong in values:
        file.write_text(json.dumps({**whole, **wrong}))
        with pytest.raises(JobError, match="is damaged: it should be one JSON object"):
            _claim(tmp_path, now, change=True)


def test_a_new_query_over_several_streams_is_refused_and_one_that_is_gone_is_not(tmp_path: Path) -> None:
    more = SEVERAL.replace("QUERY q", "QUERY r").partition("QUERY")[2]
    _begun(tmp_path, f"{SEVERAL}QUERY{more.replace('100', '90')}", 100_000)
    with pytest.raises(JobError, match=r"query s is new, and --change does not know how far .* one, two was read"):
        _claim(tmp_path, what(f"{SEVERAL}QUERY s{more[2:]}"), change=True)
    assert _claim(tmp_path, what(SEVERAL), change=True)[0]["gone"] == ["r"]


def test_a_checkpoint_that_was_moved_names_the_place_where_it_was_made(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    claim(old, place=f"file:{old}")
    program = (old / checkpoint.FILE).read_text()
    made(old)
    (old / checkpoint.FILE).write_text(program)
    assert claim(old, place=f"file:{old}").flush is None
    new.symlink_to(old)
    assert claim(new, place=f"file:{new}").flush is None  # the same by another name
    new.unlink()
    old.rename(new)
    with pytest.raises(JobError) as failure:
        claim(new, place=f"file:{new}")
    assert str(failure.value) == (
        f"{new} was moved from file:{old}, where Spark looks for the files of its state: move it back, and name it so as"
        " --checkpoint"
    )
    without = {name: value for name, value in json.loads(program).items() if name != "place"}
    (new / checkpoint.FILE).write_text(json.dumps(without))  # of before
    assert claim(new, place=f"file:{new}").flush is None


def test_another_number_of_buckets_makes_no_other_program(tmp_path: Path) -> None:
    with pytest.raises(JobError) as failure:
        claim(made(tmp_path), what(buckets=3))
    assert str(failure.value) == (
        f"{tmp_path} was begun with another number of buckets: it has 2 buckets, write --buckets 2, or leave that option"
        " out"
    )


def test_a_flush_that_was_begun_can_only_be_finished(tmp_path: Path) -> None:
    folder = made(tmp_path)

    def cut_short(batch: int) -> None:
        assert batch == 13
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoint.flush(STORE, folder, same, cut_short)
    assert claim(folder).flush == 13
    with pytest.raises(JobError, match="query q is not what it was"):
        claim(folder, what(OTHER))
    (tmp_path / "commits/13").rename(tmp_path / "lost")
    with pytest.raises(
        JobError, match=r"commits/13 is missing, and the flush .* cannot be finished without it: " + CURE
    ):
        checkpoint.flush(STORE, folder, same, cut_short)
    (tmp_path / "lost").rename(tmp_path / "commits/13")
    program = tmp_path / checkpoint.FILE
    whole = program.read_text()
    program.write_text(whole.replace('"flush": 13', '"flush": 12'))  # a bit of it is another
    with pytest.raises(JobError, match=r"program.json is damaged: .* follows micro-batch 12, and 13 was done: " + CURE):
        checkpoint.flush(STORE, folder, same, cut_short)
    program.write_text(whole)
    assert checkpoint.flush(STORE, folder, same, same) == 13
    with pytest.raises(checkpoint.Ended, match="was ended by --flush"):
        claim(folder)


def test_a_flush_that_finds_no_state_leaves_the_checkpoint_as_it_was(tmp_path: Path) -> None:
    folder = made(tmp_path)

    def lost(batch: int) -> int:
        raise JobError(f"there is no state of {batch}")

    with pytest.raises(JobError, match="there is no state of 13"):
        checkpoint.flush(STORE, folder, lost, same)
    assert claim(folder).flush is None
    assert checkpoint.flush(STORE, folder, same, same) == 13


def test_nothing_is_flushed_while_a_micro_batch_is_not_done(tmp_path: Path) -> None:
    folder = made(tmp_path, 15)
    with pytest.raises(JobError, match=r"micro-batch 14 of .* is not done: run the job with --trigger available-now"):
        checkpoint.flush(STORE, folder, same, same)
    assert claim(folder).flush is None


def test_where_nothing_was_read_a_flush_writes_nothing_and_ends_nothing(tmp_path: Path) -> None:
    claim(tmp_path)
    assert checkpoint.flush(STORE, str(tmp_path), same, lambda _: pytest.fail("there is nothing")) is None
    assert claim(tmp_path).flush is None


def test_where_nothing_was_read_of_one_stream_of_several_a_flush_ends_that_one_too(tmp_path: Path) -> None:
    folder = f"{tmp_path}/b"
    claim(folder)
    assert checkpoint.flush(STORE, folder, same, lambda _: pytest.fail("there is nothing"), ["a", "b"]) is None
    with pytest.raises(checkpoint.Ended, match="was ended by --flush"):
        claim(folder)


def test_a_flush_that_was_begun_has_to_end_all_streams_that_it_was_begun_for(tmp_path: Path) -> None:
    folders = {name: made(tmp_path / name) for name in "abc"}
    assert checkpoint.ended(STORE, folders) == frozenset()

    def cut_short(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoint.flush(STORE, folders["a"], same, cut_short, ["a", "b"])
    assert checkpoint.ended(STORE, folders) == {"a", "b"}
    checkpoint.flush(STORE, folders["a"], same, same)
    assert checkpoint.ended(STORE, folders) == {"a", "b"}
    assert checkpoint.ended(STORE, {"a": folders["a"]}) == {"a"}
    program = tmp_path / "a" / checkpoint.FILE
    data = json.loads(program.read_text())
    program.write_text(json.dumps({**data, "together": "ab"}))
    with pytest.raises(JobError, match="is damaged"):
        checkpoint.ended(STORE, folders)
    del data["together"]  # of an earlier version
    program.write_text(json.dumps(data))
    assert checkpoint.ended(STORE, folders) == {"a"}


GONE_FROM = (
    "is the checkpoint of another program: stream {} is gone. Name it as before, run all queries of the checkpoint, or"
    " name a new directory to begin again"
)
MAY_FLUSH = GONE_FROM + "; --flush with the old program closes its windows first"
LEFT_OUT = (
    "is the checkpoint of more queries: those of stream {} are not among those of --queries. Add q to --queries, or name"
    " another --checkpoint to begin again"
)
STREAMS = [  # those that have begun in the checkpoint, that a flush has ended, that are run, and that the program has
    ("the same", "s t", "", "s t", "s t", None),
    ("a new stream", "s", "", "s t", "s t", None),
    ("one was renamed", "s t", "", "s u", "s u", MAY_FLUSH.format("t")),
    ("the only one was renamed", "a.b/c", "", "u", "u", MAY_FLUSH.format("a.b/c")),
    ("one is gone", "s t", "", "s", "s", MAY_FLUSH.format("t")),
    ("one was ended, and renamed", "s", "s", "u", "u", GONE_FROM.format("s")),
    ("one is left out by --queries", "s .t", "", "s", "s .t", LEFT_OUT.format(".t")),
    ("one that was ended is left out", "s t", "s", "t", "s t", None),
    ("one that was ended is left out, and another is new", "s", "s", "t", "s t", None),
    ("one that has not begun is gone", "s", "", "s", "s", None),
]


@pytest.mark.parametrize(("title", "begun", "over", "run", "program", "said"), STREAMS, ids=[one[0] for one in STREAMS])
def test_a_stream_that_has_begun_in_a_checkpoint_is_not_left_behind(
    tmp_path: Path, title: str, begun: str, over: str, run: str, program: str, said: str | None
) -> None:
    for name in begun.split():
        own = made(Path(path_of(str(tmp_path), name)))
        if name in over.split():
            checkpoint.flush(STORE, own, same, same)
    claim(f"{tmp_path}/not begun")
    (tmp_path / "of no job" / "offsets").mkdir(parents=True)
    (tmp_path / "of no job" / "offsets" / "0").touch()
    for folder in (str(tmp_path), f"{tmp_path}/"):
        if said is None:
            checkpoint.check_streams(STORE, folder, run.split(), {name: ["q"] for name in program.split()})
            continue
        with pytest.raises(JobError) as failure:
            checkpoint.check_streams(STORE, folder, run.split(), {name: ["q"] for name in program.split()})
        assert str(failure.value) == f"{folder} {said}", title


def test_a_stream_whose_file_that_says_whose_it_is_was_lost_is_not_left_behind_either(tmp_path: Path) -> None:
    made(tmp_path / "s")
    (tmp_path / "s" / checkpoint.FILE).unlink()
    with pytest.raises(JobError, match="stream s is gone"):
        checkpoint.check_streams(STORE, str(tmp_path), ["t"], {"t": ["r"]})
    with pytest.raises(JobError, match=r"those of stream s .* Add p,q to --queries"):
        checkpoint.check_streams(STORE, str(tmp_path), ["t"], {"s": ["p", "q"], "t": ["r"]})
    checkpoint.check_streams(STORE, str(tmp_path), ["s"], {"s": ["p", "q"]})
    checkpoint.check_streams(STORE, f"{tmp_path}/new", ["s"], {"s": ["p", "q"]})


@pytest.mark.parametrize(
    "given",
    [
        "--output o --late o/late --dead o/dead",  # no query is named so
        "--output o --late o --dead d",
        "--output o --late o/q2 --dead o2",
        "--output c --output-format kafka",
        "--late d --dead d2",
    ],
)
def test_folders_in_which_no_files_would_meet_may_lie_in_one(given: str) -> None:
    streams = [Stream("s", T.StructType(), ("at",), None, ("q",))]
    assert meeting(arguments_of(given), streams, ["q"]) is None


def arguments_of(given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name, default in {"output": "console", "output-format": "parquet", "checkpoint": "c", "late": None}.items():
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--dead")
    return parser.parse_args(given.split())


IN = "the stream would read what it writes: name a directory outside of it"
AMONG = [
    ("--output in", f"--output in is among the events of in, so {IN}"),
    ("--output in/rows", f"--output in/rows is among the events of in, so {IN}"),
    ("--output o --late in/late", f"--late in/late is among the events of in, so {IN}"),
    ("--checkpoint in/c", f"--checkpoint in/c is among the events of in, so {IN}"),
    ("--checkpoint in/_c --output in/.o", None),  # Spark reads no such names
    ("--output input", None),
]


@pytest.mark.parametrize(("given", "said"), AMONG)
def test_nothing_is_written_among_the_events(given: str, said: str | None) -> None:
    assert among_events(arguments_of(given), ["q"], "in") == said


def test_rows_of_this_run_are_no_events_of_it() -> None:
    assert among_events(arguments_of("--output o"), ["q"], "o/q") == f"--output o is among the events of o/q, so {IN}"
    assert among_events(arguments_of("--output o"), ["q"], "o/of_another") is None


@pytest.mark.parametrize(
    ("entry", "cure"),
    [
        ("9", "delete {folder}/offsets/10 and {folder}/sources/0/9, and start the job again"),
        ("9.compact", "name a new directory as --checkpoint and --output and begin again"),  # it has all files
    ],
)
def test_a_micro_batch_with_a_file_whose_name_is_a_pattern_is_planned_anew_if_its_log_allows_it(
    tmp_path: Path, entry: str, cure: str
) -> None:
    files = [{"path": f"file:///in/{name}", "timestamp": 1, "batchId": 9} for name in ("a%5B1%5D.json", "b.json")]
    texts = {
        "offsets/9": ["{}", '{"logOffset":8}'],
        "offsets/10": ["{}", '{"logOffset":9}'],
        f"sources/0/{entry}": map(json.dumps, files),
    }
    for name, lines in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join(["v1", *lines]))
    spark: Any = None
    with pytest.raises(JobError, match=r"as file:///in/a\[1\].json has: give it another name") as failure:
        LookAtFiles(spark, STORE, str(tmp_path), "s", None, 0, None).at(10)
    assert cure.format(folder=tmp_path) in str(failure.value)


# ---- whose the output is ---------------------------------------------------------------------------------------------


@dataclass
class Output:
    """A folder of output, and checkpoints that may write there."""

    folder: Path

    def owner(self, name: str, *, has_begun: bool = False, flush: str | None = None) -> Owner:
        """A checkpoint, made or made again in its folder: another name after `/` is another id."""
        place, _, id_ = name.partition("/")
        own_folder = self.folder / "checkpoints" / place
        claim(own_folder)
        file = own_folder / checkpoint.FILE
        said = json.loads(file.read_text()) | {"id": id_ or place, "flush": flush}
        file.write_text(json.dumps(said))
        return Owner(said["id"], str(own_folder), has_begun)

    def taken(self, owner: Owner, *queries: str) -> bool:
        sink = Directories(f"{self.folder}/out/", "parquet")
        return take_places(STORE, owner, sink.folder, sink.places(queries), "--output")

    def rows(self, *places: str) -> None:
        for one in places:
            (self.folder / "out" / one).mkdir(parents=True)


def test_a_checkpoint_takes_what_is_free_and_has_it_when_it_goes_on(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.rows("other/batch=000000001", "q%2F1/_temporary")
    output.taken(output.owner("one"), "q/1")
    output.rows("q%2F1/batch=000000001", "r/batch=-1")
    output.taken(output.owner("one", has_begun=True), "q/1")
    output.taken(output.owner("two"), "s")  # beside it, another query


def test_an_output_that_lacks_what_its_checkpoint_has_written_is_known(tmp_path: Path) -> None:
    output = Output(tmp_path)
    assert not output.taken(output.owner("one"), "q")
    assert not output.taken(output.owner("one", has_begun=True), "q", "r")  # another query of it
    shutil.rmtree(tmp_path / "out")
    assert output.taken(output.owner("one", has_begun=True), "q")
    assert not output.taken(output.owner("one", has_begun=True), "q")  # and said once
    said = without_earlier("out", output.owner("one", has_begun=True))
    assert said.startswith("warning: out has no rows of the micro-batches that")
    assert "restore it, or begin a new --checkpoint" in said


def test_a_new_checkpoint_does_not_begin_where_there_are_rows_of_another(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.rows("q%2F1/batch=-1")
    with pytest.raises(JobError, match=f"{tmp_path}/out/q%2F1 has rows of another checkpoint, .* or delete them"):
        output.taken(output.owner("one"), "r", "q/1")
    output.taken(output.owner("old", has_begun=True), "q/1")  # which began before outputs said whose they are


@pytest.mark.parametrize("has_begun", [False, True])
def test_two_checkpoints_do_not_write_one_query_in_one_place_even_before_there_are_rows(
    tmp_path: Path, has_begun: bool
) -> None:
    output = Output(tmp_path)
    output.taken(output.owner("one"), "q", "r")
    with pytest.raises(JobError) as failure:
        output.taken(output.owner("two", has_begun=has_begun), "r", "s")
    assert str(failure.value) == (
        f"{tmp_path}/out/r is written by the checkpoint {tmp_path}/checkpoints/one, whose micro-batches have the same"
        " numbers as those of this one: name another --output, or delete that checkpoint if it is not needed"
    )
    shutil.rmtree(tmp_path / "checkpoints" / "one")
    output.taken(output.owner("two", has_begun=has_begun), "r", "s")


@pytest.mark.parametrize(
    "after", [{"name": "one/again"}, {"name": "one", "flush": checkpoint.DONE}], ids=["begun anew", "ended"]
)
def test_rows_of_a_checkpoint_that_is_over_are_in_the_way_until_they_are_deleted(
    tmp_path: Path, after: dict[str, Any]
) -> None:
    output = Output(tmp_path)
    output.taken(output.owner("one"), "q")
    output.rows("q/batch=000000000")
    output.owner(**after)
    for has_begun in (False, True):
        with pytest.raises(JobError, match="out/q has rows of another checkpoint"):
            output.taken(output.owner("two", has_begun=has_begun), "q")
    shutil.rmtree(tmp_path / "out" / "q")
    output.taken(output.owner("two"), "q")


def test_late_and_dead_events_of_another_checkpoint_are_not_overwritten_either(tmp_path: Path) -> None:
    output, dead = Output(tmp_path), f"{tmp_path}/dead/s"
    take_places(STORE, output.owner("one"), dead, {"s": dead}, "--dead")
    (tmp_path / "dead/s/batch=000000000").mkdir()
    shutil.rmtree(tmp_path / "checkpoints" / "one")
    with pytest.raises(JobError, match=f"{dead} has rows of another checkpoint, .* name another --dead"):
        take_places(STORE, output.owner("two"), dead, {"s": dead}, "--dead")


def test_a_mark_that_is_half_written_says_nothing(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.taken(output.owner("one"), "q")
    (mark,) = (tmp_path / "out" / MARKS).iterdir()
    for text in ("", "{", "[]", '{"folder": 1, "names": []}', '{"names": ["q"]}'):
        mark.write_text(text)
        output.taken(output.owner("two"), "q")
        (tmp_path / "out" / MARKS / "two.json").unlink()
