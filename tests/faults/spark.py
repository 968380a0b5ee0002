"""Real jobs on Spark, whose driver, JVM or Python workers are killed at named places and at random moments, and whose
checkpoints are damaged between two runs. A fault costs a start of Spark.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment
from cepc_runtime.batch import execute
from cepc_runtime.spark.settings import COMPILED_ONCE
from tests.equivalence import same
from tests.faults import work
from tests.faults.driver import AT_RANDOM, ONCE, PLACES, SAID, TARGETS, descendants, end
from tests.faults.process import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from tests.faults.work import Work

OF_A_STREAM: Final = 12
"""Faults, at most."""
FIRST: Final = 1_000_000
SUBMIT: Final = (
    "--master local[2] --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false"
    " --conf spark.sql.shuffle.partitions=2 --conf spark.driver.host=127.0.0.1"
    f" --conf spark.driver.bindAddress=127.0.0.1 --driver-java-options '{COMPILED_ONCE} -XX:+UseSerialGC'"
    " pyspark-shell"
)
"""A JVM that is killed within seconds is not worth a second compilation of its code."""
TO_THE_END: Final = ("--trigger", "available-now", "--flush")
NO_SENTENCE: Final = ("Traceback", "a bug in cepc", "JSONDecodeError")


def run(folder: Path, faults: int, seed: int = 1, files: int = 6, streams: int = 1) -> Told:
    """Job after job, until there were so many faults. A kill is a fault of each of a job's streams that runs then."""
    told = Told()
    for number in range(seed, seed + faults * streams, streams):
        works = {f"s{own}": work.work(files, own, keys=20) for own in range(number, number + streams)}
        told.add(suffer(folder / str(number), works, number, faults - told.faults.total()))
        print(f"{told.faults.total()} faults, {len(told.wrong)} wrong", file=sys.stderr, flush=True)
        if told.faults.total() >= faults or told.wrong:
            return told
    raise AssertionError


def suffer(folder: Path, works: Mapping[str, Work], seed: int, faults: int) -> Told:
    """Run a job with one fault after another, until it ends or there were so many, or enough for each stream."""
    chance, told = random.Random(seed), Told()
    prepare(folder, works)
    while told.faults.total() < min(faults, OF_A_STREAM * len(works)):
        if chance.random() < 0.2 and _damaged(folder, chance.choice([*works]), chance, told):
            continue
        place, target = chance.choice((AT_RANDOM, *PLACES)), chance.choice(TARGETS)
        if place == AT_RANDOM:
            number = chance.randrange(3, 13 + 3 * len(works))
        else:
            number = 1 + chance.randrange(len(works) * (1 if place in ONCE else chance.choice((1, 1, 3))))
        code, said = finished(begin(folder, works, place, number, target))
        killed = said.partition(SAID)[2]
        if not killed and code == 0:
            break
        if killed:
            running = json.loads(killed.splitlines()[0])
            told.faults[target] += len(running)
            told.places.update(running.values())
        for stream in works:
            if _ending(folder, stream):  # closes every window, and must not be taken
                put(folder, stream, len(works[stream].files), works[stream].after)
    else:
        code, said = finished(begin(folder, works))
    if code != 0 and "was ended by --flush" not in said:
        told.wrong.append(said[-2000:])
    told.wrong = [f"job {seed}: {what}" for what in [*told.wrong, *wrong(folder, works)]]
    return told


def wrong(folder: Path, works: Mapping[str, Work]) -> list[str]:
    """Of streams that have ended: what is not as in a batch."""
    told = []
    for stream, done in works.items():
        for name, table in execute(work.compiled().plan, done.in_time).tables.items():
            path = folder / "out" / work.query_of(name, stream)
            written = any(path.glob("batch=*"))
            found = pq.read_table(path).drop_columns(["batch"]).cast(table.schema).to_pylist() if written else []
            if not same(found, table.to_pylist()):
                told.append(f"rows of {path.name}: {len(found)} instead of {table.num_rows}")
        late = sum(len(part.read_text().splitlines()) for part in (folder / "late").glob(f"{stream}/batch=*/part-*"))
        told += [f"{late} late events of {stream} instead of {done.late}"] if late != done.late else []
    return told


def prepare(folder: Path, works: Mapping[str, Work]) -> None:
    """The files of events and the job."""
    for stream, given in works.items():
        (folder / "in" / stream).mkdir(parents=True)
        for number, table in enumerate(given.files):
            put(folder, stream, number, table)
    checked = check_text(work.program([*works]))
    assert checked.program is not None
    (folder / "job.py").write_text(job_of(checked.program, checked.sources).text)


def put(folder: Path, stream: str, number: int, table: pa.Table) -> None:
    path = folder / "in" / stream / f"{number}.parquet"
    pq.write_table(table, path)
    os.utime(path, (FIRST + number, FIRST + number))


def begin(
    folder: Path,
    streams: Iterable[str],
    place: str = "",
    number: int = 0,
    target: str = "",
    arguments: Sequence[str] = TO_THE_END,
) -> subprocess.Popen[str]:
    """The job, which is killed there."""
    inputs = [f"--input={stream}={folder}/in/{stream}" for stream in streams]
    command = [
        sys.executable, "-m", "tests.faults.driver", place, str(number), target, str(folder / "job.py"), "--mode", "stream",
        "--checkpoint", f"{folder}/checkpoint", *inputs, "--format", "parquet", "--option", "maxFilesPerTrigger=1",
        "--output", f"{folder}/out", "--late", f"{folder}/late", "--buckets", "2", *arguments,
    ]  # fmt: skip
    environment: dict[str, Any] = {**os.environ, **spark_environment(), "PYSPARK_SUBMIT_ARGS": SUBMIT}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)


def finished(job: subprocess.Popen[str]) -> tuple[int, str]:
    """Its code and what it said, when nothing of it is left."""
    below: set[int] = set()
    said = ""
    while True:
        below |= {*descendants(job.pid)}
        try:
            said = job.communicate(timeout=1)[1]
            break
        except subprocess.TimeoutExpired:
            continue
    for pid in below:
        end(pid)
    return job.returncode, said


def _ending(folder: Path, stream: str) -> bool:
    program = folder / "checkpoint" / stream / "cepc" / "program.json"
    return program.exists() and json.loads(program.read_text())["flush"] is not None


def _damaged(folder: Path, stream: str, chance: random.Random, told: Told) -> bool:
    """A file of a stream's checkpoint is cut short; the job says which, and goes on when it is put back. False where
    there is none yet.
    """
    checkpoint = folder / "checkpoint" / stream
    kind = chance.choice(("cepc/program.json", "metadata", "offsets", "sources/0", "state/0/0"))
    found = checkpoint / kind
    if found.is_dir():
        numbered = [path for path in found.iterdir() if path.stem.isdecimal() and path.suffix in ("", ".changelog")]
        found = max(numbered, key=lambda path: int(path.stem), default=found)
    if not found.is_file() or _ending(folder, stream):
        return False
    whole, sums = found.read_bytes(), found.with_name(f".{found.name}.crc")
    found.write_bytes(whole[: chance.randrange(1, len(whole))])
    sums.unlink(missing_ok=True)
    code, said = finished(begin(folder, [path.name for path in (folder / "in").iterdir()]))
    sentence = said.rpartition("error: ")[2].splitlines()[0] if "error: " in said else said[-500:]
    told.faults["damaged"] += 1
    told.places[kind] += 1
    if (
        code != 1
        or str(checkpoint / kind.partition("/")[0]) not in sentence
        or any(word in sentence for word in NO_SENTENCE)
    ):
        told.wrong.append(f"{kind} cut short: {code}, {sentence}")
    found.write_bytes(whole)
    return True
