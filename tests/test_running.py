"""RUNNING aggregates in conditions: what they are of, that they are exact, and that partial matches carry them."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from cepc_grammar.parser import parse
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from cepc_runtime.batch import execute
from cepc_runtime.enumerate.bins import binned, rounded
from cepc_runtime.numbers.doubles import added, quotients
from cepc_runtime.plan.as_json import from_text_of_plan
from cepc_runtime.plan.as_json import to_text as plan_text
from cepc_runtime.sql.evaluate import EvaluationError
from cepc_runtime.sql.expression import aggregates
from tests import test_streaming
from tests.equivalence import compile_text
from tests.programs import HEADER, RUNNING, Case, with_stream
from tests.properties import hold
from tests.test_equivalence import compare

STREAM: Final = "STREAM s (at BIGINT, x {type}) EVENT TIME at UNIT s;\n"
QUERY: Final = (
    "QUERY q RETURN MATCH COLLECT(s.at) AS ats PATTERN s+ WHERE {where} SELECT CONTIGUOUS {after} WITHIN 1 h;"
)
AFTER: Final = "AFTER MATCH SKIP PAST LAST EVENT"


def runs(type_: str, arrow: pa.DataType, values: list[Any], where: str, after: str = AFTER) -> list[list[int]]:
    """The matches by the times of their events, which are 0, 1, …"""
    plan = compile_text(STREAM.format(type=type_) + QUERY.format(where=where, after=after)).plan
    table = pa.table({"at": pa.array(range(len(values)), pa.int64()), "x": pa.array(values, arrow)})
    found: list[list[int]] = execute(plan, table, interpreted=True).tables["q"].column("ats").to_pylist()
    return sorted(found)


LARGE: Final = 2**62
EXACT: Final[dict[str, tuple[str, pa.DataType, list[Any], str, list[list[int]]]]] = {
    "integers": ("INT", pa.int32(), [1, 2, 3, 4], "RUNNING SUM(s.x) < 7", [[0, 1, 2], [3]]),
    "nulls are left out": ("INT", pa.int32(), [None, 2, None, 4], "RUNNING COUNT(s.x) < 2", [[0, 1, 2], [3]]),
    "the sum of none is null": ("INT", pa.int32(), [None, 2], "RUNNING SUM(s.x) IS NULL", [[0]]),
    "integers whose sums fit 64 bits": (
        "BIGINT", pa.int64(), [LARGE, -LARGE, LARGE, LARGE - 1], f"RUNNING SUM(s.x) < {2**63 - 1}L", [[0, 1, 2], [3]],
    ),
    "integers of more than 64 bits": (
        "BIGINT", pa.int64(), [2**63 - 1, 2**63 - 1, -2, 3],
        "RUNNING SUM(CAST(s.x AS DECIMAL(38, 0))) <> 18446744073709551612", [[0, 1], [2, 3]],
    ),
    "decimals of 38 digits": (
        "DECIMAL(38, 2)", pa.decimal128(38, 2), [Decimal(10**35), Decimal("-0.01"), Decimal("0.01"), Decimal(1)],
        "RUNNING SUM(s.x) <> 100000000000000000000000000000000000", [[1, 2, 3]],
    ),
    "doubles whose sum is rounded once": (
        "DOUBLE", pa.float64(), [1e16, 1.0, -1e16, 1.0, 1.0], "RUNNING SUM(s.x) <> 2", [[0, 1, 2], [3], [4]],
    ),
    "doubles far apart": (
        "DOUBLE", pa.float64(), [1e300, 1e-300, -1e300, 0.0], "RUNNING SUM(s.x) <> 1e-300", [[0, 1], [2, 3]],
    ),
    "an average that is rounded once": (
        "DOUBLE", pa.float64(), [0.1, 0.2, 0.3, 0.4], "RUNNING AVG(s.x) < 0.25", [[0, 1, 2], ],
    ),
    "NaN and infinities": (
        "DOUBLE", pa.float64(), [float("inf"), 1.0, float("-inf"), 1.0], "RUNNING SUM(s.x) = CAST('Infinity' AS DOUBLE)",
        [[0, 1]],
    ),
    "an interval": (
        "INT", pa.int32(), [1, 2, 3], "RUNNING SUM(INTERVAL 1 HOUR * s.x) < INTERVAL 4 HOURS", [[0, 1], [2]],
    ),
    "the least": ("INT", pa.int32(), [3, None, 2, 5], "RUNNING MIN(s.x) > 2", [[0, 1], [3]]),
    "the greatest text": ("STRING", pa.string(), ["a", "c", "b", "d"], "RUNNING MAX(s.x) <= 'c'", [[0, 1, 2]]),
    "the event at hand, and the one before": (
        "INT", pa.int32(), [1, 2, 3, 4], "s.x + PREV(s).x < RUNNING SUM(s.x) + 1", [[0, 1, 2, 3]],
    ),
    "where a test fails of an event that another excludes": (
        "INT", pa.int32(), [2, 3, 1], "6 / (RUNNING SUM(s.x) - 5) <= -2 AND s.x <= FIRST(s).x", [[0], [1, 2]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", EXACT)
def test_what_is_running_is_exact(title: str) -> None:
    type_, arrow, values, where, expected = EXACT[title]
    assert runs(type_, arrow, values, where) == expected


def test_what_does_not_fit_is_an_error_with_a_cure() -> None:
    with pytest.raises(EvaluationError, match=r"past BIGINT in `RUNNING SUM\(s.x\)`; CAST what is added AS DECIMAL"):
        runs("BIGINT", pa.int64(), [2**63 - 1, 1], "RUNNING SUM(s.x) > 0")


def test_a_plan_has_it_as_json() -> None:
    plan = compile_text(STREAM.format(type="INT") + QUERY.format(where="RUNNING COUNT(s) < 3", after="")).plan
    assert from_text_of_plan(plan_text(plan)) == plan
    (condition,) = plan.queries[0].conditions
    assert [a.running for a in aggregates(condition.expression)] == [True]


NAMES: Final = (
    "RUNNING SUM(a.x) > 1", "running > 1 AND running AND a.x > 1", "running(x) > 1", "running.sum > 1",
    "CASE running WHEN 1 THEN TRUE END", "1.5 * RUNNING AVG(a.x + 1) > -RUNNING MIN(a.x)",
)  # fmt: skip


@pytest.mark.parametrize("text", NAMES)
def test_running_is_a_word_before_an_aggregate_alone(text: str) -> None:
    parsed = parse(Source("t", f"EVENT X AS Y WHERE {text};"))
    assert not parsed.diagnostics
    assert to_text(parsed.program) == f"EVENT X AS Y WHERE {text};\n"
    assert ("RUNNING" in text) == ("running=True" in repr(parsed.program))


def test_sums_of_bins_are_rounded_as_by_exact_numbers() -> None:
    chance = Random(5)
    for _ in range(300):
        scale, wide = chance.choice((1.0, 1e5, 1e300, 1e-310)), chance.choice((0, 3, 10, 20, 60))
        lists = [
            [chance.uniform(-1, 1) * scale * 2.0 ** chance.randint(-wide, 0) for _ in range(chance.randrange(9))]
            for _ in range(4)
        ]
        counts = np.array([len(one) for one in lists])
        found = binned(counts, np.array([value for one in lists for value in one]))
        (totals, rests), (again, left) = rounded(found), found.numbers()
        if object in (totals.dtype, again.dtype):
            continue
        assert np.array_equal(added(totals, rests), added(again, left))
        many = np.maximum(counts, 1).astype(np.float64)
        assert np.array_equal(quotients(totals, rests, many), quotients(again, left, many))


# ---- random programs -------------------------------------------------------------------------------------------------

PATTERNS: Final = ("SEQ(A, B+ v)", "SEQ(A+ v, C?, B)", "AND(A+ v, B)", "SEQ(A, NOT SEQ(C+ v, D), B)", "p")
NAMED: Final = "PATTERN p AS SEQ(A, B+ v)+ WHERE {test};\n"


def running(chance: Random) -> Case:
    """Queries with one or two of RUNNING, also in a named pattern and in what NOT forbids."""
    pattern = chance.choice(PATTERNS)
    tests = [test.format(v="v") for test in chance.sample(RUNNING, chance.choice((1, 1, 2)))]
    where = f"[word] AND {' AND '.join(tests)}" if pattern != "p" else "[word]"
    select = chance.choice(("", "", "SELECT NEXT", "SELECT CONTIGUOUS"))
    after = f" {AFTER}" if select and "NOT" not in pattern and chance.random() < 0.5 else ""
    returned = chance.choice(("MATCH word, COUNT(*) AS n", "COUNT(*) AS n")) if not after else "MATCH COUNT(*) AS n"
    text = (
        f"QUERY q RETURN {returned} PATTERN {pattern} WHERE {where} {select}{after} WITHIN {chance.randint(3, 8)} s;\n"
    )
    named = NAMED.format(test=" AND ".join(tests)) if pattern == "p" else ""
    time, unit = chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))
    return with_stream(chance, HEADER.format(time=time, unit=unit, order="") + named + text)


def test_rows_are_the_oracles() -> None:
    hold("RUNNING", running, lambda case, _chance: compare(case, interpreted=True), with_rows=0.7)


def test_rows_of_a_stream_are_the_oracles() -> None:
    hold("RUNNING in a stream", running, test_streaming.check, with_rows=0.7)
