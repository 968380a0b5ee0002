"""What the stateful operator does with a bucket: its state is one value, read and written once a micro-batch."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from ...cheap_dataclass import dataclass
from ...enumerate.budget import PARTIAL_MATCHES
from ...events.letter_words import words_of
from ...numbers.columns import flat
from ...plan.as_json import from_text_of_plan
from ...plan.stream import PLACE
from ...results.as_text import as_json, json_object
from ...streaming.advance import advance, due_of
from ...streaming.program import Program
from ...streaming.state import State, from_bytes, to_bytes
from ...streaming.state_bytes import StateError
from ...streaming.ticks import END
from ..events import CLASS
from ..worker import USER_ERRORS
from .blobs import (
    DEAD,
    EARLY,
    HELD,
    LATE,
    NO_EVENT,
    PASSING,
    TAKEN,
    event_schema,
    events_of,
)
from .tells import KEPT_BY_SPARK, OF_A_BUCKET, Tells
from .time import SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...panes.shared_panes import PaneGroup
    from ...parts.classes import Class
    from ...plan.row_numbers import RowNumbers
    from ...plan.stream import Letter
    from ...streaming.description import LetterName
    from .tells import Aside

Blob = tuple[int, bytes]
"""What is in it (TAKEN, EARLY or NO_EVENT), and that."""


@dataclass(frozen=True)
class ChainLink:
    """Its place in a chain (docs/glossary.md): its `number`, how many ticks it is `behind` the watermark, of which
    queries the rows are `events` of later links, and of which they are that alone, `unwritten`.
    """

    number: int = 0
    behind: int = 0
    events: frozenset[str] = frozenset()
    unwritten: frozenset[str] = frozenset()

    @property
    def state(self) -> str:
        """What Spark calls the state of its buckets."""
        return f"state_{self.number}" if self.number else "state"


ALONE: Final = ChainLink()


@dataclass(frozen=True)
class Answering:
    """What a bucket does, as data that travels to the workers."""

    plan_text: str
    classes: tuple[Class, ...]
    letters: tuple[LetterName, ...]
    most: int = PARTIAL_MATCHES
    aside: Aside = KEPT_BY_SPARK
    panes: tuple[PaneGroup, ...] = ()
    left: tuple[Letter, ...] = ()
    """Of each letter, where some query has LAG: what is asked when the events before are known."""
    link: ChainLink = ALONE
    told: int = OF_A_BUCKET
    """Bytes that it tells, at most."""
    shift: int = SHIFT
    """From how many milliseconds before 1970 Spark's watermark counts."""
    numbers: RowNumbers | None = None
    """How the rows of partitions are numbered, where they are."""

    @cached_property
    def program(self) -> Program:
        return _program(self.plan_text, self.classes, self.letters, self.most, self.panes, self.left, self.numbers)

    @cached_property
    def _tells(self) -> Tells:
        return Tells(self.program.plan, self.link.number, self.aside, self.told)

    @cached_property
    def schema(self) -> Any:
        words = dict.fromkeys(name for name, _ in words_of(self.program.plan.letters) or ())
        return event_schema(self.program.plan.stream, words, len(self.classes) > 1)

    def __getstate__(self) -> dict[str, Any]:
        return {  # from a MB on Spark would broadcast it, which its worker beside the driver cannot read
            "plan_text": zlib.compress(self.plan_text.encode()),
            "classes": self.classes,
            "letters": self.letters,
            "most": self.most,
            "aside": self.aside,
            "panes": self.panes,
            "left": self.left,
            "link": self.link,
            "told": self.told,
            "shift": self.shift,
            "numbers": self.numbers,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, plan_text=zlib.decompress(state["plan_text"]).decode())

    # ---- one step of a bucket ----------------------------------------------------------------------------------------

    def step(self, bucket: int, data: bytes | None, blobs: Iterable[Blob], watermark: int) -> Answer:
        """From the state as bytes, new events and the link's watermark in ticks to what is told, as bytes."""
        try:
            state = State() if data is None else from_bytes(data, self.program)
        except StateError as error:  # a job has looked at its checkpoint before; that of a DataFrame is not ours
            return Answer(data, [self._tells.error(f"{error}; give it a checkpoint of its own")], None, None)
        was_due = due_of(self.program, state)
        found: dict[int, list[Any]] = {TAKEN: [], EARLY: []}
        dead: list[str] = []
        for kind, blob in blobs:
            if kind == NO_EVENT:
                dead.append(blob.decode())
            else:
                found[kind].append(pa.ipc.read_record_batch(pa.py_buffer(blob), self.schema))
        taken, ahead = found[TAKEN], found[EARLY]
        try:
            done = advance(self.program, state, self._by_class(pa.Table.from_batches(taken, self.schema)), watermark)
        except USER_ERRORS as error:
            return Answer(data, [self._tells.error(str(error))], None, was_due)
        written = [(number, table) for number, table in done.rows if not self._is_of(number, self.link.unwritten)]
        rows = Counter[int]()
        for number, table in written:
            rows[number] += table.num_rows
        early = self._by_class(pa.Table.from_batches(ahead, self.schema))
        lost = [("late", late.number, late.events) for late in done.late]
        lost += [("ahead of the clock", number, table) for number, table in enumerate(early) if table.num_rows]
        texts = [text for reason, number, table in lost for text in self._lines(reason, number, table)]
        state_bytes = to_bytes(done.state, self.program)
        metrics = {
            "bucket": bucket,
            "rows": rows,
            "late": sum(late.events.num_rows for late in done.late),
            "ahead": sum(table.num_rows for table in early),
            "malformed": len(dead),
            "events": done.state.events,
            "panes": done.state.panes,
            "waiting": done.state.waiting,
            "bytes": len(state_bytes),
        }
        lines = {what: own for what, own in ((LATE, texts), (DEAD, dead)) if own}
        told = self._tells.all_of(written, lines, json.dumps(metrics))
        told += [self._as_events(n, table) for n, table in done.rows if self._is_of(n, self.link.events)]
        return Answer(state_bytes, told, done.due, was_due)

    def _is_of(self, number: int, queries: frozenset[str]) -> bool:
        return self.program.plan.queries[number].name in queries

    def _as_events(self, number: int, rows: Any) -> bytes:
        columns = [flat(column) for column in rows.columns]
        return events_of(self.link.number, number, pa.table(columns, names=[f"c{n}" for n in range(len(columns))]))

    def _by_class(self, events: Any) -> Sequence[Any]:
        if len(self.classes) == 1:
            return [events]
        numbers = events.column(CLASS).to_numpy()
        rest = events.drop_columns([CLASS])
        return [rest.filter(pa.array(numbers == number)) for number in range(len(self.classes))]

    def _lines(self, reason: str, number: int, events: Any) -> Iterator[str]:
        """Events that take no part, as JSON that can be read as events: the columns that queries read."""
        plan = self.program.plan
        columns = [name for name, _ in plan.stream.given if name != PLACE]
        names = [plan.queries[q].name for q in self.classes[number].queries]
        begin = f'{{"reason": {json.dumps(reason)}, "queries": {json.dumps(names)}, "event": '
        quoted = [json.dumps(column) for column in columns]
        values = [as_json(events.column(column)) for column in columns]
        yield from (f"{begin}{json_object(quoted, event)}}}" for event in zip(*values, strict=True))


@lru_cache(maxsize=8)
def _program(
    plan_text: str,
    classes: tuple[Class, ...],
    letters: tuple[LetterName, ...],
    most: int,
    panes: tuple[PaneGroup, ...],
    left: tuple[Letter, ...],
    numbers: RowNumbers | None,
) -> Program:
    """Once for each worker process, which runs a task of each micro-batch."""
    plan = from_text_of_plan(plan_text)
    return Program(plan, classes, most=most, letters=letters, panes=panes, left=left, numbers=numbers)


@dataclass(frozen=True)
class Answer:
    """`due` is the next tick at which the bucket has something to say by itself, `was_due` the one of before."""

    data: bytes | None
    rows: list[bytes]
    due: int | None
    was_due: int | None


def flush(answering: Answering) -> Any:
    """For `mapInArrow` over the states: the rows of what is still open, as at the end of a batch."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for data in batch.column(0).to_pylist():
                yield _blobs(answering.step(-1, data, [], END).rows)

    return run


def flush_link(answering: Answering) -> Any:
    """For `applyInArrow` over buckets of a later link, each with what it holds and what links before gave when they
    were flushed.
    """

    def run(found: Any) -> Any:
        held, taken, passing = None, list[Blob](), list[bytes]()
        for kind, blob in zip(found.column(1).to_pylist(), found.column(2).to_pylist(), strict=True):
            if kind == HELD:
                held = blob
            elif kind == PASSING:
                passing.append(blob)
            else:
                taken.append((kind, blob))
        rows = answering.step(-1, held, taken, END).rows if held is not None or taken else []
        return pa.Table.from_batches([_blobs([*passing, *rows])])

    return run


def _blobs(rows: list[bytes]) -> Any:
    return pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], names=["blob"])
