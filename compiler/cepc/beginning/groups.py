"""Which column is the type of the events, and which columns say whose they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import STRING, is_integer

from .text_types import is_nameable
from .words import OWN, says_key, says_type

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from .leaves import Leaf

MOST_TYPES = 1000
FEW_TYPES = 50


@dataclass(frozen=True, slots=True)
class TypeColumn:
    """A column of types: the `values` in the sample, and the types by how often they occur, the most frequent first.

    Where types are written in several ways, `expression` makes one of them.
    """

    leaf: Leaf
    values: tuple[str | None, ...]
    counts: tuple[tuple[str, int], ...]
    expression: str | None
    score: int

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.counts)

    @property
    def is_of_words(self) -> bool:
        return all(
            any(c.isalpha() for c in type_) and type_.upper() not in ("NA", "N/A", "NULL") for type_ in self.types
        )


@dataclass(frozen=True, slots=True)
class Key:
    """A column whose values say whose event it is: so many `distinct` ones in the sample."""

    leaf: Leaf
    distinct: int
    score: float


def kinds(leaves: Iterable[Leaf], taken: Collection[tuple[str, ...]]) -> tuple[TypeColumn, ...]:
    """The columns with few values, the likeliest column of types first; those with a score of 0 have no such name."""
    found = [_kind(leaf) for leaf in leaves if leaf.path not in taken]
    return tuple(sorted((kind for kind in found if kind is not None), key=lambda kind: -kind.score))


def _kind(leaf: Leaf) -> TypeColumn | None:
    score = says_type(leaf.path[-1])
    if not leaf.there or (leaf.type != STRING and not (is_integer(leaf.type) and score == 2)):
        return None
    written = [None if value is None else str(value) for value in leaf.values]
    names = [None if value is None else value.strip(" ").lower() for value in written]
    distinct = {value for value in written if value is not None}
    lower = {name for name in names if name is not None}
    same = len(lower) == len(distinct)
    values = written if same else names
    counts = Counter(value for value in values if value is not None)
    most = min(MOST_TYPES if score == 2 else FEW_TYPES, max(10, len(leaf.there) / 2))
    if len(counts) > most or not all(map(is_nameable, counts)):
        return None
    if len({name.casefold() for name in counts}) < len(counts):
        return None
    if score == 0 and (len(counts) < 2 or len(counts) > len(leaf.there) / 2):
        return None
    trimmed = leaf.text if all(value == value.strip(" ") for value in distinct) else f"TRIM({leaf.text})"
    expression = (None if leaf.is_column else leaf.text) if same else f"LOWER({trimmed})"
    return TypeColumn(leaf, tuple(values), tuple(counts.most_common()), expression, score)


def keys(leaves: Sequence[Leaf], taken: Collection[tuple[str, ...]]) -> tuple[Key, ...]:
    """Columns with the name of a key whose values come again, the likeliest first."""
    found = [_key(leaf) for leaf in leaves if leaf.path not in taken]
    return tuple(sorted((key for key in found if key is not None), key=lambda key: -key.score))


def _key(leaf: Leaf) -> Key | None:
    """Ids name more than one event, and there are several of them. One called `id` alone is rather the event's own."""
    if not (leaf.type == STRING or is_integer(leaf.type)) or not says_key(leaf.path[-1]):
        return None
    distinct = len(set(leaf.there))
    if distinct < 2 or distinct > 0.9 * len(leaf.there):
        return None
    score = len(leaf.there) / len(leaf.values) + min(distinct, 100) / 100
    score -= leaf.path[-1].casefold() in OWN
    return Key(leaf, distinct, score)
