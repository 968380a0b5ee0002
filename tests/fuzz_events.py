"""Files of events that nobody wrote: good ones with bytes changed, lost and doubled, in each format that `cepc run` reads.

`python -m tests.fuzz_events --seconds 3600 --seed 7` goes on for an hour. An example runs in a process that may take 500 MB and 5
seconds of the processor: what kills it, or is neither rows nor a diagnostic, is printed with the file.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

import cepc
from cepc.errors import CepcError

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS: Final = 5
MEGABYTES: Final = 500  # beside what the process has that it is forked from, which may be a worker of the tests

FLAT: Final = "at TIMESTAMP, k STRING, x INT, d DOUBLE, m DECIMAL(10,2), b BOOLEAN, day DATE"
NESTED: Final = f"{FLAT}, xs ARRAY<INT>, s STRUCT<a: INT, b: STRING>"
QUERIES: Final = """
QUERY counted RETURN k, COUNT(*) AS n, SUM(A.x) AS x, MAX(A.m) AS m PATTERN SEQ(ANY A, ANY B) GROUP BY k WITHIN 3 s;
QUERY listed RETURN MATCH A.d AS d, B.day AS day PATTERN SEQ(ANY A, ANY B) WHERE A.b = B.b SELECT NEXT WITHIN 2 s;
"""


@cache
def compiled(columns: str) -> cepc.compiled.Compiled:
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
    lines = [",".join(f'"{row[n]}"' if n == "k" else str(row[n]).lower() for n in names) for row in ROWS]
    return "\n".join([",".join(names), *lines, ""]).encode()


@cache
def _parquet(compression: str) -> bytes:
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
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression=compression)
    return sink.getvalue()


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


def answer(kind: Kind, folder: Path, data: bytes) -> None:
    """Rows, or diagnostics that can be shown; raises whatever else comes of it."""
    path = folder / kind.name
    path.write_bytes(data)
    try:
        compiled(kind.columns).run(path)
    except CepcError as error:
        if not (error.diagnostics and str(error)):
            raise AssertionError("an error without a word") from error


def example(kind: str, seed: str, number: int) -> bytes:
    """The bytes of a file, from the seed and its number alone."""
    of = KINDS[kind]
    return of.pack(changed(of.data(), Random(f"{kind} {seed} {number}")))


def _hang(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def _data() -> int:
    """The bytes of data of this process, as RLIMIT_DATA counts them."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmData"].split()[0]) << 10


def _work(kind: str, seed: str, start: int, until: float, folder: str) -> None:
    """In a process of its own: the number of the example at hand stands in a file, and what went wrong with one in another."""
    limit = _data() + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    signal.signal(signal.SIGPROF, _hang)
    at, place = Path(folder, "at"), Path(folder)
    number = start
    while time.time() < until:
        at.write_text(str(number))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            answer(KINDS[kind], place, example(kind, seed, number))
        except Exception:
            Path(folder, "failed").write_text(traceback.format_exc(limit=-6))
            sys.exit(1)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        number += 1
    at.write_text(str(number))


def run(kind: str, seed: str, seconds: float) -> tuple[int, list[str]]:
    """How many examples were answered in so many seconds, and what is to be said of those that were not."""
    compiled(KINDS[kind].columns)  # once, and not in each process
    until, start, failures = time.time() + seconds, 0, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < until and len(failures) < 10:
            process = multiprocessing.get_context("fork").Process(target=_work, args=(kind, seed, start, until, folder))
            process.start()
            process.join()
            start = int(Path(folder, "at").read_text())
            if process.exitcode != 0:
                failed = Path(folder, "failed")
                said = failed.read_text() if failed.exists() else f"the process ended with {process.exitcode}\n"
                failed.unlink(missing_ok=True)
                failures.append(f"example {start} of `{kind} {seed}`: {said}")
                start += 1
    return start, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="fixed")
    parser.add_argument("--kind", choices=[*KINDS], action="append")
    arguments = parser.parse_args()
    kinds = arguments.kind or [*KINDS]
    wrong = False
    for kind in kinds:
        count, failures = run(kind, arguments.seed, arguments.seconds / len(kinds))
        print(f"{kind}: {count:,} files", *failures, sep="\n", flush=True)
        wrong = wrong or bool(failures)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
