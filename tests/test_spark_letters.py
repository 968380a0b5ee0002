"""Letters as SQL: an event is compared with each type once, and conditions are evaluated on events of their type
alone.
"""

from __future__ import annotations

import pytest

from cepc_runtime.spark.events import word_sql

WORDS = [
    ([], "0L"),
    ([(None, "TRUE"), (None, "`x` > 1")], "1L | IF(`x` > 1, 2L, 0L)"),
    ([("A", "TRUE")], "CASE `kind` WHEN 'A' THEN 1L ELSE 0L END"),
    (
        [("A", "TRUE"), ("it's", "`x` > 1"), ("A", "`x` > 2"), (None, "`y`")],
        (
            "IF(`y`, 8L, 0L) | CASE `kind` WHEN 'A' THEN 1L | IF(`x` > 2, 4L, 0L)"
            " WHEN 'it\\'s' THEN IF(`x` > 1, 2L, 0L) ELSE 0L END"
        ),
    ),
]


@pytest.mark.parametrize(("wanted", "sql"), WORDS)
def test_a_word_says_which_letters_an_event_has(wanted: list[tuple[str | None, str]], sql: str) -> None:
    assert word_sql("`kind`", wanted) == sql
