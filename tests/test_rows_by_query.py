"""What the loop emits for each query, gathered in areas that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cepc_runtime.kernel import by_query, scatter
from cepc_runtime.kernel.by_query import RowsByQuery
from cepc_runtime.kernel.planes import KeptPlanes, Plane, QueryPlanes, ValueKey

QUERIES = 5
NEVER = 3  # a query without a row
ASKED = ((0,), (0, 2), (3, 1, 0), (0, 1), (2,))  # of the planes that are emitted
EMITTED = (1, 3, 4, 2, 3)


def kept() -> KeptPlanes:
    """Planes of which only the number matters here: plane 0 is the count of matches."""
    planes: list[QueryPlanes] = []
    for emitted in EMITTED:
        others = [Plane(0, ValueKey("one", None, frozenset()))] * (emitted - 1)
        planes.append(QueryPlanes(tuple(others), emitted, ()))
    return KeptPlanes(tuple(planes), ASKED)


def emitted(rows: int, chance: np.random.Generator) -> tuple[Any, Any]:
    """Rows as the loop writes them, and their numbers one row after the other."""
    queries = chance.choice([q for q in range(QUERIES) if q != NEVER], rows, p=[0.7, 0.1, 0.1, 0.1])
    found = np.stack([queries, chance.integers(0, 99, rows), chance.integers(-9, 9, rows)], axis=1)
    return found, chance.random(sum(EMITTED[query] for query in queries))


def one_by_one(parts: list[tuple[Any, Any]]) -> list[list[tuple[Any, ...]]]:
    """The rows of each query, put there one after the other."""
    found: list[list[tuple[Any, ...]]] = [[] for _ in range(QUERIES)]
    for rows, values in parts:
        at = 0
        for query, group, window in rows.tolist():
            found[query].append((group, window, *(values[at + plane] for plane in ASKED[query])))
            at += EMITTED[query]
    return found


@pytest.mark.parametrize(
    ("sizes", "done"),
    [
        pytest.param([1000], [1.0], id="all at once"),
        pytest.param([0], [1.0], id="none"),
        pytest.param([10, 2000, 30], [0.3, 0.6, 1.0], id="more than could be foreseen"),
        pytest.param([300, 300, 300, 300], [0.25, 0.5, 0.75, 1.0], id="as foreseen"),
        pytest.param([700, 0, 0, 5], [0.0, 0.0, 0.9, 1.0], id="of the first events"),
        pytest.param([400] * 8, [0.9] * 7 + [1.0], id="of the last group"),
    ],
)
@pytest.mark.parametrize("largest", [1, 1 << 27], ids=["little room", "much room"])
def test_each_query_has_its_rows_in_the_order_in_which_they_came(
    sizes: list[int], done: list[float], largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_query, "LARGEST", largest)
    chance = np.random.default_rng(len(sizes))
    parts = [emitted(size, chance) for size in sizes]
    gathered = RowsByQuery(kept(), np.dtype(np.float64), scatter.run)
    for (rows, values), fraction in zip(parts, done, strict=True):
        gathered.add(rows, values, fraction)
    found = [
        [(g, w, *p) for g, w, p in zip(e.groups.tolist(), e.windows.tolist(), e.planes.tolist(), strict=True)]
        for e in gathered.emissions()
    ]
    assert sum(map(len, found)) == sum(sizes)
    assert found == one_by_one(parts)


def test_a_plane_stands_in_one_piece() -> None:
    gathered = RowsByQuery(kept(), np.dtype(np.float64), scatter.run)
    gathered.add(*emitted(500, np.random.default_rng(0)), 0.5)
    assert [e.planes[:, 0].flags.contiguous for e in gathered.emissions()] == [True] * QUERIES


def test_areas_are_made_once_where_rows_come_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    make_room = RowsByQuery._make_room

    def counted(self: RowsByQuery, lengths: Any, done: float) -> None:
        made.append(done)
        make_room(self, lengths, done)

    monkeypatch.setattr(RowsByQuery, "_make_room", counted)
    gathered, chance = RowsByQuery(kept(), np.dtype(np.float64), scatter.run), np.random.default_rng(0)
    for part in range(1, 21):
        gathered.add(*emitted(1000, chance), part / 20)
    assert made == [0.05]
