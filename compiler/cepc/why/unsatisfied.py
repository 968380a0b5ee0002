"""Places of a pattern that no event can take: its type never occurs, or its conditions are true for none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.events.letters import evaluate_on
from cepc_runtime.numbers.columns import as_bools, flat
from cepc_runtime.sql.evaluate.errors import EvaluationError
from cepc_runtime.sql.expression import as_written, fields
from cepc_runtime.sql.types import is_numeric

from ..diagnostics.listed import listed
from ..diagnostics.near import nearest
from ..wording import many
from .furthest import awaited
from .values import local_text, text_of
from .wording import clause_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cepc_runtime.numbers.columns import Bools, Ints
    from cepc_runtime.plan.positions import Positions
    from cepc_runtime.plan.stream import Letter
    from cepc_runtime.sql.expression import Expression

    from .looked_at import LookedAt

NAMED: Final = 4  # event types, values


@dataclass(frozen=True, slots=True)
class Unsatisfied:
    """A letter that the pattern cannot do without, and the variable that needs it."""

    letter: Letter
    variable: str


def unsatisfied(looked: LookedAt) -> tuple[Unsatisfied, ...]:
    """The letters that no event satisfies and without which the pattern cannot be completed."""
    occur = frozenset().union(*(looked.kinds.letters[kind] for kind in np.unique(looked.kinds.of)))
    positions = looked.positions
    asked = {edge.letter: edge.variable for edge in reversed(positions.edges)}
    never = [letter for letter in sorted(asked) if letter not in occur]
    if _completed(_reached(positions, never), positions):
        return ()
    needed = [letter for letter in never if not _completed(_reached(positions, [letter]), positions)]
    if not needed:  # each could stand for another: those at which it ends
        reached = _reached(positions, never)
        edges = (edge for state in sorted(reached) for edge in awaited(positions, state))
        needed = list(dict.fromkeys(edge.letter for edge in edges if edge.letter in never))
    return tuple(Unsatisfied(looked.letters[letter], asked[letter]) for letter in needed)


def _reached(positions: Positions, never: Collection[int]) -> set[int]:
    """The states that can be reached without some letters."""
    reached, border = {0}, {0}
    while border:
        onward = (e for e in positions.edges if e.source in border and e.letter not in never)
        border = {edge.target for edge in onward} - reached
        reached |= border
    return reached


def _completed(reached: set[int], positions: Positions) -> bool:
    return any(acceptance.state in reached for acceptance in positions.acceptances)


# ---- in words --------------------------------------------------------------------------------------------------------


def never_text(looked: LookedAt, one: Unsatisfied) -> str:
    """Why no event satisfies the letter."""
    type_ = one.letter.raw_type
    rows = np.flatnonzero(of_type(looked, one.letter))
    if type_ is not None and not len(rows):
        timeless = looked.read.timeless.get(type_, 0)
        if timeless and not _types_read(looked).get(type_):
            column = looked.finder.stream.time_column
            where = f"the only `{type_}` event" if timeless == 1 else f"all {timeless:,} `{type_}` events"
            return f"the {clause_text('event time', column)} is null in {where}{passed_over(looked, '; ')}"
        return f"no event has the type `{type_}`{looked.among}{_types(looked, type_)}{passed_over(looked, '; ')}"
    return failing_text(looked, one, rows)


def of_type(looked: LookedAt, letter: Letter) -> Bools:
    """The events of the letter's type, whatever its conditions."""
    reading = looked.reading
    if letter.raw_type is None:
        return np.ones(len(reading.types), dtype=np.bool_)
    return np.asarray(np.array([name == letter.raw_type for name in reading.names], dtype=np.bool_)[reading.types])


def passed_over(looked: LookedAt, joint: str) -> str:
    """Among the records that were passed over may be what is missing."""
    count = looked.read.passed_over
    return f"{joint}{many(count, 'bad record')} {'was' if count == 1 else 'were'} passed over" if count else ""


def _types(looked: LookedAt, type_: str) -> str:
    """Which types occur instead."""
    counts = _types_read(looked)
    near = nearest(type_, sorted(counts))
    if near is not None:
        return f"; {_have(counts[near])} `{near}`"
    if not counts:
        return ""
    often = sorted(counts, key=lambda name: (-counts[name], name))
    shown = [f"`{name}` ({counts[name]:,})" for name in often[:NAMED]]
    return (
        f"; the types are {', '.join(shown)} and others"
        if len(often) > NAMED
        else f"; there are {listed(shown, 'and')}"
    )


def _types_read(looked: LookedAt) -> Mapping[str, int]:
    if looked.read.types is not None:
        return looked.read.types
    counts = np.bincount(looked.reading.types, minlength=len(looked.reading.names)).tolist()
    return dict(zip(looked.reading.names, counts, strict=True))


def _have(count: int) -> str:
    return "1 event has" if count == 1 else f"{count:,} events have"


def failing_text(looked: LookedAt, one: Unsatisfied, rows: Ints, which: str = "") -> str:
    """Which conditions of the letter are true for none of these events, all of its type."""
    type_ = one.letter.raw_type
    what = which + ("event" if type_ is None else f"`{type_}` event")
    conditions = [(c, local_text(c, one.variable)) for c in one.letter.conditions]
    none = f"is not true for the only {what}" if len(rows) == 1 else f"is true for none of {many(len(rows), what)}"
    none += looked.among
    for condition, text in conditions:
        if not _true(looked, condition, rows).any():
            return f"`{text}` {none}{_values(looked, condition, rows)}"
    together = listed((f"`{text}`" for _, text in conditions), "and") or "what a named pattern asks for"
    return f"{together} {none}"


def _true(looked: LookedAt, condition: Expression, rows: Ints) -> Bools:
    """Where it is true; where it has no value for some event, that is not what is looked for."""
    try:
        return as_bools(evaluate_on(condition, looked.reading.table, rows))
    except EvaluationError:
        return np.ones(len(rows), dtype=np.bool_)


def _values(looked: LookedAt, condition: Expression, rows: Ints) -> str:
    """What the column of a condition on one column has in these events."""
    names = {field.column for field in fields(condition)}
    types = dict(looked.finder.stream.columns)
    shown = []
    for name in sorted(names):
        column = flat(looked.reading.table.column(name).take(pa.array(rows)))
        if column.null_count == len(column):
            shown.append(f"`{as_written(name)}` is always null")
        elif len(names) == 1 and is_numeric(types[name]):
            shown.append(_range(as_written(name), column))
        elif len(names) == 1 and pa.types.is_string(column.type):
            shown.append(_frequent(as_written(name), column))
    return "".join(f"; {text}" for text in shown)


def _range(name: str, column: Any) -> str:
    least, most = (text_of(pa.chunked_array([pa.array([v.as_py()], column.type)])) for v in pc.min_max(column).values())
    null = " or null" if column.null_count else ""
    return f"`{name}` is always {least}{null}" if least == most else f"`{name}` is from {least} to {most}{null}"


def _frequent(name: str, column: Any) -> str:
    counts = pc.value_counts(column.drop_null())
    often = pc.array_sort_indices(counts.field(1), order="descending")
    values = counts.field(0).take(often[:NAMED])
    shown = [text_of(pa.chunked_array([values.slice(i, 1)])) for i in range(len(values))]
    shown += ["another"] if len(counts) > NAMED else ["null"] if column.null_count else []
    return f"`{name}` is {'always ' if len(shown) == 1 else ''}{listed(shown, 'or')}"
