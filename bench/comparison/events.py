"""Seeded events. No two have one time, so that the order of a partition is the same on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

if TYPE_CHECKING:
    from pathlib import Path

KINDS = 5


def ticks(number: int, accounts: int, seed: int = 1) -> pa.Table:
    """One event a millisecond: of five kinds, with a price that walks at random for each account."""
    chance = np.random.default_rng(seed)
    account = chance.integers(0, accounts, number)
    order = np.argsort(account, kind="stable")
    steps = chance.integers(-5, 6, number)
    walked = np.cumsum(steps[order])
    begins = np.flatnonzero(np.diff(account[order], prepend=-1))
    walked += 1000 - np.repeat(walked[begins] - steps[order][begins], np.diff(np.append(begins, number)))
    price = np.empty(number, np.int64)
    price[order] = walked
    kinds = pa.array([f"T{i}" for i in range(KINDS)]).take(pa.array(chance.integers(0, KINDS, number)))
    return pa.table({"at": np.arange(number), "kind": kinds, "account": account, "price": price})


def nexmark(number: int, seed: int = 1) -> pa.Table:
    """Events as NEXMark's generator makes them, with the columns that its queries on patterns read.

    Of 50 events one is a person, three are auctions and 46 are bids. Half of the bids go to the auction that is hot,
    three quarters come from the bidder who is; each is hot for as long as a hundred are made. Prices are 10^(0 to 6) ×
    100, evenly spread in the exponent.
    """
    chance = np.random.default_rng(seed)
    at = np.arange(number)
    place = at % 50
    persons = at // 50 + 1
    auctions = at // 50 * 3 + np.clip(place, 0, 3)
    bid = place >= 4
    hot_auction = chance.random(number) < 0.5
    hot_bidder = chance.random(number) < 0.75
    auction = np.where(
        hot_auction, auctions // 100 * 100, np.maximum(auctions - chance.integers(0, 100, number), 0)
    )  # of those still open
    bidder = np.where(
        hot_bidder, persons // 100 * 100 + 1, np.maximum(persons - chance.integers(0, 1000, number), 0)
    )  # of those active
    price = np.round(10 ** (chance.random(number) * 6) * 100).astype(np.int64)
    return pa.table(
        {
            "at": at,
            "kind": pa.array(["Person", "Auction", "Bid"]).take(pa.array(np.where(bid, 2, np.where(place, 1, 0)))),
            "auction": pa.array(auction, mask=~bid),
            "bidder": pa.array(bidder, mask=~bid),
            "price": pa.array(price, mask=~bid),
        }
    )


def write(table: pa.Table, folder: Path) -> None:
    """As CSV, with a header in `with_header`, and without in `batch` and `streaming`: Flink's CSV knows none. A stream
    is one file, since events of files that are read side by side are late to one another.
    """
    for name, header, files in (("with_header", True, 4), ("batch", False, 4), ("streaming", False, 1)):
        (folder / name).mkdir(parents=True)
        options = pc.WriteOptions(include_header=header, quoting_style="needed")
        size = -(-table.num_rows // files)
        for part in range(files):
            pc.write_csv(table.slice(part * size, size), folder / name / f"{part}.csv", options)
