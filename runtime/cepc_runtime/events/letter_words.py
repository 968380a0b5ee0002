"""Letters that were found out before: bit i of a column of BIGINT *words* says whether an event satisfies letter i.

A generated job lets Spark evaluate local conditions, and its plan has these letters instead of the conditions. They are
letters like others, so that everything works with them; `kinds_of_words` only reads them faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..numbers.columns import dense_rows, flat
from ..plan.stream import Letter
from ..sql.expression import Call, Field, Literal
from ..sql.types import BIGINT, BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..numbers.columns import Ints

BITS: Final = 62
"""In a word: a BIGINT's sign is left alone."""


def words_needed(letters: int) -> int:
    """How many words hold so many letters; one at least, so that a job's events always have one."""
    return max(1, -(-letters // BITS))


def word_letters(letters: int, columns: Sequence[str]) -> tuple[Letter, ...]:
    """So many letters, in the bits of these columns."""
    return tuple(bit_letter(columns[i // BITS], 1 << i % BITS) for i in range(letters))


def bit_letter(column: str, mask: int) -> Letter:
    """The events that have a bit of the mask in the column."""
    bit = Call("&", (Field(None, column, "each", BIGINT), Literal(mask, BIGINT)), BIGINT)
    return Letter(None, (Call("not", (Call("=", (bit, Literal(0, BIGINT)), BOOLEAN),), BOOLEAN),))


def words_of(letters: Sequence[Letter]) -> list[tuple[str, int]] | None:
    """For each letter its column and mask; None if some letter is of another kind."""
    found = [word_of(letter) for letter in letters]
    known = [word for word in found if word is not None]
    return known if known and len(known) == len(found) else None


def word_of(letter: Letter) -> tuple[str, int] | None:
    match letter:
        case Letter(
            None, (Call("not", (Call("=", (Call("&", (Field(None, column), Literal(int(mask)))), Literal(0))),)),), ()
        ):
            return column, mask
    return None


def kinds_of_words(table: Any, words: Sequence[tuple[str, int]]) -> tuple[Ints, list[frozenset[int]]]:
    """A number for each event, and the letters that each number stands for. Different numbers, different letters."""
    columns = list(dict.fromkeys(column for column, _ in words))
    numbers, first = dense_rows([table.column(name) for name in columns])
    values = {name: np.asarray(flat(table.column(name)).take(first)) for name in columns}
    found = [
        frozenset(i for i, (column, mask) in enumerate(words) if int(values[column][k]) & mask)
        for k in range(len(first))
    ]
    return numbers, found
