"""The values to guess from: the columns of a sample, and the fields of structs in them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from cepc_grammar import ast
from cepc_grammar.spelling import OPERAND, dotted_text, name_text
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import Array, Map, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.sql.types import DataType

    from .sample import Sample


@dataclass(frozen=True)
class Leaf:
    """A column that is no struct, or a field of one, with its values in the sample."""

    path: tuple[str, ...]
    type: DataType
    array: Any

    @property
    def text(self) -> str:
        """How an expression names it."""
        return dotted_text(tuple(map(ast.Name, self.path)), OPERAND)

    @property
    def is_column(self) -> bool:
        return len(self.path) == 1

    @cached_property
    def values(self) -> list[Any]:
        found: list[Any] = self.array.to_pylist()
        return found

    @cached_property
    def there(self) -> list[Any]:
        """Those that are not null."""
        return [value for value in self.values if value is not None]


def leaves(sample: Sample) -> tuple[Leaf, ...]:
    return tuple(leaf for name, type_ in sample.columns for leaf in _of((name,), type_, sample.table.column(name)))


def _of(path: tuple[str, ...], type_: DataType, array: Any) -> Iterator[Leaf]:
    import pyarrow.compute as pc

    match type_:
        case Struct(fields):
            for field in fields:
                yield from _of((*path, field.name), field.type, pc.struct_field(array, [field.name]))
        case Array() | Map():
            return
        case _:
            yield Leaf(path, type_, array)


def new_name(wanted: str, taken: set[str]) -> str:
    """The name, or the first of `wanted_2`, … that differs from all that are taken in more than case.

    >>> new_name("At", {"at", "at_2"})
    'At_3'
    """
    used = {name.casefold() for name in taken}
    names = (wanted if i == 1 else f"{wanted}_{i}" for i in range(1, len(used) + 2))
    return next(name for name in names if name.casefold() not in used)


def quoted(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """The name as it is written where these words are reserved."""
    return name_text(ast.Name(name), reserved)
