"""What the events of a sample are: when each happened, of which type it is, and whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.types import is_numeric

from .groups import Key, TypeColumn, keys, kinds
from .leaves import Leaf, leaves
from .pairs import Pair, most_frequent
from .times import Disorder, Time, disorder, times

if TYPE_CHECKING:
    from .sample import Sample


@dataclass(frozen=True, slots=True)
class Guess:
    """`time` and `kind` are what was chosen, the `other_` ones what may be meant as well; `numbers` are columns to
    measure. Without a `pair` no event comes after another.
    """

    sample: Sample
    time: Time | None
    other_times: tuple[Time, ...]
    disorder: Disorder
    kind: TypeColumn | None
    other_kinds: tuple[TypeColumn, ...]
    keys: tuple[Key, ...]
    numbers: tuple[Leaf, ...]
    pair: Pair | None


def guess(sample: Sample, one_type: str) -> Guess:
    """`one_type` is how the type of all events is called where no column says it."""
    found = leaves(sample)
    time, *other_times = times(sample, found) or (None,)
    used = {leaf.path for one in (time, *other_times) if one is not None for leaf in one.leaves}
    likely = kinds(found, used)
    kind = likely[0] if likely and likely[0].score else None
    if kind is not None:
        used.add(kind.leaf.path)
    whose = keys(found, used)
    used |= {key.leaf.path for key in whose}
    types = kind.values if kind is not None else (one_type,) * sample.records
    return Guess(
        sample,
        time,
        tuple(other for other in other_times if other is not None),
        disorder(time) if time is not None else Disorder(None),
        kind,
        tuple(other for other in likely if other is not kind and other.leaf.path not in used and other.is_of_words),
        whose,
        tuple(leaf for leaf in found if leaf.path not in used and is_numeric(leaf.type) and leaf.there),
        most_frequent(time.values, types, whose) if time is not None else None,
    )
