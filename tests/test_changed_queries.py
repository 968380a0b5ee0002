"""A stream whose queries are changed while it goes on: those that stay give the rows that they would have given
without the change, and those that are new the rows of a batch over the events from one instant on, without windows that
begin before it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from hypothesis import settings

from cepc_runtime.events.grouped import read
from cepc_runtime.spark.streaming.change import Begun, Change, begin
from cepc_runtime.spark.streaming.checkpoint import identity
from cepc_runtime.streaming.state import from_bytes
from tests.equivalence import ABOUT, among, answered, compile_text, same, table_of
from tests.programs import HEADER, Asked, Case, query, streamed, with_stream
from tests.properties import ENOUGH, NOTHING, Seen, hold
from tests.test_changed_programs import what
from tests.test_stream_operator import Stream, micro_batches, packed
from tests.words import EPOCH, free

if TYPE_CHECKING:
    from random import Random

    import pyarrow as pa

    from cepc_runtime.plan.stream import StreamPlan
    from cepc_runtime.spark.streaming.query import Continuous
    from tests.equivalence import Compiled, Rows
    from tests.oracle import Answer

    Queries = dict[str, str]
    """Of a program: what each is called, and which of the case's it is."""

AGAIN: Final = timedelta(seconds=9)
"""The stream is shown twice, the second time so much later: queries that begin amid it have rows too."""

MOST: Final = 60
"""Rows of a stream, before it is shown again."""

RESULTS: Final = ("COUNT(*)", "SUM(a.x)", "MAX(b.y)", "MIN(a.z)", "SUM(b.n)", "COUNT(a.x)", "AVG(b.x)")
WINDOWS: Final = (
    "20 s SLIDE 5 s", "30 s SLIDE 10 s", "20 s SLIDE 10 s", "40 s SLIDE 20 s", "30 s SLIDE 15 s", "40 s SLIDE 10 s",
    "20 s", "30 s SLIDE 10 s OFFSET 5 s",
)  # fmt: skip

TOLD: Counter[str] = Counter()
"""How many cases had rows of queries that were kept and that were new, and how many rows these were; and how many had
panes when queries were changed.
"""


def program(chance: Random) -> Case:
    """With four queries, of which some are in a program at a time."""
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", "", " ORDER BY seq")))
    texts = [query(chance, f"q{i}", replace(Asked(), keyed=True)) for i in range(4)]
    one = with_stream(chance, header.replace("\nEVENT TYPE", " WATERMARK 3 SECONDS\nEVENT TYPE") + "".join(texts))
    later = AGAIN if time == "TIMESTAMP" else AGAIN // timedelta(seconds=1)
    rows = [row for row in one.rows if row["at"] is not None and row["word"] % 5 < 2][:MOST]
    return Case(one.text, (*rows, *({**row, "at": row["at"] + later} for row in rows)), one.words)


def folded(chance: Random) -> Case:
    """With four queries whose windows are found from the same panes, more often than not, and many events of few
    groups.
    """
    pattern, texts = chance.choice(("SEQ(A a, B b)", "SEQ(A a, C, B b)", "SEQ(B b, A a)", "AND(A a, B b)")), ""
    for i in range(4):
        results = ", ".join(f"{one} AS r{n}" for n, one in enumerate(chance.sample(RESULTS, chance.randint(1, 3))))
        texts += f"QUERY q{i} RETURN word, {results} PATTERN {pattern} GROUP BY word WITHIN {chance.choice(WINDOWS)};\n"
    rows = [
        free(chance)
        | {"at": chance.randrange(-5, 75), "kind": chance.choice("AABBC"), "word": chance.choice((0, 0, 1))}
        for _ in range(chance.randint(100, 130))
    ]
    header = HEADER.format(time="BIGINT", unit=" UNIT s", order="")
    return Case(header.replace("\nEVENT TYPE", " WATERMARK 3 SECONDS\nEVENT TYPE") + texts, tuple(rows))


def pieces(text: str) -> tuple[str, dict[str, str]]:
    """What a program declares, and its queries by name, each with the patterns that are its own."""
    head, found = "", defaultdict[str, str](str)
    for statement in re.findall(r"[^;]*;\n?", text):
        own = re.match(r"\s*(?:QUERY|PATTERN) (q\d?)", statement)
        if own is None:
            head += statement
        else:
            found[own[1]] += statement
    return head, dict(found)


def text_of(case: Case, queries: Queries) -> str:
    head, texts = pieces(case.text)
    patterns = "".join(texts[of].partition("QUERY")[0] for of in dict.fromkeys(queries.values()))
    return (
        head
        + patterns
        + "".join(f"QUERY {name}{texts[of].partition(f'QUERY {of}')[2]}" for name, of in queries.items())
    )


def others(old: Queries, names: list[str], chance: Random) -> Queries:
    """Some of a program's queries and some that it does not have, in any order; sometimes one is another than it was."""
    kept = chance.sample([*old], chance.randint(min(1, len(old) - 1), len(old)))
    new = [name for name in names if name not in old]
    found = [*kept, *chance.sample(new, chance.randint(not kept, len(new)))]
    changed = {name: chance.choice(names) for name in found if chance.random() < 0.2}
    return {name: changed.get(name, old.get(name, name)) for name in chance.sample(found, len(found))}


@dataclass
class Going:
    """A stream that goes on with the queries of one program after another. What a query gave stands under what it is
    and since when it sees events.
    """

    case: Case
    stream: Stream
    folding: bool
    queries: Queries
    what: Continuous
    begun: Begun
    rows: dict[tuple[str, str, int | None], Rows] = field(default_factory=lambda: defaultdict(list))
    gone: set[tuple[str, str, int | None]] = field(default_factory=set)
    panes: int = 0
    """How many there were when queries were changed."""

    def use(self) -> None:
        answering = self.begun.of(self.what).answering()
        if self.folding:
            vars(answering)["program"] = replace(answering.program, fold_from=2, wait=0)
        self.stream.answering = answering
        self.stream.behind = {*self.stream.states}

    def key(self, name: str) -> tuple[str, str, int | None]:
        return name, self.queries[name], self.begun.since.get(name)

    def collect(self) -> None:
        """The rows that were given since this was last called."""
        for number, name in enumerate(self.what.queries):
            self.rows[self.key(name)] += self.stream.rows[number]
        self.stream.rows.clear()

    def change(self, queries: Queries, watermark: int) -> None:
        self.collect()
        program = self.stream.answering.program
        self.panes += sum(from_bytes(data, program).panes for data in self.stream.states.values() if data)
        old, before = {self.key(name) for name in self.queries}, identity(self.what)["queries"]
        self.queries, self.what = queries, what(text_of(self.case, queries))
        change = Change.between(before, identity(self.what)["queries"])
        self.begun = change.of_new(self.what, self.begun, watermark)
        self.gone |= old - {self.key(name) for name in queries}
        self.use()


def check(case: Case, chance: Random, changes: tuple[int, ...] = (1, 1, 2)) -> Seen:
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    names = [*pieces(case.text)[1]]
    if answers is None or len(names) < 3:
        return NOTHING
    queries = {name: name for name in chance.sample(names, len(names) - chance.choice((1, 1, 2)))}
    first = what(text_of(case, queries))
    stream = Stream(first.answering())
    going = Going(case, stream, chance.random() < 0.7, queries, first, begin(first))
    going.use()
    parts = several(chance, read(table_of(case, compiled), compiled.plan.stream).table, compiled.plan.stream)
    first_change, last = (1, (len(parts) - 1) // 2) if case.words else (2, len(parts) - 2)  # when there are panes
    when = sorted(chance.randint(first_change, last) for _ in range(chance.choice(changes)))
    for number, (part, shown) in enumerate(parts):
        for _ in range(when.count(number)):
            going.change(others(going.queries, names, chance), shown)
        program, now = stream.answering.program, compile_text(text_of(case, going.queries))
        events = read(table_of(case, now), now.plan.stream).table.take(part)
        stream.batch(packed(now, events, program.plan, program.classes), shown)
    stream.flush()
    going.collect()
    assert stream.lost == 0
    seen: Counter[str] = Counter()
    of_oracle = {since: wanted(case, compiled, since) for since in dict.fromkeys(since for _, _, since in going.rows)}
    for key, rows in going.rows.items():
        _, of, since = key
        expected = of_oracle[since]
        if expected is None:
            return NOTHING
        right = _from(expected[of].rows, since)
        if key in going.gone:
            assert among(rows, right, ABOUT), (key, rows, right)
            seen["gone"] += len(rows)
        else:
            assert same(rows, right, ABOUT), (key, rows, right)
            seen["kept" if since is None else "new"] += len(right)
    TOLD.update({f"rows of {which}": count for which, count in seen.items()})
    TOLD.update(which for which, count in seen.items() if count)
    TOLD.update(cases=1, panes=going.panes > 0)
    return Seen.of(case, answers) if seen.total() else NOTHING


def several(chance: Random, events: pa.Table, stream: StreamPlan) -> list[tuple[pa.Array, int]]:
    """Micro-batches, of which there are some before a change and some after it."""
    while True:
        found = [*micro_batches(chance, events, stream)]
        if len(found) > 3:
            return found


def wanted(case: Case, compiled: Compiled, since: int | None) -> dict[str, Answer] | None:
    """What the oracle says of all queries over the events from then on."""
    rows = case.rows if since is None else tuple(row for row in case.rows if _tick(row["at"]) >= since)
    return answered(replace(case, rows=rows), compiled)


def _from(rows: Rows, since: int | None) -> Rows:
    """Without those of windows that begin before it."""
    return [row for row in rows if since is None or "window_start" not in row or _tick(row["window_start"]) >= since]


def _tick(time: Any) -> int:
    return (time - EPOCH) // timedelta(microseconds=1) if isinstance(time, datetime) else int(time)


def test_queries_that_stay_and_queries_that_are_new_have_their_rows() -> None:
    TOLD.clear()
    hold("stream: other queries", streamed(program), check, cases=_cases(), differing=0)
    _told("kept", "new")


def test_queries_that_stay_have_their_panes_whatever_queries_had_them_too() -> None:
    TOLD.clear()
    hold("stream: other queries with panes", folded, check, cases=_cases() // 2, differing=0)
    _told("kept", "new", "panes")


def _cases() -> int:
    """Each is a handful of programs."""
    return settings().max_examples


def _told(*names: str) -> None:
    for name in names:
        assert TOLD["cases"] < ENOUGH or TOLD[name] >= 0.4 * TOLD["cases"], TOLD
