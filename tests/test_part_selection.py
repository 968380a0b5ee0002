"""CONTIGUOUS(P) and NEXT(P): a part's own selection is that of SELECT for a pattern of this part alone, and that of NOT
in its gaps.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cepc.api import check_text
from cepc.compiled_program import Compiled
from tests.patterns import TYPES, Allowed, pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAM = """STREAM s (at TIMESTAMP, kind STRING, x INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C', 'D');
EVENT Big AS A WHERE x > 4;
EVENT Odd AS B WHERE x % 2 = 1;
"""
SECOND = 1_000_000


def events(chance: Random, count: int, kinds: Sequence[str] = TYPES) -> pa.Table:
    """Some of them at one time."""
    times = sorted(chance.randrange(count) * SECOND for _ in range(count))
    rows = [{"at": time, "kind": chance.choice(kinds), "x": chance.randrange(9)} for time in times]
    return pa.Table.from_pylist(
        rows, pa.schema([("at", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("x", pa.int32())])
    )


def matches(clauses: str, given: pa.Table) -> Counter[str]:
    checked = check_text(f"{STREAM} QUERY q RETURN MATCH * PATTERN {clauses} WITHIN 6 SECONDS;")
    assert checked.program is not None, checked.text()
    found: list[list[dict[str, Any]]] = Compiled(checked, checked.program).run(given)["q"].column("events").to_pylist()
    return Counter(str(match) for match in found)


@pytest.mark.property
@pytest.mark.parametrize("select", ["CONTIGUOUS", "NEXT"])
def test_of_a_whole_pattern_it_is_that_of_select(select: str) -> None:
    with_rows, less = 0, 0
    for number in range(30):
        chance = Random(f"{select} {number}")
        text = pattern(chance, Allowed()).text
        kinds = [kind for kind in TYPES if kind in text] or TYPES
        given = [events(chance, 12, kinds) for _ in range(5)]
        part = [matches(f"{select}({text})", some) for some in given]
        assert part == [matches(f"{text} SELECT {select}", some) for some in given], f"number {number}: {text}"
        with_rows += any(part)
        less += part != [matches(text, some) for some in given]
    assert with_rows >= 24  # of the patterns
    assert less >= 15


GAPS = [
    ("CONTIGUOUS(A, B)", "SEQ(A, NOT ANY n, B)"),
    ("CONTIGUOUS(A+)", "SEQ(A, SEQ(NOT ANY n, A)*)"),
    ("SEQ(A, CONTIGUOUS(B, C?, D))", "SEQ(A, B, OR(SEQ(NOT ANY n, C, NOT ANY m, D), SEQ(NOT ANY o, D)))"),
    ("SEQ(NEXT(A, B), C)", "SEQ(A, NOT B n, B, C)"),
    ("NEXT(A, OR(B, C))", "SEQ(A, NOT OR(B n, C m), OR(B, C))"),
    ("NEXT(OR(SEQ(A, B), SEQ(A, C)))", "SEQ(A, NOT OR(B n, C m), OR(B, C))"),
    ("SEQ(NEXT(CONTIGUOUS(A, B), C), D)", "SEQ(A, NOT OR(ANY k, B n), B, NOT C m, C, D)"),
    ("AND(CONTIGUOUS(A, B), C)", "AND(SEQ(A, NOT ANY n, B), C)"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "gaps"), GAPS, ids=[part for part, _ in GAPS])
def test_it_is_a_not_in_the_gaps(part: str, gaps: str) -> None:
    compared = 0
    for number in range(30):
        given = events(Random(number), 24)
        found = matches(part, given)
        assert found == matches(gaps, given)
        compared += found.total()
    assert compared >= 12
