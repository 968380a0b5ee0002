"""Real jobs on Spark, whose driver, JVM or Python workers are killed at named places and at random moments, and whose
checkpoints are damaged between two runs. A fault costs a start of Spark.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import pyarrow.parquet as pq

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.java import spark_environment
from cepc_runtime.batch import execute
from tests.equivalence import same
from tests.faults.driver import AT_RANDOM, PLACES, SAID, TARGETS, descendants, end
from tests.faults.process import Told
from tests.faults.work import PROGRAM, compiled, work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from tests.faults.work import Work

OF_A_STREAM: Final = 12
"""Faults, at most."""
FIRST: Final = 1_000_000
SUBMIT: Final = (
    "--master local[2] --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false"
    " --conf spark.sql.shuffle.partitions=2 --conf spark.driver.host=127.0.0.1"
    " --conf spark.driver.bindAddress=127.0.0.1 pyspark-shell"
)
TO_THE_END: Final = ("--trigger", "available-now", "--flush")
NO_SENTENCE: Final = ("Traceback", "a bug in cepc", "JSONDecodeError")


def run(folder: Path, faults: int, seed: int = 1, files: int = 6) -> Told:
    """Stream after stream, until there were so many faults."""
    told = Told()
    for number in count(seed):
        told.add(suffer(folder / str(number), work(files, number, keys=20), number, min(faults, OF_A_STREAM)))
        print(f"{told.faults.total()} faults, {len(told.wrong)} wrong", file=sys.stderr, flush=True)
        if told.faults.total() >= faults or told.wrong:
            return told
    raise AssertionError


def suffer(folder: Path, work: Work, seed: int, faults: int) -> Told:
    """Run a job with one fault after another, until it ends or there were so many."""
    chance, told = random.Random(seed), Told()
    prepare(folder, work)
    while told.faults.total() < faults:
        if chance.random() < 0.2 and _damaged(folder, chance, told):
            continue
        place, target = chance.choice((AT_RANDOM, *PLACES)), chance.choice(TARGETS)
        number = chance.randrange(3, 16) if place == AT_RANDOM else chance.choice((1, 1, 2, 3))
        code, said = finished(begin(folder, place, number, target))
        if SAID not in said and code == 0:
            break
        if SAID in said:
            told.faults[target] += 1
            told.places[place] += 1
        if _ending(folder):  # closes every window, and must not be taken
            put(folder, len(work.files), work.after)
    else:
        code, said = finished(begin(folder))
    if code != 0 and "was ended by --flush" not in said:
        told.wrong.append(said[-2000:])
    told.wrong = [f"stream {seed}: {what}" for what in [*told.wrong, *wrong(folder, work)]]
    return told


def wrong(folder: Path, work: Work) -> list[str]:
    """Of a stream that has ended: what is not as in a batch."""
    told = []
    for name, table in execute(compiled().plan, work.in_time).tables.items():
        found = pq.read_table(folder / "out" / name).drop_columns(["batch"]).cast(table.schema)
        if not same(found.to_pylist(), table.to_pylist()):
            told.append(f"rows of {name}: {found.num_rows} instead of {table.num_rows}")
    late = sum(len(part.read_text().splitlines()) for part in (folder / "late").glob("s/batch=*/part-*"))
    return [*told, *([f"{late} late events instead of {work.late}"] if late != work.late else [])]


def prepare(folder: Path, work: Work) -> None:
    """The files of events and the job."""
    (folder / "in").mkdir(parents=True)
    for number, table in enumerate(work.files):
        put(folder, number, table)
    checked = check_text(PROGRAM)
    assert checked.program is not None
    (folder / "job.py").write_text(job_of(checked.program, checked.sources).text)


def put(folder: Path, number: int, table: pa.Table) -> None:
    path = folder / "in" / f"{number}.parquet"
    pq.write_table(table, path)
    os.utime(path, (FIRST + number, FIRST + number))


def begin(
    folder: Path, place: str = "", number: int = 0, target: str = "", arguments: Sequence[str] = TO_THE_END
) -> subprocess.Popen[str]:
    """The job, which is killed there."""
    command = [
        sys.executable, "-m", "tests.faults.driver", place, str(number), target, str(folder / "job.py"), "--mode", "stream",
        "--checkpoint", f"{folder}/checkpoint", "--input", f"{folder}/in", "--format", "parquet", "--option", "maxFilesPerTrigger=1",
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


def _ending(folder: Path) -> bool:
    program = folder / "checkpoint" / "s" / "cepc" / "program.json"
    return program.exists() and json.loads(program.read_text())["flush"] is not None


def _damaged(folder: Path, chance: random.Random, told: Told) -> bool:
    """A file of the checkpoint is cut short; the job says which, and goes on when it is put back. False where there is
    none yet.
    """
    checkpoint = folder / "checkpoint" / "s"
    kind = chance.choice(("cepc/program.json", "metadata", "offsets", "sources/0", "state/0/0"))
    found = checkpoint / kind
    if found.is_dir():
        numbered = [path for path in found.iterdir() if path.stem.isdecimal() and path.suffix in ("", ".changelog")]
        found = max(numbered, key=lambda path: int(path.stem), default=found)
    if not found.is_file() or _ending(folder):
        return False
    whole, sums = found.read_bytes(), found.with_name(f".{found.name}.crc")
    found.write_bytes(whole[: chance.randrange(1, len(whole))])
    sums.unlink(missing_ok=True)
    code, said = finished(begin(folder))
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
