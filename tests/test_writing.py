"""Results as text and as files: every type in every format, exact, in one order, never by halves."""

import csv
import datetime as dt
import io
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cepc.writing import show, sorting, store
from cepc.writing.order import in_order
from cepc_runtime.results.as_text import as_json, as_text, json_object
from cepc_runtime.results.lines import csv_lines, json_lines
from cepc_runtime.results.text_columns import json_column, text_column

INF = float("inf")
STRUCT = pa.struct([("a", pa.int64()), ("b", pa.list_(pa.timestamp("us", "UTC")))])

# Type, value, as JSON, as CSV (None where it is the same).
VALUES: list[tuple[Any, object, str, str | None]] = [
    (pa.bool_(), True, "true", None),
    (pa.int8(), -128, "-128", None),
    (pa.int64(), 2**63 - 1, "9223372036854775807", None),
    (pa.float64(), 0.1, "0.1", None),
    (pa.float64(), 1e7, "10000000.0", "1.0E7"),
    (pa.float64(), 1e300, "1e+300", "1.0E300"),
    (pa.float64(), -0.0, "-0.0", None),
    (pa.float64(), float("nan"), '"NaN"', "NaN"),
    (pa.float64(), -INF, '"-Infinity"', "-Infinity"),
    (pa.float32(), 1.1, "1.1", None),
    (pa.float32(), INF, '"Infinity"', "Infinity"),
    (pa.decimal128(38, 0), Decimal("9" * 38), "9" * 38, None),
    (pa.decimal128(38, 37), Decimal("0.0000001"), "0.0000001" + "0" * 30, None),
    (pa.string(), 'a "b",\n\té😀', '"a \\"b\\",\\n\\té😀"', 'a "b",\n\té😀'),
    (pa.string(), "", '""', ""),
    (pa.binary(), b"hi", '"aGk="', "aGk="),
    (pa.date32(), 19753, '"2024-01-31"', "2024-01-31"),
    (pa.timestamp("us", "UTC"), 1769860800000000, '"2026-01-31T12:00:00Z"', "2026-01-31T12:00:00Z"),
    (pa.timestamp("us", "UTC"), 500000, '"1970-01-01T00:00:00.5Z"', "1970-01-01T00:00:00.5Z"),
    (pa.timestamp("us"), -1, '"1969-12-31T23:59:59.999999"', "1969-12-31T23:59:59.999999"),
    (pa.timestamp("us", "UTC"), 2**62, '"+148108-07-06T14:00:27.387904Z"', "+148108-07-06T14:00:27.387904Z"),
    (pa.duration("us"), 5_400_000_000, "\"INTERVAL '0 01:30:00' DAY TO SECOND\"", "INTERVAL '0 01:30:00' DAY TO SECOND"),
    (pa.list_(pa.int64()), [1, None], "[1,null]", None),
    (pa.list_(pa.list_(pa.string())), [["a"], None, []], '[["a"],null,[]]', None),
    (pa.map_(pa.int64(), pa.float64()), [(1, 0.5), (2, None)], '{"1":0.5,"2":null}', None),
    (STRUCT, {"a": 1, "b": [0]}, '{"a":1,"b":["1970-01-01T00:00:00Z"]}', None),
    (pa.list_(STRUCT), [None, {"a": None, "b": None}], '[null,{"a":null,"b":null}]', None),
    (pa.dictionary(pa.int8(), pa.string()), "x", '"x"', "x"),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "value", "as_object", "as_cell"), VALUES)
def test_values(type_: Any, value: object, as_object: str, as_cell: str | None) -> None:
    column = pa.array([value, None, value], type_)
    for piece in (column.slice(1), pa.chunked_array([column.slice(1, 1), column.slice(2)])):
        assert as_json(piece) == json_column(piece).to_pylist() == ["null", as_object]
        cells = [None, as_object if as_cell is None else as_cell]
        assert as_text(piece) == text_column(piece).to_pylist() == cells


def numbers(chance: np.random.Generator, size: int) -> Any:
    """Of all sizes, long and short, and what is no number."""
    found = 10 ** chance.uniform(-9, 20, size) * chance.choice([1, -1], size)
    for digits in (0, 1, 3):
        found = np.where(chance.random(size) < 0.2, np.round(found, digits), found)
    return np.where(chance.random(size) < 0.1, chance.choice([0.0, -0.0, INF, np.nan, 1e7, 1e10, 1e-3], size), found)


def texts(chance: np.random.Generator, size: int) -> list[str]:
    return ["".join(chance.choice([*'ab,"\\\n\t\x00\x7fé😀'], chance.integers(0, 4))) for _ in range(size)]


def decimals(scale: int) -> Callable[[np.random.Generator, int], list[Decimal]]:
    return lambda chance, size: [Decimal(int(n)).scaleb(-scale) for n in chance.integers(-2_000, 2_000, size)]


def micros(chance: np.random.Generator, size: int) -> Any:
    whole = chance.integers(-62_135_596_800, 253_402_300_800, size) * 1_000_000
    return whole + np.where(
        chance.random(size) < 0.5, 0, chance.integers(0, 1000, size) * chance.choice([1, 1000], size)
    )


COLUMNS: list[tuple[Any, Callable[[np.random.Generator, int], Any]]] = [
    (pa.bool_(), lambda chance, size: chance.random(size) < 0.5),
    (pa.int64(), lambda chance, size: chance.integers(-(2**63), 2**63 - 1, size)),
    (pa.uint8(), lambda chance, size: chance.integers(0, 256, size)),
    (pa.float64(), numbers),
    (pa.float32(), lambda chance, size: numbers(chance, size).astype(np.float32)),
    (pa.decimal128(9, 0), decimals(0)),
    (pa.decimal128(9, 6), decimals(6)),
    (pa.decimal128(9, 7), decimals(7)),
    (pa.decimal128(9, -2), decimals(-2)),
    (pa.string(), texts),
    (pa.large_string(), texts),
    (pa.date32(), lambda chance, size: chance.integers(-719_162, 2_932_897, size)),
    (pa.date32(), lambda chance, size: chance.integers(-5_000_000, 5_000_000, size)),
    (pa.timestamp("us", "UTC"), micros),
    (pa.timestamp("us"), micros),
    (pa.timestamp("us", "UTC"), lambda chance, size: chance.integers(-(2**62), 2**62, size)),
    (pa.timestamp("s"), lambda chance, size: chance.integers(-(10**9), 10**10, size)),
    (pa.timestamp("ms", "Asia/Tokyo"), lambda chance, size: chance.integers(-(10**12), 10**13, size)),
]  # fmt: skip


def column_of(
    type_: Any, make: Callable[[np.random.Generator, int], Any], chance: np.random.Generator, size: int
) -> Any:
    made = make(chance, size)
    if pa.types.is_temporal(type_):
        made = made.astype(np.int32 if pa.types.is_date32(type_) else np.int64)
        return with_nulls(pa.array(made).cast(type_), chance)
    return with_nulls(pa.array(made, type_), chance)


def with_nulls(column: Any, chance: np.random.Generator) -> Any:
    return pc.if_else(pa.array(chance.random(len(column)) < 0.8), column, pa.scalar(None, column.type))


@pytest.mark.parametrize(("type_", "make"), COLUMNS, ids=[f"{i} {type_}" for i, (type_, _) in enumerate(COLUMNS)])
def test_columns_of_text_have_the_texts_of_their_values(
    type_: Any, make: Callable[[np.random.Generator, int], Any]
) -> None:
    chance, compared = np.random.default_rng(3), 0
    for size in (0, 1, 4_000):
        plain = column_of(type_, make, chance, size)
        ends = np.sort(chance.integers(0, size + 1, size // 3))
        lists = with_nulls(pa.ListArray.from_arrays(pa.array([0, *ends, size], pa.int32()), plain), chance)
        struct = with_nulls(pa.StructArray.from_arrays([plain, plain], names=["a", 'b "c"']), chance)
        of_structs = pa.LargeListArray.from_arrays(pa.array([0, *ends, size], pa.int64()), struct)
        for column in (plain, lists, struct, with_nulls(of_structs, chance)):
            for piece in (column, column.slice(len(column) // 3)):
                assert json_column(piece).to_pylist() == as_json(piece)
                assert text_column(piece).to_pylist() == as_text(piece)
                compared += len(piece)
    assert compared > 10_000


def test_people_see_times_as_spark_shows_them() -> None:
    assert as_text(pa.array([0], pa.timestamp("us", "UTC")), iso=False) == ["1970-01-01 00:00:00"]


def lines_of(blocks: Iterable[bytes]) -> list[str]:
    *lines, rest = b"".join(blocks).decode().split("\n")
    assert rest == ""
    return lines


def test_json_lines_begin_with_the_query() -> None:
    table = pa.table({"a b": [1, 2], 'c"': ["x", None]})
    named, plain = lines_of(json_lines(table, "q")), lines_of(json_lines(table))
    assert named == ['{"query":"q","a b":1,"c\\"":"x"}', '{"query":"q","a b":2,"c\\"":null}']
    assert plain == ['{"a b":1,"c\\"":"x"}', '{"a b":2,"c\\"":null}']


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (["query"], "_query"), (["_query"], "query"), (["query", "_query"], "__query"),
        (["_query", "x", "query", "__query"], "___query"), (["QUERY"], "query"),
    ],
)  # fmt: skip
def test_no_column_has_the_name_that_the_query_stands_under(columns: list[str], name: str) -> None:
    (line,) = lines_of(json_lines(pa.table({column: ["mine"] for column in columns}), "q"))
    assert json.loads(line, object_pairs_hook=list) == [(name, "q"), *((column, "mine") for column in columns)]


def test_csv_tells_null_from_the_empty_string() -> None:
    table = pa.table({"a": ["", None, 'say "hi", you'], "b,c": [1, 2, None]})
    assert lines_of(csv_lines(table)) == ['a,"b,c"', '"",1', ",2", '"say ""hi"", you",']


def test_lines_have_the_texts_of_their_values() -> None:
    chance = np.random.default_rng(5)
    made = {f"{i}": column_of(type_, make, chance, 40_000) for i, (type_, make) in enumerate(COLUMNS)}
    table = pa.table({name: made[name] for name in ("1", "3", "9", "13")})
    objects = zip(*(as_json(column) for column in table.columns), strict=True)
    assert lines_of(json_lines(table)) == [json_object(['"1"', '"3"', '"9"', '"13"'], row) for row in objects]
    read = list(csv.reader(io.StringIO(b"".join(csv_lines(table)).decode(), newline=""), strict=True))
    cells = zip(*(["" if text is None else text for text in as_text(column)] for column in table.columns), strict=True)
    assert [tuple(row) for row in read[1:]] == list(cells)


# ---- order -----------------------------------------------------------------------------------------------------------


def test_rows_are_sorted_by_window_then_from_left_to_right_nulls_first() -> None:
    table = pa.table(
        {"g": ["b", "a", None, "a"], "n": [1, 2, 3, 1], "window_start": [0, 0, 0, -5], "window_end": [5, 5, 5, 0]}
    )
    assert in_order(table).column("g").to_pylist() == ["a", None, "a", "b"]
    match = pa.table({"x": [[2], [1, 3], [1]], "match_start": [1, 1, 1], "match_end": [3, 2, 2]})
    assert in_order(match).column("x").to_pylist() == [[1], [1, 3], [2]]
    assert in_order(table.slice(0, 0)).num_rows == 0


def test_rows_that_differ_are_not_compared_in_further_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at, places = list[pa.DataType](), sorting._places

    def noted(column: Any) -> Any:
        looked_at.append(column.type)
        return places(column)

    monkeypatch.setattr(sorting, "_places", noted)
    table = pa.table({"at": [2, 1, 1, 2], "g": ["a", "b", "a", "b"], "n": [1.0, 2.0, 3.0, 4.0]})
    assert sorting.sorted_by(table, table.column_names).column("n").to_pylist() == [3.0, 2.0, 1.0, 4.0]
    assert looked_at == [pa.int64(), pa.string()]


@pytest.mark.parametrize("rows", [0, 1, 2, 40, 700])
def test_rows_are_sorted_as_by_all_keys_at_once(rows: int) -> None:
    compared = 0
    for seed in range(30):
        chance = np.random.default_rng(seed)
        keys = [chance.integers(-1, most, rows) for most in chance.integers(0, 6, 4)]
        order, expected = sorting._order(keys, rows).tolist(), np.lexsort(keys[::-1]).tolist()
        assert order == expected
        compared += order != [*range(rows)]
    assert compared >= (20 if rows > 2 else 0)


# ---- tables ----------------------------------------------------------------------------------------------------------


def shown(tables: dict[str, pa.Table], limit: int | None = None) -> str:
    stream = io.StringIO()
    show.show(tables, stream, limit, colour=False)
    return stream.getvalue()


def test_a_table_has_its_numbers_at_the_right_and_no_colour_or_cut_in_a_pipe() -> None:
    table = pa.table(
        {"district": ["north", None], "trips": [5, 12345], "when": pa.array([0, 0], pa.timestamp("us", "UTC"))}
    )
    text = shown({"delivered": table, "none": table.slice(0, 0)})
    assert text.splitlines() == [
        "delivered  2 rows",
        "district   trips   when",
        "─" * 38,
        "north          5   1970-01-01 00:00:00",
        "NULL       12345   1970-01-01 00:00:00",
        "",
        "none  0 rows",
    ]
    long = shown({"q": pa.table({"x": ["y" * 300]})})
    assert "y" * 300 in long


def test_a_long_table_says_how_much_is_missing() -> None:
    table = pa.table({"x": list(range(1005))})
    first, *others = shown({"q": table}).splitlines()
    assert first == "q  1,005 rows, the first 100 (--limit says how many)"
    assert len(others) == 2 + 100
    assert len(shown({"q": table}, 1005).splitlines()) == 1005 + 3
    assert shown({"q": table}, 0).splitlines() == ["q  1,005 rows, the first 0 (--limit says how many)"]


def test_markup_in_values_is_text() -> None:
    assert "[bold]x[/bold] :smile:" in shown({"[red]q": pa.table({"[i]": ["[bold]x[/bold] :smile:"]})})


# ---- files -----------------------------------------------------------------------------------------------------------

TABLE = pa.table({"n": [1, 2], "at": pa.array([0, None], pa.timestamp("us", "UTC"))})


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_file_for_each_query(form: str, tmp_path: Path) -> None:
    for _ in range(2):  # the second time over the first
        store.store({"a": TABLE, "b": TABLE.slice(0, 0)}, str(tmp_path / "x" / "out"), form)
    folder = tmp_path / "x" / "out"
    assert sorted(p.name for p in folder.iterdir()) == [f"a.{form}", f"b.{form}"]
    if form == "parquet":
        assert pq.read_table(folder / "a.parquet").equals(TABLE)
    else:
        text = (folder / f"a.{form}").read_text()
        assert (
            text
            == {
                "csv": "n,at\n1,1970-01-01T00:00:00Z\n2,\n",
                "jsonl": '{"n":1,"at":"1970-01-01T00:00:00Z"}\n{"n":2,"at":null}\n',
            }[form]
        )


def test_names_of_queries_cannot_leave_the_folder(tmp_path: Path) -> None:
    names = ["../up", "a/b", ".hidden", "é ü", "x.y", "%2E"]
    store.store(dict.fromkeys(names, TABLE), str(tmp_path), "csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["%2E.%2Fup.csv", "a%2Fb.csv", "%2Ehidden.csv", "é ü.csv", "x.y.csv", "%252E.csv"]
    )


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("before")
    written = store._write

    def fail(table: Any, path: Path, save: Any, over: Any) -> None:
        written(table, path, save, over)
        if "b.csv" in path.name:
            raise OSError("disk full")

    monkeypatch.setattr(store, "_write", fail)
    with pytest.raises(OSError, match="disk full"):
        store.store({"a": TABLE, "b": TABLE}, str(tmp_path), "csv")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.csv", "before")]


def test_a_directory_in_the_place_of_one_file_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("before")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        store.store({"a": TABLE, "b": TABLE}, str(tmp_path), "csv")
    assert caught.value.filename == str(tmp_path / "b.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv"]
    assert (tmp_path / "a.csv").read_text() == "before"


def test_a_form_without_files_writes_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table is not for files"):
        store.store({"a": TABLE}, str(tmp_path / "out"), "table")
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_can_be_read_again() -> None:
    when = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    table = pa.table({"x": [1.5, float("nan")], "at": pa.array([when, None], pa.timestamp("us", "UTC"))})
    assert [json.loads(line) for line in lines_of(json_lines(table))] == [
        {"x": 1.5, "at": "2026-01-31T12:00:00Z"},
        {"x": "NaN", "at": None},
    ]
