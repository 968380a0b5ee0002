"""JSON lines that Arrow parses have the rows that they have when they are parsed one by one, and what is wrong is still
found.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from cepc.reading import json_lines
from cepc.reading.files import DataFile
from cepc.reading.json_by_arrow import are_plain, table_of
from cepc.reading.reader import Wanted
from cepc.reading.time_formats import ISO
from cepc_runtime.sql.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
)

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = (
    ("a", BIGINT), ("tiny", TINYINT), ("d", DOUBLE), ("ok", BOOLEAN), ("the text", STRING), ("at", TIMESTAMP),
    ("local", TIMESTAMP_NTZ), ("day", DATE),
)  # fmt: skip
USUAL: dict[str, Callable[[Random], str]] = {
    "a": lambda chance: str(chance.randint(-(2**63), 2**63 - 1)),
    "tiny": lambda chance: str(chance.randint(-128, 127)),
    "d": lambda chance: repr(chance.uniform(-1, 1) * 10 ** chance.randint(-320, 308)),
    "ok": lambda chance: chance.choice(["true", "false"]),
    "the text": lambda chance: json.dumps(
        "".join(chance.choices('ab"\\\n\té😀{}[]: ', k=chance.randint(0, 6))), ensure_ascii=chance.random() < 0.5
    ),
    "at": lambda chance: f'"2026-0{chance.randint(1, 9)}-11T1{chance.randint(0, 9)}:00:00.{chance.randint(1, 999)}Z"',
    "local": lambda chance: f'"2026-0{chance.randint(1, 9)}-11 1{chance.randint(0, 9)}:00:00"',
    "day": lambda chance: f'"2026-0{chance.randint(1, 9)}-11"',
    "more": lambda chance: chance.choice(["1", '{"a": [1, {"b": []}]}', '"Info"', "[]", "1e5", "-0"]),
}
ODD = [
    "null", '": Inf"', "-0", "-0.0", "0", "1.0", "1e2", "1e400", "-1e-400", "9223372036854775808", "300", '"1"', "true", "[1]", "{}",
    '""', "NaN", "-Infinity", "Infinity", "Inf", "-Inf", '"NaN"', '"2026-01-01T00:00:00+19:00"', '"2026-02-30"',
    '"\\ud83d"', '"\\ud83d\\ude00"', '"\x01"', "01", "1.", ".5", "- 1", "123456789012345678901234567890", "nul",
    "1.7976931348623159e308", "2.4703282292062328e-324", '"a\\u0000b"', "'a'", '"2026-01-01 10:00:00"', "[" * 600 + "]" * 600,
]  # fmt: skip
BYTES = [*b'{}[],:"\\ \n\r\t\0-+.e0N', 0xFF, 0xC3]


def record(chance: Random, odd: float) -> str:
    pairs = []
    for name in chance.sample([*USUAL], chance.choice([2, 5, len(USUAL)])):
        value = chance.choice(ODD) if chance.random() < odd else USUAL[name](chance)
        key = name if chance.random() > odd else chance.choice(["A", "\\u0061", "x", "a"])
        blank = " " * (chance.random() < 0.3)
        pairs.append(f'{blank}"{key}"{blank}:{blank}{value}{blank}')
    return "{" + ",".join(pairs) + "}"


def block(chance: Random) -> bytes:
    odd = chance.choice([0.0, 0.0, 0.02, 0.2])
    lines = [record(chance, odd) for _ in range(chance.randint(1, 8))]
    if chance.random() < 0.1:
        lines.insert(chance.randrange(len(lines)), chance.choice(["", " ", "null", "[]", "{}", '{"a":1}{"a":2}', "{"]))
    data = chance.choice(["\n", "\n", "\n", "\r\n"]).join(lines).encode("utf-8", "surrogatepass")
    for _ in range(chance.choice([0, 0, 0, 1, 3])):
        at = chance.randrange(len(data))
        data = data[:at] + bytes(chance.choices(BYTES, k=chance.randint(0, 2))) + data[at + chance.randint(0, 2) :]
    return data + b"\n" * (chance.random() < 0.5)


def read(data: bytes, threads: int = 1) -> list[tuple[Any, ...]]:
    file = DataFile("x.jsonl", None, len(data), data=data)
    return [
        (b.table and b.table.to_pydict(), b.table and b.table.schema, sorted(b.keys), b.wrong, b.numbers.tolist())
        for b in json_lines.batches(file, Wanted("s", COLUMNS, COLUMNS, None, threads=threads))
        if b.numbers is not None
    ]


def test_whoever_parses_lines_they_have_the_same_rows_and_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, parsed, wrong = Random(11), 0, 0
    for _ in range(500):
        data = block(chance)
        found = read(data)
        with monkeypatch.context() as patched:
            patched.setattr(json_lines, "MISSES", 0)
            expected = read(data)
        assert repr(found) == repr(expected), data
        table = table_of(data.removesuffix(b"\n"), COLUMNS, ISO)
        parsed += 0 if table is None else table[0].num_rows
        wrong += sum(len(mistakes) for *_, mistakes, _ in expected)
    assert parsed > 400
    assert wrong > 300


def test_usual_lines_are_parsed_by_arrow() -> None:
    chance, parsed = Random(12), 0
    for _ in range(50):
        lines = [record(chance, 0.0) for _ in range(20)]
        found = table_of("\n".join(lines).encode(), COLUMNS, ISO)
        parsed += 0 if found is None else found[0].num_rows
    assert parsed > 700  # not where a key never occurs, or -0 does


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":1}\n\n{"a":2}', b'{"a":1}{"a":2}', b'{"a":1}{"a":2}\n{"x":\n1}', b' {"a":1}', b'{"d":-0}', b'{"x":Inf}',
        b'{"x":"\xff","a":1}', b'{"a":1,"a":2}', b'{"a":1.0}', b'{"d":1.7976931348623159e308}', b'{"a":null}', b"",
        b'{"x":' + b"[" * 600 + b"]" * 600 + b',"a":1}', b'{"a":1}\n{"a":2,"x":' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_parsers_read_otherwise_is_left_to_the_other(data: bytes) -> None:
    name, type_ = COLUMNS[2 if b'"d"' in data else 0]
    assert table_of(data, ((name, type_),), ISO) is None


def test_types_that_are_not_read_alike_are_not_plain() -> None:
    assert are_plain(COLUMNS)
    assert not are_plain((*COLUMNS, ("f", FLOAT)))
    assert not are_plain((("f", BINARY),))


@pytest.mark.parametrize("threads", [2, 5])
def test_on_any_number_of_threads_rows_are_the_same(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "BLOCK", 300)
    chance = Random(13)
    for _ in range(20):
        data = b"".join(block(chance).removesuffix(b"\n") + b"\n" for _ in range(20))
        expected = read(data)
        assert len(expected) > 10
        assert repr(read(data, threads)) == repr(expected)


def test_arrow_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def missed(data: bytes, *_: Any) -> None:
        tried.append(data)

    monkeypatch.setattr(json_lines, "table_of", missed)
    monkeypatch.setattr(json_lines, "BLOCK", 10)
    data = b"".join(b'{"a": %d}\n' % i for i in range(100, 200))
    assert [row for table, *_ in read(data) for row in table["a"]] == [*range(100, 200)]
    assert len(tried) == json_lines.MISSES
