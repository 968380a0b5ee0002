"""Counts of pairs with numpy: events sorted by account and time, and running numbers of each type.

python by_numpy.py EVENTS OUTPUT PAIR…
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

HOUR = 3_600_000_000


def main(events: str, output: str, pairs: list[str]) -> None:
    types = sorted(set("".join(pairs)))
    table = pq.read_table(events, columns=["at", "kind", "account"])
    table = table.filter(pc.is_in(table["kind"], pa.array(types)))
    kind = pc.index_in(table["kind"], pa.array(types)).to_numpy()
    at, account = table["at"].cast(pa.int64()).to_numpy(), table["account"].to_numpy()
    order = np.lexsort((at, account))
    at, account, kind = at[order], account[order], kind[order]
    start = at // HOUR
    new_key = np.append(True, (account[1:] != account[:-1]) | (start[1:] != start[:-1]))
    new_time = new_key | np.append(True, at[1:] != at[:-1])
    keys, instants = np.flatnonzero(new_key), np.flatnonzero(new_time)
    instant = np.cumsum(new_time) - 1
    key = np.cumsum(new_key) - 1
    before = {}
    for first in {pair[0] for pair in pairs}:
        earlier = np.cumsum(kind == types.index(first)) - (kind == types.index(first))
        before[first] = earlier[instants][instant] - earlier[keys][key]
    for number, pair in enumerate(pairs):
        count = np.add.reduceat(np.where(kind == types.index(pair[1]), before[pair[0]], 0), keys)
        some = count > 0
        starts = pa.array(start[keys][some] * HOUR, pa.timestamp("us", "UTC"))
        rows = pa.table({"account": account[keys][some], "start": starts, "n": count[some]})
        pq.write_table(rows, f"{output}/q{number}.parquet")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
