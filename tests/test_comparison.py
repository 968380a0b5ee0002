"""bench/comparison: its events have the shape they are said to have, and what was written by hand finds what the
queries find.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.comparison import events, queries, sides
from bench.comparison.by_hand import SHAPES

import cepc
from cepc_runtime.enumerate.budget import MatchBudget

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def test_nexmarks_events_come_in_its_proportions() -> None:
    table = events.nexmark(50_000)
    kinds = Counter(table["kind"].to_pylist())
    assert kinds == {"Person": 1_000, "Auction": 3_000, "Bid": 46_000}
    bids = table.filter(np.array(table["kind"].to_pylist()) == "Bid")
    pairs = Counter(zip(bids["auction"].to_pylist(), bids["bidder"].to_pylist(), strict=True))
    assert 300 < max(pairs.values()) < 1_000  # the hot auction and the hot bidder, while they are
    exponents = np.log10(bids["price"].to_numpy() / 100)
    assert np.histogram(exponents, 6, (0, 6))[0].tolist() == pytest.approx([len(exponents) / 6] * 6, rel=0.05)


def test_prices_of_ticks_walk_for_each_account() -> None:
    table = events.ticks(20_000, 40)
    for account in range(40):
        prices = table.filter(np.array(table["account"].to_pylist()) == account)["price"].to_numpy()
        assert abs(prices[0] - 1000) <= 5
        assert np.abs(np.diff(prices)).max() <= 5
    assert set(table["kind"].to_pylist()) == {f"T{i}" for i in range(events.KINDS)}


@pytest.mark.parametrize("table", [events.ticks(1_000, 3), events.nexmark(1_000)], ids=["ticks", "NEXMark"])
def test_no_two_events_have_one_time(table: pa.Table) -> None:
    assert len(set(table["at"].to_pylist())) == table.num_rows


@pytest.mark.long
def test_loops_by_hand_find_the_queries_matches() -> None:
    table, workload = events.ticks(10_000, 7), queries.ticks(30)
    found = cepc.compile(workload.program()).run(table)
    for query in workload.queries:
        rows: Counter[tuple[int, ...]] = Counter()
        for account in range(7):
            own = table.filter(np.array(table["account"].to_pylist()) == account)
            given = (own["at"].to_pylist(), own["kind"].to_pylist(), own["price"].to_pylist())
            rows.update((account, *row) for row in SHAPES[query.shape or ""](given, *query.numbers))
        columns = [found[query.name][column].to_pylist() for column in query.columns]
        assert rows == Counter(zip(*columns, strict=True)), query.name
    assert sum(found[query.name].num_rows for query in workload.queries) > 1_000


def test_what_is_less_preferred_than_a_match_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `a X*? b` the next b ends the search, however far the bound reaches."""
    grown = 0
    spend = MatchBudget.spend

    def counted(self: MatchBudget, *, tried: int, partial: int) -> None:
        nonlocal grown
        grown += partial
        spend(self, tried=tried, partial=partial)

    monkeypatch.setattr(MatchBudget, "spend", counted)
    workload = queries.ticks(2)
    (followed,) = (query for query in workload.queries if query.shape == "followed")
    table = events.ticks(4_000, 1)
    found = cepc.compile(replace(workload, queries=(followed,)).program()).run(table)[followed.name]
    assert found.num_rows > 500
    assert grown < 5 * table.num_rows


def test_rows_are_read_however_a_side_lays_its_files_out(tmp_path: Path) -> None:
    (query,) = queries.ticks(1).queries
    for name, text in {
        "q0/a.csv": "account,first_at,last_at,n\n1,2,3,4\n",
        "q0/.a.crc": "x",
        "query=q0/b": "1,2,3,4\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert sides.rows(query, tmp_path) == {(1, 2, 3, 4): 2}
