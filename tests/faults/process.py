"""A job on a checkpoint in this process, without Spark: the operator, the checkpoint, the lease and the files of a sink
as they are, driven as Spark drives them, and stopped wherever one likes.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc.codegen.stream_job import stream_job
from cepc.codegen.streaming import whole_plan
from cepc_runtime.events.grouped import read
from cepc_runtime.parts.classes import classes_of
from cepc_runtime.plan.as_json import to_text
from cepc_runtime.spark.files import UNFINISHED
from cepc_runtime.spark.rows import result_columns
from cepc_runtime.spark.schema import JobError
from cepc_runtime.spark.sinks import path_of
from cepc_runtime.spark.streaming import checkpoint
from cepc_runtime.spark.streaming.blobs import pack
from cepc_runtime.spark.streaming.intact import check_intact, remove_lost_sums
from cepc_runtime.spark.streaming.lease import NAME, Holder, Lease, take
from cepc_runtime.spark.streaming.operator import Answering
from cepc_runtime.spark.streaming.query import continuous
from cepc_runtime.spark.streaming.sinks import FLUSHED, place
from cepc_runtime.spark.streaming.time import SHIFT, timer_for, watermark_in_ticks
from cepc_runtime.streaming.ticks import END
from tests.equivalence import same
from tests.faults.local import LocalStore
from tests.faults.work import DELAY, STREAM, compiled, program, work
from tests.generated_jobs import names_of_job
from tests.test_stream_operator import packed
from tests.told_rows import rows_told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from cepc_runtime.spark.streaming.query import Continuous
    from tests.faults.work import Work

GONE: Final = 1 << 30
"""No process has this number."""
OTHERS: Final = ("a second job", "taken over")
FILES: Final = ("damaged", "missing", "stale")
FAULTS: Final = ("killed", "killed", "failed", *OTHERS, *FILES)
MOST: Final = 20
"""Faults of one stream."""
REACH: Final = 40
"""How many places a run gets on, at most, before its fault."""
DAMAGED: Final = ("cepc/program.json", "cepc/lease.json", "metadata", "offsets", "commits", "sources/0")


class Killed(BaseException):
    """Nothing is done any more, nothing tidied up."""


class Failed(Exception):  # noqa: N818 - as a worker that is killed
    """A task failed; the driver ends in order."""


@cache
def answering() -> Answering:
    job = stream_job(compiled().program.streams[0], compiled().logical)
    plan, letters = whole_plan(job), tuple((letter.type, letter.condition) for letter in job.letters)
    return Answering(to_text(plan), classes_of(plan.queries), letters)


@cache
def _whole() -> Continuous:
    (part,) = names_of_job(program([STREAM]))["JOB"].parts
    return continuous(part.streamed, part.streamed.stream.queries, 3, 86_400_000)


@dataclass
class Buckets:
    """What Spark keeps of the operator: the state of each bucket and when its timer expires."""

    states: dict[int, bytes | None] = field(default_factory=dict)
    timers: dict[int, int | None] = field(default_factory=dict)


@dataclass
class Job:
    """One run of the job over the files; it begins where the checkpoint stands. `at` hears of every place and may
    raise.
    """

    folder: Path
    work: Work
    at: Callable[[str], object]
    process: int = GONE
    holding: bool = False
    writes: int = 0
    lease: Lease = field(init=False)

    @property
    def _checkpoint(self) -> str:
        return str(self.folder / "checkpoint")

    @property
    def _ending(self) -> Path:
        return self.folder / "ending"

    def run(self) -> None:
        """To the end of the flush. Raises JobError and what `at` raises."""
        store = LocalStore(self.at)
        self.lease = take(store, self._checkpoint, [self.process], wait=lambda _: None)
        self.holding = True
        try:
            check_intact(store, self._checkpoint)
            remove_lost_sums(store, self._checkpoint)
            if checkpoint.claim(store, self._checkpoint, _whole()).flush is None:
                self._micro_batches()
            checkpoint.flush(store, self._checkpoint, self._kept, self._flush)
        except Killed:
            raise
        except BaseException:
            self.lease.release()
            raise
        self.lease.release()

    def _micro_batches(self) -> None:
        self._log("metadata", '{"id":"0a"}')
        done = [int(name) for name in LocalStore().names(f"{self._checkpoint}/commits") if name.isdecimal()]
        files = self.files()
        for batch in range(max(done, default=-1) + 1, len(files)):
            file = self.folder / "in" / f"{batch}.parquet"  # what it holds is among `files`
            file.parent.mkdir(exist_ok=True)
            file.touch()
            self._log(f"sources/0/{batch}", f'v1\n{{"path":"{file.as_uri()}","batchId":{batch}}}')
            self._log(f"offsets/{batch}", f'v1\n{{"batchWatermarkMs":{self._shown(batch)}}}\n{{"logOffset":{batch}}}')
            rows, buckets = self._stepped(batch)
            self._keep(batch, buckets)
            self._write(rows, batch)
            self._log(f"commits/{batch}", 'v1\n{"nextBatchWatermarkMs":0}')

    def files(self) -> list[pa.Table]:
        """Those that are there: one more when the stream is being ended."""
        return [*self.work.files, *([self.work.after] * 2 if self._ending.exists() else [])]

    def _shown(self, batch: int) -> int:
        """The watermark of a micro-batch, in Spark's milliseconds: that of the files before it."""
        times = [max(file.column("at").to_pylist()) for file in self.files()[:batch]]
        return (max(times) - DELAY) * 1000 + SHIFT if times else 0

    def _stepped(self, batch: int) -> tuple[list[bytes], Buckets]:
        buckets, shown = self._kept(batch - 1), self._shown(batch)
        plan = answering().program.plan
        events = packed(compiled(), read(self.files()[batch], compiled().plan.stream).table, plan)
        blobs = _blobs(events)
        expired = [bucket for bucket, timer in buckets.timers.items() if timer is not None and timer <= shown]
        rows: list[bytes] = []
        for bucket in sorted({*blobs, *expired}):
            self.at("before a bucket")
            watermark = watermark_in_ticks(plan.stream, shown)
            done = answering().step(bucket, buckets.states.get(bucket), blobs.get(bucket, []), watermark)
            buckets.states[bucket] = done.data
            buckets.timers[bucket] = None if done.due is None else timer_for(plan.stream, done.due)
            rows += done.rows
        return rows, buckets

    def _flush(self, buckets: Buckets) -> None:
        self._ending.touch()
        rows: list[bytes] = []
        for data in buckets.states.values():
            self.at("before a bucket is flushed")
            rows += answering().step(-1, data, [], END).rows
        self._write(rows, FLUSHED)

    def _write(self, blobs: Sequence[bytes], batch: int) -> None:
        """As `Writing` and `Directories` do: a directory of a query and micro-batch is written anew, file by file; those
        of queries with the same columns beside it, and moved.
        """
        self.lease.check()
        self.writes += 1
        plan = answering().program.plan
        rows, texts = rows_told(plan, blobs)
        alike: dict[Any, list[tuple[Path, list[dict[str, Any]]]]] = {}
        for number, query in enumerate(plan.queries):
            if own := rows.get(number):
                folder = Path(path_of(str(self.folder / "out"), query.name)) / place(batch)
                alike.setdefault(result_columns(query, plan.stream), []).append((folder, own))
        for together in alike.values():
            if len(together) == 1:
                self._files(*together[0])
            else:
                self._moved(together)
        if late := texts["late"]:
            self._files(self.folder / "late" / place(batch), [{}] * len(late))

    def _files(self, folder: Path, rows: Sequence[dict[str, Any]]) -> None:
        self.at("before a directory of rows")
        shutil.rmtree(folder, ignore_errors=True)
        self.at("a directory of rows is emptied")
        folder.mkdir(parents=True)
        for part in (0, 1):
            (folder / f"part-{part}").write_bytes(pickle.dumps(rows[part::2]))
            self.at(f"part {part} of a directory of rows")

    def _moved(self, together: Sequence[tuple[Path, Sequence[dict[str, Any]]]]) -> None:
        unfinished = self.folder / "out" / UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)
        for number, (_, found) in enumerate(together):
            self._files(unfinished / str(number), found)
        for number, (folder, _) in enumerate(together):
            self.at("before a directory of rows is moved")
            shutil.rmtree(folder, ignore_errors=True)
            self.at("a directory of rows is gone")
            folder.parent.mkdir(parents=True, exist_ok=True)
            (unfinished / str(number)).rename(folder)
        shutil.rmtree(unfinished)

    def rows(self, query: str) -> list[dict[str, Any]]:
        parts = (self.folder / "out" / query).glob("batch=*/part-*")
        return [row for part in parts for row in pickle.loads(part.read_bytes())]

    def _log(self, name: str, text: str) -> None:
        """As Spark writes its logs: once, as a whole, and then its check sum, which must not be there yet."""
        path = Path(self._checkpoint, name)
        if path.exists():
            return
        LocalStore(lambda where: self.at(f"{name.partition('/')[0]}: {where.rpartition(' is ')[2]}")).replace(
            f"{self._checkpoint}/{name}", text
        )
        path.with_name(f".{path.name}.crc").touch(exist_ok=False)

    def _keep(self, batch: int, buckets: Buckets) -> None:
        self.at("before the state")
        path = Path(self._checkpoint, "state", "0", f"{batch + 1}.state")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".tmp").write_bytes(pickle.dumps(buckets))
        path.with_suffix(".tmp").replace(path)
        self.at("after the state")

    def _kept(self, batch: int) -> Buckets:
        path = Path(self._checkpoint, "state", "0", f"{batch + 1}.state")
        found: Buckets = pickle.loads(path.read_bytes()) if batch >= 0 else Buckets()
        return found


def _blobs(events: pa.Table) -> dict[int, list[tuple[int, bytes]]]:
    found: dict[int, list[tuple[int, bytes]]] = {}
    for batch in pack(events.to_batches()):
        for bucket, kind, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(bucket, []).append((kind, blob))
    return found


# ---- faults ----------------------------------------------------------------------------------------------------------


@dataclass
class Told:
    """What was done to one stream: faults by kind and by place, and what is wrong after them."""

    faults: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Told) -> None:
        self.faults += other.faults
        self.places += other.places
        self.wrong += other.wrong


def run(folder: Path, faults: int, seed: int = 1, files: int = 6) -> Told:
    """Stream after stream, until there were so many faults."""
    told = Told()
    for number in count(seed):
        told.add(suffer(folder / str(number), work(files, number), number))
        if told.faults.total() >= faults or told.wrong:
            return told
    raise AssertionError


def suffer(folder: Path, work: Work, seed: int) -> Told:
    """Run the job with one fault after another until it ends."""
    chance, told = random.Random(seed), Told()
    try:
        for _ in range(MOST):
            fault = _Fault(folder, work, chance, chance.choice(FAULTS))
            try:
                fault.run()
            finally:
                if fault.place:
                    told.faults[fault.fault] += 1
                    told.places[fault.place] += 1
                told.wrong += fault.wrong
        Job(folder, work, lambda _: None).run()
    except checkpoint.Ended:
        pass
    except JobError as error:
        told.wrong.append(str(error))
    job = Job(folder, work, lambda _: None)
    told.wrong += [f"rows of {name}" for name, rows in work.expected.items() if not same(job.rows(name), rows)]
    late = [row for part in (folder / "late").glob("batch=*/part-*") for row in pickle.loads(part.read_bytes())]
    if len(late) != work.late:
        told.wrong.append(f"{len(late)} late events instead of {work.late}")
    told.wrong = [f"stream {seed}: {wrong}" for wrong in told.wrong]
    return told


@dataclass
class _Fault:
    folder: Path
    work: Work
    chance: random.Random
    fault: str
    place: str = ""
    writes: int = 0
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        self.left = self.chance.randrange(REACH)
        if self.fault in FILES:
            self._file()
            return
        self.job = Job(self.folder, self.work, self._at, os.getpid() if self.fault in OTHERS else GONE)
        try:
            self.job.run()
        except (Killed, Failed):
            return
        except JobError as error:
            if self.fault != "taken over" or "was taken over by" not in str(error):
                raise
        if self.fault == "taken over" and self.place:
            Path(self.folder, "checkpoint", NAME).unlink(missing_ok=True)  # the other job ends
            if self.job.writes > self.writes:
                self.wrong.append(f"rows were written after it was taken over {self.place}")

    def _at(self, place: str) -> None:
        if self.fault in OTHERS and (not self.job.holding or "lease.json" in place):
            return  # there must be somebody else
        self.left -= 1
        if self.left != -1:
            return
        if self.place:
            raise Killed
        self.place = place
        match self.fault:
            case "failed":
                raise Failed
            case "a second job":
                self.left = self.chance.randrange(REACH)  # until this one is killed
                try:
                    take(LocalStore(), str(self.folder / "checkpoint"), [GONE], wait=lambda _: self.job.lease.renew())
                    self.wrong.append(f"a second job began {place}")
                except JobError as error:
                    if "another job runs on the checkpoint" not in str(error):
                        self.wrong.append(f"a second job {place}: {error}")
            case "taken over":
                other = replace(Holder.here([GONE]), machine="another")
                LocalStore().replace(f"{self.folder}/checkpoint/{NAME}", other.to_text())
                self.writes = self.job.writes
            case _:
                raise Killed

    def _file(self) -> None:
        """Something is done to the newest file of a kind while no job runs: a sentence names it, or it does not matter.
        The next run is killed, too.
        """
        kind = self.chance.choice(DAMAGED)
        found = Path(self.folder, "checkpoint", kind)
        if found.is_dir():
            numbered = [path for path in found.iterdir() if path.name.isdecimal()]
            found = max(numbered, key=lambda path: int(path.name), default=found / "0")
        if not found.exists():
            return
        whole, self.place = found.read_bytes(), f"{kind}, {self.fault}"
        match self.fault:
            case "damaged":
                found.write_bytes(whole[: self.chance.randrange(len(whole) or 1)])
            case "missing":
                found.unlink()
            case "stale":  # what a job of another machine left, and what a kill leaves beside a file
                found.with_name(f".{found.name}.tmp").write_bytes(whole[: len(whole) // 2])
                holder = replace(Holder.here([GONE]), machine="another")
                LocalStore().replace(f"{self.folder}/checkpoint/{NAME}", holder.to_text())
        left = _content(found)
        self.job = Job(self.folder, self.work, self._killed)
        try:
            self.job.run()
        except Killed:
            # Before it was looked at. The newest micro-batch's commit is not missed, for it may have begun again, unless
            # a flush follows it that was begun.
            newest = (
                kind == "commits" and not found.parent.with_name("offsets").joinpath(str(int(found.name) + 1)).exists()
            )
            begins_again = newest and self.fault == "missing" and not self._flush_begun()
            if _content(found) == left and not begins_again:
                found.write_bytes(whole)
        except checkpoint.Ended:
            raise
        except JobError as error:
            if str(found) not in str(error) and kind not in str(error):
                self.wrong.append(f"{self.place}: {error}")
            found.write_bytes(whole)  # as the sentence says

    def _flush_begun(self) -> bool:
        return json.loads(Path(self.folder, "checkpoint", checkpoint.FILE).read_text())["flush"] is not None

    def _killed(self, _: str) -> None:
        self.left -= 1
        if self.left == -1:
            raise Killed


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
