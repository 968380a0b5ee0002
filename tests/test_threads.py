"""The bytes of a run are the same on any number of threads; so are its errors, and an interruption ends it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pytest
from hypothesis import settings

import cepc_runtime.threads
from cepc.passes.strategy import strategy
from cepc.running.given import read_given
from cepc.running.local import share_for
from cepc.shared_plans import Options
from cepc.writing.order import in_order
from cepc_runtime.batch import execute
from cepc_runtime.stretch import EVERYWHERE
from tests.equivalence import answered, compile_text, table_of
from tests.oracle import Answer
from tests.programs import HEADER, Asked, Case, between_neighbours, bounded, case, overlapping, query
from tests.properties import NOTHING, Seen, hold
from tests.test_examples import NAMES, generate, program
from tests.words import stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from cepc_runtime.parts import Part
    from cepc_runtime.plan import PhysicalPlan

MANY: Final = (2, 3, 7)
SELECTS: Final = ("ANY", "ANY", "NEXT", "CONTIGUOUS")


def outcome(plan: PhysicalPlan, table: Any, threads: int, **more: Any) -> dict[str, bytes] | tuple[Any, ...]:
    """What a run writes for each query, or the error that it ends with. No part is too small."""
    try:
        found = execute(plan, table, threads=threads, few=1, **more)
    except Exception as error:
        return type(error), str(error), getattr(error, "query", None)
    return {name: written(in_order(rows)) for name, rows in found.tables.items()}


def written(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


class Cuts:
    """How the runs of a test were cut."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kinds: Counter[str] = Counter()
        plain = cepc_runtime.threads.parts_of

        def noted(*given: Any) -> list[list[Part]]:
            lists = plain(*given)
            self.kinds.update(self._kind(parts) for parts in lists)
            return lists

        monkeypatch.setattr(cepc_runtime.threads, "parts_of", noted)

    def _kind(self, parts: Sequence[Part]) -> str:
        if len(parts) < 2:
            return "whole"
        if all(part.span == EVERYWHERE for part in parts):
            return "groups"
        return "time of windows" if parts[0].queries[0].kind == "aggregate" else "time of matches"


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Cuts:
    return Cuts(monkeypatch)


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_an_example_are_the_same_bytes(name: str, cuts: Cuts) -> None:
    compiled = compile_text(program(name).read_text(encoding="utf-8"))
    (stream,) = compiled.program.streams
    read = read_given(generate(name, 6_000, 3), compiled.logical.stream, stream.input)
    plan = strategy(share_for(compiled.program, compiled.logical, read, Options(level=2)).plan, "local")
    alone = outcome(plan, read.table, 1)
    assert isinstance(alone, dict)
    assert all(pa.ipc.open_stream(rows).read_all().num_rows for rows in alone.values())
    for threads in MANY:
        assert outcome(plan, read.table, threads) == alone, threads
    assert cuts.kinds["groups"] + cuts.kinds["time of windows"] + cuts.kinds["time of matches"] >= len(MANY)


def on_threads(case: Case, chance: Random) -> Seen:
    compiled = compile_text(case.text)
    answers = answered(case, compiled)
    table = table_of(case, compiled)
    interpreted = chance.random() < 0.9 or None
    alone = outcome(compiled.plan, table, 1, interpreted=interpreted)
    for threads in MANY:
        assert outcome(compiled.plan, table, threads, interpreted=interpreted) == alone, threads
    return NOTHING if answers is None else Seen.of(case, answers)


def mixed(chance: Random) -> Case:
    """Of many groups and of few, counted and listed."""
    one = chance.random()
    if one < 0.2:
        return bounded(between_neighbours)(chance)
    if one < 0.4:
        return bounded(overlapping())(chance)
    asked = Asked(keyed=chance.random() < 0.7, group=chance.choice((None, None, "")))
    return (bounded(lambda c: case(c, 3, asked)) if chance.random() < 0.8 else lambda c: case(c, 3, asked))(chance)


def test_random_programs_have_the_same_rows_and_errors(cuts: Cuts) -> None:
    hold("on 1, 2, 3 and 7 threads", mixed, on_threads, with_rows=0.6, differing=0.3)
    assert cuts.kinds["groups"] >= len(MANY) * settings().max_examples // 2, cuts.kinds
    assert cuts.kinds["whole"] > 0, cuts.kinds


def in_a_line(chance: Random) -> Case:
    """Programs that take no words apart, on words that follow each other in time."""
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    asked = Asked(keyed=False, group=chance.choice(("", "", "", "k", "y")), match=chance.random() < 0.5)
    texts = [query(chance, f"q{i}", replace(asked, select=chance.choice(SELECTS))) for i in range(2)]
    text = HEADER.format(time=time, unit=unit, order="") + "".join(texts)
    rows, _ = stream(text, chance, 40)
    second = timedelta(seconds=1) if time == "TIMESTAMP" else 1
    moved = [row | {"at": row["at"] + 9 * row["word"] * second} for row in rows if row["at"] is not None]
    return Case(text, tuple(sorted(moved, key=lambda row: row["at"]) if chance.random() < 0.5 else moved))


def in_pieces_of_time(case: Case, _chance: Random) -> Seen:
    compiled = compile_text(case.text)
    table = table_of(case, compiled)
    alone = outcome(compiled.plan, table, 1, interpreted=True)
    for threads in MANY:
        assert outcome(compiled.plan, table, threads, interpreted=True) == alone, threads
    if not isinstance(alone, dict):
        return NOTHING
    rows = {name: pa.ipc.open_stream(found).read_all().to_pylist() for name, found in alone.items()}
    return Seen({name: Answer(found, frozenset()) for name, found in rows.items()})


def test_few_groups_are_cut_by_time_and_have_the_same_rows_and_errors(cuts: Cuts) -> None:
    hold("cut by time", in_a_line, in_pieces_of_time, with_rows=0.6, differing=0)
    for kind in ("time of windows", "time of matches"):
        assert cuts.kinds[kind] >= len(MANY) * settings().max_examples // 5, cuts.kinds
