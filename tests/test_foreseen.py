"""Which first events are decided before WITHIN is over, of many partitions at once and one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cepc_runtime.streaming import foreseen as module
from cepc_runtime.streaming.foreseen import OpenPartitions, foreseen
from tests.equivalence import compile_text

STREAM = "STREAM s (at BIGINT, kind STRING) EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C');\n"
PATTERNS = ["SEQ(A, B+, C)", "SEQ(A, B*?, C)", "OR(SEQ(A, B, C), SEQ(A, B))+", "SEQ(A+, ANY*? x, C?, B)", "A+?"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_many_partitions_are_gone_back_through_together_as_one_by_one(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"QUERY q RETURN MATCH * PATTERN {pattern} SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT WITHIN 9 s;"
    plan = compile_text(STREAM + text).plan
    kinds = [frozenset[int]()]  # an event of no letter ends every match
    kinds += [
        frozenset(number for number, letter in enumerate(plan.letters) if letter.raw_type in (type_, None))
        for type_ in "ABC"
    ]
    random, compared = Random(pattern), set[int]()
    for _ in range(40):
        sizes = np.array([random.randrange(1, 9) for _ in range(30)])
        end = np.cumsum(sizes)
        rows = np.array(random.sample(range(500), int(end[-1])))
        of = np.array([random.choice((0, 1, 1, 2, 2, 2, 3)) for _ in rows])
        first = end - sizes + np.array([random.randrange(size) for size in sizes])
        partitions, found = OpenPartitions(rows, first, end, of, kinds), list[list[int]]()
        for few in (0, 1 << 30):
            monkeypatch.setattr(module, "FEW", few)
            found.append(foreseen(partitions, plan.queries[0]).tolist())
        assert found[0] == found[1]
        compared.add(len(found[0]))
    assert len(compared) > 5
