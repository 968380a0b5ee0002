"""Files of events that nobody wrote: good ones with bytes changed, lost and doubled, in each format that `cepc run`
reads.

What is neither rows nor a diagnostic is printed with the number of the file.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Final

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

import cepc
from cepc.errors import CepcError
from tests import fuzzing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLAT: Final = "at TIMESTAMP, k STRING, x INT, d DOUBLE, m DECIMAL(10,2), b BOOLEAN, day DATE"
NESTED: Final = f"{FLAT}, xs ARRAY<INT>, s STRUCT<a: INT, b: STRING>"
QUERIES: Final = """
QUERY counted RETURN k, COUNT(*) AS n, SUM(A.x) AS x, MAX(A.m) AS m PATTERN SEQ(ANY A, ANY B) GROUP BY k WITHIN 10 s;
QUERY listed RETURN MATCH A.d AS d, B.day AS day PATTERN SEQ(ANY A, ANY B) WHERE A.b = B.b SELECT NEXT WITHIN 5 s;
"""


@cache
def compiled(columns: str) -> cepc.Compiled:
    return cepc.compile(f"STREAM s ({columns}) EVENT TIME at EVENT TYPE k;{QUERIES}")


ROWS: Final = [
    {
        "at": f"2026-03-02T10:{i // 60:02}:{i % 60:02}", "k": "ABC"[i % 3], "x": i - 20, "d": i / 7, "m": f"{i}.25",
        "b": i % 2 == 0, "day": f"2026-03-{i % 28 + 1:02}", "xs": [i, None], "s": {"a": i, "b": "é"},
    }
    for i in range(120)
]  # fmt: skip


@cache
def _json() -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ROWS).encode()


@cache
def _csv() -> bytes:
    names = [column.split()[0] for column in FLAT.split(", ")]
    lines = [",".join(_written(n, row[n]) for n in names) for row in ROWS]
    return "\n".join([",".join(names), *lines, ""]).encode()


def _written(name: str, value: object) -> str:
    match name:
        case "k":
            return f'"{value}"'
        case "b":
            return str(value).lower()
        case _:
            return str(value)


def _table() -> pa.Table:
    at = pa.array([f"{row['at']}Z" for row in ROWS]).cast(pa.timestamp("us", "UTC"))
    columns = {
        "at": at,
        "k": [row["k"] for row in ROWS],
        "x": pa.array([row["x"] for row in ROWS], pa.int32()),
        "d": [row["d"] for row in ROWS],
        "m": pa.array([Decimal(str(row["m"])) for row in ROWS], pa.decimal128(10, 2)),
        "b": [row["b"] for row in ROWS],
        "day": pa.array([row["day"] for row in ROWS]).cast(pa.date32()),
        "xs": pa.array([row["xs"] for row in ROWS], pa.list_(pa.int32())),
        "s": pa.array([row["s"] for row in ROWS], pa.struct({"a": pa.int32(), "b": pa.string()})),
    }
    return pa.table(columns)


@cache
def _parquet(compression: str) -> bytes:
    sink = io.BytesIO()
    pq.write_table(_table(), sink, compression=compression)
    return sink.getvalue()


@cache
def _orc(compression: str) -> bytes:
    sink = io.BytesIO()
    orc.write_table(_table(), sink, compression=compression)
    return sink.getvalue()


@cache
def _avro(codec: str) -> bytes:
    sink = io.BytesIO()
    fastavro.writer(sink, AVRO, _table().to_pylist(), codec=codec)
    return sink.getvalue()


AVRO: Final = {
    "type": "record", "name": "event", "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "k", "type": ["null", "string"]},
        {"name": "x", "type": ["null", "int"]},
        {"name": "d", "type": "double"},
        {"name": "m", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "b", "type": "boolean"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "xs", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "s", "type": {"type": "record", "name": "of", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}},
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A file's name, the columns declared, its bytes, and whether they are compressed when they have been changed."""

    name: str
    columns: str
    data: Callable[[], bytes]
    pack: Callable[[bytes], bytes] = bytes


KINDS: Final = {
    "csv": Kind("e.csv", FLAT, _csv),
    "csv in gzip": Kind("e.csv.gz", FLAT, lambda: gzip.compress(_csv(), mtime=0)),
    "changed csv in bz2": Kind("e.csv.bz2", FLAT, _csv, bz2.compress),
    "json": Kind("e.jsonl", NESTED, _json),
    "json in gzip": Kind("e.jsonl.gz", NESTED, lambda: gzip.compress(_json(), mtime=0)),
    "parquet": Kind("e.parquet", NESTED, lambda: _parquet("none")),
    "parquet, compressed": Kind("e.parquet", NESTED, lambda: _parquet("snappy")),
    "orc": Kind("e.orc", NESTED, lambda: _orc("uncompressed")),
    "orc, compressed": Kind("e.orc", NESTED, lambda: _orc("zstd")),
    "avro": Kind("e.avro", NESTED, lambda: _avro("null")),
    "avro, compressed": Kind("e.avro", NESTED, lambda: _avro("deflate")),
}


def changed(data: bytes, random: Random) -> bytes:
    """With a few bytes changed, cut off, left out, doubled, moved, or put in."""
    found = bytearray(data)
    for _ in range(random.choice((0, 1, 1, 2, 5, 30))):
        start = random.randrange(len(found) + 1)
        end = min(len(found), start + random.choice((1, 1, 4, 40, 400)))
        match random.randrange(8):
            case 0:
                del found[start:]
            case 1:
                del found[start:end]
            case 2:
                found[start:start] = found[start:end]
            case 3:
                found[start:end] = random.randbytes(end - start)
            case 4:
                found[start:start] = random.choice(SPECIAL)
            case 5:
                found[start:end] = random.choice(SPECIAL)
            case _ if start < len(found):
                found[start] ^= 1 << random.randrange(8)
    return bytes(found)


SPECIAL: Final = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\n", b"\r", b"\r\n\r\n", b",", b"{", b"}", b"[" * 300, b"null", b"NaN", b"1e999",
    b"-0", b"9" * 40, b"\\ud800", b"\xed\xa0\x80", b"2026-02-30", b"0001-01-01T00:00:00", b"9999-12-31T23:59:59.999999Z",
    b"\x7f\xff\xff\xff", b"\xff" * 8, b"{\"at\":", b"k", b"PAR1", b"\x1f\x8b",
)  # fmt: skip


def answer(kind: Kind, folder: Path, data: bytes) -> bool:
    """Whether there were rows. Otherwise diagnostics that can be shown, also where bad records are set apart; raises
    whatever else comes of it.
    """
    rows = 0
    path = folder / kind.name
    path.write_bytes(data)
    for dead in (None, folder / "dead.jsonl"):
        try:
            answers = compiled(kind.columns).run(path, dead=dead)
            rows += sum(answers[query].num_rows for query in ("counted", "listed"))
        except CepcError as error:
            if not (error.diagnostics and str(error)):
                raise AssertionError("an error without a word") from error
    return rows > 0


def example(kind: str, seed: str, number: int) -> bytes:
    """The bytes of a file, from the seed and its number alone."""
    of = KINDS[kind]
    return of.pack(changed(of.data(), Random(f"{kind} {seed} {number}")))


def run(kind: str, seed: str, seconds: float) -> fuzzing.Answered:
    """Those with rows went all the way."""
    compiled(KINDS[kind].columns)  # once, and not in each process

    def one(number: int, folder: Path) -> bool:
        return answer(KINDS[kind], folder, example(kind, seed, number))

    def arrow_did(number: int) -> bool:
        """Arrow's reader of ORC ends the process on some damaged files, whoever calls it."""
        data = example(kind, seed, number)
        return KINDS[kind].name == "e.orc" and fuzzing.ends_itself(lambda: orc.ORCFile(io.BytesIO(data)).read())

    return fuzzing.run(f"`{kind} {seed}`", one, seconds, arrow_did)
