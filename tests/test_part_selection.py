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
from tests.properties import case_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAM = """STREAM s (at TIMESTAMP, kind STRING, x INT, word INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C', 'D');
EVENT Big AS A WHERE x > 2;
EVENT Odd AS B WHERE x % 2 = 1;
"""
SCHEMA = pa.schema([("at", pa.timestamp("us", "UTC")), ("kind", pa.string()), ("x", pa.int32()), ("word", pa.int32())])
SECOND = 1_000_000
LENGTH = 12


def events(chance: Random, words: int, kinds: Sequence[str] = TYPES) -> pa.Table:
    """Words of a dozen events, some at one time."""
    rows = [
        {"at": time * SECOND, "kind": chance.choice(kinds), "x": chance.randrange(9), "word": word}
        for word in range(words)
        for time in sorted(chance.randrange(LENGTH) for _ in range(LENGTH))
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def matches(pattern: str, given: pa.Table, select: str = "ANY") -> Counter[str]:
    """Those within a word."""
    query = f"QUERY q RETURN MATCH * PATTERN {pattern} WHERE [word] SELECT {select} WITHIN 6 SECONDS;"
    checked = check_text(f"{STREAM} {query}")
    assert checked.program is not None, checked.text()
    found: list[list[dict[str, Any]]] = Compiled(checked, checked.program).run(given)["q"].column("events").to_pylist()
    return Counter(str(match) for match in found)


@pytest.mark.parametrize("select", ["CONTIGUOUS", "NEXT"])
def test_of_a_whole_pattern_it_is_that_of_select(select: str) -> None:
    with_rows, less = 0, 0
    numbers = case_numbers(cases=30, tested=15)
    for number in numbers:
        chance = Random(f"{select} {number}")
        text = pattern(chance, Allowed()).text
        plain = text.replace("Big", "A").replace("Odd", "B")
        given = events(chance, 50, [kind for kind in TYPES if kind in plain] or TYPES)
        part = matches(f"{select}({text})", given)
        assert part == matches(text, given, select), f"number {number}: {text}"
        with_rows += bool(part)
        less += part != matches(text, given)
    assert with_rows >= 0.8 * len(numbers)  # of the patterns
    assert less >= 0.5 * len(numbers)


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
    given = events(Random(part), 400)
    found = matches(part, given)
    assert found == matches(gaps, given)
    assert found.total() >= 12


def test_a_way_that_is_preferred_to_the_end_is_not_taken_for_one_that_is_not() -> None:
    """From an A to the next one lead the inner loop, if no event is between them, and the outer one, which is reluctant:
    where something is between them, the match ends.
    """
    query = """QUERY q RETURN MATCH COUNT(a) AS n PATTERN CONTIGUOUS(A+ a)+? WHERE a.x > PREV(a).x SELECT NEXT
    AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 MINUTE;"""
    rows = [{"at": at * SECOND, "kind": "A", "x": x} for at, x in enumerate((3, 3, 4))]
    checked = check_text(f"{STREAM} {query}")
    assert checked.program is not None
    found = Compiled(checked, checked.program).run(pa.Table.from_pylist(rows, SCHEMA))["q"].to_pylist()
    times = [(row["match_start"].second, row["match_end"].second, row["n"]) for row in found]
    assert times == [(0, 0, 1), (1, 2, 2)]
