"""Machine code for a wheel: runs programs that need each kind of it, and writes a file for each module.

python tools/machine_code.py FOLDER
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa

import cepc
from cepc_runtime.kernel import machine_code
from cepc_runtime.kernel.object_code import is_common, made_for
from cepc_runtime.kernel.shipped import to_bytes

STREAM = """STREAM s (at BIGINT, kind STRING, k BIGINT, x BIGINT, y DOUBLE) EVENT TIME at UNIT s
EVENT TYPE kind IN ('A', 'B', 'C');
"""
PROGRAMS = [
    "QUERY q RETURN k, COUNT(*) AS n, SUM(b.x) AS x, MIN(b.y) AS y PATTERN SEQ(A a, B+ b, C) GROUP BY k WITHIN 9 s;",
    "QUERY q RETURN k, COUNT(*) AS n, SUM(b.y) AS y PATTERN SEQ(A a, B+ b, C) GROUP BY k WITHIN 9 s SLIDE 3 s;",
    "QUERY q RETURN TRY_COUNT(*) AS n, TRY_SUM(b.x) AS x PATTERN SEQ(A+ a, B+ b, C+) WITHIN UNBOUNDED;",
    "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A a, B b) WHERE b.x > a.x WITHIN 9 s;",
    "QUERY q RETURN COUNT(*) AS n, SUM(b.y) AS y PATTERN SEQ(A a, B+ b) WHERE b.y > PREV(b).y WITHIN 9 s;",
    """QUERY q RETURN MATCH a.at AS at PATTERN SEQ(A a, B+ b, C c) WHERE [k] AND c.x > a.x
    SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 90 s;""",
]

LARGE = [
    "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A+ a, C) WITHIN 59 s;",
    "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A+ a, C) WHERE a.x >= PREV(a).x WITHIN 59 s;",
]
"""Of windows with 58 events of A: their counts are integers of 64 bits that no float64 is."""


def events(kinds: str) -> Any:
    numbers = range(len(kinds))
    return pa.table({
        "at": pa.array(numbers), "kind": [*kinds], "k": [n // 4 % 7 for n in numbers],
        "x": pa.array([n // 11 for n in numbers], pa.int64()), "y": pa.array([n % 13 / 2 for n in numbers]),
    })  # fmt: skip


def made() -> dict[str, dict[str, bytes]]:
    """By the name of a module's file, what it is for, and the code."""
    found: dict[str, dict[str, bytes]] = defaultdict(dict)
    load = machine_code.MachineCode._load

    def noted(self: Any, forms: Any, words: int) -> Any:
        found[machine_code._name(self.module)][machine_code.key_of(forms)] = self.code(forms)
        return load(self, forms, words)

    machine_code.MachineCode._load = noted
    machine_code.FEW = 0  # nothing is interpreted
    for program in PROGRAMS:
        cepc.compile(STREAM + program).run(events("AABC" * 750))
    for program in LARGE:
        cepc.compile(STREAM + program).run(events(("A" * 58 + "C") * 99))
    return found


def main(folder: str) -> int:
    if not is_common():
        print("this machine makes code for its own kind of processor alone, so there is none to ship", file=sys.stderr)
        return 1
    for name, code in made().items():
        Path(folder, name).write_bytes(to_bytes(made_for(), code))
        print(name, *(len(one) for one in code.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
