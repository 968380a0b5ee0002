"""Types: their text, and what they are in Arrow."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepc_runtime.sql import types as t
from cepc_runtime.sql.types import Array, DataType, Decimal, Interval, Map, Struct, StructField

_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)

SIMPLE = st.one_of(
    st.sampled_from(list(t.SIMPLE_TYPES.values())),
    st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s))),
    st.sampled_from([Interval(i, j) for i in range(4) for j in range(i, 4)]),
)

TYPES: st.SearchStrategy[DataType] = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        inner.map(Array),
        st.tuples(inner, inner).map(lambda pair: Map(*pair)),
        st.lists(st.tuples(_NAMES, inner).map(lambda f: StructField(*f)), max_size=3).map(lambda f: Struct(tuple(f))),
    ),
    max_leaves=6,
)


@given(TYPES)
def test_a_type_is_read_back_from_its_text(type_: DataType) -> None:
    assert t.from_text(type_.sql) == type_


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (t.INT, "INT"),
        (Decimal(10, 2), "DECIMAL(10,2)"),
        (Interval(), "INTERVAL DAY TO SECOND"),
        (Interval(1, 1), "INTERVAL HOUR"),
        (Array(t.STRING), "ARRAY<STRING>"),
        (Map(t.STRING, Array(t.INT)), "MAP<STRING, ARRAY<INT>>"),
        (Struct((StructField("a`b", t.INT), StructField("c", t.DATE))), "STRUCT<`a``b`: INT, `c`: DATE>"),
    ],
)
def test_the_text_is_sparks(type_: DataType, text: str) -> None:
    assert type_.sql == str(type_) == text


@pytest.mark.parametrize(
    "text",
    ["", "INTEGER", "int", "DECIMAL", "DECIMAL(", "DECIMAL(39,0)", "ARRAY<INT", "ARRAY<>", "INT INT", "INTERVAL", "$"],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a type|expected|no such type|not in|invalid literal"):
        t.from_text(text)


@pytest.mark.parametrize(("precision", "scale"), [(0, 0), (39, 0), (5, 6), (5, -1)])
def test_a_decimal_that_spark_does_not_have_cannot_be_made(precision: int, scale: int) -> None:
    with pytest.raises(ValueError, match="no such type"):
        Decimal(precision, scale)


@pytest.mark.parametrize(
    ("type_", "arrow"),
    [
        (t.BOOLEAN, pa.bool_()),
        (t.TINYINT, pa.int8()),
        (t.BIGINT, pa.int64()),
        (t.FLOAT, pa.float32()),
        (t.STRING, pa.string()),
        (t.DATE, pa.date32()),
        (t.TIMESTAMP, pa.timestamp("us", tz="UTC")),
        (t.TIMESTAMP_NTZ, pa.timestamp("us")),
        (Interval(), pa.duration("us")),
        (Decimal(12, 3), pa.decimal128(12, 3)),
        (Array(t.INT), pa.list_(pa.int32())),
        (Struct((StructField("x", t.DOUBLE),)), pa.struct([pa.field("x", pa.float64())])),
    ],
)
def test_arrow_types_and_back(type_: DataType, arrow: pa.DataType) -> None:
    assert t.to_arrow(type_) == arrow
    assert t.from_arrow(arrow) == type_


@pytest.mark.parametrize(
    ("arrow", "type_"),
    [
        (pa.large_string(), t.STRING),
        (pa.dictionary(pa.int8(), pa.string()), t.STRING),
        (pa.timestamp("ns", tz="Europe/Berlin"), t.TIMESTAMP),
        (pa.timestamp("s"), t.TIMESTAMP_NTZ),
        (pa.uint32(), t.BIGINT),
        (pa.uint64(), Decimal(20, 0)),
        (pa.large_list(pa.int64()), Array(t.BIGINT)),
        (pa.map_(pa.string(), pa.int32()), Map(t.STRING, t.INT)),
        (pa.time64("us"), None),
        (pa.decimal256(50, 2), None),
        (pa.list_(pa.time64("us")), None),
    ],
)
def test_arrow_types_of_other_writers(arrow: pa.DataType, type_: DataType | None) -> None:
    assert t.from_arrow(arrow) == type_


def test_what_has_an_order() -> None:
    assert t.is_orderable(Struct((StructField("x", Array(t.INT)),)))
    assert not t.is_orderable(Array(Map(t.INT, t.INT)))
