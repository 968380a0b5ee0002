"""A program that is changed in one place between two goes of a stream: the checkpoint refuses it, or the rows are those
of a batch, whichever of the two programs it runs.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.events.grouped import read
from cepc_runtime.spark.streaming.checkpoint import identity
from cepc_runtime.spark.streaming.query import continuous
from tests.changed_programs import changes, program
from tests.equivalence import Refused, answered, by_engine, compile_text, same, table_of
from tests.generated_jobs import names_of_job
from tests.programs import Case, streamed
from tests.properties import ENOUGH, NOTHING, Seen, hold
from tests.test_stream_operator import BUCKETS, Stream, micro_batches, packed

if TYPE_CHECKING:
    from random import Random

    from cepc_runtime.spark.streaming.query import Continuous
    from tests.equivalence import Compiled

TRIES: Final = 60
"""Changes of a program, of which one at least should be taken by its checkpoint."""

TOLD: Counter[str] = Counter()
"""Of the changes that are programs: how many were refused and how many gone on with."""


def check(case: Case, chance: Random) -> Seen:
    before = compile_text(case.text)
    for text in islice(changes(case.text, chance), TRIES):
        after = _taken(case.text, text)
        if after is not None:
            return compare(case, before, text, after, chance)
    raise Refused("no change that a checkpoint takes")


def _taken(old: str, new: str) -> Compiled | None:
    """The new program, where a checkpoint of the old one takes it."""
    try:
        after = compile_text(new)
    except (Refused, AssertionError):  # which is said of a text that is no program
        return None
    was, is_ = what(old), what(new)
    taken = identity(was) == identity(is_) and was.streamed.stream.name == is_.streamed.stream.name
    TOLD["taken" if taken else "refused"] += 1
    return after if taken else None


@lru_cache(4)
def what(text: str) -> Continuous:
    """What the job of a program runs as a stream."""
    (part,) = names_of_job(text)["JOB"].parts
    return continuous(part.streamed, part.streamed.stream.queries, BUCKETS, 86_400_000)


def compare(case: Case, before: Compiled, text: str, after: Compiled, chance: Random) -> Seen:
    """As batches by both, and as a stream by the first for some micro-batches and by the other from then on."""
    now = Case(text, _of_input(case, before, after), case.words)
    answers, engine = answered(case, before), by_engine(now, after)
    assert (answers is None) == (engine is None)
    if answers is None or engine is None:
        return NOTHING
    for name, answer in answers.items():
        assert same(engine[name], answer.rows), (name, engine[name], answer.rows, text)
    old, new = (
        read(table_of(case, before), before.plan.stream).table,
        read(table_of(now, after), after.plan.stream).table,
    )
    stream, second_go = Stream(what(case.text).answering()), chance.randint(0, 5)
    for number, (part, shown) in enumerate(micro_batches(chance, old, before.plan.stream)):
        if number == second_go:
            stream.answering = what(text).answering()
        compiled, events = (before, old) if number < second_go else (after, new)
        program = stream.answering.program
        stream.batch(packed(compiled, events.take(part), program.plan, program.classes), shown)
    stream.flush()
    assert stream.lost == 0
    for number, name in enumerate(what(text).queries):
        rows = answers[name].rows
        assert same(stream.rows[number], rows), (name, stream.rows[number], rows, text)
    return Seen.of(case, answers)


def _of_input(case: Case, before: Compiled, after: Compiled) -> tuple[dict[str, Any], ...]:
    """The events as files have them for the other program: null in columns that it reads as another type."""
    was, is_ = (dict(compiled.program.streams[0].input.columns) for compiled in (before, after))
    return tuple(
        {name: row[name] if was.get(name) == type_ else None for name, type_ in is_.items()} for row in case.rows
    )


def test_a_changed_program_is_refused_or_has_the_rows_of_a_batch() -> None:
    TOLD.clear()
    hold("stream: a changed program", streamed(program), check)
    assert TOLD["taken"], TOLD
    assert TOLD.total() < ENOUGH or TOLD["refused"] > TOLD["taken"], TOLD
