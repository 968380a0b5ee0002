"""Texts that nobody would write, and right ones with other names, through all that is done with a program: check, fmt,
what an editor asks at some place, explain, compile, and where it is right a run on a few events.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

import cepc
from cepc.api import check_sources
from cepc.errors import CepcError
from cepc.explaining import as_text
from cepc.explaining.explanation import explain
from cepc.planning import plan_program
from cepc.shared_plans import Options, plan_shared
from cepc_grammar.source import Source
from cepc_runtime.sql.types import to_arrow
from tests import fuzzing
from tests.editor_questions import ask_everything
from tests.fuzz import MAKERS, valid
from tests.fuzz_jobs import renamed
from tests.test_fuzz import answer as checked_and_formatted

if TYPE_CHECKING:
    from pathlib import Path

    from cepc.model import Stream
    from cepc.planning.logical import LogicalPlan


_SMALL: Final[tuple[str, ...]] = (
    *"abx01 \n\t()[]{}<>,.:+-*/%&|^~=?\\@'\"`é名", "a b\n", "a ", "1, ", "a.", "(a", "A+", "NOT ", "SEQ(", "' ", "\\'\n", "''", '""',
    "``", "`a", "'a\n", "/* ", "*/", "/**/", "--\n", "x AND ", "CASE WHEN ", "\\ud800",
)  # fmt: skip


def large(random: Random) -> str:
    """A valid program in which something small stands some hundred thousand times, in one statement."""
    text: str = random.choice(valid())
    more = random.choice(_SMALL)
    at = random.randrange(len(text) + 1)
    return text[:at] + more * (random.choice((100_000, 1_000_000, 5_000_000)) // len(more)) + text[at:]


MAKE: Final = {**MAKERS, "renamed": renamed, "large": large}
KINDS: Final = (*MAKE,)
EVENTS: Final = 12


def example(kind: str, seed: str, number: int) -> str | bytes:
    return MAKE[kind](Random(f"{kind} {seed} {number}"))


EDITED: Final = 20_000
"""Characters of a text of which an editor is asked about too: it takes as long as three checks."""


def answer(text: str | bytes, random: Random) -> bool:
    """Whether the program was run; raises what is no diagnostic."""
    checked = checked_and_formatted(text)
    if isinstance(text, str) and len(text) <= EDITED:
        ask_everything(text, random.randint(0, len(text)))
    if isinstance(text, bytes) or checked is None or checked.program is None or not checked.program.queries:
        return False
    try:
        as_text.to_text(checked.program, explain(checked.program, plan_shared(checked.program, Options(seconds=None))))
        program = cepc.Compiled(checked, checked.program)
        compile(program.job, "job.py", "exec")
        plans = plan_program(checked.program).plans
        events = {plan.stream.name: _events(checked.program.stream(plan.stream.name), plan, random) for plan in plans}
        program.run(events, most=10_000)
    except CepcError as error:
        if not (error.diagnostics and str(error)):
            raise AssertionError("an error without a word") from error
    return True


def _events(stream: Stream, plan: LogicalPlan, random: Random) -> pa.Table:
    types = [*stream.types] if stream.types else sorted({letter.raw_type or "A" for letter in plan.letters})
    columns = {name: _column(to_arrow(type_), random) for name, type_ in stream.input.columns}
    if stream.type_column in columns:
        columns[stream.type_column] = pa.array(random.choices(types or ["A"], k=EVENTS)).cast(pa.string())
    return pa.table(columns)


def _column(type_: Any, random: Random) -> pa.Array:
    """Small numbers, moments near each other, letters; what is none of them is null."""
    if pa.types.is_string(type_):
        return pa.array(random.choices(["a", "b", "A", "B", None], k=EVENTS), type_)
    try:
        return pa.array(random.choices([0, 1, 2, 3, 7, None], k=EVENTS), pa.int64()).cast(type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(EVENTS, type_)


def run(kind: str, seed: str, seconds: float) -> fuzzing.Answered:
    """Those that were run on events went all the way."""
    valid()  # once, and not in each process
    renamed(Random(0))

    def one(number: int, _: Path) -> bool:
        if kind == "large":
            check_sources((Source("fuzz.cep", str(example(kind, seed, number))),)).text()
            return True
        return answer(example(kind, seed, number), Random(number))

    return fuzzing.run(f"`{kind} {seed}`", one, seconds)
