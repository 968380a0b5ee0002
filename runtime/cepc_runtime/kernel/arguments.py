"""What machine code is given. Its entry has but addresses, lengths and numbers for arguments; an array is where it
begins and how long it is in each dimension, and a record is what its fields are.
"""

from __future__ import annotations

import sys
from ctypes import c_size_t
from operator import index
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """Of an array: its numbers, as numpy writes their type, and how many dimensions it has."""

    numbers: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.numbers}·{self.dimensions}"


@dataclass(frozen=True, slots=True)
class RecordForm:
    """Of a named tuple."""

    record: type[tuple[Any, ...]]
    fields: tuple[ArgumentForm, ...]

    def __str__(self) -> str:
        return f"{self.record.__qualname__}({' '.join(map(str, self.fields))})"


@dataclass(frozen=True, slots=True)
class IntegerForm:
    """Of an integer, or of a boolean, which is 0 or 1."""

    def __str__(self) -> str:
        return "i"


ArgumentForm = ArrayForm | RecordForm | IntegerForm
"""For which machine code is made; as text it says what the code was made for."""


def form_of(argument: Any) -> ArgumentForm:
    """Raises TypeError for what machine code is never given."""
    if isinstance(argument, np.ndarray):
        return ArrayForm(argument.dtype.str, argument.ndim)
    if isinstance(argument, tuple):
        return RecordForm(type(argument), tuple(map(form_of, argument)))
    if isinstance(argument, int | np.integer):
        return IntegerForm()
    raise TypeError(f"no argument of machine code: {type(argument).__name__}")


class Words(NamedTuple):
    """What arguments are for an entry: words, and of each array a number for its numbers' type and its dimensions."""

    words: list[int]
    arrays: list[int]

    def add(self, arguments: tuple[Any, ...]) -> None:
        """Raises ValueError for an array that is not in one piece, TypeError for what machine code is never given."""
        words, arrays = self
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                if not argument.flags.c_contiguous:
                    raise ValueError("an array that machine code is given is in one piece")
                words.append(_address(argument))
                words += argument.shape
                arrays.append(argument.dtype.num << 8 | argument.ndim)
            elif isinstance(argument, tuple):
                self.add(argument)
            else:
                words.append(index(argument))


def _places() -> Iterator[int]:
    """Where in an array's object its address may stand."""
    some = np.zeros(1)
    for place in range(8, 80, 8) if sys.implementation.name == "cpython" else ():
        if c_size_t.from_address(id(some) + place).value == some.ctypes.data:
            yield place


def _address_of() -> Callable[[Any], int]:
    """Where an array's numbers begin: numpy's own way takes four times as long, which is felt where calls are short."""
    place = next(_places(), None)
    if place is None:
        return lambda array: array.ctypes.data
    at = c_size_t.from_address
    return lambda array: at(id(array) + place).value


_address: Final = _address_of()
