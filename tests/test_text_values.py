"""Values written as text: which of a column are none of its type."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from cepc.reading import text_values
from cepc.reading.text_values import AT_ONCE, POSSIBLE, USUAL, BadValueError, bad_values, from_text
from cepc_runtime.sql.types import BOOLEAN, INT, TIMESTAMP_NTZ, Decimal

if TYPE_CHECKING:
    from cepc_runtime.sql.types import DataType

TYPES = (*USUAL, BOOLEAN, Decimal(5, 2))
WRITTEN = (
    "7", "-7", "+7", "99", "128", "32768", "999999999", "2147483648", "999999999999999999", "9" * 19, "1.5", "-1.25", ".5", "5.", "1e3", "inf",
    "nan", "0x1F", "9" * 400, "true", "False", "1999-12-28", "2026-02-30", "2026-02-28T10:00:00", "2026-02-28 23:59:59.123456",
    "2026-02-28T10:00:00Z", "2026-02-28T10:00:00+01:00", "2026-02-28T10", "2026-02-28 1000", "2026-02-28T10:00", "2026-02-28 100000Z",
    "2026-02-28T10:00:00+18:00", "2026-02-28T10:00:00-18:01", "2026-02-28T10:00+1930", "2026-02-28 10:00-23", "12026-02-28", "-0044-03-15", "infinity", "-Inf", "NaN", "1E-3", "1,5", "2026-02-28T24:00:00", "2026-02-28T10:00:00.1234567", "", " 7", "7\n", "N/A", "٣", None,
)  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_bad_values_are_those_that_cannot_be_converted_alone(type_: DataType) -> None:
    random = Random(str(type_))
    texts = random.choices(WRITTEN, k=400)
    for _ in range(1_500):  # most of a file is right, or one character is not
        chosen = random.choice(WRITTEN) or "0"
        text = [*chosen]
        text[random.randrange(len(text) or 1) :][:0] = random.choice("0123456789-:.TZx ")
        texts.append("".join(text))
    alone = [i for i, text in enumerate(texts) if not _is_of(text, type_)]
    found = list(bad_values(pa.array(texts, pa.string()), type_))
    assert [bad.index for bad in found] == alone
    assert [bad.found for bad in found] == [texts[i] for i in alone]
    assert 0 < len(alone) < len(texts)


@pytest.mark.parametrize("type_", POSSIBLE, ids=str)
def test_texts_that_look_like_no_value_are_not_tried_one_by_one(
    type_: DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, convert = list[int](), text_values._converted

    def counted(texts: pa.Array, to: DataType) -> pa.Array:
        tried.append(len(texts))
        return convert(texts, to)

    monkeypatch.setattr(text_values, "_converted", counted)
    column = pa.array([f"02.03.2026 {second // 60:02}:{second % 60:02} Uhr" for second in range(3_000)])
    assert [bad.index for bad in bad_values(column, type_)] == [*range(3_000)]
    assert sum(tried) == 0


def test_a_zone_that_is_too_many_is_seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_values, "failing", lambda length, *_: pytest.fail("tried") if length else ())
    column = pa.array([f"2026-03-02T10:{second // 60:02}:{second % 60:02}Z" for second in range(3_000)])
    found = list(bad_values(column, TIMESTAMP_NTZ))
    assert {bad.why for bad in found} == {"a time without a zone is expected"}
    assert len(found) == 3_000


def _is_of(text: str | None, type_: DataType) -> bool:
    try:
        from_text(pa.array([text], pa.string()), type_)
    except BadValueError:
        return False
    return True


def test_each_row_of_an_equal_bad_value_is_said_in_order_also_past_the_rows_looked_through_at_once() -> None:
    texts = ["1"] * (AT_ONCE + 10)
    for at in (3, 7, AT_ONCE - 1, AT_ONCE, AT_ONCE + 9):
        texts[at] = "N/A" if at != 7 else "?"
    found = bad_values(pa.array(texts), INT)
    assert [bad.index for bad in found] == [3, 7, AT_ONCE - 1, AT_ONCE, AT_ONCE + 9]


def test_a_time_with_a_zone_where_none_is_expected_says_so() -> None:
    (bad,) = bad_values(pa.array(["2026-02-28T10:00:00", "2026-02-28T10:00:00Z"]), TIMESTAMP_NTZ)
    assert bad.why == "a time without a zone is expected"
